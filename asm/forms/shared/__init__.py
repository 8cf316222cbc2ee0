"""Directives of a core that every part accepts: one module for each core that has some.

`SHARED` of a module has the directives. Their code is in the core's forms, which are imported when
a source first uses the directive.
"""
