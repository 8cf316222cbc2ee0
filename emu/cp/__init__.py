"""The core cp: the command processor 238, a scalar core with the instructions of Xcp."""

from __future__ import annotations

from collections.abc import Callable

from macaw.emu.core import Core
from macaw.emu.cp import semantics
from macaw.emu.scalar.fast.hart import FastHart
from macaw.emu.scalar.hart import Hart
from macaw.emu.system import System
from macaw.isa.cp import CORE


def _reference() -> type[Hart]:
    from macaw.emu.scalar.reference import ReferenceHart

    return ReferenceHart


ENGINES: dict[str, Callable[[], type[Hart]]] = {"fast": lambda: FastHart, "reference": _reference}


def build(device: System) -> list[Core]:
    """Return a list with the one cp of a device."""
    return [device.select(ENGINES)(device, CORE, CORE.name, CORE.number, (semantics,))]
