"""Computes a function of each element on an island (seed 004, Fig. 3E).

A row of a bank has columns with the operands, then columns for the result. The tensor is cut into
chunks. Consecutive chunks go to the same row of all banks, then to the next row. In this way some
banks open a row while others receive their columns.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.isa.fim_circuit import (
    ARRANGEMENT_NAMES,
    COLUMN_BYTES,
    COLUMNS,
    ELEMENTWISE,
    FORMATS,
    FUNCTION_NAMES,
    FUNCTIONS,
)
from macaw.isa.fim_islands import Geometry, abilities, geometry
from macaw.lowering.fim.bank_images import BankImage, BankRows
from macaw.lowering.fim.block_program import (
    ACT,
    COMPUTE,
    COMPUTE_ALONE,
    OPERATE,
    READ,
    STORE,
    Block,
    Item,
    Mode,
    Repeat,
    Word,
)
from macaw.lowering.fim.block_program import size as words_of
from macaw.lowering.fim.dma_timing import EXTERNAL, ISLAND, LOCAL, Copy, Location
from macaw.lowering.fim.graph import Task
from macaw.lowering.fim.island_job import Phase
from macaw.lowering.fim.stream import ROW_BYTES
from macaw.lowering.fim.tile_copies import Route

# why an island cannot compute a function of very many numbers
EXCEEDS_MEMORY = "its numbers take more rows (fim.rows) or words (fim.instructions)"


@dataclass(frozen=True)
class PointwiseJob:
    """The job of an island that computes a function of one tensor, or of two of the same shape."""

    task: Task
    island: int
    form: int
    slices: int  # number of slices of Rz
    memory: Geometry
    resident: bool = False
    row: int = 0  # the first row of the banks that the job uses

    @cached_property
    def function(self) -> int:
        """The number of the function in the island's table of functions."""
        return FUNCTION_NAMES.index(self.task.function)

    @cached_property
    def chunk(self) -> int:
        """The number of columns that one operand takes in a row of a bank."""
        return COLUMNS // (len(self.task.inputs) + 1)

    @cached_property
    def columns(self) -> int:
        """The number of columns of the result."""
        return -(-self.task.output.numbers // FORMATS[self.form].lanes)

    @cached_property
    def banks(self) -> int:
        """The number of banks that contain at least one chunk."""
        return min(self.memory.banks, -(-self.columns // self.chunk))

    @property
    def mask(self) -> int:
        """A bit mask of the banks that the job uses."""
        return (1 << self.banks) - 1

    @cached_property
    def rows(self) -> int:
        """The number of rows that the job uses in each bank of `mask`."""
        return -(-self.columns // (self.chunk * self.banks))

    @property
    def words(self) -> int:
        """The number of words of the job's program."""
        return sum(2 + words_of(block.items) for block in self.blocks()) + 1

    def blocks(self) -> list[Block]:
        """Return a list of a single block, which has all banks."""
        head = (
            Word(f"mmr op, {FUNCTION_NAMES[self.function]}"),
            Word(f"mmr arrange, {ARRANGEMENT_NAMES[ELEMENTWISE]}"),
            Word(f"mmr format, {FORMATS[self.form].name}"),
            Word("mmr rz_step, 1 # slices of Rz one after the other"),
        )
        act = f"act {self.row} + row" if self.row else "act row"
        body = Repeat(self.rows, (Word(act, ACT), *self._row()), "row")
        modes = (Mode(self.function, ELEMENTWISE, self.form),)
        return [Block(tuple(range(self.banks)), (*head, body), modes, self.row + self.rows - 1)]

    def _row(self) -> Iterator[Item]:
        """Yield the words for a row, in groups of as many columns as register Rz holds."""
        what, result = FUNCTIONS[self.function], self.chunk * len(self.task.inputs)
        for first in range(0, self.chunk, self.slices):
            count = min(self.slices, self.chunk - first)
            for column in range(first, first + count):
                yield Word(f"rop <- iosa[{column}]", OPERATE, operation=READ)
                if what.operands == 1:
                    text = f"{what.symbol}rop" if what.symbol else f"{what.name}(rop)"
                    yield Word(f"rz <- {text}", OPERATE, operation=COMPUTE_ALONE)
                else:
                    right = self.chunk + column
                    text = f"rz <- rop {what.symbol} iosa[{right}]"
                    yield Word(text, OPERATE, operation=COMPUTE)
            yield Word("mmr rz_slot, 0")
            last = result + first + count
            columns = str(last - 1) if count == 1 else f"{last - count}:{last}"
            yield Word(f"iosa[{columns}] <- rz", OPERATE, count, operation=STORE)
            yield Word("mmr rz_slot, 0")

    def phases(self) -> Iterator[Phase]:
        """Yield the only start, with its copies."""
        size = FORMATS[self.form].size
        bring = []
        for side, tensor in enumerate(self.task.inputs):
            if self.resident and tensor.data is not None:
                continue
            place = Location(EXTERNAL, tensor.memory.name, tensor.offset * size)
            if tensor.data is not None:
                place = Location(EXTERNAL, f"{'ab'[side]}.tiles")
            bring.append(self._bring(place, side))
        result = Location(EXTERNAL, self.task.output.name)
        copies = [
            Copy(result.at(here), bank, *form, src_stride=pitch, dst_stride=separate_end)
            for bank, here, form, pitch, separate_end in self._chunks(len(self.task.inputs))
        ]
        yield Phase(tuple(bring), (Route(tuple(copies), {}),))

    def _bring(self, src: Location, side: int) -> Route:
        before: tuple[Copy, ...] = ()
        scratch = {}
        if src.offset % COLUMN_BYTES:  # a beat from there would be in two columns
            there = Location(LOCAL, f"{src.symbol}.{'ab'[side]}")
            count = self.task.output.numbers * FORMATS[self.form].size
            before, scratch, src = (Copy(there, src, count),), {there.symbol: count}, there
        copies = (
            Copy(bank, src.at(here), *form, dst_stride=pitch, src_stride=separate_end)
            for bank, here, form, pitch, separate_end in self._chunks(side)
        )
        return Route((*before, *copies), scratch)

    def _chunks(self, side: int) -> Iterator[tuple[Location, int, tuple[int, int], int, int]]:
        """Yield the copies of operand `side`.

        Each item has the location in the banks, the byte offset in the tensor, the shape (bytes of
        a row, rows), and the strides in the banks and in the tensor.
        """
        left = self.task.output.numbers * FORMATS[self.form].size
        chunk, here = self.chunk * COLUMN_BYTES, 0
        for number in range(self.rows):
            offset = (self.row + number) * ROW_BYTES + side * chunk
            place = Location(ISLAND, offset=offset, island=self.island)
            whole = min(self.banks, left // chunk)
            if whole:
                yield place, here, (chunk, whole), self.memory.bank_bytes, chunk
                here, left = here + whole * chunk, left - whole * chunk
            if whole < self.banks and left:
                yield place.at(whole * self.memory.bank_bytes), here, (left, 1), 0, 0
                left = 0

    @property
    def key(self) -> Hashable:
        """A value that is equal for jobs with the same constants in the same places."""
        names = tuple("" if x.data is None else x.name for x in self.task.inputs)
        return self.function, self.island, self.task.output.numbers, names

    def _arrays(self) -> list[NDArray[Any] | None]:
        """Return the operands; None for an operand that is no constant."""
        dtype = FORMATS[self.form].dtype
        operands = (tensor.data for tensor in self.task.inputs)
        return [None if data is None else np.asarray(data, dtype) for data in operands]

    def files(self) -> dict[str, NDArray[Any]]:
        """Return the constant operands that the copies bring, by symbol."""
        if self.resident:
            return {}
        arrays = enumerate(self._arrays())
        return {f"{'ab'[side]}.tiles": array for side, array in arrays if array is not None}

    def images(self) -> list[BankImage]:
        """Return the constants that stay in the banks, as one image of whole rows."""
        if not self.resident:
            return []
        lanes = FORMATS[self.form].lanes
        image = np.zeros((self.rows, self.banks, COLUMNS, lanes), FORMATS[self.form].dtype)
        for side, array in enumerate(self._arrays()):
            if array is not None:
                chunks = np.zeros((self.rows * self.banks * self.chunk, lanes), image.dtype)
                chunks.reshape(-1)[: array.size] = array.reshape(-1)
                columns = slice(side * self.chunk, (side + 1) * self.chunk)
                image[:, :, columns] = chunks.reshape(self.rows, self.banks, self.chunk, lanes)
        places = tuple((bank, bank) for bank in range(self.banks))
        return [BankImage("ab", np.ascontiguousarray(image.swapaxes(0, 1)), places)]

    def at_row(self, row: int) -> PointwiseJob:
        """Return the same job with `row` as the first row that it uses in each bank."""
        return replace(self, row=row)


def pointwise(
    task: Task, config: Configuration, island: int, form: int, place: BankRows
) -> PointwiseJob | str:
    """Return the job of a function on an island, or the reason why the island cannot do it."""
    able, memory = abilities(config, island), geometry(config)
    why = able.lacks(FUNCTION_NAMES.index(task.function), ELEMENTWISE, form)
    if why:
        return why
    job = PointwiseJob(task, island, form, able.rz_slices, memory, place.resident)
    if job.rows > place.limit or job.words > config["fim.instructions"]:
        return EXCEEDS_MEMORY
    return job
