"""Return bursts: many beats of stores, which the fast engine writes at once.

While no other core requests the feeding half and nothing else happens in the row, the return bus
writes one beat in each cycle, and the clusters take turns. Such beats change only memory, counters
and the beats that are left to write. A burst ends with the last beat of a store.
"""

from __future__ import annotations

from macaw.emu.pe.context import RowContext
from macaw.emu.pe.fast.burst import Burst
from macaw.emu.pe.return_bus import ReturnBus
from macaw.isa.lazy_dataclass import dataclass

_FEWEST = 2  # the least number of beats for which a burst saves time


@dataclass
class ReturnBurst(Burst):
    """Beats of stores in the cycles `first` to `end` - 1.

    When the burst starts, the previous beat is on the return bus. From cycle `end` on the bus
    writes single beats again. `clusters` are the clusters that store, in the order of their turns.
    """

    half: int
    clusters: list[int]
    first: int
    end: int

    @classmethod
    def after(cls, context: RowContext, cycle: int, limit: int) -> ReturnBurst | None:
        """Return the burst that follows the beat granted in `cycle`; None if no burst can follow.

        The burst is that of the row of `context`. A burst needs two or more beats before cycle
        `limit`, for each of which the banks need one cycle, and no other request for the half.
        """
        state, memory, count = context.state, context.memory.memory, context.shape.clusters
        current = state.returning
        turns = [(current + 1 + turn) % count for turn in range(count)]
        stores = {cluster: context.clusters[cluster].storing() for cluster in turns}
        left = {cluster: op["beats"] for cluster, op in stores.items() if op is not None}
        written = left[current][0]
        left[current] = left[current][1:]
        if not left[current]:
            return None  # the store ends in the next cycle
        clusters = list(left)
        beats = min(
            (len(own) - 1) * len(left) + place for place, own in enumerate(left.values(), 1)
        )
        beats = min(beats, limit - cycle - 1)
        half, _ = memory.locate_half(context.memory.base + written[0][0][0], 1)
        banks = memory.banks
        if beats < _FEWEST or banks.has_request_in(half) or half in banks.exclusive:
            return None
        for number in range(beats):
            own = left[clusters[number % len(clusters)]]
            ranges, _ = own[number // len(clusters)]
            if len(banks.pieces(ranges)) > 1:
                beats = number
                break
        return cls(half, clusters, cycle + 1, cycle + 1 + beats) if beats >= _FEWEST else None

    def write(self, bus: ReturnBus, now: int) -> int:
        """Write the beats of the burst before cycle `now`, and put the last of them on the bus.

        Return the number of these beats.
        """
        beats = min(now, self.end) - self.first
        if beats <= 0:
            return 0
        bus.take_in()  # the beat before the burst
        state, context, turns = bus.state, bus.context, len(self.clusters)
        pages = context.memory.memory.halves[self.half]
        ops = [context.clusters[cluster].storing() for cluster in self.clusters]
        left = [op["beats"] for op in ops if op is not None]  # all of them, up to the burst's end
        for number in range(beats):
            ranges, data = left[number % turns][number // turns]
            at = 0
            for offset, length in ranges:
                pages.write(offset, data[at : at + length])
                at += length
            state.return_bytes += at
        state.return_bytes -= at  # the last beat stays on the bus
        last = beats - 1
        state.return_beats += last
        for turn, own in enumerate(left):
            del own[: (last - turn + turns - 1) // turns]
        if last:
            state.return_turn = (self.clusters[(last - 1) % turns] + 1) % context.shape.clusters
        state.returning, state.returned = self.clusters[last % turns], self.first + last
        return beats
