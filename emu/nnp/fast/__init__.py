"""The fast engine of nnp: many iterations at once, as whole arrays."""
