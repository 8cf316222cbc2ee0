"""A product on an island whose left side streams past its right side (seed 004, Fig. 2, 3).

The tiles of B lie in the banks of a block, each once: a bank has some columns of them. The tiles of
A lie once in a bank of their own, a buffer, from which all banks of the block take the same tile
(`pull gio, all`), a tile ahead of the one that they multiply. So nothing is brought in twice, but
that each block has all of B: blocks share the strips of A. Sums stay in Rz while all of k go by.
Only numbers here, and the words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.config import Configuration
from isa.fim_circuit import (
    ARRANGEMENT_NAMES,
    BUFFERS,
    COLUMN_BYTES,
    COLUMNS,
    DOT,
    ELEMENTWISE,
    FUNCTION_NAMES,
    GIO,
    MUL,
    OUTER,
    SLOTS,
    tile_shape,
)
from isa.fim_islands import Geometry, abilities, geometry, island_address
from lower.fim.tiling import Shape, lacks
from lower.fim.words import ACT, COMPUTE, MOVE, POINT, PULL, STORE, Block, Item, Mode, Repeat, Word
from lower.fim.words import size as words_of

ROW_BYTES = COLUMNS * COLUMN_BYTES
_POWERS = tuple(1 << n for n in range(SLOTS.bit_length()))


def _part(total: int, part: int) -> int:
    return -(-total // part)


@dataclass(frozen=True)
class Stream:
    """How a product lies on an island: `blocks` blocks of `banks` banks, and a buffer for each.

    An item is what a bank has in Rz at once: `high` x `wide` tiles of C. `starts`: strips of A that
    do not fit go by in as many starts of the same program.
    """

    shape: Shape
    island: int
    layout: int  # an arrangement, by its number
    high: int
    wide: int
    banks: int
    blocks: int
    starts: int
    memory: Geometry

    @cached_property
    def tile(self) -> tuple[int, int, int]:
        """What one operation multiplies: (m, k) x (k, n)."""
        lanes = self.shape.numbers.lanes
        if self.layout == ELEMENTWISE:
            return 1, 1, lanes
        name = ARRANGEMENT_NAMES[self.layout]
        return (*tile_shape(name, "a", lanes), tile_shape(name, "b", lanes)[1])

    @cached_property
    def strips(self) -> int:
        """Tiles down A."""
        return _part(self.shape.m, self.tile[0])

    @cached_property
    def steps(self) -> int:
        """Tiles along k."""
        return _part(self.shape.k, self.tile[1])

    @cached_property
    def across(self) -> int:
        """Tiles across B."""
        return _part(self.shape.n, self.tile[2])

    @cached_property
    def rounds(self) -> int:
        """Times that A goes by: for the columns of tiles that a bank does one after the other."""
        return _part(self.across, self.banks * self.wide)

    @cached_property
    def items(self) -> int:
        """Items of a bank in a round of one start."""
        return _part(self.strips, self.blocks * self.starts * self.high)

    @property
    def share(self) -> int:
        """Strips of A of a block in one start."""
        return self.items * self.high

    @property
    def deep(self) -> int:
        """Steps whose tiles of B fill a row of memory."""
        return COLUMNS // self.wide

    @cached_property
    def depth(self) -> int:
        """Rows of memory of a round's tiles of B."""
        return _part(self.steps, self.deep)

    @cached_property
    def slices(self) -> int:
        """Columns of memory of an item's results."""
        m, _, n = self.tile
        return _part(self.high * self.wide * m * n, self.shape.numbers.lanes)

    @property
    def result_row(self) -> int:
        """The first row of results, behind the tiles of B."""
        return self.rounds * self.depth

    @property
    def rows(self) -> int:
        """Rows of a working bank that are used."""
        return self.result_row + _part(self.rounds * self.items * self.slices, COLUMNS)

    @property
    def pulled(self) -> int:
        """Columns of a buffer that hold tiles of A; one more is pulled and never used."""
        return self.share * self.steps

    @property
    def buffer_rows(self) -> int:
        """Rows of a buffer's bank that are used."""
        return _part(self.pulled + 1, COLUMNS)

    def bank(self, block: int, number: int = 0) -> int:
        """A working bank of a block."""
        return block * self.banks + number

    def buffer(self, block: int) -> int:
        """The bank with a block's part of A."""
        return self.blocks * self.banks + block

    @property
    def mask(self) -> int:
        """The banks in use."""
        return (1 << self.blocks * (self.banks + 1)) - 1

    def offset(self, bank: int, row: int = 0, column: int = 0) -> int:
        """The offset in the island of a column."""
        return bank * self.memory.bank_bytes + row * ROW_BYTES + column * COLUMN_BYTES

    # --- numbers ---

    def placed_b(self, b: NDArray[Any]) -> NDArray[Any]:
        """B (k, n) as the banks of a block hold it: (banks, rows, 32 columns, lanes)."""
        _, k, n = self.tile
        steps = self.depth * self.deep
        whole = np.zeros((steps * k, self.rounds * self.banks * self.wide * n), b.dtype)
        whole[: b.shape[0], : b.shape[1]] = b
        tiles = whole.reshape(self.depth, self.deep, k, self.rounds, self.banks, self.wide, n)
        tiles = tiles.transpose(4, 3, 0, 1, 5, 2, 6)
        return tiles.reshape(self.banks, self.rounds * self.depth, COLUMNS, k * n)

    def placed_a(self, a: NDArray[Any]) -> NDArray[Any]:
        """A (m, k) as the buffers hold it: (starts x blocks, columns, lanes)."""
        m, k, _ = self.tile
        whole = np.zeros((self.starts * self.blocks * self.share * m, self.steps * k), a.dtype)
        whole[: a.shape[0], : a.shape[1]] = a
        tiles = whole.reshape(-1, self.items, self.high, m, self.steps, k)
        tiles = tiles.transpose(0, 1, 4, 2, 3, 5).reshape(-1, self.pulled, m * k)
        return np.repeat(tiles, self.shape.numbers.lanes // (m * k), axis=-1)

    # --- words ---

    @property
    def modes(self) -> tuple[Mode, ...]:
        """What the operations do: without and with what Rz holds."""
        return tuple(
            Mode(MUL, self.layout, self.shape.form, accumulates) for accumulates in (False, True)
        )

    def program(self, row: int = 0) -> list[Block]:
        """The blocks; `row` is the first row of the banks that they may use."""
        return [
            Block(
                tuple(self.bank(block, number) for number in range(self.banks)),
                (*self._setup(block, row), *self._rounds(block, row)),
                self.modes,
                row + self.result_row + (self.rounds * self.items - 1) * self.slices // COLUMNS,
            )
            for block in range(self.blocks)
        ]

    @cached_property
    def words(self) -> int:
        """Words of the program."""
        return sum(2 + words_of(block.items) for block in self.program()) + 1

    @property
    def most_words(self) -> int:
        """Words of the program at most, without writing it."""
        item = self.depth + self.steps * (3 * self.high + 1) + 7
        return self.blocks * (12 + self.rounds * (2 + self.items * item)) + 1

    def _setup(self, block: int, row: int) -> Iterator[Item]:
        yield Word(f"mmr op, {FUNCTION_NAMES[MUL]}")
        yield Word(f"mmr arrange, {ARRANGEMENT_NAMES[self.layout]}")
        yield Word(f"mmr format, {self.shape.numbers.name}")
        yield Word("mmr rz_step, 1 # slices of Rz one after the other")
        first = self._first(block, row)
        end = first + self.pulled + 1
        low, high = (f"{self._address(column):#x}" for column in (first, end))
        yield Word(f"mmr b{block}_low, {low}", POINT, value=block, start=first, end=first)
        yield Word(f"mmr b{block}_high, {high}")
        text = f"mmr b{block}_end, {high} # the host has filled it"
        yield Word(text, POINT, value=block, end=end)

    def _first(self, block: int, row: int) -> int:
        return self.offset(self.buffer(block), row) // COLUMN_BYTES

    def _address(self, column: int) -> int:
        return island_address(self.island) + column * COLUMN_BYTES

    def _rounds(self, block: int, row: int) -> Iterator[Item]:
        first = self._first(block, row)
        for number in range(self.rounds):
            if number:
                low = f"{self._address(first):#x}"
                yield Word(f"mmr b{block}_start, {low}", POINT, value=block, start=first)
            yield self._pull(block)
            yield Repeat(self.items, tuple(self._item(block, number, row)), "item")

    def _pull(self, block: int) -> Word:
        return Word(f"pull gio, {block}, all", PULL, value=block, register=GIO, every=True)

    def _item(self, block: int, number: int, row: int) -> Iterator[Item]:
        """An item of a round."""
        slot = 0  # rz_slot
        first = row + number * self.depth
        for deep in range(self.depth):
            yield Word(f"act {first + deep}", ACT)
            for step in range(min(self.deep, self.steps - deep * self.deep)):
                at = deep * self.deep + step
                if at < 2 and self.steps > 1:
                    yield Word(f"mmr accumulate, {at}")
                if slot:
                    yield Word("mmr rz_slot, 0")
                yield from self._step(block, step, int(at > 0))
                slot = self._slot(self.high * self.wide)
        if slot:
            yield Word("mmr rz_slot, 0")
        place = f"({number * self.items} + item) * {self.slices}"
        yield Word(f"act {row + self.result_row} + {place} / {COLUMNS}", ACT)
        column = f"{place} % {COLUMNS}"
        columns = column if self.slices == 1 else f"{column} : {column} + {self.slices}"
        yield Word(f"iosa[{columns}] <- rz", STORE, self.slices)
        if self.slices % SLOTS:
            yield Word("mmr rz_slot, 0")

    def _slot(self, operations: int) -> int:
        return 0 if self.layout == OUTER else operations % SLOTS

    def _step(self, block: int, step: int, mode: int) -> Iterator[Item]:
        first = step * self.wide
        columns = str(first) if self.wide == 1 else f"{first}:{first + self.wide}"
        for _ in range(self.high):
            yield Word("rop <- gio", MOVE, register=GIO)
            yield self._pull(block)
            yield Word(f"rz <- rop * iosa[{columns}]", COMPUTE, self.wide, mode)


def streams(shape: Shape, config: Configuration, island: int, layout: int) -> Iterator[Stream]:
    """The ways of an island that it has the registers, rows and words for."""
    if lacks(shape, config, island, layout):
        return
    able, memory = abilities(config, island), geometry(config)
    room = {DOT: SLOTS, OUTER: 1}.get(layout, able.rz_slices)  # tiles of C in Rz
    words = int(config["fim.instructions"])
    for high in _POWERS:
        for wide in _POWERS:
            if high * wide > room:
                continue
            probe = Stream(shape, island, layout, high, wide, 1, 1, 1, memory)
            for banks, blocks in _shares(probe, memory.banks):
                found = _fitting(probe, banks, blocks, words)
                if found is not None and found.slices <= able.rz_slices:
                    yield found


def _shares(probe: Stream, banks: int) -> Iterator[tuple[int, int]]:
    """Banks of a block and blocks; no more of either than change something."""
    columns, rows = _part(probe.across, probe.wide), _part(probe.strips, probe.high)
    seen = set()
    for blocks in range(1, min(BUFFERS, banks // 2, rows) + 1):
        items = _part(rows, blocks)
        if _part(rows, items) < blocks:
            continue
        for each in range(1, min(banks // blocks - 1, columns) + 1):
            rounds = _part(columns, each)
            if (blocks, rounds) not in seen:
                seen.add((blocks, rounds))
                yield each, blocks


def _fitting(probe: Stream, banks: int, blocks: int, words: int) -> Stream | None:
    """The stream of so many banks and blocks, in as few starts as fit; None if none does."""
    strips = _part(probe.strips, probe.high)
    starts = 1
    while True:
        found = Stream(
            probe.shape, probe.island, probe.layout, probe.high, probe.wide, banks, blocks, starts,
            probe.memory,
        )  # fmt: skip
        rows = probe.memory.rows
        if found.rows <= rows and found.buffer_rows <= rows and found.most_words <= words:
            return found
        if found.items == 1:
            return None
        starts = max(starts + 1, _part(strips, blocks * (found.items - 1)))
