"""The fast engine of vc: hot code translated to Python functions."""
