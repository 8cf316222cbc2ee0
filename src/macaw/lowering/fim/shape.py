"""Describes the shape of a product, and says whether an island can multiply it in a layout."""

from __future__ import annotations

from dataclasses import field

from macaw.isa.config import Configuration
from macaw.isa.fim_circuit import (
    ARRANGEMENT_NAMES,
    ELEMENTWISE,
    FORMATS,
    MUL,
    NumberFormat,
    tile_shape,
)
from macaw.isa.fim_islands import abilities
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError


def part(total: int, size: int) -> int:
    """Return the number of parts of size `size` in `total`; the last part may be smaller."""
    return -(-total // size)


def tile_sides(layout: int, lanes: int) -> tuple[int, int, int]:
    """Return the sides (m, k, n) of tiles: one operation multiplies a tile (m, k) by one of (k, n).

    `layout` is the index of the layout in `ARRANGEMENTS`. A column of memory holds `lanes` numbers.
    """
    if layout == ELEMENTWISE:
        return 1, 1, lanes
    name = ARRANGEMENT_NAMES[layout]
    return (*tile_shape(name, "a", lanes), tile_shape(name, "b", lanes)[1])


@dataclass(frozen=True)
class Shape:
    """A product C (m, n) = A (m, k) · B (k, n) in the number format `fim_circuit.FORMATS[form]`.

    C of a joint product consists of several results of `part` columns each, side by side. `part`
    is 0 if C is one result.
    """

    m: int
    k: int
    n: int
    form: int = 0
    part: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        if min(self.m, self.k, self.n) < 1:
            raise LowerError(f"a product of {self.m} x {self.k} x {self.n}: sides are 1 at least")

    @property
    def numbers(self) -> NumberFormat:
        """The number format of the product."""
        return FORMATS[self.form]


@dataclass(frozen=True)
class Region:
    """The part of a product's result C that one of several islands computes.

    The region begins in row `row` and column `column` of C. `pitch` is the number of columns of the
    whole C, and so of the whole B.
    """

    row: int
    rows: int
    column: int
    columns: int
    pitch: int

    @property
    def row_range(self) -> slice:
        """The rows of C that the region has, which are also the rows of A that it needs."""
        return slice(self.row, self.row + self.rows)

    @property
    def column_range(self) -> slice:
        """The columns of C that the region has, which are also the columns of B that it needs."""
        return slice(self.column, self.column + self.columns)


def lacks(shape: Shape, config: Configuration, island: int, layout: int) -> str:
    """Return why an island cannot do the product in a layout, or an empty text if it can."""
    return abilities(config, island).lacks(MUL, layout, shape.form)
