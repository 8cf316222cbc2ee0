"""nnp: the matrix-vector processor with block floating point (seed 003)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.emu.engines import ENGINES
from macaw.emu.nnp.processor import Processor
from macaw.emu.nnp.reference import Reference

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.device import Device


def build(device: Device) -> list[Core]:
    """The one nnp of a device."""
    return [Processor(device) if device.engine == ENGINES[0] else Reference(device)]
