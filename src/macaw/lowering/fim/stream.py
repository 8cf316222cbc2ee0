"""The tiling of a product on an island: A streams past B (seed 004, Fig. 2, 3).

The tiles of B are in the banks of a block; each bank has some columns of B's tiles. The tiles of A
are in a separate bank, the buffer. All banks of the block pull the same tile of A from it (`pull
gio, all`) while they multiply the previous tile. The sums stay in register Rz until the sum over k
is complete. The strips of A are divided among the blocks, and each block has all tiles of B. This
module computes the numbers; `macaw.lowering.fim.stream_program` writes the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.fim_circuit import (
    COLUMN_BYTES,
    COLUMNS,
    DOT,
    ELEMENTWISE,
    FUNCTION_NAMES,
    FUNCTIONS,
    MUL,
    OUTER,
    TENSOR,
)
from macaw.isa.fim_islands import Geometry, island_address
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.fim.block_program import Mode
from macaw.lowering.fim.integer_steps import NO_STEPS, IntegerSteps
from macaw.lowering.fim.shape import Shape, part, tile_sides
from macaw.lowering.fim.windows import DistinctTiles, Windows, distinct_tiles

ROW_BYTES = COLUMNS * COLUMN_BYTES
DIV = FUNCTION_NAMES.index("div")
LEAST_LOOP = 3  # a loop over fewer rows would save few words


@dataclass(frozen=True)
class Link:
    """How a stream passes tiles to another stream on its island, or takes tiles from it.

    `bank` and `buffer` are the numbers of the first bank and buffer that the stream may use.
    `pushes` is the number of the buffer to which it pushes its results, or None. If `takes_pushed`,
    the other stream pushes the tiles of A, and this stream pulls them.
    """

    bank: int = 0
    buffer: int = 0
    pushes: int | None = None
    takes_pushed: bool = False


@dataclass(frozen=True)
class StreamTiling:
    """A tiling of a product: `blocks` blocks with `banks` banks each, and a buffer for each block.

    An item is the part of C that a bank has in register Rz at once: `high` x `wide` tiles. If A
    does not fit into the buffers, the program is started `starts` times. `after` has the indices in
    `FUNCTIONS` of the functions that are applied to each item. The second operand of such a
    function is one row, which is used for all rows of C. `row` is the first row of the banks that
    the stream uses. `windows` has the rows of A if they are windows of an image.
    """

    shape: Shape
    island: int
    layout: int  # the number of an arrangement
    high: int
    wide: int
    banks: int
    blocks: int
    starts: int
    memory: Geometry
    after: tuple[int, ...]
    link: Link = Link()
    row: int = 0  # the first row of the banks that the stream uses
    windows: Windows | None = None  # the rows of A; the buffers have each of their tiles once
    integers: IntegerSteps = NO_STEPS

    @cached_property
    def tile(self) -> tuple[int, int, int]:
        """The sides (m, k, n) of tiles: one operation multiplies a tile (m, k) by one of (k, n)."""
        return tile_sides(self.layout, self.shape.numbers.lanes)

    @cached_property
    def strips(self) -> int:
        """The number of strips of A, one for each tile along m."""
        return part(self.shape.m, self.tile[0])

    @cached_property
    def steps(self) -> int:
        """The number of tiles along k, which is also the number of steps of a sum."""
        return part(self.shape.k, self.tile[1])

    @cached_property
    def across(self) -> int:
        """The number of columns of B's tiles, one for each tile along n."""
        return part(self.shape.n, self.tile[2])

    @cached_property
    def rounds(self) -> int:
        """The number of times that all of A streams past the banks.

        In each round a bank computes `wide` columns of tiles.
        """
        return part(self.across, self.banks * self.wide)

    @cached_property
    def items(self) -> int:
        """The number of items that a bank computes in a round: one pass of A in one start."""
        return part(self.strips, self.blocks * self.starts * self.high)

    @property
    def share(self) -> int:
        """The number of strips of A for one block in one start, including those that pad A."""
        return self.items * self.high

    @property
    def deep(self) -> int:
        """The number of steps along k whose tiles of B fill a row of a bank."""
        return COLUMNS // self.wide

    @cached_property
    def depth(self) -> int:
        """The number of rows of a bank for those tiles of B that it uses in one pass of A."""
        return part(self.steps, self.deep)

    @cached_property
    def loop_rows(self) -> tuple[int, int]:
        """Two numbers of rows with B's tiles: those before an item's loop over rows, those in it.

        All rows in the loop must have the same words. The words of the first two steps of a sum
        also set the accumulate bit, so the rows with these steps come before the loop. A last row
        with fewer steps comes after it. If a round has too few rows for a loop, the second number
        is 0.
        """
        before = part(2, self.deep)
        looped = self.steps // self.deep - before
        return (before, looped) if looped >= LEAST_LOOP else (self.depth, 0)

    @cached_property
    def slices(self) -> int:
        """The number of slices of register Rz for the results of an item; each fills a column."""
        m, _, n = self.tile
        return part(self.high * self.wide * m * n, self.shape.numbers.lanes)

    @property
    def patterns(self) -> int:
        """The number of columns that one second operand of a function takes in one pass of A.

        The slices of an item's results use these columns in turn: slice s uses column s modulo this
        number.
        """
        if self.layout == DOT:
            return self.slices
        return 1 if self.layout == OUTER else self.wide

    @cached_property
    def operands(self) -> int:
        """The number of rows of operands: those of the bias, and one for each binary function.

        A row of operands has one number for each column of C.
        """
        return self.integers.bias + sum(FUNCTIONS[n].operands == 2 for n in self.after)

    @property
    def operand_row(self) -> int:
        """The number of the bank row that has the bias and the second operands of functions.

        A round is one pass of A past the banks. This row is for round 0, the next rows are for the
        next rounds. The number counts from the stream's first row, `row`.
        """
        return self.rounds * self.depth

    @property
    def result_row(self) -> int:
        """The first row, in each bank, of results. The rows before it have B and the operands.

        It counts from the stream's first row, `row`.
        """
        return self.operand_row + self.rounds * (self.operands > 0)

    @property
    def rows(self) -> int:
        """The number of rows that the stream uses in each bank with tiles of B."""
        if self.link.pushes is not None:
            return self.result_row
        return self.result_row + part(self.rounds * self.items * self.slices, COLUMNS)

    @property
    def buffer_columns(self) -> int:
        """The number of columns of a buffer with tiles of A, if A does not consist of windows."""
        return self.share * self.steps

    def columns_of(self, block: int) -> int:
        """Return the number of columns of a block's buffer: those with tiles of A, and one more.

        The block also pulls the additional column, and ignores it.
        """
        if self.windows is None:
            return self.buffer_columns + 1
        return len(self.tiles_of(block).keys) + 1

    @property
    def buffer_rows(self) -> int:
        """The number of rows that the stream uses in the bank of a buffer."""
        return part(max(map(self.columns_of, range(self.blocks))), COLUMNS)

    def tiles_of(self, block: int) -> DistinctTiles:
        """Return the tiles of A that a block needs, each once; A's rows are windows of an image."""
        assert self.windows is not None
        return distinct_tiles(self.windows, block * self.share, self.share, self.tile[:2])

    def pulled_columns(self, block: int) -> list[int]:
        """Return which columns of its buffer a block pulls in a round (one pass of A).

        Each column is given by its index in the buffer, in the order of the pulls. The method is
        only for an A whose rows are windows of an image. The buffer then stores each tile once, so
        a round can pull the same column several times.
        """
        order = self.tiles_of(block).order.reshape(self.items, self.high, self.steps)
        return [int(column) for column in order.swapaxes(1, 2).reshape(-1)]

    def bank(self, block: int, number: int = 0) -> int:
        """Return the number that a bank of a block has on the island.

        `number` is the index of the bank among those banks of the block that have tiles of B.
        """
        return self.link.bank + block * self.banks + number

    def buffer(self, block: int) -> int:
        """Return the number of the bank that contains a block's share of A.

        A consumer takes A from the producer's buffer, which is the bank before its own banks.
        """
        if self.link.takes_pushed:
            return self.link.bank - 1
        return self.link.bank + self.blocks * self.banks + block

    @property
    def mask(self) -> int:
        """A bit mask of the stream's banks, with the banks of its buffers.

        It is only for a stream that has these buffers: one that takes no tiles from another stream.
        """
        return (1 << self.blocks * (self.banks + 1)) - 1 << self.link.bank

    def offset(self, bank: int, row: int) -> int:
        """Return the byte offset in the island of row `row` of the stream in bank `bank`."""
        return bank * self.memory.bank_bytes + (self.row + row) * ROW_BYTES

    def address(self, column: int) -> int:
        """Return the address of a column; `column` counts all columns of the island."""
        return island_address(self.island) + column * COLUMN_BYTES

    @property
    def interleaves_banks(self) -> bool:
        """Whether consecutive columns of tiles are in consecutive banks.

        A stream that pushes tiles in the layout tensor needs this order.
        """
        return self.link.pushes is not None and self.layout == TENSOR

    def tile_of_b(self, column: int) -> tuple[int, int, int]:
        """Return (round, bank, position) for column number `column` of B's tiles.

        A round is one pass of A past the banks. The bank counts from the block's first bank. The
        position counts the columns of tiles that the bank uses in this round, from 0 to `wide` - 1.
        """
        turn, rest = divmod(column, self.banks * self.wide)
        if self.interleaves_banks:
            place, bank = divmod(rest, self.banks)
        else:
            bank, place = divmod(rest, self.wide)
        return turn, bank, place

    # --- numbers ---

    def b_tiles(self, b: NDArray[Any]) -> NDArray[Any]:
        """Return B (k, n) in the order in which the banks of a block store it.

        The result has shape (banks, rows, 32 columns, lanes).
        """
        _, k, n = self.tile
        steps = self.depth * self.deep
        whole = np.zeros((steps * k, self.rounds * self.banks * self.wide * n), b.dtype)
        whole[: b.shape[0], : b.shape[1]] = b
        across = (self.banks, self.wide)
        if self.interleaves_banks:
            tiles = whole.reshape(self.depth, self.deep, k, self.rounds, *across[::-1], n)
            tiles = tiles.transpose(5, 3, 0, 1, 4, 2, 6)
        else:
            tiles = whole.reshape(self.depth, self.deep, k, self.rounds, *across, n)
            tiles = tiles.transpose(4, 3, 0, 1, 5, 2, 6)
        return tiles.reshape(self.banks, self.rounds * self.depth, COLUMNS, k * n)

    def row_tiles(self, rows: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Return row operands, such as biases, in the order in which a block's banks store them.

        A row operand has one number for each column of C, and is applied to every row of C. `rows`
        has these operands: in int8 first the rows of the product's bias, then the second operand
        of each binary function. The result has shape (banks, rounds, 32 columns, lanes).
        """
        lanes, (m, _, n) = self.shape.numbers.lanes, self.tile
        tiles = np.zeros((self.banks, self.rounds, COLUMNS, lanes), self.shape.numbers.numbers)
        binary = [MUL] * self.integers.bias
        binary += [number for number in self.after if FUNCTIONS[number].operands == 2]
        for place, (function, row) in enumerate(zip(binary, rows, strict=True)):
            whole = np.full(self.rounds * self.banks * self.wide * n, function == DIV, row.dtype)
            whole[: len(row)] = row
            if self.interleaves_banks:
                parts = whole.reshape(self.rounds, self.wide, self.banks, n).transpose(2, 0, 1, 3)
            else:
                parts = whole.reshape(self.rounds, self.banks, self.wide, n).swapaxes(0, 1)
            if self.layout == DOT:  # the numbers of an item are consecutive
                parts = np.tile(parts.reshape(*parts.shape[:2], -1), self.high)
                spare = self.slices * lanes - parts.shape[-1]
                parts = np.pad(parts, ((0, 0), (0, 0), (0, spare)), constant_values=function == DIV)
                parts = parts.reshape(*parts.shape[:2], self.slices, lanes)
            elif self.layout == TENSOR:
                parts = np.tile(parts, m)
            first = place * self.patterns
            tiles[:, :, first : first + self.patterns] = parts
        return tiles

    def a_tiles(self, a: NDArray[Any]) -> NDArray[Any]:
        """Return A (m, k) in the order in which the buffers store it.

        The result has shape (starts x blocks, columns, lanes).
        """
        m, k, _ = self.tile
        whole = np.zeros((self.starts * self.blocks * self.share * m, self.steps * k), a.dtype)
        whole[: a.shape[0], : a.shape[1]] = a
        tiles = whole.reshape(-1, self.items, self.high, m, self.steps, k)
        tiles = tiles.transpose(0, 1, 4, 2, 3, 5).reshape(-1, self.buffer_columns, m * k)
        return np.repeat(tiles, self.shape.numbers.lanes // (m * k), axis=-1)

    # --- words ---

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The ALU modes: for a sum's first product, its other products, bias, and functions."""
        form = self.shape.form
        sums = (Mode(MUL, self.layout, form, accumulates) for accumulates in (False, True))
        bias = Mode(MUL, ELEMENTWISE, form, True)
        return (*sums, bias, *(Mode(function, ELEMENTWISE, form) for function in self.after))

    @property
    def last_row(self) -> int:
        """The row that is open in each bank with tiles of B when the program ends."""
        if self.link.pushes is not None:
            return self.row + self.result_row - 1
        return self.row + self.result_row + (self.rounds * self.items - 1) * self.slices // COLUMNS

    @property
    def most_words(self) -> int:
        """An upper bound of the number of words of the program, computed without writing it."""
        looped = 0 if self.windows is not None else self.loop_rows[1]
        steps, rows = self.steps, self.depth
        if looped:
            steps -= (looped - 1) * self.deep
            rows -= looped - 4
        item = rows + steps * (3 * self.high + 1) + 7 + self.slices
        item += (11 + len(self.after) * (1 + 3 * self.slices)) * bool(self.after)
        item += len(self.integers.shifts) + (8 + self.integers.bias * (1 + self.high)) * bool(
            self.integers.bias
        )
        around = 2 + 2 * self.link.takes_pushed
        if self.windows is not None:  # a word that moves the buffer's start may precede each pull
            item += self.steps * self.high
            around += 1
        return self.blocks * (12 + self.rounds * (around + self.items * item)) + 1
