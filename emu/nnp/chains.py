"""The execution of chains: their iterations, their vectors from NetInQ, and their tiles.

An iteration is one act of the core, in the cycle in which its first vector is read or, if the chain
reads NetInQ, its last vector is popped. Popping another vector is also one act. All effects of an
iteration happen in its act. The state also records later cycles: when the results can be used
(`ready_*`), when units become free (`free`), and when vectors leave NetOutQ (`net_out`). The next
instruction follows `nnp.issue_cycles` after the act of the last iteration, or after the push of the
iteration's last vectors if these had to wait for room in NetOutQ.

After an iteration the core announces "used" for each kind of thing that it has used, with the
fields of `macaw.emu.nnp.uses.Use`. Then it announces "chain", with the address of the chain's first
instruction and the iteration. If the iteration pushes more vectors than fit into NetOutQ, another
"used" says how long the iteration waited.
"""

from __future__ import annotations

import numpy as np

from macaw.emu.faults import Fault
from macaw.emu.inspection import PortlessMover
from macaw.emu.nnp.arithmetic import ArithmeticFactory, Host
from macaw.emu.nnp.decoder import WORD, ChainDecoder
from macaw.emu.nnp.execution import Execution, IterationFault, nan_fault
from macaw.emu.nnp.memories import Memories
from macaw.emu.nnp.numbers import NotANumber
from macaw.emu.nnp.schedules.chain import Chain
from macaw.emu.nnp.schedules.schedule import Schedule, SchedulerFactory, tile_schedule
from macaw.emu.nnp.schedules.timing import READ, TILES, WRITE, Times
from macaw.emu.nnp.traffic import Traffic
from macaw.emu.nnp.uses import Use, uses
from macaw.emu.nnp.windows import WindowCore
from macaw.emu.system import System
from macaw.emu.traced import Units
from macaw.isa.nnp_entries import Access

_BATCH = 1 << 20  # the greatest number of elements in the vectors of a batch
_ROOM, _VECTOR = "room in NetOutQ", "a vector in NetInQ"  # texts for the reasons to wait
_BURST = 1 << 15  # all iterations of a batch start within this number of cycles


class ChainCore(WindowCore, PortlessMover):
    """The part of nnp that executes complete chains.

    An engine passes its arithmetic and its scheduler. With `batches`, the core executes several
    iterations at once if no other core can notice this.
    """

    numbers_markers = False

    def __init__(
        self,
        device: System,
        arithmetic: ArithmeticFactory,
        scheduler: SchedulerFactory,
        batches: bool,
    ) -> None:
        super().__init__(device)
        self.burst = _BURST
        config, state, memory = device.config, self.state, device.memory
        self.decoder = ChainDecoder(config, state)
        self.arithmetic = arithmetic(config, state)
        self.scheduler = scheduler(state, self.timing)
        self.batches = batches
        self.memories = Memories(config, state, self.arithmetic, memory)
        self.execution = Execution(config, self.memories, self.arithmetic)
        self.traffic = Traffic(state, self.timing, memory, memory.port(self))
        self._chain: Chain | None = None
        # set if an iteration of a batch faults: the core repeats the iterations one by one
        self._single = False

    @property
    def counts_uses(self) -> bool:
        """Whether the trace block or a listener needs to know which units each iteration uses."""
        return self.tracing or bool(self.listeners)

    @property
    def chain(self) -> Chain | None:
        """The chain that the core executes; None between chains."""
        return self._chain

    @property
    def start_count(self) -> int:
        return self.state.begun

    def units(self) -> Units:
        """Return the sizes for the trace: the number of compute units, and the bytes of a vector.

        A compute unit is a lane of a tile engine. A lane takes one column of a tile in a cycle.
        """
        timing = self.timing
        return Units(timing.engines * timing.lanes, timing.vector_bytes, store=timing.vector_bytes)

    def _run_chain(self, limit: int) -> bool:
        """Execute the chain's next iterations that start before cycle `limit`.

        Return whether other cores must act before the following iterations.
        """
        chain = self._chain
        assert chain is not None
        if self.state.unsent:
            self._push_rest(chain)
            return True
        if not self._has_room(chain):
            return True
        if chain.source.memory.queue:
            return self._pop(chain)
        if chain.is_tiles:
            return self._move_tiles(chain, [])
        return self._iterate(chain, limit)

    def _has_room(self, chain: Chain) -> bool:
        """Return whether the chain's next iteration may push its vectors to NetOutQ; if not, wait.

        The iteration may push if NetOutQ is empty or has room for all of these vectors. If an
        iteration pushes more vectors than fit into NetOutQ, `_push_rest` pushes the rest.
        """
        state = self.state
        queued = len(state.net_out)
        if not chain.push_count or state.popped:
            return True
        if queued and queued + chain.push_count > self.net_out:
            self.wait(_ROOM)
            return False
        if self.waiting is not None and self.waiting.on == _ROOM:
            state.full += self.time - self.waiting.since
            state.asked = self.time
            self.proceed()
        return True

    def _iterate(self, chain: Chain, limit: int) -> bool:
        """Execute iterations of a chain that start before cycle `limit`.

        If the next iteration starts later than now, only advance the time to its start. Return
        whether other cores must act before the following iterations.
        """
        first = self.state.iteration
        reads, rates = self.scheduler.reads(chain, first, 1, self.time)
        begin = int(reads[0, 0])
        if begin > self.time:
            self.time = begin
            return False
        self.proceed()
        count = self._batch_size(chain)
        if count > 1:
            reads, rates = self.scheduler.reads(chain, first, count, self.time)
            count = int(np.count_nonzero(reads[:, 0] < limit))
            reads, rates = reads[:count], rates[:count]
        return self._do_vectors(chain, reads, rates, None)

    def _batch_size(self, chain: Chain) -> int:
        """Return how many iterations of a chain the core may execute at once, at least 1."""
        if not self.batches or self._single or self.listeners:
            return 1
        count = chain.iterations - self.state.iteration
        size = max(chain.input_count, chain.output_count) * self.memories.native
        count = min(count, max(1, _BATCH // size))
        if chain.push_count:
            bit = 1 << self.number
            if any(x.waiting is not None and x.waiting.cores & bit for x in self.device.present):
                return 1  # each push to the queue wakes a core that waits for it
            room = self.net_out - len(self.state.net_out)
            count = min(count, max(1, room // chain.push_count))
        return 1 if count > 1 and chain.depends_on_order(self.state.iteration, count) else count

    def _do_vectors(self, chain: Chain, reads: Times, rates: Times, popped: Host | None) -> bool:
        """Execute iterations of a chain of vectors.

        `reads` has the cycles in which the vectors of the iterations are read, `rates` the cycles
        that each read takes, both of shape (iterations, vectors). `popped` has the vectors if they
        come from NetInQ; None if the chain reads another memory. Return whether other cores must
        act next.
        """
        state = self.state
        first, count = state.iteration, len(reads)
        schedule = self.scheduler.vectors(chain, first, reads, rates, self.counts_uses)
        if self.chain_origins is not None:
            self.chain_origins.begin_iteration(chain)
        try:
            values = self.execution.vectors(chain, first, count, popped)
            self._check_writes(chain, first, count)
            initial = {
                access.at: self.execution.quantise(access.at, values)
                for access in chain.writes
                if access.memory.name == "InitialVrf"
            }
        except IterationFault as error:
            if count == 1:
                raise self._at_instruction(chain, error) from None
            self._single = True
            return False
        for access in chain.writes:
            places = chain.addresses(access, first, count)
            memory = access.memory
            if memory.queue:
                self._push(values, schedule.readable)
                continue
            if access.at in initial:
                self.memories.write_initial(places, initial[access.at])
            else:
                self.memories.write(memory, places, values)
            if memory.setting:
                state.ready(memory)[places] = schedule.readable
        if self.chain_origins is not None:
            self.chain_origins.end_iteration()
        if chain.product is not None and schedule.product_ends is not None:
            tiles = chain.addresses(chain.product, first, count)
            np.maximum.at(state.used_matrix, tiles, schedule.product_ends[:, None])
            state.tiles += tiles.size
        return self._finish(chain, schedule, count)

    def _push(self, values: Host, times: Times) -> None:
        """Push the vectors `values`, which are ready at `times`, to NetOutQ.

        Vectors for which the queue has no room wait in `unsent`.
        """
        queue, unsent = self.state.net_out, self.state.unsent
        last = queue[-1][0] if queue else 0
        data = values.reshape(-1, values.shape[-1])
        for time, row in zip(times.ravel().tolist(), data, strict=True):
            last = max(last, time)
            full = len(queue) >= self.net_out
            (unsent if full else queue).append((last, row.tobytes()))

    def _push_rest(self, chain: Chain) -> None:
        """Push as many of an iteration's waiting vectors as NetOutQ has room for.

        The vectors wait in the writing unit. Once there is room, each vector occupies that unit for
        its rate. After the last vector of the iteration the chain continues.
        """
        state, queue = self.state, self.state.net_out
        room = self.net_out - len(queue)
        if not room:
            self.wait(
                f"{_ROOM} for {len(state.unsent)} of the iteration's {chain.push_count} vectors"
            )
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
            if self.counts_uses:
                self._report_push_wait(chain, planned, last)
            self._continue(chain, now)

    def _check_writes(self, chain: Chain, first: int, count: int) -> None:
        for access in chain.writes:
            if not access.memory.setting:
                places = chain.addresses(access, first, count)
                try:
                    self.memories.check_dram("write", places, self.memories.native)
                except Fault as fault:
                    raise IterationFault(access.at, fault) from None

    def _finish(self, chain: Chain, schedule: Schedule, count: int) -> bool:
        """Add `count` iterations of a chain to counters, state and reports.

        `schedule` has the times of the iterations. Return whether other cores must act next.
        """
        state = self.state
        now = self.time
        for unit, free in schedule.free.items():
            state.free[unit] = free
        state.stored = max(state.stored, schedule.stored)
        state.done = max(state.done, int(schedule.readable.max()), schedule.stored)
        state.chains += count
        state.vectors += schedule.readable.size * len(chain.writes) if not chain.is_tiles else 0
        self.traffic.count(chain, state.iteration, count)
        if not state.iteration:
            state.begun += 1
        if self.counts_uses:
            self._report_uses(chain, schedule, count)
        if self.listeners:
            self.announce("chain", address=state.chain[0][0], iteration=state.iteration)
        state.iteration += count
        state.popped = []
        state.starved = state.full = 0
        if not state.unsent:
            self._continue(chain, now if chain.source.memory.queue else int(schedule.starts[-1]))
        if chain.push_count:
            self.device.changed(self, now)
        return bool(chain.push_count) or chain.source.memory.queue

    def _report_uses(self, chain: Chain, schedule: Schedule, count: int) -> None:
        """Report to the trace block and to listeners what the last `count` iterations have used.

        They are iterations of `chain` with the times of `schedule`.
        """
        state = self.state
        first = state.iteration
        items = uses(state, self.timing, self.traffic, chain, schedule, first, count)
        used = [use for use in items if use.times]
        if self.tracing:
            block, number = self.trace, state.begun - 1
            if not first:
                popped = state.popped
                block.begin(popped[0][0] if popped else int(schedule.reads[0, 0]), number)
            for use in used:
                block.count_occurrence(*use, number)
            if first + count == chain.iterations and not state.unsent:
                block.end(max(int(schedule.readable[-1].max()), schedule.stored), number)
        if self.listeners:
            for use in used:
                self.announce("used", **use._asdict())

    def _report_push_wait(self, chain: Chain, planned: int, last: int) -> None:
        """Report that the last vector of an iteration was pushed in cycle `last`, not in `planned`.

        The iteration belongs to `chain`.
        """
        use = Use("writes_blocked", planned, last, last - planned)
        if self.tracing:
            number = self.state.begun - 1
            self.trace.count_occurrence(*use, number)
            if self.state.iteration == chain.iterations:
                stores = any(not access.memory.setting for access in chain.writes)
                self.trace.end(max(last, self.state.stored if stores else 0), number)
        if self.listeners and use.times:
            self.announce("used", **use._asdict())

    def _continue(self, chain: Chain, last: int) -> None:
        """Go on to the next iteration of a chain, or end the chain if there is none.

        `last` is the cycle in which the present iteration acted. But if vectors of the iteration
        had to wait for room in NetOutQ, it is the cycle in which the last vectors were pushed.
        """
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

    # NetInQ

    def _pop(self, chain: Chain) -> bool:
        """Take the chain's next vector from NetInQ. If the iteration is complete, execute it.

        Return whether other cores must act next.
        """
        state = self.state
        unit = TILES if chain.is_tiles else READ
        needed = chain.input_count * (self.memories.native if chain.is_tiles else 1)
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
        if self.chain_origins is not None:
            self.chain_origins.pop_vector()
        self.device.changed(self, time)
        if len(state.popped) < needed:
            state.free[unit] = self.time = time + self.timing.rate
            return True
        try:
            self._do_popped(chain)
        except Fault:
            _, data = state.popped.pop()
            state.net_in.insert(0, data)
            raise
        return True

    def _do_popped(self, chain: Chain) -> None:
        """Execute the chain's iteration, now that all its vectors have been popped."""
        state, native = self.state, self.memories.native
        data = b"".join(data for _, data in state.popped)
        values = np.frombuffer(data, self.memories.dtype).reshape(1, -1, native)
        times = np.array([[time for time, _ in state.popped]], np.int64)
        if chain.is_tiles:
            whole = times[0, native - 1 :: native].tolist()
            self._move_tiles(chain, whole, values.reshape(-1, native, native))
            return
        rates = np.full(times.shape, self.timing.rate, np.int64)
        self._do_vectors(chain, times, rates, values)

    # Tiles

    def _move_tiles(self, chain: Chain, popped: list[int], values: Host | None = None) -> bool:
        """Execute an iteration of a chain of tiles.

        If the iteration does not read NetInQ and starts later than now, only advance the time to
        its start. `popped` has the cycles in which its tiles from NetInQ were complete, `values`
        these tiles. Return whether other cores must act next.
        """
        state = self.state
        write: Access = chain.writes[0]
        schedule = tile_schedule(state, self.timing, chain, popped, self.time, self.counts_uses)
        if not popped:
            if int(schedule.starts[0]) > self.time:
                self.time = int(schedule.starts[0])
                return False
            self.proceed()
        targets = chain.addresses(write, 0, 1)[0]
        try:
            if values is None:
                values = self.memories.read_tiles(
                    chain.source.memory, chain.addresses(chain.source, 0, 1)[0]
                )
            if self.chain_origins is not None:
                self.chain_origins.begin_iteration(chain)
            self.memories.write_tiles(write.memory, targets, values)
            if self.chain_origins is not None:
                self.chain_origins.record_tiles(values)
        except NotANumber as error:
            raise self._at_instruction(chain, IterationFault(write.at, nan_fault(error))) from None
        except Fault as fault:
            at = 0 if values is None else write.at
            raise self._at_instruction(chain, IterationFault(at, fault)) from None
        if write.memory.setting:
            state.ready(write.memory)[targets] = schedule.readable[0]
        return self._finish(chain, schedule, 1)

    def _at_instruction(self, chain: Chain, error: IterationFault) -> Fault:
        """Return the fault in `error`, with the address of the instruction of the chain."""
        fault = error.fault
        iteration = self.state.iteration
        text = f" (iteration {iteration})" if chain.iterations > 1 else ""
        address = self.state.chain[error.at][0]
        values = {**fault.values, "iteration": iteration}
        return Fault(fault.kind, fault.message + text, values, address=address)

    def _retire(self, time: int) -> None:
        """End the instruction at `pc`. The next one executes in cycle `time`."""
        self.state.pc += WORD
        self.retired += 1
        self.time = time
