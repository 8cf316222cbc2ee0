"""Beats in the middle of a segment, several at once, for the fast engine.

As long as nobody else asks for the half of the unit, a beat a cycle comes; all that the ones in
the middle of a segment change are counts, and the bytes that the packet has brought so far.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from macaw.emu.pe.commands import command_of
from macaw.emu.pe.state import Beat

if TYPE_CHECKING:
    from macaw.emu.pe.row import Row

_FEWEST = 2  # beats that are worth it


@dataclass
class Stream:
    """Beats in the cycles `first` to `end` - 1, each as wide as the bus.

    The beat before them is on the bus when they begin; the next one in the cycle `end` is again
    the bus's own.
    """

    half: int
    at: int  # offset of the first beat's bytes in the half
    first: int
    end: int

    @classmethod
    def after(cls, row: Row, cycle: int) -> Stream | None:
        """The beats behind the one that was granted in `cycle`, if they may come by themselves."""
        state, banks = row.state, row.device.memory.banks
        packet, beat, width = state.packet, state.beat, row.shape.bus_bytes
        if len(beat["pieces"]) != 1 or not command_of(packet).loads:
            return None
        number, length, _ = beat["pieces"][0]
        segment = packet["segments"][number]
        if beat["command"] or not packet["sent"] or segment["compress"]:
            return None
        # The last beat of the segment is none of them: the next segment may begin in it.
        count = (segment["length"] - packet["sent"] - length - 1) // width
        words = -(-(width - 1) // banks.width) + 1  # at most that many banks a beat
        if count < _FEWEST or words > banks.count:
            return None
        address = row.device.memory.feeding_address(row.shape.row) + segment["offset"]
        half, offset = row.device.memory.locate_half(address, segment["length"])
        if banks.has_request_in(half):
            return None
        return cls(half, offset + packet["sent"] + length, cycle + 1, cycle + 1 + count)

    def write(self, row: Row, now: int) -> int:
        """Bring bus and packet to the start of cycle `now`; how many beats came before it."""
        beats = min(now, self.end) - self.first
        if beats <= 0:
            return 0
        row.bus.take_in()  # the beat in front of them
        state, width = row.state, row.shape.bus_bytes
        packet, last = state.packet, self.first + beats - 1
        data = row.device.memory.halves[self.half].read(self.at, beats * width)
        pieces = [data[at : at + width] for at in range(0, len(data), width)]
        state.beat = Beat(
            cycle=last,
            command=False,
            carried=width,
            pieces=[(packet["segment"], width, width)],
            data=pieces.pop(),
        )
        packet["chunks"] += pieces
        packet["sent"] += (beats - 1) * width
        state.bus_beats += beats - 1
        state.bus_bytes += (beats - 1) * width
        state.bus_free = last
        return beats
