"""The core nnp with the fast engine."""

from __future__ import annotations

from macaw.emu.nnp.core import NnpCore
from macaw.emu.nnp.fast.arithmetic import FastArithmetic
from macaw.emu.nnp.schedules.scheduler import FastScheduler
from macaw.emu.system import System


class FastNnp(NnpCore):
    """The core nnp that executes many iterations at once if no other core can notice."""

    def __init__(self, device: System) -> None:
        super().__init__(device, FastArithmetic, FastScheduler, batches=True)
