"""The fast engine of vc: it translates hot code to Python functions."""
