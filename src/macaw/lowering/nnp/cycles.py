"""Predicts the time of a program of nnp that a larger program starts, without running it.

The times follow from the chains alone: nnp has no branches, and no time depends on data. The rules
are those of the emulator (docs/timing-nnp.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from macaw.asm.assembler import Source, assemble
from macaw.emu.nnp.schedules.chain import Chain
from macaw.emu.nnp.schedules.schedule import Schedule, tile_schedule
from macaw.emu.nnp.schedules.scheduler import FastScheduler
from macaw.emu.nnp.schedules.timing import READ, UNITS, Timing
from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.nnp_layouts import BY_NAME, Memory
from macaw.lowering.concord.chains import chains
from macaw.lowering.listing import Listing
from macaw.lowering.nnp.operations import Model
from macaw.lowering.nnp.source import write_code

_WORD = 4


@dataclass(frozen=True)
class Streams:
    """How fast the queues are fed and drained, in device cycles.

    `transfers` has the number of input vectors that each transfer brings. The first vector
    arrives in cycle `first`, and each further one of the transfer `interval` cycles after the
    previous one. The first vector of a later transfer arrives `first_of_next` cycles after the last
    one of the transfer before. To take a vector out of the output queue takes `drain` cycles.
    """

    first: int
    interval: int
    drain: int
    transfers: Sequence[int]
    first_of_next: int


@dataclass(frozen=True)
class Prediction:
    """The predicted cycles of a program, and its number of beats of external memory.

    `cycles` is the time from the program's start until the last output vector is out of the queue.
    """

    cycles: int
    beats: int


@dataclass
class _Progress:
    """The state of nnp: from which cycle its units are free, and its register entries are ready.

    All times are device cycles. `files` has a time for each entry of each register file, and `free`
    a time for each unit. `used_matrix` has, for each entry of MatrixRf, the end of the last product
    that reads it. `asked` is when the present iteration could begin, `stored` when the last write
    to Dram is complete, and `done` when the last result so far can be read. `stored_before` was
    `stored` when the present chain began. `base` is the address of nnp's Dram in external memory.
    """

    base: int  # the address of nnp's Dram in external memory
    files: Mapping[str, NDArray[np.int64]]
    used_matrix: NDArray[np.int64]
    free: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(UNITS), np.int64))
    asked: int = 0  # when the present iteration was ready to begin
    stored: int = 0  # when the last write to Dram is complete
    stored_before: int = 0  # `stored` when the present chain began
    done: int = 0  # when the last result so far is readable

    def ready(self, memory: Memory) -> NDArray[np.int64]:
        return self.files[memory.name]


def predict(model: Model, config: Configuration, streams: Streams) -> Prediction:
    """Return the prediction for a model's program, whose queues have the speed of `streams`.

    Raises `LowerError` if the program does not fit.
    """
    out = Listing()
    write_code(out, model, config, "_start")
    program = assemble(Source(out.text(), "nnp.s"), device=config)
    timing = Timing(config)
    sizes = {name: int(config[item.setting]) for name, item in BY_NAME.items() if item.setting}
    files = {name: np.zeros(count, np.int64) for name, count in sizes.items()}
    state = _Progress(EXTERNAL, files, np.zeros(sizes["MatrixRf"], np.int64))
    run = _Run(state, timing, streams, config)
    (section,) = (item for item in program.parts("nnp") if item.flags.count("x"))
    address = section.address
    for item in chains(program, config):
        last = item.places[-1].address
        run.chain(Chain(item.rows, item.scalars), (last - address) // _WORD)
        address = last + _WORD
    return run.end()


class _Run:
    """Predicts the times of a program: `chain` advances them by one chain after the other.

    `state` says from which cycle each unit and each register entry can be used.
    """

    def __init__(
        self, state: _Progress, timing: Timing, streams: Streams, config: Configuration
    ) -> None:
        self.state, self.timing, self.streams = state, timing, streams
        self.inputs, self.room = int(config["nnp.net_in"]), int(config["nnp.net_out"])
        self.scheduler = FastScheduler(state, timing)
        self.time = self.beats = self.arrived = 0
        self.taken: list[int] = []  # when nnp takes each input vector from NetInQ
        self.drained: list[int] = []  # when each output vector is out of the queue
        # the numbers of the input vectors that are the first of a transfer, other than vector 0
        self.later_transfers = frozenset(accumulate(streams.transfers))

    def chain(self, chain: Chain, before: int) -> None:
        """Advance all predicted times by the execution of a chain.

        `before` counts the instruction words between the previous chain and the last word of this
        chain.
        """
        state = self.state
        self.time += before * self.timing.issue
        state.asked, state.stored_before = self.time, state.stored
        if chain.is_tiles:
            schedule = tile_schedule(state, self.timing, chain, [], self.time, False)
            self.time = int(schedule.starts[0])
            self._finish(chain, 0, 1, schedule)
        else:
            self._iterations(chain)
        self.time += self.timing.issue

    def _iterations(self, chain: Chain) -> None:
        state, first = self.state, 0
        queues = chain.source.memory.queue or chain.push_count
        order = chain.depends_on_order(0, chain.iterations)
        count = 1 if queues or order else chain.iterations
        while first < chain.iterations:
            if first:
                self.time = max(self.time + self.timing.divider, int(state.free[READ]))
                state.asked = self.time
            self._wait_for_room(chain)
            if chain.source.memory.queue:
                reads, rates = self._popped(chain)
            else:
                reads, rates = self.scheduler.reads(chain, first, count, self.time)
            schedule = self.scheduler.vectors(chain, first, reads, rates, False)
            self.time = int(reads[-1, -1] if chain.source.memory.queue else reads[-1, 0])
            self._finish(chain, first, count, schedule)
            first += count

    def _popped(self, chain: Chain) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return when nnp takes the vectors of an iteration from NetInQ, and their rates.

        Both arrays have shape (1, vectors). The first has the device cycle in which a vector is
        taken. The rate of a vector is the number of device cycles that a unit needs for it.
        """
        times, now = [], self.time
        for _ in range(chain.input_count):
            now = max(now, int(self.state.free[READ]), self._arrival())
            times.append(now)
            self.taken.append(now)
            now += self.timing.rate
        return np.array([times]), np.full((1, len(times)), self.timing.rate, np.int64)

    def _arrival(self) -> int:
        """Return when the next vector that nnp takes is in NetInQ; note it in `arrived`.

        A vector arrives after the one before it, and not before the queue has room for it.
        """
        streams, number = self.streams, len(self.taken)
        time = streams.first
        if number:
            later = number in self.later_transfers
            time = self.arrived + (streams.first_of_next if later else streams.interval)
        if number >= self.inputs:
            time = max(time, self.taken[number - self.inputs])
        self.arrived = time
        return time

    def _wait_for_room(self, chain: Chain) -> None:
        """Advance `time` to the cycle in which NetOutQ has room for an iteration of a chain.

        If an iteration has more vectors than the queue can hold, this is the cycle in which the
        queue is empty.
        """
        if chain.push_count and self.drained:
            last = len(self.drained) + min(chain.push_count, self.room) - self.room - 1
            if last >= 0:
                self.time = max(self.time, self.drained[last])

    def _finish(self, chain: Chain, first: int, count: int, schedule: Schedule) -> None:
        state = self.state
        for unit, free in schedule.free.items():
            state.free[unit] = free
        for access in chain.writes:
            if access.memory.queue:
                for ready in schedule.readable.ravel().tolist():
                    before = self.drained[-1] if self.drained else 0
                    self.drained.append(max(before, ready) + self.streams.drain)
            elif access.memory.setting:
                places = chain.addresses(access, first, count)
                state.ready(access.memory)[places] = schedule.readable
        if chain.product is not None and schedule.product_ends is not None:
            tiles = chain.addresses(chain.product, first, count)
            np.maximum.at(state.used_matrix, tiles, schedule.product_ends[:, None])
        state.stored = max(state.stored, schedule.stored)
        state.done = max(state.done, int(schedule.readable.max()), schedule.stored)
        for access in (chain.source, *chain.writes):
            if not access.memory.setting:
                length = self.timing.tile_bytes if chain.is_tiles else self.timing.vector_bytes
                places = chain.addresses(access, first, count)
                starts = state.base + places[places >= 0] * length
                self.beats += int(self.timing.beats(starts, length).sum())

    def end(self) -> Prediction:
        """Return the prediction for the program, whose chains have all been executed (`chain`)."""
        end = max(self.time + self.timing.issue, self.state.done, *self.drained[-1:])
        return Prediction(end, self.beats)
