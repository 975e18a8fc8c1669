"""The rating service: folds the results of matches into one ladder per game.

`fold` writes the read model from the log of results; `servicer` reads it.
"""
