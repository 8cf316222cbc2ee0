"""fim: islands of DRAM banks with function-in-memory circuits (seed 004)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from macaw.isa.fim_islands import geometry

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.fim.core import IslandCore
    from macaw.emu.system import System

ON_DEMAND = True


def _fast() -> type[IslandCore]:
    from macaw.emu.fim.fast import FastIsland

    return FastIsland


def _reference() -> type[IslandCore]:
    from macaw.emu.fim.reference import ReferenceIsland

    return ReferenceIsland


ENGINES: dict[str, Callable[[], type[IslandCore]]] = {"fast": _fast, "reference": _reference}


def build(device: System) -> list[Core]:
    """Return a list of the islands of a device; each is one core."""
    engine, memory = device.select(ENGINES), geometry(device.config)
    return [engine(device, number, memory) for number in range(device.config["fim.islands"])]
