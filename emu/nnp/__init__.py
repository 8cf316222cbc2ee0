"""nnp: the matrix-vector processor with block floating point (seed 003)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emu.core import Core
    from emu.device import Device


def build(device: Device) -> list[Core]:
    """No core yet: there is its arithmetic, `emu.nnp.numbers`."""
    return []
