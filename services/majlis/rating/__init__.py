"""The rating service: folds results into one ladder per game."""
