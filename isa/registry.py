"""Finds the cores and their tables by the modules in `isa/descriptors`; there is no list of names.

The descriptors of all cores are imported at once, the table of a core only when it is needed.
"""

from __future__ import annotations

import pkgutil
from difflib import get_close_matches
from functools import cache
from importlib import import_module

from macaw.isa import descriptors
from macaw.isa.errors import MacawError
from macaw.isa.model import Core, CoreDescriptor


class UnknownCoreError(MacawError, LookupError):
    """The error for a name that is not the name of a core; the message lists the cores."""


@cache
def _found() -> dict[str, tuple[str, CoreDescriptor]]:
    """Return (module name, descriptor) of each core by the core's name, ordered by core number."""
    names = [info.name for info in pkgutil.iter_modules(descriptors.__path__)]
    modules = {name: import_module(f"{descriptors.__name__}.{name}") for name in names}
    cores: list[tuple[str, CoreDescriptor]] = [
        (name, module.DESCRIPTOR) for name, module in modules.items()
    ]
    return {core.name: (name, core) for name, core in sorted(cores, key=lambda x: x[1].number)}


def all_descriptors() -> tuple[CoreDescriptor, ...]:
    """Return the descriptors of all cores, ordered by core number. No table is imported."""
    return tuple(core for _, core in _found().values())


def names() -> tuple[str, ...]:
    """Return the names of all cores, ordered by core number. No table is imported."""
    return tuple(_found())


def module(name: str) -> str:
    """Return the name of a core's module; it is the same in `isa`, `emu` and `asm.forms`.

    It is the core's name or a longer one (`vector` for vc). Raises `UnknownCoreError`.
    """
    return _entry(name)[0]


def form_modules(name: str) -> tuple[str, ...]:
    """Return the names of the modules that may have the assembler's code for a core.

    Such modules are in the folders `asm/forms` and `asm/disassembly/forms`. `name` is the core's
    name. The first module is the core's own; the second is the module of its base (`scalar` for cp
    and vc). Raises `UnknownCoreError`.
    """
    own, descriptor = _entry(name)
    return (own, descriptor.base) if descriptor.base else (own,)


@cache
def core(name: str) -> Core:
    """Return the table of the core `name`; no other table is imported.

    Raises `UnknownCoreError`.
    """
    table: Core = import_module(f"macaw.isa.{module(name)}").CORE
    return table


def control() -> Core:
    """Return the table of the control core, which has the core number 0."""
    return core(names()[0])


def _entry(name: str) -> tuple[str, CoreDescriptor]:
    if name not in _found():
        raise _unknown(name)
    return _found()[name]


def _unknown(name: str) -> UnknownCoreError:
    near = get_close_matches(name, names(), 1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return UnknownCoreError(f"no core is called '{name}', there are {', '.join(names())}{hint}")


@cache
def cores() -> tuple[Core, ...]:
    """Return the tables of all cores, ordered by core number."""
    return tuple(core(name) for name in names())
