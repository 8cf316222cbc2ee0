"""The core nnp: the matrix-vector processor with block floating point (seed 003)."""

from __future__ import annotations

from macaw.emu.core import Core
from macaw.emu.nnp.fast.core import FastNnp
from macaw.emu.nnp.reference.core import ReferenceNnp
from macaw.emu.system import System

ENGINES = {"fast": FastNnp, "reference": ReferenceNnp}


def build(device: System) -> list[Core]:
    """Return a list with the one nnp of a device."""
    return [device.select(ENGINES)(device)]
