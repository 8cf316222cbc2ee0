"""Predicts when the blocks of an island end, by a simulation of the times of their words.

docs/timing-fim.md has the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
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
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.fim.bank_timing import BankTiming
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
    Item,
    Word,
    runs,
)

NEVER = 1 << 60


@dataclass
class Buffer:
    """The state of a buffer: its pointers, as columns of the island, and the block that locks it.

    `arrivals` has the cycles in which the last columns before the end pointer are stored.
    """

    start: int = 0
    end: int = 0
    arrivals: list[int] = field(default_factory=list)
    owner: Running | None = None


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


class Running:
    """A block that is being executed.

    `time` is the cycle of its next word, the same for all its banks. It is `NEVER` while the block
    waits until another block changes a buffer.
    """

    def __init__(self, island: Island, block: Block, time: int) -> None:
        self.island, self.block, self.time = island, block, time
        self.words, self.repetitions = _words(block.items)
        self.place = 0
        self.stop = -1  # the place before which `go` also stops
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

    @property
    def rounds(self) -> Rounds | None:
        """The rounds that have the next word; None if this word is not repeated."""
        there = (rounds for rounds in self.repetitions if self.place < rounds.end)
        rounds = next(there, None)
        return rounds if rounds is not None and rounds.first <= self.place else None

    def round(self, rounds: Rounds) -> list[Word]:
        """Return the words of one of the rounds."""
        return self.words[rounds.first : rounds.first + rounds.length]

    def go(self, limit: int) -> None:
        """Execute a word, then further words that start before cycle `limit`, or are private.

        Stop after a push or unlock, because other blocks can see its effect, and before the place
        `stop`.
        """
        words, private = self.words, self.island.private
        while True:
            self.step()
            if self.is_over or self.place == self.stop:
                return
            if words[self.place - 1].kind in (PUSH, UNLOCK):
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
            self.activations = banks.open(self.block.banks, 0, self.time, step, bus=False)
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
            if other.time == NEVER:
                other.time = self.island.align_up(time + 1)

    def _lock(self, word: Word) -> bool:
        buffer = self.island.buffers[word.value]
        if buffer.owner is not None:
            self.time = NEVER
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
            self.time = NEVER if there is None else island.align_up(there)
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


class Rounds(NamedTuple):
    """The words of a block that repeat: `number` times the same `length` words.

    The first of them is number `first` of the block's words.
    """

    first: int
    length: int
    number: int

    @property
    def end(self) -> int:
        """The number of the first word after the last round."""
        return self.first + self.length * self.number


def _words(items: Sequence[Item]) -> tuple[list[Word], list[Rounds]]:
    """Return the words of a block, with a word after the last one, and its repetitions.

    An item stands for consecutive plain words, unless a round begins or ends between them.
    """
    words: list[Word] = []
    repetitions: list[Rounds] = []
    for several, count in runs(items):
        body = _joined(several)
        if count > 1:
            repetitions.append(Rounds(len(words), len(body), count))
        words += body * count
    return [*words, Word("", _END)], repetitions


def _joined(words: Sequence[Word]) -> list[Word]:
    """Return `words` with an item for all consecutive plain words."""
    joined: list[Word] = []
    for kind, group in groupby(words, attrgetter("kind")):
        several = list(group)
        joined += [Word("", PLAIN, len(several))] if kind == PLAIN else several
    return joined


class Island:
    """The state of an island: the blocks that run at the same time, and their buffers."""

    def __init__(self, config: Configuration, number: int, banks: BankTiming) -> None:
        able = abilities(config, number)
        self.banks = banks
        self.alu = AluTimings.of(config, able)
        self.step = able.divider
        self.buffers: list[Buffer] = []
        self.running: list[Running] = []
        # The kinds of words that change only what no other block uses.
        self.private: frozenset[int] = frozenset()

    def start(self, blocks: Sequence[Block], begin: int) -> None:
        """Let blocks start in cycle `begin`."""
        self.running = [Running(self, block, self.align_up(begin)) for block in blocks]
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
