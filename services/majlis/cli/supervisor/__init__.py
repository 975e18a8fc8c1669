"""`majlis up`: real processes, started, watched, started again, stopped."""
