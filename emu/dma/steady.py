"""Beats of a transfer that follow each other without a gap, for the fast engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from macaw.emu.dma.fast import FastDma
    from macaw.emu.dma.lane import Lane


@dataclass
class Steady:
    """What the engine does from now on with nobody else about: a read and a write a cycle.

    The reads come in the cycles `read`, `read` + step, ..., the writes of all beats that are
    in the buffer or still to come in `write`, `write` + step, ...
    """

    dma: FastDma
    lane: Lane
    step: int
    read: int
    reads: int
    write: int
    writes: int
    after: int  # cycles from a read until its beat is ready
    clear: int  # the first cycle in which the channel may not be free

    @property
    def last_write(self) -> int:
        """The cycle of the last write of the transfer."""
        return self.write + (self.writes - 1) * self.step

    @property
    def gone(self) -> int:
        """The cycle up to which it goes on so: of the last write, or before a gap may come."""
        return min(self.last_write, self.clear)

    def go(self, until: int) -> bool:
        """Do all before cycle `until` but the last write; whether there was something."""
        until = min(until, self.clear)
        reads = self._before(until, self.read, self.reads)
        writes = self._before(until, self.write, self.writes - 1)
        if reads + writes == 0:
            return False
        dma, step = self.dma, self.step
        first = self.lane.cut.number(dma.state.row, dma.state.position)
        last_read, last_write = self.read + (reads - 1) * step, self.write + (writes - 1) * step
        self._writes(first, writes)
        self._reads(first, reads, writes)
        dma.plan_after(max(last_read if reads else 0, last_write if writes else 0))
        return True

    def _before(self, until: int, first: int, count: int) -> int:
        return max(0, min(count, -(-(until - first) // self.step)))

    def _writes(self, first: int, count: int) -> None:
        """The first `count` writes; the beat `first` is the next one to be read."""
        if not count:
            return
        dma, lane, state = self.dma, self.lane, self.dma.state
        dst, cut, port = lane.dst, lane.cut, dma.writer
        held = state.buffer[:count]
        begin = first - len(state.buffer)
        end = begin + count
        for _, address, data in held:
            lane.write(address, data)
        if count > len(held):
            lane.move(cut.place(first), cut.place(end))
        last = self.write + (count - 1) * self.step
        if dst.external:
            channel = lane.dst.memory.channel
            width = channel.width
            partial = cut.narrow(end) - cut.narrow(begin) if width == dma.width else count
            port.external_writes += count
            port.external_partial += partial
            channel.free = state.write_free = last + 1
            ready = last + channel.latency + 1
            state.ready = max(state.ready, ready)
            if dma.tracing:
                dma.occurred("external_writes", self.write, ready, count)
                if partial:
                    dma.occurred("external_partial", self.write, ready, partial)
        else:
            lane.granted(dst, port, begin, count, self.write, self.step)
            state.ready = max(state.ready, last + 1)
        state.beats += count
        state.bytes += cut.bytes_before(end) - cut.bytes_before(begin)

    def _reads(self, first: int, count: int, writes: int) -> None:
        """The first `count` reads, when so many beats have left the buffer."""
        dma, lane, state = self.dma, self.lane, self.dma.state
        src, cut, port = lane.src, lane.cut, dma.reader
        passed = max(0, writes - len(state.buffer))  # beats that were read and written since
        del state.buffer[:writes]
        if not count:
            return
        for number in range(first + passed, first + count):
            place = cut.place(number)
            data = lane.read(place, cut.length(place))
            ready = self.read + (number - first) * self.step + self.after
            state.buffer.append((ready, lane.dst.at(place), data))
        state.row, state.position = cut.place(first + count)
        last = self.read + (count - 1) * self.step
        if src.external:
            port.external_reads += count
            src.memory.channel.free = state.read_free = last + 1
            if dma.tracing:
                dma.occurred("external_reads", self.read, last + self.after, count)
        else:
            lane.granted(src, port, first, count, self.read, self.step)


def steady(dma: FastDma, lane: Lane, now: int) -> Steady | None:
    """What the engine does from its act in cycle `now` on, if there is no gap in it."""
    state, step = dma.state, dma.divider
    memory = lane.src.memory
    channel = memory.channel
    buffer = state.buffer
    held = len(buffer)
    reads = lane.left(state.row, state.position)
    after = channel.latency + 1 if lane.src.external else memory.onchip_latency
    read = dma.aligned(max(now, state.read_free))
    if held:
        write = max(now, state.write_free, buffer[0][0])
    else:
        write = max(now, state.write_free, read + after)
    write = dma.aligned(write)
    last = write + (held + reads - 1) * step
    clear = last + 1
    if lane.external:
        first = read if lane.src.external else write
        if channel.free > first:
            return None
        if channel.jitter is not None:
            clear = channel.jitter.next(first, clear)
            if clear == first:
                return None
    found = Steady(dma, lane, step, read, reads, write, held + reads, after, clear)
    if reads:
        ahead = max(0, min((write - read) // step, reads))
        if read + after > write + held * step or held + ahead > dma.depth:
            return None
    due = write
    for ready, _, _ in buffer:
        if ready > due:
            return None
        due += step
    return found if found.writes else None
