"""The reference engine of nnp: it executes iterations one by one, and computes elements one by one."""
