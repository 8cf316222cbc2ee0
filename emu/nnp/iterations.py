"""Chains at work: their iterations, their vectors from NetInQ, their tiles.

An iteration is an act, in the cycle in which its first vector is read, and so is each vector that
is popped from NetInQ. An iteration has its effects there; when its results can be used is state
(`ready_*`, `free`), and so are the vectors that leave later (`net_out`). The next instruction
follows nnp.issue_cycles after the begin of the last iteration. When an iteration has had its
effects, listeners hear "used" (of, begin, until, times) of each thing that it has used
(`macaw.emu.nnp.tracing`), then "chain" (address of the chain's first instruction, iteration). If it
pushes more than NetOutQ holds, they hear before the next "chain" or "end" how long it waited.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.emu.core import Units
from macaw.emu.faults import Fault
from macaw.emu.nnp import flow, tracing
from macaw.emu.nnp.arithmetic import Arithmetic, FastArithmetic
from macaw.emu.nnp.chain import Chain
from macaw.emu.nnp.memories import Memories
from macaw.emu.nnp.numbers import NotANumber
from macaw.emu.nnp.queues import Queues
from macaw.emu.nnp.semantics import Execution, Failed, Host, nan_fault
from macaw.emu.nnp.state import READ, TILES, WRITE, NnpState
from macaw.emu.nnp.timing import Times

if TYPE_CHECKING:
    from macaw.emu.device import Device
    from macaw.emu.nnp.origins import ChainOrigins
    from macaw.emu.ports import Port
    from macaw.isa.nnp_entries import Access

_AT_ONCE = 1 << 20  # elements of vectors that are worked on at a time
_ROOM, _VECTOR = "room in NetOutQ", "a vector in NetInQ"  # what is waited for
WORD = 4  # bytes of an instruction


class Iterations(Queues):
    """What the core does with the chain that is complete."""

    batches = True  # iterations are done together where nobody can tell
    numbers_markers = False

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self.port: Port = device.memory.port(self)
        self.arithmetic = self.arithmetic_of(device.config, self.state)
        self.memories = Memories(self, device.config)
        self.execution = Execution(self)
        self._chain: Chain | None = None
        self._single = False  # an iteration of the chain fails: find out which one
        self.remembered: ChainOrigins | None = None  # only while somebody asks

    @property
    def counting(self) -> bool:
        """Whether somebody wants to know what an iteration does."""
        return self.tracing or bool(self.listeners)

    @property
    def begun(self) -> int:
        return self.state.begun

    def units(self) -> Units:
        """Lanes of all tile engines; one takes a column of a tile in a cycle."""
        timing = self.timing
        return Units(timing.engines * timing.lanes, timing.vector_bytes, store=timing.vector_bytes)

    def arithmetic_of(self, config: Mapping[str, Any], state: NnpState) -> Arithmetic:
        """The arithmetic of this engine."""
        return FastArithmetic(config, state)

    def reading(self, chain: Chain, count: int) -> tuple[Times, Times]:
        """When the vectors of the next `count` iterations are read, and their rates."""
        return flow.reading(self, chain, self.state.iteration, count)

    def way(self, chain: Chain, reads: Times, rates: Times) -> flow.Flow:
        """The way of the vectors that are read in cycles `reads`, from the next iteration on."""
        return flow.vectors(self, chain, self.state.iteration, reads, rates)

    def _run_chain(self, limit: int) -> bool:
        """Do the next iterations; whether the clock has to look at others first."""
        chain = self._chain
        assert chain is not None
        if self.state.unsent:
            self._send_rest(chain)
            return True
        if not self._has_room(chain):
            return True
        if chain.source.memory.queue:
            return self._pop(chain)
        if chain.is_tiles:
            return self._move_tiles(chain, [])
        return self._iterate(chain, limit)

    def _has_room(self, chain: Chain) -> bool:
        """Whether NetOutQ has room for what an iteration pushes, or is empty; else wait.

        Of an iteration that pushes more than NetOutQ holds, `_send_rest` pushes the rest.
        """
        state = self.state
        there = len(state.net_out)
        if not chain.pushed or state.popped:
            return True
        if there and there + chain.pushed > self.net_out:
            self.wait(_ROOM)
            return False
        if self.waiting is not None and self.waiting.on == _ROOM:
            state.full += self.time - self.waiting.since
            state.asked = self.time
            self.proceed()
        return True

    def _iterate(self, chain: Chain, limit: int) -> bool:
        """Do iterations that begin before `limit`, or go to the begin of the next one."""
        reads, rates = self.reading(chain, 1)
        begin = int(reads[0, 0])
        if begin > self.time:
            self.time = begin
            return False
        self.proceed()
        count = self._batch(chain)
        if count > 1:
            reads, rates = self.reading(chain, count)
            count = int(np.count_nonzero(reads[:, 0] < limit))
            reads, rates = reads[:count], rates[:count]
        way = self.way(chain, reads, rates)
        return self._do(chain, way, count, None)

    def _batch(self, chain: Chain) -> int:
        """How many iterations may be done together."""
        if not self.batches or self._single or self.listeners:
            return 1
        count = chain.iterations - self.state.iteration
        size = max(chain.taken, chain.given) * self.memories.native
        count = min(count, max(1, _AT_ONCE // size))
        if chain.pushed:
            bit = 1 << self.number
            if any(x.waiting is not None and x.waiting.cores & bit for x in self.device.order):
                return 1  # each of them is told to somebody, who tries again then
            room = self.net_out - len(self.state.net_out)
            count = min(count, max(1, room // chain.pushed))
        return 1 if count > 1 and chain.is_ordered(self.state.iteration, count) else count

    def _do(self, chain: Chain, way: flow.Flow, count: int, popped: Host | None) -> bool:
        """Do `count` iterations of a chain of vectors that go this way."""
        state = self.state
        first = state.iteration
        if self.remembered is not None:
            self.remembered.begin(chain)
        try:
            values = self.execution.vectors(chain, first, count, popped)
            self._check_writes(chain, first, count)
            initial = {
                access.at: self.execution.quantised(access.at, values)
                for access in chain.writes
                if access.memory.name == "InitialVrf"
            }
        except Failed as failed:
            if count == 1:
                raise self._placed(chain, failed) from None
            self._single = True
            return False
        for access in chain.writes:
            places = chain.addresses(access, first, count)
            memory = access.memory
            if memory.queue:
                self._send(values, way.written)
                continue
            if access.at in initial:
                self.memories.write_initial(places, initial[access.at])
            else:
                self.memories.write(memory, places, values)
            if memory.setting:
                state.ready(memory)[places] = way.written
        if self.remembered is not None:
            self.remembered.wrote()
        if chain.product is not None and way.products is not None:
            tiles = chain.addresses(chain.product, first, count)
            np.maximum.at(state.used_matrix, tiles, way.products[:, None])
            state.tiles += tiles.size
        return self._finish(chain, way, count)

    def _send(self, values: Host, written: Times) -> None:
        """Push vectors into NetOutQ after those that are there; those that it cannot hold wait."""
        queue, unsent = self.state.net_out, self.state.unsent
        last = queue[-1][0] if queue else 0
        data = values.reshape(-1, values.shape[-1])
        for time, row in zip(written.ravel().tolist(), data, strict=True):
            last = max(last, time)
            full = len(queue) >= self.net_out
            (unsent if full else queue).append((last, row.tobytes()))

    def _send_rest(self, chain: Chain) -> None:
        """Push what NetOutQ has room for of an iteration's other vectors; with the last one go on.

        The unit that writes holds them: after there is room, one takes it as long as any vector.
        """
        state, queue = self.state, self.state.net_out
        room = self.net_out - len(queue)
        if not room:
            self.wait(f"{_ROOM} for {len(state.unsent)} of the iteration's {chain.pushed} vectors")
            return
        self.proceed()
        now = last = self.time
        if queue:
            last = max(last, queue[-1][0])
        for time, data in state.unsent[:room]:
            last = max(last + self.timing.rate, time)
            queue.append((last, data))
        planned = state.unsent[-1][0]
        del state.unsent[:room]
        self.device.changed(self, now)
        if not state.unsent:
            state.free[WRITE] = max(int(state.free[WRITE]), last)
            state.done = max(state.done, last)
            if self.counting:
                tracing.tell_rest(self, chain, planned, last)
            self._go_on(chain, now)

    def _check_writes(self, chain: Chain, first: int, count: int) -> None:
        for access in chain.writes:
            if not access.memory.setting:
                places = chain.addresses(access, first, count)
                try:
                    self.memories.check_dram("write", places, self.memories.native)
                except Fault as fault:
                    raise Failed(access.at, fault) from None

    def _finish(self, chain: Chain, way: flow.Flow, count: int) -> bool:
        """Account for `count` iterations; whether others may act now."""
        state = self.state
        begun = self.time
        for unit, free in way.free.items():
            state.free[unit] = free
        state.stored = max(state.stored, way.stored)
        state.done = max(state.done, int(way.written.max()), way.stored)
        state.chains += count
        state.vectors += way.written.size * len(chain.writes) if not chain.is_tiles else 0
        self._count_beats(chain, state.iteration, count)
        if not state.iteration:
            state.begun += 1
        if self.counting:
            tracing.tell(self, chain, way, count)
        if self.listeners:
            self.announce("chain", address=state.chain[0][0], iteration=state.iteration)
        state.iteration += count
        state.popped = []
        state.starved = state.full = 0
        if not state.unsent:
            self._go_on(chain, begun if chain.source.memory.queue else int(way.starts[-1]))
        if chain.pushed:
            self.device.changed(self, begun)
        return bool(chain.pushed) or chain.source.memory.queue

    def _go_on(self, chain: Chain, last: int) -> None:
        """Go on to the next iteration, or past the chain; the last one began in cycle `last`."""
        state = self.state
        if state.iteration < chain.iterations:
            unit = TILES if chain.is_tiles else READ
            self.time = max(last + self.divider, int(state.free[unit]))
            state.asked = self.time
            return
        if self.listeners:
            self.announce("end", address=state.chain[0][0])
        state.chain, state.launched, state.iteration = [], False, 0
        state.asked = 0
        self._chain = None
        self._retire(last + self.timing.issue)

    def _count_beats(self, chain: Chain, first: int, count: int) -> None:
        """Add to the traffic counters what goes to and comes from external memory."""
        for access in (chain.source, *chain.writes):
            if access.memory.setting:
                continue
            beats = self.beats(chain, access, first, count)
            if access.writes:
                self.port.external_writes += beats
                self.port.external_partial += self.partial(chain, access, first, count)
            else:
                self.port.external_reads += beats

    def _places(self, chain: Chain, access: Access, first: int, count: int) -> tuple[Times, int]:
        """Where in external memory an access is in some iterations, and bytes at each place."""
        length = self.timing.tile_bytes if chain.is_tiles else self.timing.vector_bytes
        places = chain.addresses(access, first, count)
        return self.state.base + places[places >= 0] * length, length

    def beats(self, chain: Chain, access: Access, first: int, count: int) -> int:
        """Beats of an access to external memory in some iterations."""
        return int(self.timing.beats(*self._places(chain, access, first, count)).sum())

    def partial(self, chain: Chain, access: Access, first: int, count: int) -> int:
        """How many beats of a write are narrower than the memory."""
        places, length = self._places(chain, access, first, count)
        channel = self.device.memory.channel
        offsets, times = np.unique(places % channel.width, return_counts=True)
        return sum(
            channel.partial(offset, length) * often
            for offset, often in zip(offsets.tolist(), times.tolist(), strict=True)
        )

    # NetInQ

    def _pop(self, chain: Chain) -> bool:
        """Take a vector from NetInQ, as soon as it can be; with the last one do the iteration."""
        state = self.state
        unit = TILES if chain.is_tiles else READ
        wanted = chain.taken * (self.memories.native if chain.is_tiles else 1)
        begin = int(state.free[unit])
        if begin > self.time:
            self.time = begin
            return False
        if not state.net_in:
            self.wait(_VECTOR)
            return True
        if self.waiting is not None:
            state.starved += self.time - self.waiting.since
            self.proceed()
        time = self.time
        state.popped.append((time, state.net_in.pop(0)))
        if self.remembered is not None:
            self.remembered.pop()
        self.device.changed(self, time)
        if len(state.popped) < wanted:
            state.free[unit] = self.time = time + self.timing.rate
            return True
        try:
            self._with_popped(chain)
        except Fault:
            _, data = state.popped.pop()
            state.net_in.insert(0, data)
            raise
        return True

    def _with_popped(self, chain: Chain) -> None:
        """Do the iteration whose vectors are all there."""
        state, native = self.state, self.memories.native
        data = b"".join(data for _, data in state.popped)
        values = np.frombuffer(data, self.memories.dtype).reshape(1, -1, native)
        times = np.array([[time for time, _ in state.popped]], np.int64)
        if chain.is_tiles:
            whole = times[0, native - 1 :: native].tolist()
            self._move_tiles(chain, whole, values.reshape(-1, native, native))
            return
        rates = np.full(times.shape, self.timing.rate, np.int64)
        self._do(chain, self.way(chain, times, rates), 1, values)

    # Tiles

    def _move_tiles(self, chain: Chain, popped: list[int], values: Host | None = None) -> bool:
        """Do an iteration of a chain of tiles."""
        state = self.state
        write: Access = chain.writes[0]
        way = flow.tiles(self, chain, popped)
        if not popped:
            if int(way.starts[0]) > self.time:
                self.time = int(way.starts[0])
                return False
            self.proceed()
        targets = chain.addresses(write, 0, 1)[0]
        try:
            if values is None:
                values = self.memories.read_tiles(
                    chain.source.memory, chain.addresses(chain.source, 0, 1)[0]
                )
            if self.remembered is not None:
                self.remembered.begin(chain)
            self.memories.write_tiles(write.memory, targets, values)
            if self.remembered is not None:
                self.remembered.tiles(values)
        except NotANumber as error:
            raise self._placed(chain, Failed(write.at, nan_fault(error))) from None
        except Fault as fault:
            at = 0 if values is None else write.at
            raise self._placed(chain, Failed(at, fault)) from None
        if write.memory.setting:
            state.ready(write.memory)[targets] = way.written[0]
        return self._finish(chain, way, 1)

    def _placed(self, chain: Chain, failed: Failed) -> Fault:
        """A fault in an iteration, at the instruction that made it."""
        fault = failed.fault
        iteration = self.state.iteration
        text = f" (iteration {iteration})" if chain.iterations > 1 else ""
        address = self.state.chain[failed.at][0]
        values = {**fault.values, "iteration": iteration}
        return Fault(fault.kind, fault.message + text, values, address=address)

    def _retire(self, time: int) -> None:
        """The instruction at `pc` is done; the next one is at cycle `time`."""
        self.state.pc += WORD
        self.retired += 1
        self.time = time
