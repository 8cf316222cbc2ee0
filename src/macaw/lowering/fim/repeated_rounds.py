"""Skips rounds of an island's blocks that repeat the cycles of earlier rounds.

A round of a block is one execution of the words that the block repeats. If before a round the
blocks, buffers and banks have the state that they had before an earlier round, all times since then
repeat, too. Buffers move on from round to round; so a state has their columns relative to the rows
that are open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd, lcm
from typing import NamedTuple

from macaw.isa.fim_circuit import COLUMNS
from macaw.lowering.fim.block_program import POINT, PULL, PUSH
from macaw.lowering.fim.instruction_timing import NEVER, Island, Rounds, Running

_FEW = 2  # in fewer periods, there is little to skip
# The fields of `Running` that are cycles, but for `time`.
_TIMES = (
    "activations", "column", "write_ends", "last_read", "written", "push_end",
    "alu_free", "rz_ready", "columns_ready",
)  # fmt: skip


class _Snapshot(NamedTuple):
    """The cycle of a state, and what differs from one equal state to the next.

    `places` has the place of each block, `columns` the columns of the pointers that move.
    """

    cycle: int
    places: tuple[int, ...]
    columns: tuple[int, ...]


class RepeatedRounds:
    """Compares the states of blocks that run at the same time, before rounds of the first one."""

    def __init__(self, island: Island) -> None:
        self._island, self._blocks = island, island.running
        self._every = range(island.banks.geometry.banks)
        self._bank_columns = island.banks.geometry.rows * COLUMNS
        # The banks of no block. In the others `act` opens a row that does not move with pointers.
        self._free_banks = set(self._every).difference(*(x.block.banks for x in self._blocks))
        words = [word for x in self._blocks for y in x.repetitions for word in x.round(y)]
        self._pulled = tuple({word.value for word in words if word.kind == PULL})
        self._pushed = tuple({word.value for word in words if word.kind == PUSH})
        self._seen: dict[object, _Snapshot] = {}
        self._distance = 0  # the words from one stop of the first block to the next
        self._aim()

    def _aim(self) -> None:
        """Let the first block stop at the beginning of its next repetition, if this is long."""
        leader, self._distance = self._blocks[0], 0
        leader.stop = -1
        for number, rounds in enumerate(leader.repetitions):
            period = self._period(number)
            if rounds.first > leader.place and rounds.number > _FEW * period > 0:
                leader.stop, self._distance = rounds.first, period * rounds.length
                return

    def _period(self, number: int) -> int:
        """Return after how many rounds pointers can have the same columns in their rows.

        It is the period if each block is in its repetition `number`, and 0 if these have words that
        set pointers.
        """
        counts: dict[tuple[int, int], int] = {}  # by kind and buffer: the columns of a round
        for block in self._blocks:
            for rounds in block.repetitions[number : number + 1]:
                for word in block.round(rounds):
                    if word.kind == POINT:
                        return 0
                    if word.kind in (PULL, PUSH):
                        columns = 1 if word.every else len(block.block.banks)
                        key = word.kind, word.value
                        counts[key] = counts.get(key, 0) + columns
        return lcm(*(COLUMNS // gcd(COLUMNS, count) for count in counts.values()))

    def check(self) -> None:
        """Skip rounds if the state repeats an earlier one; call this where the first block stops.

        The first block stops at its place `stop`, which this method moves on.
        """
        leader = self._blocks[0]
        rounds = [block.rounds for block in self._blocks]
        columns = tuple(self._columns())
        free = self._free_banks.issuperset(column // self._bank_columns for column in columns)
        if free and all(rounds):
            now = min(block.time for block in self._blocks)
            places = tuple(block.place for block in self._blocks)
            snapshot = _Snapshot(now, places, columns)
            there = [x for x in rounds if x is not None]
            earlier = self._seen.setdefault(self._state(there, now), snapshot)
            if earlier is not snapshot:
                self._skip(there, earlier, snapshot)
        end = rounds[0].end if rounds[0] is not None else 0
        leader.stop = leader.place + self._distance
        if leader.stop >= end:
            self._aim()

    def _columns(self) -> Iterator[int]:
        buffers = self._island.buffers
        yield from (buffers[number].start for number in self._pulled)
        yield from (buffers[number].end for number in self._pushed)

    def _state(self, rounds: Sequence[Rounds], now: int) -> object:
        """Return the state of blocks, buffers and banks, relative to cycle `now`."""
        banks = self._island.banks
        rows, *others = banks.state(self._every, now)
        opened = list(rows)
        moving = []
        for column in self._columns():
            bank, rest = divmod(column, self._bank_columns)
            opened[bank] = 0  # the distance to the pointer is in `moving`
            row, place = divmod(rest, COLUMNS)
            is_known = banks.rows[bank] >= 0
            moving.append((bank, place, is_known, banks.rows[bank] - (row if is_known else 0)))
        buffers = [self._buffer(number, now) for number in {*self._pulled, *self._pushed}]
        owners = [x.owner and self._blocks.index(x.owner) for x in self._island.buffers]
        pairs = zip(self._blocks, rounds, strict=True)
        blocks = [self._block(block, there, now) for block, there in pairs]
        return (*opened, *others, *moving, *buffers, *owners, *blocks)

    def _buffer(self, number: int, now: int) -> object:
        buffer = self._island.buffers[number]
        arrivals = tuple(time - now for time in buffer.arrivals if time > now)
        stored = number in self._pulled and (number in self._pushed or arrivals)
        return arrivals, buffer.end - buffer.start if stored else None

    def _block(self, block: Running, rounds: Rounds, now: int) -> tuple[int, ...]:
        low = -self._island.banks.longest
        times = [getattr(block, name) - now for name in _TIMES]
        times += [time - now for time in block.pull_ends.values()]
        place = (block.place - rounds.first) % rounds.length
        until = NEVER if block.time == NEVER else block.time - now
        return rounds.first, place, until, *(max(time, low) for time in times)

    def _skip(self, rounds: Sequence[Rounds], earlier: _Snapshot, snapshot: _Snapshot) -> None:
        """Skip what the blocks did between two equal states, as often as possible.

        Until then, pointers stay in their banks and buffers, and blocks stay in their rounds, also
        with their next words: a block may already wait for what its next word needs.
        """
        cycles = snapshot.cycle - earlier.cycle
        places = _differences(earlier.places, snapshot.places)
        columns = _differences(earlier.columns, snapshot.columns)
        limits = [there.end - 1 for there in rounds]
        room = [*zip(limits, snapshot.places, places, strict=True)]
        for column, moved in zip(snapshot.columns, columns, strict=True):
            bank = column // self._bank_columns
            room.append(((bank + 1) * self._bank_columns, column, moved))
        for number, column, moved in zip(self._pulled, snapshot.columns, columns, strict=False):
            if number not in self._pushed:
                room.append((self._island.buffers[number].end, column, moved))
        turns = max(0, min((end - at) // moved for end, at, moved in room if moved))
        self._postpone(turns * cycles, snapshot.cycle)
        for block, moved in zip(self._blocks, places, strict=True):
            block.place += turns * moved
        buffers, rows = self._island.buffers, self._island.banks.rows
        halves = [(buffers[number], "start") for number in self._pulled]
        halves += [(buffers[number], "end") for number in self._pushed]
        new_rows = dict[int, int]()
        for (buffer, name), column, moved in zip(halves, snapshot.columns, columns, strict=True):
            setattr(buffer, name, column + turns * moved)
            bank = column // self._bank_columns
            new_rows[bank] = rows[bank] + turns * moved // COLUMNS
        for bank, row in new_rows.items():
            rows[bank] = row if rows[bank] >= 0 else rows[bank]
        self._seen.clear()

    def _postpone(self, cycles: int, now: int) -> None:
        """Add `cycles` to all times of the blocks, buffers and banks; the cycle is `now`."""
        banks = self._island.banks
        banks.put(self._every, banks.state(self._every, now), now + cycles)
        for buffer in self._island.buffers:
            buffer.arrivals = [time + cycles for time in buffer.arrivals]
        for block in self._blocks:
            for name in (*_TIMES, *(("time",) if block.time < NEVER else ())):
                setattr(block, name, getattr(block, name) + cycles)
            for register in block.pull_ends:
                block.pull_ends[register] += cycles


def _differences(old: Sequence[int], new: Sequence[int]) -> list[int]:
    return [after - before for before, after in zip(old, new, strict=True)]
