"""fim: islands of banks with function-in-memory circuits (seed 004)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emu.core import Core
    from emu.device import Device


def build(device: Device) -> list[Core]:
    """No core yet: there are its arithmetic and its memory's timing."""
    return []
