"""The descriptors of the cores: for each core a module with what every program needs to know of it.

A module has the same name as the core's table in `isa`. Its `DESCRIPTOR` is a `CoreDescriptor`. All
descriptors are imported for each program, because a device has the settings of all cores. The table
of a core is imported only if the program has a part for that core.
"""
