"""Bursts: beats of a transfer that follow each other without a gap, which the dma moves at once."""

from __future__ import annotations

from macaw.emu.dma.core import DmaCore
from macaw.emu.dma.fast.route import Route
from macaw.emu.tallies import PARTIAL, READS, WRITES
from macaw.isa.lazy_dataclass import dataclass


@dataclass
class Burst:
    """The beats that the dma moves from now on if no other core interferes.

    It reads `reads` beats, in the cycles `read`, `read` + `step`, and so on. It writes `writes`
    beats, in the cycles `write`, `write` + `step`, and so on: first the beats that are in the
    buffer now, then the beats that it reads. `after` is the number of cycles from a read until the
    dma can write its beat. From cycle `limit` on, the channel may not be free. `free` is the value
    that `free` of the channel had when the burst was planned; it shows whether the channel has been
    used since.
    """

    dma: DmaCore
    route: Route
    step: int
    read: int
    reads: int
    write: int
    writes: int
    after: int
    limit: int
    free: int

    @property
    def last_write(self) -> int:
        """The cycle of the transfer's last write."""
        return self.write + (self.writes - 1) * self.step

    @property
    def end(self) -> int:
        """The cycle in which the burst ends: the cycle of the last write, or `limit` if earlier."""
        return min(self.last_write, self.limit)

    def run(self, until: int) -> bool:
        """Do all beats before cycle `until`, but not the transfer's last write.

        Return whether any beat was done.
        """
        until = min(until, self.limit)
        reads = self._count(until, self.read, self.reads)
        writes = self._count(until, self.write, self.writes - 1)
        if reads + writes == 0:
            return False
        dma, step = self.dma, self.step
        first = self.route.beats.number(dma.state.row, dma.state.position)
        last_read, last_write = self.read + (reads - 1) * step, self.write + (writes - 1) * step
        self._do_writes(first, writes)
        self._do_reads(first, reads, writes)
        last = max(last_read if reads else 0, last_write if writes else 0)
        dma.plan(last, last + 1)
        return True

    def finish(self) -> None:
        """Do all beats, and end the transfer.

        The caller ensures that the arbiter would grant the last write at once.
        """
        dma = self.dma
        first = self.route.beats.number(dma.state.row, dma.state.position)
        self._do_writes(first, self.writes)
        self._do_reads(first, self.reads, self.writes)
        dma.plan(self.last_write, self.last_write + 1)

    def _count(self, until: int, first: int, count: int) -> int:
        return max(0, min(count, -(-(until - first) // self.step)))

    def _do_writes(self, first: int, count: int) -> None:
        """Do the first `count` writes of the burst: the beats in the buffer, then later ones.

        `first` is the number of the first beat after those in the buffer. The burst reads it next.
        """
        if not count:
            return
        dma, route, state = self.dma, self.route, self.dma.state
        dst, beats, port = route.dst, route.beats, dma.writer
        begin = first - len(state.buffer)
        end = begin + count
        size = 0
        for _, address, data in state.buffer[:count]:
            route.write(address, data)
            size += len(data)
        if end > first:
            position = state.row, state.position  # of beat number `first`
            size += route.move(position, beats.position(end))
        last = self.write + (count - 1) * self.step
        if dst.external:
            channel = dst.memory.channel
            width = channel.width
            partial = beats.narrow(end) - beats.narrow(begin) if width == dma.width else count
            port.external_writes += count
            port.external_partial += partial
            channel.free = state.write_free = last + 1
            ready = last + channel.latency + 1
            state.ready = max(state.ready, ready)
            if dma.tracing:
                dma.tally.count_occurrence(WRITES, self.write, ready, count)
                if partial:
                    dma.tally.count_occurrence(PARTIAL, self.write, ready, partial)
        else:
            for copy, unit_port in zip(route.destinations, dma.writers, strict=False):
                route.grant(copy, unit_port, begin, count, self.write, self.step)
            state.ready = max(state.ready, last + 1)
        state.beats += count
        state.bytes += size

    def _do_reads(self, first: int, count: int, writes: int) -> None:
        """Do the first `count` reads of the burst, from beat number `first` on.

        Before that, `_do_writes` has done the first `writes` writes.
        """
        dma, route, state = self.dma, self.route, self.dma.state
        src, beats, port = route.src, route.beats, dma.reader
        skip = max(0, writes - len(state.buffer))  # the beats that this burst both reads and writes
        del state.buffer[:writes]
        if not count:
            return
        for number in range(first + skip, first + count):
            position = beats.position(number)
            data = route.read(position, beats.length(position))
            ready = self.read + (number - first) * self.step + self.after
            state.buffer.append((ready, route.dst.address(position), data))
        state.row, state.position = beats.position(first + count)
        last = self.read + (count - 1) * self.step
        if src.external:
            port.external_reads += count
            src.memory.channel.free = state.read_free = last + 1
            if dma.tracing:
                dma.tally.count_occurrence(READS, self.read, last + self.after, count)
        else:
            route.grant(src, port, first, count, self.read, self.step)


def plan_burst(dma: DmaCore, route: Route, now: int) -> Burst | None:
    """Return the burst of beats over `route` that the dma could move from cycle `now` on.

    The result is None if no beat is left, if a beat would have to wait for the channel, or if the
    beats would not be evenly spaced.
    """
    state, step = dma.state, dma.divider
    memory = route.src.memory
    channel = memory.channel
    buffer = state.buffer
    in_buffer = len(buffer)
    reads = route.remaining(state.row, state.position)
    after = channel.latency + 1 if route.src.external else memory.onchip_latency
    read = dma.aligned(max(now, state.read_free))
    if in_buffer:
        write = max(now, state.write_free, buffer[0][0])
    else:
        write = max(now, state.write_free, read + after)
    write = dma.aligned(write)
    last = write + (in_buffer + reads - 1) * step
    limit = last + 1
    if route.external:
        first = read if route.src.external else write
        if channel.free > first:
            return None
        if channel.jitter is not None:
            limit = channel.jitter.next(first, limit)
            if limit == first:
                return None
    burst = Burst(
        dma, route, step, read, reads, write, in_buffer + reads, after, limit, channel.free
    )
    if reads:
        ahead = max(0, min((write - read) // step, reads))
        if read + after > write + in_buffer * step or in_buffer + ahead > dma.depth:
            return None
    due = write
    for ready, _, _ in buffer:
        if ready > due:
            return None
        due += step
    return burst if burst.writes else None
