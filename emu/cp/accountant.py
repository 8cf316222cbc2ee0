"""The accountant of cp: it charges each cycle of cp to a cause."""

from __future__ import annotations

from macaw.emu.accountant import Accountant
from macaw.emu.core import Core
from macaw.emu.scalar.accountant import ScalarAccountant
from macaw.emu.scalar.core import ScalarCore


def make(core: Core) -> Accountant:
    """Return a new accountant of cp."""
    assert isinstance(core, ScalarCore)
    return ScalarAccountant(core)
