"""The rules engine: pure functions over an append-only history."""
