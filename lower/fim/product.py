"""The source of a product on one island: cp brings tiles in and fetches C, the island multiplies.

Rows are numbers in `act`, so rounds and rows are repetitions of the assembler, with counters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from isa.config import Configuration
from isa.fim import CORE
from isa.fim_circuit import ARRANGEMENT_NAMES, COLUMN_BYTES, COLUMNS
from isa.fim_islands import geometry, island_address
from lower.errors import LowerError
from lower.fim.tiling import HALF, Tiling
from lower.listing import Listing

TILES = "tiles.npy"
RESULT = "c"


@dataclass(frozen=True)
class LoweredProduct:
    """A source, the tiles that stand beside it, and how to read its output `c`."""

    tiling: Tiling
    source: str
    tiles: NDArray[Any]

    def result(self, output: NDArray[Any]) -> NDArray[Any]:
        """C (m, n) from what the program gives as `c`."""
        return self.tiling.gathered(output)


def lowered(
    tiling: Tiling, config: Configuration, a: NDArray[Any], b: NDArray[Any], device: str = "base"
) -> LoweredProduct:
    """The program of a tiling of A · B; `device` is the name of the configuration.

    Raises `LowerError` if A or B has another shape than the tiling's product.
    """
    out = Listing()
    shape, name = tiling.shape, ARRANGEMENT_NAMES[tiling.layout]
    sides = ("A", a, (shape.m, shape.k)), ("B", b, (shape.k, shape.n))
    for side, matrix, wanted in sides:
        if matrix.shape != wanted:
            raise LowerError(f"{side} has the shape {matrix.shape}, the product takes {wanted}")
    out.comment(
        f"C ({shape.m} x {shape.n}) = A ({shape.m} x {shape.k}) B in {shape.numbers.name} by {name}"
        f" on island {tiling.island}: {tiling.high} x {tiling.deep} tiles of A and {tiling.deep} x"
        f" {tiling.wide} tiles of B in a row of memory, {tiling.rows} rows to an item of C,"
        f" {tiling.items[0]} x {tiling.items[1]} items, {tiling.rounds} in each of"
        f" {tiling.banks} banks."
    )
    out.block(_processor(tiling, geometry(config).bank_bytes, device))
    out.block(block(tiling))
    return LoweredProduct(tiling, out.text(), tiling.placed(a, b))


def _processor(tiling: Tiling, bank_bytes: int, device: str) -> str:
    numbers = tiling.shape.numbers
    row_bytes = COLUMNS * COLUMN_BYTES
    tiles = tiling.result_row * row_bytes
    results = tiling.rounds * tiling.slices * COLUMN_BYTES
    return f"""
        .device {device}
        .output {RESULT}, {numbers.dtype}, {tiling.banks}, {results // numbers.size}
        .core cp
        _start: la a0, load
        dma.copy zero, a0
        dma.wait zero
        li a0, {CORE.number + tiling.island} # island {tiling.island}
        la a1, blocks
        core.start a0, a1
        la a0, store
        dma.copy zero, a0
        dma.wait zero # the copy waits for the end of the block
        li a0, 0
        li a7, 93
        ecall
        .data
        .balign 4
        # destination, source, bytes of a bank, banks, strides
        load: .word BANKS, tiles, {tiles}, {tiling.banks}, {bank_bytes}, {tiles}
        store: .word {RESULT}, BANKS + {tiles}, {results}, {tiling.banks}, {results}, {bank_bytes}
        .balign 64
        tiles: .npy "{TILES}"
        .set BANKS, {island_address(tiling.island):#x}
        """


def block(tiling: Tiling) -> str:
    """The island's part: a block of the banks that have items, and `blocks` where it begins."""
    return f"""
        .core fim, island={tiling.island}
        .macro step k # A[i, k] B[k, j] for all i and j
        mmr rz_slot, 0
        {_products(tiling)}
        .endm
        .set row, 0
        .set item, 0
        blocks: .block banks=0-{tiling.banks - 1}
        mmr op, mul
        mmr arrange, {ARRANGEMENT_NAMES[tiling.layout]}
        mmr format, {tiling.shape.numbers.name}
        mmr rz_step, 1 # slices of Rz one after the other
        .rept {tiling.rounds} # items of a bank
        {_rows(tiling)}
        mmr rz_slot, 0
        act {tiling.result_row} + item * {tiling.slices} / {COLUMNS}
        {_stores(tiling)}
        .set item, item + 1
        .endr
        end
        """


def _products(tiling: Tiling) -> str:
    first = f"{HALF} + {tiling.wide} * \\k"
    columns = first if tiling.wide == 1 else f"{first} : {HALF + tiling.wide} + {tiling.wide} * \\k"
    lines = (
        f"rop <- iosa[{tiling.deep} * {i} + \\k]\nrz <- rop * iosa[{columns}]"
        for i in range(tiling.high)
    )
    return "\n".join(lines)


def _stores(tiling: Tiling) -> str:
    first = f"item * {tiling.slices} % {COLUMNS}"
    columns = first if tiling.slices == 1 else f"{first} : {first} + {tiling.slices}"
    return f"iosa[{columns}] <- rz"


def _rows(tiling: Tiling) -> str:
    """The rows of an item: the first, which begins the sums, those alike, and a last short one."""
    next_row = ".set row, row + 1"
    only = tiling.rows == 1
    steps = tiling.last_steps if only else tiling.deep
    lines = ["act row", "mmr accumulate, 0", "step 0"]
    if steps > 1 or not only:
        lines.append("mmr accumulate, 1")
    lines += [*_steps(1, steps), next_row]
    short = not only and tiling.last_steps < tiling.deep
    alike = tiling.rows - 1 - short
    if alike:
        lines += [f".rept {alike} # rows like it"] * (alike > 1)
        lines += ["act row", *_steps(0, tiling.deep), next_row, *[".endr"] * (alike > 1)]
    if short:
        lines += ["act row", *_steps(0, tiling.last_steps), next_row]
    return "\n".join(lines)


def _steps(begin: int, end: int) -> list[str]:
    return [f"step {k}" for k in range(begin, end)]
