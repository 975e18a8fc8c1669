"""Players that play, and the benchmarks they drive. Only the command line imports this."""
