"""Computer players as workers: each takes the next request of the queue group and answers with a move."""
