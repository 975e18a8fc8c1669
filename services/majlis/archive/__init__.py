"""The archive: follows the log of matches, verifies each finished one, and keeps it as a signed record.

`fold` splits the log into histories and checks its chain; `recorder` verifies a finished history and stores its
record; `servicer` gives records out, verifies and exports them.
"""
