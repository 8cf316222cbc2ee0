"""Feed streams: segments that a lockstep group has taken into account before the bus sends them.

While no other core requests the feeding half, the bus sends the segments in the cycles that the
group has computed (`lockstep_iterations`). Until the stream ends, the row does not simulate these
beats one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import methodcaller

import numpy as np

from macaw.emu.pe.context import RowContext
from macaw.emu.pe.distribution import Distribution
from macaw.emu.pe.fast.lockstep_group import BusCall, LockstepGroup
from macaw.emu.pe.fast.lockstep_iterations import Stream
from macaw.emu.pe.fast.lockstep_split import sums_call
from macaw.emu.pe.state import Beat
from macaw.isa.lazy_dataclass import dataclass


@dataclass
class FeedStream:
    """The beats of `stream` in the half `half`. From cycle `end` on the bus sends single beats."""

    half: int
    stream: Stream
    end: int

    @classmethod
    def of(cls, context: RowContext, stream: Stream) -> FeedStream:
        """Return the beats of `stream`, whose first segment is the next one on the bus of a row.

        `context` has the data of the row.
        """
        return cls(cls.half_of(context), stream, stream.end)

    @staticmethod
    def half_of(context: RowContext) -> int:
        """Return the number of the half that feeds the row of `context` now."""
        memory = context.memory
        return memory.memory.locate_half(memory.base, 1)[0]

    @staticmethod
    def fits(context: RowContext) -> bool:
        """Return whether the banks can serve each beat of a segment of this row in one cycle."""
        return context.memory.memory.banks.serve_at_once(context.shape.bus_bytes)

    def has_beat(self, cycle: int) -> bool:
        """Return whether the stream has a beat in `cycle`."""
        return self.last_beat(cycle + 1) == cycle

    def last_beat(self, now: int) -> int:
        """Return the cycle of the last beat before cycle `now`; -1 if there is none."""
        cycles = self.stream.cycles
        number = int(np.searchsorted(cycles, now)) - 1  # the last segment that began before `now`
        return -1 if number < 0 else min(self.stream.after(number), now) - 1

    def reached(self, now: int) -> int:
        """Return the cycle after the last one in which beats of the stream move, but at most `now`.

        A beat moves in two cycles: in its own one it gets onto the bus, in the next one the
        clusters take it.
        """
        return min(self.last_beat(now) + 2, now)

    def write(self, bus: Distribution, group: LockstepGroup, now: int) -> int:
        """Deliver the beats before cycle `now`. Return the number of these beats.

        A beat of cycle `now` - 1 is on the bus afterwards. The calls that the bus makes to the
        control units are recorded for a split of the group.
        """
        stream, state, packet = self.stream, bus.state, self.stream.packet
        begun = int(np.searchsorted(stream.cycles, now))
        if not begun:
            return 0
        # Whether the clusters have yet to take the last beat of the segment that the bus sends.
        is_open = stream.after(begun - 1) >= now
        done = begun - is_open
        beats = sum(stream.beats(number) for number in range(done))
        segments = packet["segments"][stream.first : stream.first + done]
        state.bus_beats += beats
        state.bus_bytes += sum(segment["length"] for segment in segments)
        for number in range(done):
            state.bus_waits += stream.cycles[number] - state.bus_free
            state.bus_free = stream.after(number)
        self._fill(bus, done)
        group.bus_calls.append(self._calls(group, begun, now))
        packet["segment"], packet["sent"] = stream.first + done, 0
        return beats + (self._send(bus, done, now) if is_open else 0)

    def _fill(self, bus: Distribution, done: int) -> None:
        """Write the first `done` segments to the PEs, but only the last segment of each target.

        All segments of activations have the same length, so a later one overwrites an earlier one
        with the same target. The group has added segments of partial sums to its own accumulators.
        """
        stream, loading = self.stream, bus.units.loading
        packet, peek = stream.packet, bus.context.memory.peek
        filling = (number for number in range(done) if stream.sums(number) is None)
        last = {stream.target(number): number for number in filling}
        shape = len(packet["clusters"]), bus.shape.pes
        for target, number in sorted(last.items(), key=lambda item: item[1]):
            segment = packet["segments"][stream.first + number]
            data = peek(segment["offset"], segment["length"])
            starts = np.full(shape, target, np.int32)
            loading.fill_dense(packet, stream.first + number, data, starts)

    def _calls(self, group: LockstepGroup, begun: int, now: int) -> Iterator[BusCall]:
        """Yield the calls that the bus made to the control units of `group` before cycle `now`.

        The bus has begun the first `begun` segments of the stream. If the group splits, each
        control unit repeats these calls.
        """
        stream, packet = self.stream, self.stream.packet
        for number, cycle in enumerate(stream.cycles[:begun]):
            segment, end, sums = stream.first + number, stream.after(number), stream.sums(number)
            yield BusCall(cycle, False, methodcaller("begin_segment", packet))
            if cycle + 1 < now:
                call = methodcaller("first_beat", packet, segment, cycle)
                yield BusCall(cycle + 1, True, call)
            if end < now and sums is not None:
                yield BusCall(end, True, sums_call(group, stream.target(number), sums))
            if end < now:
                yield BusCall(end, True, methodcaller("last_beat", packet, segment, end - 1))

    def _send(self, bus: Distribution, number: int, now: int) -> int:
        """Send the beats of segment `number` of the stream that come before cycle `now`.

        The caller ensures that the clusters have not taken the segment's last beat before `now`.
        So the last beat that is sent stays on the bus. Return the number of sent beats.
        """
        stream, state, width = self.stream, bus.state, bus.shape.bus_bytes
        packet, cycle = stream.packet, stream.cycles[number]
        segment, beats = packet["segments"][stream.first + number], now - cycle
        data = bus.context.memory.peek(segment["offset"], segment["length"])
        pieces = [data[at : at + width] for at in range(0, len(data), width)][:beats]
        piece = pieces.pop()
        length = len(piece)
        packet["chunks"] = pieces
        packet["sent"] = (beats - 1) * width
        if pieces:
            state.bus_waits += cycle - state.bus_free
            state.bus_beats += beats - 1
            state.bus_bytes += (beats - 1) * width
            state.bus_free = now - 1
        state.beat = Beat(
            cycle=now - 1,
            command=False,
            carried=length,
            pieces=[(stream.first + number, length, length)],
            data=piece,
        )
        return beats
