"""A product on an island whose left side streams past its right side (seed 004, Fig. 2, 3).

The tiles of B lie in the banks of a block, each once: a bank has some columns of them. The tiles of
A lie once in a bank of their own, a buffer, from which all banks of the block take the same tile
(`pull gio, all`), a tile ahead of the one that they multiply. So nothing is brought in twice, but
that each block has all of B: blocks share the strips of A. Sums stay in Rz while all of k go by.
Only numbers here; the words are in `macaw.lowering.fim.stream_program`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.fim_circuit import (
    ARRANGEMENT_NAMES,
    COLUMN_BYTES,
    COLUMNS,
    DOT,
    ELEMENTWISE,
    FUNCTION_NAMES,
    FUNCTIONS,
    MUL,
    OUTER,
    TENSOR,
    tile_shape,
)
from macaw.isa.fim_islands import Geometry, island_address
from macaw.lowering.fim.block_program import Mode
from macaw.lowering.fim.shape import Shape

ROW_BYTES = COLUMNS * COLUMN_BYTES
DIV = FUNCTION_NAMES.index("div")


def part(total: int, size: int) -> int:
    """Into how many parts of a size something goes."""
    return -(-total // size)


@dataclass(frozen=True)
class Link:
    """What a stream has to do with another one on its island, a producer or a consumer.

    `bank` and `buffer` are the first ones that it may use. `pushes` is the buffer into which its
    results go, if they do; `fed` says that its A is pushed by the other one.
    """

    bank: int = 0
    buffer: int = 0
    pushes: int | None = None
    fed: bool = False


@dataclass(frozen=True)
class Stream:
    """How a product lies on an island: `blocks` blocks of `banks` banks, and a buffer for each.

    An item is what a bank has in Rz at once: `high` x `wide` tiles of C. `starts`: strips of A that
    do not fit go by in as many starts of the same program. `after` are functions, by their numbers,
    that each item goes through; of two operands the right one is a row that all of C share.
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
    after: tuple[int, ...] = ()
    link: Link = Link()

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
        return part(self.shape.m, self.tile[0])

    @cached_property
    def steps(self) -> int:
        """Tiles along k."""
        return part(self.shape.k, self.tile[1])

    @cached_property
    def across(self) -> int:
        """Tiles across B."""
        return part(self.shape.n, self.tile[2])

    @cached_property
    def rounds(self) -> int:
        """Times that A goes by: for the columns of tiles that a bank does one after the other."""
        return part(self.across, self.banks * self.wide)

    @cached_property
    def items(self) -> int:
        """Items of a bank in a round of one start."""
        return part(self.strips, self.blocks * self.starts * self.high)

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
        return part(self.steps, self.deep)

    @cached_property
    def slices(self) -> int:
        """Columns of memory of an item's results."""
        m, _, n = self.tile
        return part(self.high * self.wide * m * n, self.shape.numbers.lanes)

    @property
    def patterns(self) -> int:
        """Columns that an operand of `after` takes in a round: those of its slices that differ."""
        if self.layout == DOT:
            return self.slices
        return 1 if self.layout == OUTER else self.wide

    @cached_property
    def operands(self) -> int:
        """Functions in `after` that have a second operand."""
        return sum(FUNCTIONS[function].operands == 2 for function in self.after)

    @property
    def operand_row(self) -> int:
        """The first row of these operands, a row for each round."""
        return self.rounds * self.depth

    @property
    def result_row(self) -> int:
        """The first row of results, behind the tiles of B and the operands of `after`."""
        return self.operand_row + self.rounds * (self.operands > 0)

    @property
    def rows(self) -> int:
        """Rows of a working bank that are used."""
        if self.link.pushes is not None:
            return self.result_row
        return self.result_row + part(self.rounds * self.items * self.slices, COLUMNS)

    @property
    def pulled(self) -> int:
        """Columns of a buffer that hold tiles of A; one more is pulled and never used."""
        return self.share * self.steps

    @property
    def buffer_rows(self) -> int:
        """Rows of a buffer's bank that are used."""
        return part(self.pulled + 1, COLUMNS)

    def bank(self, block: int, number: int = 0) -> int:
        """A working bank of a block."""
        return self.link.bank + block * self.banks + number

    def buffer(self, block: int) -> int:
        """The bank with a block's part of A; what another stream pushes lies before its own."""
        if self.link.fed:
            return self.link.bank - 1
        return self.link.bank + self.blocks * self.banks + block

    @property
    def mask(self) -> int:
        """The banks in use."""
        return (1 << self.blocks * (self.banks + 1)) - 1 << self.link.bank

    def offset(self, bank: int, row: int = 0, column: int = 0) -> int:
        """The offset in the island of a column."""
        return bank * self.memory.bank_bytes + row * ROW_BYTES + column * COLUMN_BYTES

    def address(self, column: int) -> int:
        """The address of a column of the island, by its number."""
        return island_address(self.island) + column * COLUMN_BYTES

    @property
    def dealt(self) -> bool:
        """Whether columns of tiles go to the banks in turn: slices are pushed bank by bank."""
        return self.link.pushes is not None and self.layout == TENSOR

    def tile_of_b(self, column: int) -> tuple[int, int, int]:
        """Round, bank and place of a column of B's tiles."""
        turn, rest = divmod(column, self.banks * self.wide)
        if self.dealt:
            place, bank = divmod(rest, self.banks)
        else:
            bank, place = divmod(rest, self.wide)
        return turn, bank, place

    # --- numbers ---

    def placed_b(self, b: NDArray[Any]) -> NDArray[Any]:
        """B (k, n) as the banks of a block hold it: (banks, rows, 32 columns, lanes)."""
        _, k, n = self.tile
        steps = self.depth * self.deep
        whole = np.zeros((steps * k, self.rounds * self.banks * self.wide * n), b.dtype)
        whole[: b.shape[0], : b.shape[1]] = b
        across = (self.banks, self.wide)
        if self.dealt:
            tiles = whole.reshape(self.depth, self.deep, k, self.rounds, *across[::-1], n)
            tiles = tiles.transpose(5, 3, 0, 1, 4, 2, 6)
        else:
            tiles = whole.reshape(self.depth, self.deep, k, self.rounds, *across, n)
            tiles = tiles.transpose(4, 3, 0, 1, 5, 2, 6)
        return tiles.reshape(self.banks, self.rounds * self.depth, COLUMNS, k * n)

    def placed_rows(self, rows: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Second operands of `after`, a row of C each: (banks, rounds, 32 columns, lanes)."""
        lanes, (m, _, n) = self.shape.numbers.lanes, self.tile
        tiles = np.zeros((self.banks, self.rounds, COLUMNS, lanes), self.shape.numbers.dtype)
        binary = [number for number in self.after if FUNCTIONS[number].operands == 2]
        for place, (function, row) in enumerate(zip(binary, rows, strict=True)):
            whole = np.full(self.rounds * self.banks * self.wide * n, function == DIV, row.dtype)
            whole[: len(row)] = row
            if self.dealt:
                parts = whole.reshape(self.rounds, self.wide, self.banks, n).transpose(2, 0, 1, 3)
            else:
                parts = whole.reshape(self.rounds, self.banks, self.wide, n).swapaxes(0, 1)
            if self.layout == DOT:  # numbers of an item stand one behind the other
                parts = np.tile(parts.reshape(*parts.shape[:2], -1), self.high)
                spare = self.slices * lanes - parts.shape[-1]
                parts = np.pad(parts, ((0, 0), (0, 0), (0, spare)), constant_values=function == DIV)
                parts = parts.reshape(*parts.shape[:2], self.slices, lanes)
            elif self.layout == TENSOR:
                parts = np.tile(parts, m)
            first = place * self.patterns
            tiles[:, :, first : first + self.patterns] = parts
        return tiles

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
        form = self.shape.form
        sums = (Mode(MUL, self.layout, form, accumulates) for accumulates in (False, True))
        return (*sums, *(Mode(function, ELEMENTWISE, form) for function in self.after))

    @property
    def last_row(self) -> int:
        """The row that is open at the end."""
        if self.link.pushes is not None:
            return self.result_row - 1
        return self.result_row + (self.rounds * self.items - 1) * self.slices // COLUMNS

    @property
    def most_words(self) -> int:
        """Words of the program at most, without writing it."""
        item = self.depth + self.steps * (3 * self.high + 1) + 7 + self.slices
        item += (11 + len(self.after) * (1 + 3 * self.slices)) * bool(self.after)
        around = 2 + 2 * self.link.fed
        return self.blocks * (12 + self.rounds * (around + self.items * item)) + 1
