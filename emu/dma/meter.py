"""The meter of the dma: the bytes that transfers move, and the tensors that they bring on-chip."""

from __future__ import annotations

from collections import deque

from macaw.emu.core import Core, Event
from macaw.emu.dma.core import DmaCore
from macaw.emu.meter import Meter
from macaw.emu.metered_memory import MeteredMemory


class DmaMeter(Meter):
    """Counts transfers and the bytes of their beats."""

    core: DmaCore

    def __init__(self, core: DmaCore, memory: MeteredMemory) -> None:
        super().__init__(core, memory)
        # by beat of the present transfer: the number of bytes read up to its end, and its tensor
        self.beats: deque[tuple[int, str]] = deque()
        self.read = self.written = 0  # bytes of the present transfer

    def hear(self, event: Event) -> None:
        if event.kind == "begin":
            self._note_address()
            self.beats.clear()
            self.read = self.written = 0
            self.add("commands", 1, self.address)
        elif event.kind in ("read", "write"):
            self._note_address()
            address, size = int(event.values["address"]), int(event.values["size"])
            tensor = self.move(address, size, event.kind)
            if event.kind == "read":
                self.read += size
                self.beats.append((self.read, tensor))
            else:
                self.memory.label(address, size, self._source(size))

    def _note_address(self) -> None:
        address = self.core.transfer.address
        self.address = None if address < 0 else address

    def _source(self, size: int) -> str:
        """Return the name of the tensor of the next `size` bytes that the dma writes, or "".

        The dma has read these bytes earlier, and the meter has recorded the name of their tensor.
        """
        # a multicast writes the bytes of a beat once for each of its units
        place = self.written // (self.core.transfer.further_units + 1)
        self.written += size
        while self.beats and self.beats[0][0] <= place:
            self.beats.popleft()
        return self.beats[0][1] if self.beats else ""

    @property
    def access_bytes(self) -> float:
        return 2 * self.core.width / self.core.divider  # a read and a write in one cycle


def make(core: Core, memory: MeteredMemory) -> Meter:
    """Return a new meter of the dma."""
    assert isinstance(core, DmaCore)
    return DmaMeter(core, memory)
