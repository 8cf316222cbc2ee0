"""Which cores there are: the modules of `isa` that have a `CORE`. Nothing lists them."""

from __future__ import annotations

import pkgutil
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.util import find_spec

import isa
from isa.model import Core


class UnknownCoreError(LookupError):
    """No table has this name; the message lists the cores."""


@cache
def names() -> tuple[str, ...]:
    """The names of all cores, ordered by core number. Imports every table."""
    modules = (import_module(f"isa.{info.name}") for info in pkgutil.iter_modules(isa.__path__))
    tables = (getattr(module, "CORE", None) for module in modules)
    cores = [table for table in tables if isinstance(table, Core)]
    return tuple(table.name for table in sorted(cores, key=lambda table: table.number))


def core(name: str) -> Core:
    """The table of the core `name`; imports that table alone. Raises `UnknownCoreError`."""
    if name.isidentifier() and find_spec(f"isa.{name}") is not None:
        table = getattr(import_module(f"isa.{name}"), "CORE", None)
        if isinstance(table, Core):
            return table
    near = get_close_matches(name, names(), 1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    raise UnknownCoreError(f"no core is called '{name}', there are {', '.join(names())}{hint}")


def cores() -> tuple[Core, ...]:
    """All tables, ordered by core number."""
    return tuple(core(name) for name in names())
