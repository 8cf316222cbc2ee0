"""The descriptors of the cores: for each core, the facts that every program needs.

Each core has a module here, with the name of the core's table in `isa`. Its `DESCRIPTOR` is a
`CoreDescriptor`. Macaw imports all descriptors for each program, because a device has the settings
of all cores. It imports the table of a core only if the program has a part for that core.
"""
