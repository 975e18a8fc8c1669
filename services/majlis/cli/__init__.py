"""The command line `majlis`: noun, then verb; data on stdout, everything else on stderr."""
