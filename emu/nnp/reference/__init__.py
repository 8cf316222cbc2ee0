"""The reference engine of nnp: it computes one iteration at a time, element by element."""
