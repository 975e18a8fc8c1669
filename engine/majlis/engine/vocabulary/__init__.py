"""Commands, events, views and results: generated from proto/ by `make proto`."""
