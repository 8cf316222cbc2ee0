"""The reference engine of nnp: executes one iteration at a time, computes element by element."""
