"""The fast engine of scalar cores: it executes runs, and hot code translated to Python
functions.
"""
