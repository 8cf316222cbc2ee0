"""The core nnp with the reference engine."""

from __future__ import annotations

from collections.abc import Callable

from macaw.emu.nnp.core import NnpCore
from macaw.emu.nnp.origins import ChainOrigins
from macaw.emu.nnp.reference.arithmetic import ReferenceArithmetic
from macaw.emu.nnp.reference.scheduler import ReferenceScheduler
from macaw.emu.origins import Origins
from macaw.emu.system import System


class ReferenceNnp(NnpCore):
    """The core nnp that executes one iteration of a chain at a time."""

    def __init__(self, device: System) -> None:
        super().__init__(device, ReferenceArithmetic, ReferenceScheduler, batches=False)

    def remember(self, number: Callable[[], int]) -> Origins:
        """Start to record where values come from. Return the record.

        `number` returns how many events the device has announced to listeners so far.
        """
        origins = ChainOrigins(self.state, self.timing, self.arithmetic, number, lambda: self.time)
        self.origins = self.chain_origins = self.execution.origins = origins
        return origins
