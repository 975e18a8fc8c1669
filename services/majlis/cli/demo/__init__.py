"""`majlis demo`: the whole platform, one tournament between computer players, and what came of it."""
