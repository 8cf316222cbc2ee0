"""The meter of cp: it counts the operations and memory accesses of cp's instructions."""

from __future__ import annotations

from macaw.emu.core import Core
from macaw.emu.meter import Meter
from macaw.emu.metered_memory import MeteredMemory
from macaw.emu.scalar.core import ScalarCore
from macaw.emu.scalar.meter import ScalarMeter


def make(core: Core, memory: MeteredMemory) -> Meter:
    """Return a new meter of cp."""
    assert isinstance(core, ScalarCore)
    return ScalarMeter(core, memory)
