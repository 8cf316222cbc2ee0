"""How a matrix product of any size lies in the banks of an island (seed 004, Fig. 3).

A row of memory has 16 tiles of A and 16 of B. A tiling takes `high` x `deep` tiles of A and
`deep` x `wide` tiles of B into each row: their products are `high` x `wide` tiles of C, which stay
in Rz while the rows of all k go by. Such a set of tiles of C is an item; items are dealt to the
banks in turn, and the banks do theirs in lock-step. Only numbers here, no text.
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
    COLUMNS,
    DOT,
    ELEMENTWISE,
    FORMATS,
    MUL,
    OUTER,
    SLOTS,
    NumberFormat,
    tile_shape,
)
from isa.fim_islands import abilities, geometry
from lower.errors import LowerError

HALF = COLUMNS // 2  # tiles of a side in a row
_SIDES = tuple(1 << n for n in range(HALF.bit_length()))


@dataclass(frozen=True)
class Shape:
    """A product C (m, n) = A (m, k) · B (k, n) in a number format of `isa.fim_circuit`."""

    m: int
    k: int
    n: int
    form: int = 0

    def __post_init__(self) -> None:
        if min(self.m, self.k, self.n) < 1:
            raise LowerError(f"a product of {self.m} x {self.k} x {self.n}: sides are 1 at least")

    @property
    def numbers(self) -> NumberFormat:
        """The number format."""
        return FORMATS[self.form]


def _part(total: int, part: int) -> int:
    return -(-total // part)


@dataclass(frozen=True)
class Tiling:
    """Where the tiles of a product lie in an island's banks, and how many go into a row."""

    shape: Shape
    island: int
    layout: int  # an arrangement, by its number
    high: int
    deep: int
    wide: int
    all_banks: int  # of the island

    @cached_property
    def tile(self) -> tuple[int, int, int]:
        """What one operation multiplies: (m, k) x (k, n). Elementwise repeats a number of A."""
        lanes = self.shape.numbers.lanes
        if self.layout == ELEMENTWISE:
            return 1, 1, lanes
        name = ARRANGEMENT_NAMES[self.layout]
        return (*tile_shape(name, "a", lanes), tile_shape(name, "b", lanes)[1])

    @cached_property
    def items(self) -> tuple[int, int]:
        """Items down and across C."""
        m, _, n = self.tile
        return _part(self.shape.m, self.high * m), _part(self.shape.n, self.wide * n)

    @cached_property
    def banks(self) -> int:
        """Banks that have an item."""
        return min(self.all_banks, self.items[0] * self.items[1])

    @cached_property
    def rounds(self) -> int:
        """Items that a bank does one after the other."""
        return _part(self.items[0] * self.items[1], self.banks)

    @cached_property
    def steps(self) -> int:
        """Tiles along k; a step multiplies those of one of them."""
        return _part(self.shape.k, self.tile[1])

    @cached_property
    def rows(self) -> int:
        """Rows of memory of an item's tiles."""
        return _part(self.steps, self.deep)

    @property
    def last_steps(self) -> int:
        """Steps in the last of these rows."""
        return self.steps - (self.rows - 1) * self.deep

    @cached_property
    def slices(self) -> int:
        """Columns of memory of an item's results."""
        m, _, n = self.tile
        return _part(self.high * self.wide * m * n, self.shape.numbers.lanes)

    @property
    def result_row(self) -> int:
        """The first row of results, behind all tiles."""
        return self.rounds * self.rows

    @property
    def memory_rows(self) -> int:
        """Rows of a bank that are used."""
        return self.result_row + _part(self.rounds * self.slices, COLUMNS)

    # --- numbers in and out ---

    def placed(self, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        """A (m, k) and B (k, n) as the banks hold them: (banks, rounds x rows, 32, lanes)."""
        (m, k, n), (down, across), lanes = self.tile, self.items, self.shape.numbers.lanes
        high, deep, wide, rows = self.high, self.deep, self.wide, self.rows
        left = self._padded(a, down * high * m, rows * deep * k)
        left = left.reshape(down, high, m, rows, deep, k).transpose(0, 3, 1, 4, 2, 5)
        left = left.reshape(down, rows, high * deep, m * k)
        left = np.repeat(left, lanes // (m * k), axis=-1)
        right = self._padded(b, rows * deep * k, across * wide * n)
        right = right.reshape(rows, deep, k, across, wide, n).transpose(3, 0, 1, 4, 2, 5)
        right = right.reshape(across, rows, deep * wide, k * n)
        found = np.zeros((self.rounds, self.banks, rows, COLUMNS, lanes), left.dtype)
        for item in range(down * across):
            row, column = divmod(item, across)
            place = found[divmod(item, self.banks)]
            place[:, : high * deep] = left[row]
            place[:, HALF : HALF + deep * wide] = right[column]
        return found.swapaxes(0, 1).reshape(self.banks, self.rounds * rows, COLUMNS, lanes)

    def gathered(self, results: NDArray[Any]) -> NDArray[Any]:
        """C (m, n) from the columns of results, (banks, rounds x slices x lanes)."""
        (m, _, n), (down, across) = self.tile, self.items
        found = results.reshape(self.banks, self.rounds, -1).swapaxes(0, 1)
        found = found.reshape(self.rounds * self.banks, -1)[: down * across]
        found = found[:, : self.high * self.wide * m * n]
        found = found.reshape(down, across, self.high, self.wide, m, n)
        whole = found.transpose(0, 2, 4, 1, 3, 5).reshape(down * self.high * m, -1)
        return whole[: self.shape.m, : self.shape.n]

    def _padded(self, matrix: NDArray[Any], rows: int, columns: int) -> NDArray[Any]:
        found = np.zeros((rows, columns), self.shape.numbers.dtype)
        found[: matrix.shape[0], : matrix.shape[1]] = matrix
        return found

    # --- size of the program ---

    @property
    def words(self) -> int:
        """Words of the block, at most."""
        a_row = 2 + self.deep * (1 + 2 * self.high)
        return 8 + self.rounds * (self.rows * a_row + 6)


def lacks(shape: Shape, config: Configuration, island: int, layout: int) -> str:
    """Why an island cannot multiply in a layout; empty if it can."""
    return abilities(config, island).lacks(MUL, layout, shape.form)


def tilings(shape: Shape, config: Configuration, island: int, layout: int) -> Iterator[Tiling]:
    """The tilings of a product that an island has the registers, rows and words for."""
    if lacks(shape, config, island, layout):
        return
    able, memory = abilities(config, island), geometry(config)
    room = {DOT: SLOTS, OUTER: 1}.get(layout, able.rz_slices)  # tiles of C in Rz
    for high in _SIDES:
        for wide in _SIDES:
            if high * wide > room:
                continue
            deep = HALF // max(high, wide)
            found = Tiling(shape, island, layout, high, deep, wide, memory.banks)
            fits = found.memory_rows <= memory.rows and found.slices <= able.rz_slices
            if fits and found.words < config["fim.instructions"]:
                yield found
