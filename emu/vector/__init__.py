"""The core vc: the SIMD core with the permute multiply-accumulate (seed 002)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.system import System
    from macaw.emu.vector.core import VectorCore

ON_DEMAND = True


def _fast() -> type[VectorCore]:
    from macaw.emu.vector.fast.core import FastVectorCore

    return FastVectorCore


def _reference() -> type[VectorCore]:
    from macaw.emu.vector.reference import ReferenceVectorCore

    return ReferenceVectorCore


ENGINES: dict[str, Callable[[], type[VectorCore]]] = {"fast": _fast, "reference": _reference}


def build(device: System) -> list[Core]:
    """Return a list with the one vc of a device."""
    return [device.select(ENGINES)(device)]
