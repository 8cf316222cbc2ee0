"""Directives of cores that every part accepts. Each core with such directives has a module here.

`SHARED` of a module is the table of its directives. The code of a directive is in the core's module
in `asm/forms`, which is imported when a source first uses the directive.
"""
