"""The reference engine of nnp: one iteration at a time, cycle by cycle, element by element."""
