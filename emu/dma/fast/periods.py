"""Periods: a transfer without an arbiter repeats the same acts, so many periods are done at once.

Between two cycles in which another core acts, the next act of such a transfer depends only on the
state of the dma and the channel, relative to the present cycle and to the next byte. If this
relative state comes back, the acts in between will come back too, with the next bytes. The search
is Brent's: it compares the present state with one earlier state, and replaces the earlier state
after 1, 2, 4, ... acts.

The two states must be equal but for one thing: the cycles from which the dma can write the beats
in its buffer. These cycles may differ if each beat is ready before the dma would write it anyway,
because the difference then has no effect. The acts repeat as long as each beat is ready in time.
"""

from __future__ import annotations

from math import lcm

from macaw.emu.dma.core import DmaCore
from macaw.emu.tallies import PARTIAL, READS, WRITES
from macaw.emu.waits import NEVER
from macaw.isa.typed_records import NamedTuple

_FIRST = 4  # how many numbers of a relative state are compared first


class _Present(NamedTuple):
    """A state of the dma before an act.

    `relative` has what must be equal before and after a period. `ready` has the cycle from which
    the dma can write each buffered beat. The times in both count from the present cycle. The fields
    after `ready` grow in each period.
    """

    relative: tuple[object, ...]
    ready: list[int]
    time: int
    position: int
    channel_free: int
    counts: tuple[int, ...]


class Periods:
    """Finds the period of one dma's running transfer, and skips whole periods."""

    def __init__(self, dma: DmaCore) -> None:
        self.dma = dma
        self.channel = dma.device.memory.channel
        self.alignment = lcm(dma.width, self.channel.width)
        self.restart()

    def restart(self) -> None:
        """Begin a new search for a period, without the state recorded so far.

        This is necessary after a cycle in which another core may have acted.
        """
        self._earlier: _Present | None = None
        self._acts, self._until = 0, 1
        # since the earlier state: the cycles of writes, and for how long at least their beats were
        # ready before
        self._writes: list[int] = []
        self._slack = NEVER

    def skip(self, limit: int) -> None:
        """Skip as many whole periods as possible; the next act must still be before cycle `limit`.

        The skipped acts are all in the present row of the transfer. If no period has been found
        yet, only record the present state.
        """
        earlier = self._earlier
        self._acts += 1
        if earlier is None or self._acts > self._until:
            self._earlier = self._present()
            self._acts, self._until = 0, 2 * self._until
            self._writes, self._slack = [], NEVER
        elif earlier.relative[:_FIRST] == self._first():  # most states differ in these
            self._compare(earlier, limit)
        state, time = self.dma.state, self.dma.time
        if state.buffer and state.write_free <= time and state.buffer[0][0] <= time:
            self._writes.append(time)
            self._slack = min(self._slack, time - state.buffer[0][0])

    def _compare(self, earlier: _Present, limit: int) -> None:
        """Skip whole periods if the present state differs from `earlier` only in time and position.

        The states may also differ in `ready`, if this has no effect (`_is_ready`). The skipped acts
        are before cycle `limit`.
        """
        buffer = self.dma.state.buffer
        is_late = self._slack < self.dma.divider  # whether a write has waited for its beat
        if is_late and buffer and buffer[0][0] - self.dma.time != earlier.ready[0]:
            return
        present = self._present()
        if present.relative != earlier.relative:
            return
        if present.ready == earlier.ready or (not is_late and self._is_ready(earlier, present)):
            self._repeat(earlier, present, limit)

    def _is_ready(self, earlier: _Present, present: _Present) -> bool:
        """Return whether each beat in the buffer will be ready before its write in later periods.

        A period lasts from the state `earlier` to the state `present`.
        """
        writes, cycles = self._writes, present.time - earlier.time
        count = len(writes)
        if not 0 < count <= len(present.ready):
            return False
        return all(
            ready + self.dma.divider
            <= writes[place % count] - earlier.time + place // count * cycles
            for place, ready in enumerate(present.ready)
        )

    def _first(self) -> tuple[int, ...]:
        """Return the first `_FIRST` numbers that `_Present.relative` has for the present state.

        They differ most often between two states. So they mostly suffice to find that the present
        state is not equal to the earlier one.
        """
        state, time = self.dma.state, self.dma.time
        return len(state.buffer), state.row, state.read_free - time, state.write_free - time

    def _present(self) -> _Present:
        dma, state = self.dma, self.dma.state
        time, copy = dma.time, dma.copy
        src = copy.src + state.row * copy.src_stride + state.position
        dst = copy.dst + state.row * copy.dst_stride + state.position
        relative = (
            *self._first(),
            state.ready - time,
            max(0, self.channel.free - time),
            time % dma.divider,
            src % self.alignment,
            dst % self.alignment,
            [(to - dst, len(data)) for _, to, data in state.buffer],
        )
        ready = [beat[0] - time for beat in state.buffer]
        counts = state.beats, state.bytes, *_traffic(dma)
        return _Present(relative, ready, time, state.position, self.channel.free, counts)

    def _repeat(self, earlier: _Present, present: _Present, limit: int) -> None:
        dma, state = self.dma, self.dma.state
        cycles, step = present.time - earlier.time, present.position - earlier.position
        moved = present.channel_free - earlier.channel_free
        if step <= 0 or moved not in (0, cycles):
            return
        # The next act is before `limit`, and the act that ends a row is not skipped.
        time, position = limit - 1 - present.time, dma.copy.row_bytes - 1 - present.position
        times = min(time // cycles, position // step)
        if times <= 0 or not self._move(times * step):
            return
        delay = times * cycles
        dma.time += delay
        state.read_free += delay
        state.write_free += delay
        state.ready += delay
        self.channel.free += times * moved
        counts = (
            times * (new - old) for old, new in zip(earlier.counts, present.counts, strict=True)
        )
        beats, size, reads, blocked_reads, writes, partial, blocked_writes = counts
        state.beats += beats
        state.bytes += size
        dma.reader.external_reads += reads
        dma.reader.external_blocked += blocked_reads
        dma.writer.external_writes += writes
        dma.writer.external_partial += partial
        dma.writer.external_blocked += blocked_writes
        if dma.tracing:
            for place, count in ((READS, reads), (WRITES, writes), (PARTIAL, partial)):
                dma.tally.repeat(place, count, delay)
        later = self._ready_after(times, earlier, present)
        state.buffer = [
            (ready, to, data) for ready, (_, to, data) in zip(later, state.buffer, strict=True)
        ]
        self.restart()

    def _ready_after(self, times: int, earlier: _Present, present: _Present) -> list[int]:
        """Return the cycles from which the dma can write the beats buffered after `times` periods.

        The periods begin at `present`. In each period the dma reads as many beats as it writes. The
        last beats that the buffer has at `present` were read in the period from `earlier` to
        `present`.
        """
        cycles, count = present.time - earlier.time, len(self._writes)
        ready = [present.time + relative for relative in present.ready]
        if present.ready == earlier.ready:
            return [cycle + times * cycles for cycle in ready]
        last = ready[len(ready) - count :]
        places = range(times * count, times * count + len(ready))
        return [
            ready[place]
            if place < len(ready)
            else last[(place - len(ready)) % count] + ((place - len(ready)) // count + 1) * cycles
            for place in places
        ]

    def _move(self, size: int) -> bool:
        """Move `size` bytes at once: write those in the buffer first, then bytes read from the row.

        Afterwards the buffer has as many bytes as before, from later in the row. Return False,
        without an effect, if the buffer contains beats of another row.
        """
        dma, state, memory = self.dma, self.dma.state, self.dma.device.memory
        copy, begin = dma.copy, state.position
        dst = copy.dst + state.row * copy.dst_stride + begin
        held = sum(len(data) for _, _, data in state.buffer)
        place = first = dst - held
        for _, to, data in state.buffer:
            if to != place:
                return False
            place += len(data)
        source, offset = memory.locate(copy.src + state.row * copy.src_stride + begin, size)
        stream = b"".join([*(data for _, _, data in state.buffer), source.read(offset, size)])
        target, offset = memory.locate(first, size)
        target.write(offset, stream[:size])
        buffer, at = [], size
        for ready, to, data in state.buffer:
            buffer.append((ready, to + size, stream[at : at + len(data)]))
            at += len(data)
        state.buffer = buffer
        state.position += size
        return True


def _traffic(dma: DmaCore) -> tuple[int, ...]:
    reader, writer = dma.reader, dma.writer
    return (
        reader.external_reads,
        reader.external_blocked,
        writer.external_writes,
        writer.external_partial,
        writer.external_blocked,
    )
