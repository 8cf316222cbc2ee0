"""Names of the engines; importing them loads no core."""

# The default first. All compute the same, in the same cycles.
ENGINES = ("fast", "reference")
