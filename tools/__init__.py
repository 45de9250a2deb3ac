"""What only developers run, not in the wheel: measurements and the training of the shipped weights."""
