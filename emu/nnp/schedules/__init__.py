"""When vectors pass the units of nnp: rules for the emulator and for predictions.

The rules depend on a chain, the configuration, and the cycles from which units and entries are
free. The modules import only `macaw.isa` and NumPy.
"""
