"""Directives of cores that every part accepts. Each core with such directives has a module here.

The module's `SHARED` is a table of them. Their code is in the core's forms, which are imported when
a source first uses the directive.
"""
