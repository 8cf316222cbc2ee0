"""The fast engine of scalar cores: it translates hot code to Python functions."""
