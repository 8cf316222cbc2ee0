"""The names of the simulation engines, in a module that loads no core."""

# The default first. All compute the same, in the same cycles.
ENGINES = ("fast", "reference")
