"""cp: the command processor 238."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu.cp.processor import Processor

if TYPE_CHECKING:
    from emu.core import Core
    from emu.device import Device


def build(device: Device) -> list[Core]:
    """The one cp of a device."""
    return [Processor(device)]
