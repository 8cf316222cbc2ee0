"""Directives of a core that every part accepts: one module for each core that has some.

The `SHARED` of a module are its directives. Their code is in the core's forms, which are imported
when a source uses the directive for the first time.
"""
