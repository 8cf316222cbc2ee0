"""Predicts when the blocks of an island end, by a simulation of the times of their words.

docs/timing-fim.md has the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from macaw.emu.rules.fim_circuits import (
    AluTimings,
    block_end,
    column_lead,
    columns_stored,
    operation_start,
    pointer_start,
    repeat_period,
)
from macaw.emu.rules.fim_dram import PAST, align_up, column_bounds
from macaw.isa.config import Configuration
from macaw.isa.fim_circuit import COLUMNS, GIO, IOSA, OPERATIONS, ROP, Operation
from macaw.isa.fim_islands import abilities
from macaw.lowering.fim.bank_timing import BankState, BankTiming
from macaw.lowering.fim.block_program import (
    ACT,
    LOCK,
    OPERATE,
    PLAIN,
    POINT,
    PULL,
    PUSH,
    UNLOCK,
    Block,
    Repeat,
    Word,
    flat,
)

_NEVER = 1 << 60


@dataclass
class _Buffer:
    """The state of a buffer: its pointers, as columns of the island, and the block that locks it.

    `arrivals` has the cycles in which the last columns before the end pointer are stored.
    """

    start: int = 0
    end: int = 0
    arrivals: list[int] = field(default_factory=list)
    owner: _Running | None = None


class _Operation(NamedTuple):
    """An operation in a certain ALU mode, with its times in device cycles.

    It waits until the data that were pulled into its `registers` have arrived. `writes` says
    whether it writes a column. It can be repeated every `period` cycles, and occupies the ALU for
    `busy` cycles. Its result is in register Rz after `result` cycles. `lead` is the number of
    cycles from its command until its column is at the circuit.
    """

    row: Operation
    registers: tuple[str, ...]
    writes: bool  # whether it writes a column
    period: int  # cycles from one of its repeats to the next
    busy: int  # cycles for which the ALU is occupied
    result: int  # cycles until the result is in Rz
    lead: int  # cycles from its command until its column is at the circuit


class _Running:
    """A block that is being executed.

    `time` is the cycle of its next word, the same for all its banks. It is `_NEVER` while the block
    waits until another block changes a buffer.
    """

    def __init__(self, island: _Island, block: Block, time: int) -> None:
        self.island, self.block, self.time = island, block, time
        self.words, self.place = _joined(flat(block.items)), 0
        self.operations: dict[tuple[int, int], _Operation] = {}
        banks = island.banks
        self.activations = max(banks.activations[bank] for bank in block.banks)
        self.column = max(banks.columns[bank] for bank in block.banks)
        self.write_ends = self.last_read = PAST
        self.written = max(banks.write_ends[bank] for bank in block.banks)
        self.push_end = 0  # the cycle in which all columns that the block pushed are stored
        self.alu_free = self.rz_ready = self.columns_ready = 0
        self.pull_ends = {ROP: 0, GIO: 0}
        self.is_over = False

    def go(self, limit: int) -> None:
        """Execute a word, then further words that start before cycle `limit`, or are private.

        Stop after a push, because other blocks can see its effect.
        """
        words, private = self.words, self.island.private
        while True:
            self.step()
            if self.is_over or words[self.place - 1].kind == PUSH:
                return
            if self.time >= limit and words[self.place].kind not in private:
                return

    def step(self) -> None:
        """Execute the next word, or advance `time` to the cycle in which this will be possible."""
        island = self.island
        step, banks = island.step, island.banks
        word = self.words[self.place]
        kind = word.kind
        if kind == OPERATE:
            self._operate(word)
        elif kind == PLAIN:
            self.time += word.count * step
        elif kind == _END:
            self._end()
            return
        elif kind == PULL:
            if not self._pull(word):
                return
        elif kind == ACT:
            for bank in self.block.banks:
                banks.write_ends[bank] = max(banks.write_ends[bank], self.write_ends)
                banks.reads[bank] = max(banks.reads[bank], self.last_read)
            self.activations = banks.open(self.block.banks, 0, self.time, step)
            self.time = self.activations + step
        elif kind == PUSH:
            ready = max(self.rz_ready, self.columns_ready)
            if self.time < ready:  # the word takes the channel then, not before
                self.time = island.align_up(ready)
                return
            self._push(word)
        else:
            if kind == POINT:
                self._point(word)
            elif kind == LOCK and not self._lock(word):
                return
            elif kind == UNLOCK:
                island.buffers[word.value].owner = None
                self._wake(self.time)
            self.time += step
        self.place += 1

    def _wake(self, time: int) -> None:
        """Let all blocks that wait for a change of a buffer try again, after cycle `time`."""
        for other in self.island.running:
            if other.time == _NEVER:
                other.time = self.island.align_up(time + 1)

    def _lock(self, word: Word) -> bool:
        buffer = self.island.buffers[word.value]
        if buffer.owner is not None:
            self.time = _NEVER
            return False
        buffer.owner = self
        return True

    def _operate(self, word: Word) -> None:
        island = self.island
        key = word.operation, word.value
        operation = self.operations.get(key)
        if operation is None:
            operation = self.operations[key] = island.operation(self.block, *key)
        row = operation.row
        begin = self.time
        for register in operation.registers:
            if self.pull_ends[register] > begin:
                begin = self.pull_ends[register]
        if not operation.lead and self.columns_ready > begin:
            begin = self.columns_ready
        begin = operation_start(row, begin, self.alu_free - operation.lead, self.rz_ready)
        if row.has_column:
            timings = island.banks.timings
            bounds = column_bounds(
                timings, operation.writes, self.activations, self.column, self.written
            )
            begin = max(begin, max(bounds)[0])
        last = align_up(begin, island.step) + (word.count - 1) * operation.period
        self.time = last + island.step
        if row.has_column:
            self.column = last
            if operation.writes:
                self.write_ends = self.written = timings.data_end(last, True)
            else:
                self.last_read = last
        if operation.lead:
            self.columns_ready = last + operation.lead + island.step
        if row.computes:
            self.alu_free = last + operation.lead + operation.busy
            self.rz_ready = max(self.rz_ready, last + operation.lead + operation.result)

    def _pull(self, word: Word) -> bool:
        island, step = self.island, self.island.step
        buffer = island.buffers[word.value]
        count = 1 if word.every else len(self.block.banks)
        there = columns_stored(buffer.start, buffer.end, buffer.arrivals, count)
        if there is None or there > self.time:
            self.time = _NEVER if there is None else island.align_up(there)
            return False
        for _ in range(count):
            at, end = island.access(buffer.start, self.time, False)
            self.time = at + step
            buffer.start += 1
        self.pull_ends[word.register] = max(self.pull_ends[word.register], end)
        return True

    def _push(self, word: Word) -> None:
        island, step = self.island, self.island.step
        buffer = island.buffers[word.value]
        begin = time = self.time
        buffer.arrivals = [arrival for arrival in buffer.arrivals if arrival > begin]
        for _ in self.block.banks:
            at, end = island.access(buffer.end, time, True)
            time = at + step
            buffer.end += 1
            buffer.arrivals.append(end)
        self.push_end = max(self.push_end, buffer.arrivals[-1])
        self.time = time
        self._wake(begin)

    def _point(self, word: Word) -> None:
        island, buffer = self.island, self.island.buffers[word.value]
        buffer.start = buffer.start if word.start < 0 else word.start
        if word.end < 0:
            return
        # If the low pointer moves, the end pointer moves with it.
        part = "end" if word.start < 0 else "low"
        writes_end = [
            self.write_ends,
            *(island.banks.write_ends[bank] for bank in self.block.banks),
        ]
        ready = max(self.time, pointer_start(part, buffer.arrivals, writes_end))
        self.time = island.align_up(ready)
        buffer.end = word.end
        buffer.arrivals.clear()

    def _end(self) -> None:
        banks = self.island.banks
        for bank in self.block.banks:
            banks.write_ends[bank] = max(banks.write_ends[bank], self.write_ends)
            banks.reads[bank] = max(banks.reads[bank], self.last_read)
            banks.columns[bank] = max(banks.columns[bank], self.column)
            banks.rows[bank] = self.block.row
        writes_end = (banks.write_ends[bank] for bank in self.block.banks)
        results = max(self.rz_ready, self.columns_ready)
        last = block_end(results, self.push_end, max(self.pull_ends.values()), writes_end)
        self.time, self.is_over = self.island.align_up(max(self.time, last)), True


_END = -1  # the kind of a word after the last word


def _joined(words: Sequence[Word]) -> list[Word]:
    """Return `words` with an item for all consecutive plain words, and one after the last word."""
    joined: list[Word] = []
    for kind, group in groupby(words, attrgetter("kind")):
        several = list(group)
        joined += [Word("", PLAIN, len(several))] if kind == PLAIN else several
    return [*joined, Word("", _END)]


class _Island:
    """The state of an island: the blocks that run at the same time, and their buffers."""

    def __init__(self, config: Configuration, number: int, banks: BankTiming) -> None:
        able = abilities(config, number)
        self.banks = banks
        self.alu = AluTimings.of(config, able)
        self.step = able.divider
        self.buffers: list[_Buffer] = []
        self.running: list[_Running] = []
        # The kinds of words that change only what no other block uses.
        self.private: frozenset[int] = frozenset()

    def start(self, blocks: Sequence[Block], begin: int) -> None:
        """Let blocks start in cycle `begin`."""
        self.running = [_Running(self, block, self.align_up(begin)) for block in blocks]
        words = (word for block in self.running for word in block.words if word.kind == POINT)
        columns = (column for word in words for column in (word.start, word.end) if column >= 0)
        pulled = {column // (self.banks.geometry.rows * COLUMNS) for column in columns}
        if pulled.isdisjoint(bank for block in blocks for bank in block.banks):
            alone = () if self.banks.timings.limits_activations else (ACT,)
            self.private = frozenset((PLAIN, OPERATE, _END, *alone))

    def operation(self, block: Block, number: int, mode: int) -> _Operation:
        """Return the operation `OPERATIONS[number]` with the ALU mode `block.modes[mode]`."""
        row, what, step = OPERATIONS[number], block.modes[mode], self.step
        latency = self.alu.latency(what.function, what.arrangement, what.form, what.accumulates)
        registers = tuple(name for name in (*row.reads, row.to) if name in (ROP, GIO))
        _, period = repeat_period(row, latency.busy, self.banks.timings.t_ccdl, step)
        busy, result = latency.busy * step, latency.result * step
        lead = column_lead(row, self.banks.timings.t_column, step)
        return _Operation(row, registers, row.to == IOSA, period, busy, result, lead)

    def align_up(self, time: int) -> int:
        """Return the first clock edge of the island's circuits that is not before cycle `time`."""
        return align_up(time, self.step)

    def access(self, column: int, time: int, writes: bool) -> tuple[int, int]:
        """Read a column over the channel, or write one if `writes`, not before cycle `time`.

        `column` counts the columns of the whole island. Return the cycle of the command and the
        first cycle after the data of the column.
        """
        bank, rest = divmod(column, self.banks.geometry.rows * COLUMNS)
        return self.banks.access(bank, rest // COLUMNS, time, writes, self.step)


LONG = 8 * COLUMNS  # up to this count all rounds of a repetition are simulated


_MOST_STATES = 64  # that `BlocksTiming` knows
_SMALL = 1000  # so many words or times are few enough to know several


class BlocksTiming:
    """The times of blocks that start together: one simulation for each state of their island."""

    def __init__(self, blocks: Sequence[Block], config: Configuration, island: int) -> None:
        self._blocks, self._config, self._island = blocks, config, island
        self._step = abilities(config, island).divider
        self._known: dict[BankState, tuple[int, BankState]] = {}

    def end(self, banks: BankTiming, begin: int) -> int:
        """Return the cycle in which the last block ends if all start in cycle `begin`.

        From the cycle after the end of a block on, other accesses to its banks are possible.
        `banks` then has the state in which the blocks leave the banks. Raises `ValueError` if the
        blocks would wait for one another forever.
        """
        begin = align_up(begin, self._step)
        every = range(banks.geometry.banks)
        before = banks.state(every, begin)
        if before in self._known:
            cycles, after = self._known[before]
            banks.put(every, after, begin)
            return begin + cycles
        end = _blocks_end(self._blocks, self._config, self._island, banks, begin)
        after = banks.state(every, begin)
        if len(self._known) < _MOST_STATES and len(after.commands) <= _SMALL:
            self._known[before] = end - begin, after
        return end


_blocks_timing = lru_cache(maxsize=256)(BlocksTiming)
_blocks_timing_large = lru_cache(maxsize=4)(BlocksTiming)  # the keys take megabytes


def blocks_timing(blocks: Sequence[Block], config: Configuration, island: int) -> BlocksTiming:
    """Return the times of an island's blocks; what they have simulated is known to later calls."""
    small = sum(len(block.items) for block in blocks) <= _SMALL
    return (_blocks_timing if small else _blocks_timing_large)(tuple(blocks), config, island)


def _blocks_end(
    blocks: Sequence[Block], config: Configuration, island: int, banks: BankTiming, begin: int
) -> int:
    """Return the cycle in which the last block ends, as `BlocksTiming.end` does.

    If every `Repeat` of the blocks has the same large count, only some of its repetitions are
    simulated. Let a row have n columns: after n repetitions, pushes and pulls find the same rows
    open as before. So each further group of n repetitions takes equally long, and the function adds
    this time without a simulation.
    """
    counts = {x.count for block in blocks for x in block.items if isinstance(x, Repeat)}
    if len(counts) != 1 or max(counts) <= LONG:
        return _follow(blocks, config, island, banks, begin)
    (count,) = counts
    few = COLUMNS + count % COLUMNS
    fewer, more = (_repeated(blocks, number) for number in (few, few + COLUMNS))
    first = _follow(fewer, config, island, deepcopy(banks), begin)
    turn = _follow(more, config, island, deepcopy(banks), begin) - first
    return _follow(fewer, config, island, banks, begin + turn * ((count - few) // COLUMNS))


def _repeated(blocks: Sequence[Block], count: int) -> list[Block]:
    """Return copies of the blocks in which each `Repeat` has the count `count`."""
    return [
        replace(
            block,
            items=tuple(
                replace(item, count=count) if isinstance(item, Repeat) else item
                for item in block.items
            ),
        )
        for block in blocks
    ]


_time = attrgetter("time")


def _follow(
    blocks: Sequence[Block], config: Configuration, island: int, banks: BankTiming, begin: int
) -> int:
    there = _Island(config, island, banks)
    there.buffers = [_Buffer() for _ in range(8)]
    there.start(blocks, begin)
    left = list(there.running)
    while left:
        now = min(left, key=_time)
        if now.time >= _NEVER:
            raise ValueError("blocks wait for one another")
        limit = min([block.time for block in left if block is not now], default=_NEVER)
        now.go(limit)
        if now.is_over:
            left.remove(now)
            banks.reserve(now.block.banks, now.time + 1)
    return max(block.time for block in there.running)
