"""The fast engine of a scalar core: runs of acts, and hot code translated to Python functions."""
