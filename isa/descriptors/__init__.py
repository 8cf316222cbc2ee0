"""The descriptors of the cores, one module for each: what every program needs to know of a core.

A module has the name of the core's table in `isa`; its `DESCRIPTOR` is a `CoreDescriptor`. All
descriptors are read for each program, because a device has the settings of all cores. A table is
imported only if the program has a part of its core.
"""
