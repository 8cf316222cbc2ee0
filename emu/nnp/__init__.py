"""The core nnp: the matrix-vector processor with block floating point (seed 003)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.system import System

ON_DEMAND = True


def _fast() -> Callable[[System], Core]:
    from macaw.emu.nnp.fast.core import FastNnp

    return FastNnp


def _reference() -> Callable[[System], Core]:
    from macaw.emu.nnp.reference.core import ReferenceNnp

    return ReferenceNnp


ENGINES: dict[str, Callable[[], Callable[[System], Core]]] = {
    "fast": _fast,
    "reference": _reference,
}


def build(device: System) -> list[Core]:
    """Return a list with the one nnp of a device."""
    return [device.select(ENGINES)(device)]
