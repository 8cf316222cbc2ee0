"""The core vc: the SIMD core with the permute multiply-accumulate (seed 002)."""

from __future__ import annotations

from macaw.emu.core import Core
from macaw.emu.system import System
from macaw.emu.vector.fast.core import FastVectorCore
from macaw.emu.vector.reference import ReferenceVectorCore

ENGINES = {"reference": ReferenceVectorCore, "fast": FastVectorCore}


def build(device: System) -> list[Core]:
    """Return a list with the one vc of a device."""
    return [device.select(ENGINES)(device)]
