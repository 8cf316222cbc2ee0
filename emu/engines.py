"""Names of the engines, without anything that has to be loaded for them."""

# The default first. What a device does, and when, is the same in all.
ENGINES = ("fast", "reference")
