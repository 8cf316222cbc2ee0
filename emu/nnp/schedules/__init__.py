"""Rules for the cycles in which vectors pass the units of nnp, for emulator and predictions.

The rules depend on a chain, the configuration, and the cycles from which units and entries are
free. The modules import only `macaw.isa` and NumPy.
"""
