"""Products on function-in-memory islands (seed 004): tilings, cycles, sources."""
