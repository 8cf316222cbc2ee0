"""Return bursts: beats of stores, which the fast engine writes without requests.

While no other core requests the feeding half and nothing else happens in the row, the return bus
writes one beat in each cycle, and the clusters take turns. Such beats change only memory, counters
and the beats that are left to write. A burst ends with the last beat of a store.
"""

from __future__ import annotations

from macaw.emu.pe.context import RowContext
from macaw.emu.pe.fast.burst import Burst
from macaw.emu.pe.return_bus import ReturnBus
from macaw.emu.pe.state import FREE, STORE, Op
from macaw.emu.pe.stores import Beats
from macaw.isa.lazy_dataclass import dataclass


@dataclass
class ReturnBurst(Burst):
    """Beats of stores in the cycles `first` to `end` - 1.

    The return bus has chosen the first beat, but has not requested it from memory. From cycle `end`
    on the row acts again. `stores` has the stores by cluster, in the order of their turns; `beats`
    has the beats in their order.
    """

    half: int
    stores: dict[int, Op]
    beats: Beats
    first: int
    end: int

    @classmethod
    def of(cls, context: RowContext, first: int, limit: int) -> ReturnBurst | None:
        """Return the burst that begins with the chosen beat in cycle `first`; None if none can.

        The burst is on the return bus of the row of `context`. It ends before cycle `limit`, and
        before the first beat for which the banks need more than one cycle. No burst can begin while
        the half has a request, or while a core has exclusive access to the half.
        """
        state, memory, units = context.state, context.memory.memory, context.state.units
        half, _ = memory.locate_half(context.memory.base, 1)
        banks = memory.banks
        if banks.has_request_in(half) or half in banks.exclusive:
            return None
        count, stores = limit - first, dict[int, Op]()
        for cluster in (*range(state.returning, len(units)), *range(state.returning)):
            op = None if units[cluster][STORE] == FREE else context.clusters[cluster].storing()
            if op is not None:
                stores[cluster] = op
                if len(stores) >= count:
                    break  # each cluster has one turn at most
        left, turns = [op["beats"] for op in stores.values()], len(stores)
        for place, own in enumerate(left, 1):
            count = min(count, (len(own) - 1) * turns + place)
        whole, rest = divmod(count, turns)
        rounds = zip(*(own[:whole] for own in left), strict=True)
        beats = [beat for one in rounds for beat in one] + [own[whole] for own in left[:rest]]
        serves_any = banks.serve_at_once(context.shape.bus_bytes)
        for number, (ranges, _) in enumerate(beats):
            if (len(ranges) > 1 or not serves_any) and len(banks.pieces(ranges)) > 1:
                del beats[number:]
                break
        return cls(half, stores, beats, first, first + len(beats)) if beats else None

    def count_by_cluster(self, now: int) -> dict[int, int]:
        """Return, for each cluster, how many beats of its store come before cycle `now`."""
        count, turns = min(now, self.end) - self.first, len(self.stores)
        return {
            cluster: (count - turn + turns - 1) // turns
            for turn, cluster in enumerate(self.stores)
            if turn < count
        }

    def write(self, bus: ReturnBus, now: int) -> int:
        """Write the beats of the burst before cycle `now`, and put the last one on the bus.

        Return the number of these beats.
        """
        count = min(now, self.end) - self.first
        if count <= 0:
            return 0
        state, context, turns = bus.state, bus.context, len(self.stores)
        pages, last = context.memory.memory.halves[self.half], count - 1
        for ranges, data in self.beats[:count]:
            at = 0
            for offset, length in ranges:
                pages.write(offset, data[at : at + length])
                at += length
            state.return_bytes += at
        state.return_bytes -= at  # the last beat stays on the bus
        state.return_beats += last
        for turn, op in enumerate(self.stores.values()):
            del op["beats"][: (last - turn + turns - 1) // turns]
        clusters = list(self.stores)
        if last:
            state.return_turn = (clusters[(last - 1) % turns] + 1) % context.shape.clusters
        state.returning, state.returned = clusters[last % turns], self.first + last
        return count
