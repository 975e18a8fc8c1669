"""What the tournament commands and the demo have in common."""
