"""Computes functions of each element on an island (seed 004, Fig. 3E).

A row of a bank has columns with the operands, then columns for the results. Each tensor is cut into
chunks. Consecutive chunks go to the same row of all banks, then to the next row. In this way some
banks open a row while others receive their columns. One start can compute several functions; a
result that only these functions read is not stored.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from string import ascii_lowercase
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
    MUL,
)
from macaw.isa.fim_islands import Geometry, abilities, geometry
from macaw.isa.lazy_dataclass import dataclass
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
from macaw.lowering.fim.composed_functions import expand
from macaw.lowering.fim.dma_timing import EXTERNAL, ISLAND, LOCAL, Copy, Location
from macaw.lowering.fim.graph import MUL_ADD, Task, Tensor
from macaw.lowering.fim.island_job import Phase, phase
from macaw.lowering.fim.number_arrays import rounded
from macaw.lowering.fim.pointwise_groups import operands_of, part_of_an_output
from macaw.lowering.fim.pointwise_words import Call, ColumnWord, column_words
from macaw.lowering.fim.routes import Route, external
from macaw.lowering.fim.stream import ROW_BYTES

FEWEST_SLICES = 2  # of Rz, for several functions
_LETTERS = ascii_lowercase  # symbols of the operands
# why an island cannot compute a function of very many numbers
EXCEEDS_MEMORY = "its numbers take more rows (fim.rows) or words (fim.instructions)"


@dataclass(frozen=True)
class PointwiseJob:
    """The job of an island that computes functions of tensors that have equal numbers of elements.

    `results` are the outputs that go to external memory, in the order of their tasks. `form` is the
    index of the number format, `slices` the number of slices of the accumulator register Rz.
    """

    tasks: tuple[Task, ...]
    results: tuple[Tensor, ...]
    island: int
    form: int  # index of the number format
    slices: int  # number of slices of Rz
    memory: Geometry
    resident: bool  # whether the constants stay in the banks
    row: int = 0  # the first row of the banks that the job uses

    @cached_property
    def operands(self) -> tuple[Tensor, ...]:
        """The tensors that the functions read but do not compute.

        If there is only one function, they are its operands, even if both are the same tensor.
        """
        own = {task.output.place for task in self.tasks}
        inputs = (tensor for task in self.tasks for tensor in task.inputs)
        if len(self.tasks) == 1:
            return tuple(inputs)
        return tuple(dict.fromkeys(x for x in inputs if x.place not in own))

    @cached_property
    def _calls(self) -> tuple[Call, ...]:
        """The functions as `Call` objects, whose operands are numbers of values.

        The values are numbered: first `operands`, then the results of the functions.
        """
        values = {tensor: number for number, tensor in enumerate(self.operands)}
        number_of = {task.output.place: n for n, task in enumerate(self.tasks, len(self.operands))}
        stored = {tensor.name for tensor in self.results}
        return tuple(
            Call(
                task.function,
                tuple(values.get(x, number_of.get(x.place, 0)) for x in task.inputs),
                task.output.name in stored,
                task.shift,
            )
            for task in self.tasks
        )

    @cached_property
    def _words_of_column(self) -> tuple[tuple[ColumnWord, ...], int]:
        """The words that compute one column of each result, and the number of places in a row.

        A place is the part of a bank's row that one operand, result or intermediate value takes. A
        job with a single function has no words here, because `_row` computes several columns at
        once.
        """
        if self._is_single:
            return (), len(self.operands) + 1
        return column_words(len(self.operands), self._calls, self.slices)

    @property
    def _is_single(self) -> bool:
        """Whether the job has a single function, which the ALU itself has (it is not composed)."""
        return len(self.tasks) == 1 and self.tasks[0].function in FUNCTION_NAMES

    @cached_property
    def places(self) -> int:
        """The number of columns in a bank's row that one column of results needs.

        They are for the operands, the results, and intermediate values.
        """
        return self._words_of_column[1]

    @cached_property
    def chunk(self) -> int:
        """The number of columns that one operand takes in a row of a bank.

        With the largest possible chunks, the job needs a certain number of rows. `chunk` is the
        least number of columns with which it needs as few. So all banks get nearly equal chunks.
        """
        rows = -(-self.columns // (COLUMNS // self.places * self.memory.banks))
        return -(-self.columns // (rows * self.memory.banks))

    @property
    def numbers(self) -> int:
        """The number of elements of each tensor."""
        return self.tasks[0].output.numbers

    @cached_property
    def columns(self) -> int:
        """The number of columns of memory that each tensor takes."""
        return -(-self.numbers // FORMATS[self.form].lanes)

    @cached_property
    def banks(self) -> int:
        """The number of banks that contain a part of the tensors."""
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
        return [self._block]

    @cached_property
    def _block(self) -> Block:
        several = not self._is_single
        head = [
            Word(f"mmr arrange, {ARRANGEMENT_NAMES[ELEMENTWISE]}"),
            Word(f"mmr format, {FORMATS[self.form].name}"),
        ]
        if not several:
            head.insert(0, Word(f"mmr op, {self.tasks[0].function}"))
            head.append(Word("mmr rz_step, 1 # slices of Rz one after the other"))
            if self.tasks[0].shift is not None:
                head.append(Word(f"mmr rz_shift, {self.tasks[0].shift}"))
        act = f"act {self.row} + row" if self.row else "act row"
        words = self._row_of_several() if several else self._row()
        body = Repeat(self.rows, (Word(act, ACT), *words), "row")
        names = ("mul" if task.function == MUL_ADD else task.function for task in self.tasks)
        functions = map(FUNCTION_NAMES.index, names)
        modes = tuple(Mode(function, ELEMENTWISE, self.form) for function in functions)
        if several:
            modes += (Mode(MUL, ELEMENTWISE, self.form, accumulates=True),)
        return Block(tuple(range(self.banks)), (*head, body), modes, self.row + self.rows - 1)

    def _row_of_several(self) -> Iterator[Item]:
        """Yield the words of several functions for a row, one column after the other."""
        for number in range(self.chunk):
            for word in self._words_of_column[0]:
                yield word.at(self.chunk, number)

    def _row(self) -> Iterator[Item]:
        """Yield the words of one function for a row, as many columns at once as Rz holds."""
        what = FUNCTIONS[FUNCTION_NAMES.index(self.tasks[0].function)]
        result = self.chunk * len(self.operands)
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
        """Yield a single phase: the job's only start of the island, with its copies."""
        size = FORMATS[self.form].size
        bring, count = list[tuple[bool, Route]](), len(self.operands)
        for side, tensor in enumerate(self.operands):
            if self.resident and tensor.data is not None:
                continue
            place = external(tensor, size)
            if tensor.data is not None:
                place = Location(EXTERNAL, f"{_LETTERS[side]}.tiles")
            bring.append((tensor.data is not None, self._bring(place, side)))
        fetch = (self._fetch(x, side) for side, x in enumerate(self.results, count))
        yield phase(bring, fetch)

    def _fetch(self, tensor: Tensor, side: int) -> Route:
        result = external(tensor, FORMATS[self.form].size)
        copies = (
            Copy(result.at(here), bank, *form, src_stride=pitch, dst_stride=stride)
            for bank, here, form, pitch, stride in self._chunks(side)
        )
        return Route(tuple(copies), {})

    def _bring(self, src: Location, side: int) -> Route:
        before: tuple[Copy, ...] = ()
        scratch = {}
        if src.offset % COLUMN_BYTES:  # a beat from there would be in two columns
            there = Location(LOCAL, f"{src.symbol}.{_LETTERS[side]}")
            count = self.numbers * FORMATS[self.form].size
            before, scratch, src = (Copy(there, src, count),), {there.symbol: count}, there
        copies = (
            Copy(bank, src.at(here), *form, dst_stride=pitch, src_stride=stride)
            for bank, here, form, pitch, stride in self._chunks(side)
        )
        return Route((*before, *copies), scratch)

    def _chunks(self, side: int) -> Iterator[tuple[Location, int, tuple[int, int], int, int]]:
        """Yield the copies of tensor number `side`, counted from 0: first operands, then results.

        Each item has the location in the banks, the byte offset in the tensor, the shape (bytes of
        a row, rows), and the strides in bytes in the banks and in the tensor.
        """
        left = self.numbers * FORMATS[self.form].size
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
        """A value that is equal for two jobs with the same constants at the same places.

        A place counts from the first row that a job uses, so the jobs may use different rows.
        """
        names = tuple("" if x.data is None else x.name for x in self.operands)
        return self._calls, self.island, self.numbers, names

    def _arrays(self) -> list[NDArray[Any] | None]:
        """Return the operands; None for an operand that is no constant."""
        form = FORMATS[self.form]
        operands = (tensor.data for tensor in self.operands)
        return [None if data is None else rounded(data, form) for data in operands]

    def files(self) -> dict[str, NDArray[Any]]:
        """Return the constant operands that the copies bring, by their symbol in the copies."""
        if self.resident:
            return {}
        arrays = enumerate(self._arrays())
        return {f"{_LETTERS[side]}.tiles": array for side, array in arrays if array is not None}

    def images(self) -> list[BankImage]:
        """Return the constants that stay in the banks, as one image of whole rows."""
        if not self.resident:
            return []
        lanes = FORMATS[self.form].lanes
        image = np.zeros((self.rows, self.banks, COLUMNS, lanes), FORMATS[self.form].numbers)
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
    tasks: Sequence[Task],
    results: Sequence[Tensor],
    config: Configuration,
    island: int,
    form: int,
    place: BankRows,
) -> PointwiseJob | str:
    """Return the job that computes functions on an island, or the reason why it cannot do this.

    In the tasks of the job, maxima and minima are replaced by functions that the ALU has
    (`expand`). `results` are the outputs that go to external memory. `place` has the rows that the
    job may use, and says whether constants stay there.
    """
    part = part_of_an_output(tasks, operands_of(tasks))
    if part is not None:
        return f"{part.name} is a part of another output of the same start"
    able, memory = abilities(config, island), geometry(config)
    tasks = tuple(expand(tasks, form))
    for function in dict.fromkeys(task.function for task in tasks):
        name = "mul" if function == MUL_ADD else function
        why = able.lacks(FUNCTION_NAMES.index(name), ELEMENTWISE, form)
        if why:
            return why
    slices = able.slices(FORMATS[form])
    if slices < FEWEST_SLICES and len(tasks) > 1:
        return f"several functions need {FEWEST_SLICES} slices of Rz, it has {slices}"
    job = PointwiseJob(tasks, tuple(results), island, form, slices, memory, place.resident)
    if job.places > COLUMNS:
        return f"the operands and results take {job.places} columns, a row has {COLUMNS}"
    if job.rows > place.limit or job.words > config["fim.instructions"]:
        return EXCEEDS_MEMORY
    return job
