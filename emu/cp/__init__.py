"""cp: the command processor 238."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.emu.cp.processor import Processor

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.device import Device


def build(device: Device) -> list[Core]:
    """The one cp of a device."""
    return [Processor(device)]
