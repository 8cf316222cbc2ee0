"""The syntax that a core's source has besides plain instructions: one module for each core or base.

A module has the name of the core or base in the tables. The module's `PART` is the `CorePart` class
of the core. Those directives of a core that every part accepts are in `asm/forms/shared`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from macaw.asm.core_part import CorePart
from macaw.asm.directive import Directive
from macaw.asm.forms import shared
from macaw.isa import registry


def part_class(core: str) -> type[CorePart]:
    """Return the `CorePart` class of a core: `PART` of its module or of its base's module.

    If neither has a module, return `CorePart` itself.
    """
    for name in _modules(core):
        part: type[CorePart] = import_module(name).PART
        return part
    return CorePart


def shared_directives() -> Sequence[Directive]:
    """Return the directives of the modules in `asm/forms/shared`."""
    names = sorted(info.name for info in pkgutil.iter_modules(shared.__path__))
    modules = [import_module(f"{shared.__name__}.{name}") for name in names]
    return tuple(row for module in modules for row in module.SHARED)


def _modules(core: str) -> list[str]:
    names = (f"{__name__}.{name}" for name in registry.form_modules(core))
    return [name for name in names if find_spec(name) is not None]
