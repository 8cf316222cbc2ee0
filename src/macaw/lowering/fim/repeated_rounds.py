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
from macaw.lowering.fim.instruction_timing import NEVER, Island, Running

_FEW = 2  # in fewer periods, no state can be repeated before the last round
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
        # In the banks of blocks, `act` opens a row that does not move on with the pointers.
        self._others = set(self._every).difference(*(x.block.banks for x in self._blocks))
        pulled: dict[int, int] = {}  # by buffer: the columns that one round of all blocks pulls
        pushed: dict[int, int] = {}
        for block in self._blocks:
            for word in block.round:
                if word.kind in (PULL, PUSH):
                    moved = pulled if word.kind == PULL else pushed
                    count = 1 if word.every else len(block.block.banks)
                    moved[word.value] = moved.get(word.value, 0) + count
        self._pulled, self._pushed = tuple(pulled), tuple(pushed)
        counts = (*pulled.values(), *pushed.values())
        # After so many rounds, pointers can have the same columns in their rows.
        period = lcm(*(COLUMNS // gcd(COLUMNS, count) for count in counts))
        self._seen: dict[object, _Snapshot] = {}
        leader = self._blocks[0]
        self._distance = period * leader.rounds.length
        points = any(word.kind == POINT for block in self._blocks for word in block.round)
        if not points and leader.rounds.number > _FEW * period:
            leader.stop = leader.rounds.first

    def check(self) -> None:
        """Skip rounds if the state repeats an earlier one; call this where the first block stops.

        The first block stops at its place `stop`, which this method moves on.
        """
        leader = self._blocks[0]
        if leader.place != leader.stop:
            return
        leader.stop += self._distance
        columns = tuple(self._columns())
        if not self._others.issuperset(column // self._bank_columns for column in columns):
            return
        if all(x.rounds.first <= x.place < x.rounds.end for x in self._blocks):
            now = min(block.time for block in self._blocks)
            places = tuple(block.place for block in self._blocks)
            snapshot = _Snapshot(now, places, columns)
            earlier = self._seen.setdefault(self._state(now), snapshot)
            if earlier is not snapshot:
                self._skip(earlier, snapshot)

    def _columns(self) -> Iterator[int]:
        buffers = self._island.buffers
        yield from (buffers[number].start for number in self._pulled)
        yield from (buffers[number].end for number in self._pushed)

    def _state(self, now: int) -> object:
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
        blocks = [self._block(block, now) for block in self._blocks]
        return (*opened, *others, *moving, *buffers, *owners, *blocks)

    def _buffer(self, number: int, now: int) -> object:
        buffer = self._island.buffers[number]
        arrivals = tuple(time - now for time in buffer.arrivals if time > now)
        stored = number in self._pulled and (number in self._pushed or arrivals)
        return arrivals, buffer.end - buffer.start if stored else None

    def _block(self, block: Running, now: int) -> tuple[int, ...]:
        low = -self._island.banks.longest
        times = [getattr(block, name) - now for name in _TIMES]
        times += [time - now for time in block.pull_ends.values()]
        place = (block.place - block.rounds.first) % block.rounds.length
        until = NEVER if block.time == NEVER else block.time - now
        return place, until, *(max(time, low) for time in times)

    def _skip(self, earlier: _Snapshot, snapshot: _Snapshot) -> None:
        """Skip as many repetitions of what was executed between two equal states as possible.

        In all of them, pointers stay in their banks, and blocks stay in their rounds: also with
        their next words, because a block may already wait for what its next word needs. If a buffer
        has too few columns for the rounds that are skipped, the blocks wait in the last round.
        """
        cycles = snapshot.cycle - earlier.cycle
        places = _differences(earlier.places, snapshot.places)
        columns = _differences(earlier.columns, snapshot.columns)
        limits = [block.rounds.end - 1 for block in self._blocks]
        room = [*zip(limits, snapshot.places, places, strict=True)]
        for column, moved in zip(snapshot.columns, columns, strict=True):
            bank = column // self._bank_columns
            room.append(((bank + 1) * self._bank_columns, column, moved))
        turns = max(0, min((end - at) // moved for end, at, moved in room if moved))
        self._postpone(turns * cycles, snapshot.cycle)
        self._blocks[0].stop += turns * places[0]
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
