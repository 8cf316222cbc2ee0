"""Directives that belong to a core but that every part accepts: one module for each such core.

`SHARED` of a module is the table of its directives. The code of a directive is in the core's module
in `asm/forms`, which is imported when a source first uses the directive.
"""
