"""Finds the cores: all modules of `isa` that have a `CORE`. There is no list of their names."""

from __future__ import annotations

import pkgutil
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from macaw import isa
from macaw.isa.errors import MacawError
from macaw.isa.model import Core


class UnknownCoreError(MacawError, LookupError):
    """No core has this name; the message lists the cores."""


@cache
def _found() -> dict[str, tuple[str, Core]]:
    """Return (module name, table) of each core by the core's name, ordered by core number."""
    modules = {
        info.name: import_module(f"macaw.isa.{info.name}")
        for info in pkgutil.iter_modules(isa.__path__)
    }
    tables = {name: getattr(module, "CORE", None) for name, module in modules.items()}
    cores = [(name, table) for name, table in tables.items() if isinstance(table, Core)]
    return {table.name: (name, table) for name, table in sorted(cores, key=lambda x: x[1].number)}


def names() -> tuple[str, ...]:
    """Return the names of all cores, ordered by core number. This imports every table."""
    return tuple(_found())


def module(name: str) -> str:
    """Return the name of a core's module, which is the same in `isa`, `emu` and `asm.forms`.

    It is the core's own name, or one that says more (`vector` of vc). Raises `UnknownCoreError`.
    """
    if _own(name) is not None:
        return name
    if name in _found():
        return _found()[name][0]
    raise _unknown(name)


def form_modules(name: str) -> tuple[str, ...]:
    """Return the modules that may have a core's forms: its own, then that of its base.

    Raises `UnknownCoreError`.
    """
    base = core(name).base
    return (module(name), base) if base else (module(name),)


def core(name: str) -> Core:
    """Return the table of the core `name`. Raises `UnknownCoreError`.

    Only that table is imported if its module has the core's name.
    """
    table = _own(name)
    if table is not None:
        return table
    if name in _found():
        return _found()[name][1]
    raise _unknown(name)


@cache
def _own(name: str) -> Core | None:
    """Return the table of the core `name` from the module of that name; None if there is none."""
    if name.isidentifier() and find_spec(f"macaw.isa.{name}") is not None:
        table = getattr(import_module(f"macaw.isa.{name}"), "CORE", None)
        if isinstance(table, Core) and table.name == name:
            return table
    return None


def _unknown(name: str) -> UnknownCoreError:
    near = get_close_matches(name, names(), 1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return UnknownCoreError(f"no core is called '{name}', there are {', '.join(names())}{hint}")


@cache
def cores() -> tuple[Core, ...]:
    """Return all tables, ordered by core number."""
    return tuple(core(name) for name in names())
