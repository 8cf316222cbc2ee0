"""Feed bursts: many beats from the middle of a segment, which the fast engine delivers at once.

While no other core requests the half of the on-chip unit that feeds the row, one beat arrives in
each cycle. Beats in the middle of a segment change only counters and the bytes of the packet that
have been delivered.
"""

from __future__ import annotations

from macaw.emu.pe.commands import command_of
from macaw.emu.pe.context import RowContext
from macaw.emu.pe.distribution import Distribution
from macaw.emu.pe.fast.burst import Burst
from macaw.emu.pe.sequence import COMPRESS
from macaw.emu.pe.state import Beat
from macaw.isa.lazy_dataclass import dataclass

_FEWEST = 2  # the least number of beats for which a burst saves time


@dataclass
class FeedBurst(Burst):
    """Beats in the cycles `first` to `end` - 1, each as wide as the bus.

    The bytes of the first beat are at offset `at` of the half `half`. When the burst starts, the
    previous beat is on the bus. From cycle `end` on the bus sends single beats again.
    """

    half: int
    at: int
    first: int
    end: int

    @classmethod
    def after(cls, context: RowContext, cycle: int) -> FeedBurst | None:
        """Return the burst that follows the beat granted in `cycle`; None if no burst can follow.

        The burst is on the bus of the row of `context`. It has all remaining beats of an
        uncompressed segment except the last one. It is possible only if there are at least two such
        beats, and if no other core has a request for the half.
        """
        state, memory, width = context.state, context.memory.memory, context.shape.bus_bytes
        packet, beat, banks = state.packet, state.beat, memory.banks
        if len(beat["pieces"]) != 1 or not command_of(packet).loads:
            return None
        number, length, _ = beat["pieces"][0]
        segment = packet["segments"][number]
        if beat["command"] or not packet["sent"] or segment["form"] == COMPRESS:
            return None
        # Leave out the segment's last beat, because the next segment may begin in it.
        count = (segment["length"] - packet["sent"] - length - 1) // width
        if count < _FEWEST or not banks.serve_at_once(width):
            return None
        address = context.memory.base + segment["offset"]
        half, offset = memory.locate_half(address, segment["length"])
        if banks.has_request_in(half):
            return None
        return cls(half, offset + packet["sent"] + length, cycle + 1, cycle + 1 + count)

    def write(self, bus: Distribution, now: int) -> int:
        """Deliver the beats of the burst before cycle `now`, and put the last one on the bus.

        Return the number of these beats.
        """
        beats = min(now, self.end) - self.first
        if beats <= 0:
            return 0
        bus.take_in()  # the beat before the burst
        state, width = bus.state, bus.shape.bus_bytes
        packet, last = state.packet, self.first + beats - 1
        data = bus.context.memory.memory.halves[self.half].read(self.at, beats * width)
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
