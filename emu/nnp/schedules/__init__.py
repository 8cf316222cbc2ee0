"""When vectors pass the units of nnp: rules for the emulator and for predictions.

They know a chain, the configuration, and from which cycle units and entries are free. They import
only `macaw.isa` and NumPy.
"""
