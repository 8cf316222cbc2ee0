"""The fast engine of nnp: it executes many iterations at once, as whole arrays."""
