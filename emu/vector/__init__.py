"""vc: the SIMD core with the permuted multiply-accumulate (seed 002)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.emu.vector.processor import Processor

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.device import Device


def build(device: Device) -> list[Core]:
    """The one vc of a device."""
    return [Processor(device)]
