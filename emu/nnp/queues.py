"""NetInQ, NetOutQ and messages: how others reach them through the windows of nnp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu.core import NEVER, Core
from emu.nnp.state import NnpState, size
from emu.nnp.timing import Timing
from isa.nnp import CORE

if TYPE_CHECKING:
    from emu.device import Device


class Queues(Core):
    """What of the core others reach."""

    state: NnpState

    def __init__(self, device: Device) -> None:
        config = device.config
        super().__init__(device, CORE, CORE.name, CORE.number, NnpState(config))
        self.timing = Timing(config)
        self.divider = self.timing.divider
        self.net_in, self.net_out = size(config, "NetInQ"), size(config, "NetOutQ")

    def window_room(self, window: str, time: int, wanted: int) -> tuple[int, int]:
        """See `Core.window_room`."""
        state, whole = self.state, self.timing.vector_bytes
        if window == "netin":
            return (self.net_in - len(state.net_in)) * whole - len(state.arriving), NEVER
        seen = sum(at <= time for at, _ in state.net_out)
        need = -(-(wanted + state.leaving) // whole)
        again = state.net_out[need - 1][0] if need <= len(state.net_out) else NEVER
        return seen * whole - (state.leaving if seen else 0), again

    def push(self, window: str, data: bytes, time: int) -> None:
        """Bytes of vectors come to NetInQ."""
        state, whole = self.state, self.timing.vector_bytes
        state.arriving += data
        while len(state.arriving) >= whole:
            state.net_in.append(state.arriving[:whole])
            state.arriving = state.arriving[whole:]
            self._wake(time)

    def pull(self, window: str, length: int, time: int) -> bytes:
        """Bytes of the vectors in NetOutQ."""
        state, whole = self.state, self.timing.vector_bytes
        found = b""
        while len(found) < length:
            _, data = state.net_out[0]
            piece = data[state.leaving : state.leaving + length - len(found)]
            found += piece
            state.leaving += len(piece)
            if state.leaving == whole:
                state.net_out.pop(0)
                state.leaving = 0
                self._wake(time)
        return found

    def _wake(self, time: int) -> None:
        """A queue has changed in cycle `time`."""
        if self.waiting is not None and self.time > time + 1:
            self.time = self.aligned(time + 1)
