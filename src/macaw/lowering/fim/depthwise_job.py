"""Computes a depthwise convolution on an island (seed 004, Fig. 3E).

A bank computes one column of channels for its share of the result's rows. Its rows of memory have
the weights of all taps, then distinct pixels of the image; each pixel is copied to the bank once.
The block takes a chunk of results at a time. Their sums stay in the accumulator Rz, one sum in each
of its slices. The block opens the rows with their pixels one after the other, and adds the
products of each result in the order of the taps. The rows after the pixels have the second operands
of functions, then the results.

If there are more columns of channels than banks, the block repeats its program with other rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
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
    MUL,
)
from macaw.isa.fim_islands import Geometry, abilities, geometry
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.fim.bank_images import BankImage, BankRows
from macaw.lowering.fim.block_program import (
    ACT,
    COMPUTE,
    COMPUTE_ALONE,
    FROM_RZ,
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
from macaw.lowering.fim.depthwise import Depthwise, depthwise_of
from macaw.lowering.fim.dma_timing import EXTERNAL, ISLAND, Copy, Location
from macaw.lowering.fim.fused_task import CannotError, MemoryExceededError
from macaw.lowering.fim.graph import Task
from macaw.lowering.fim.island_job import Phase, phase
from macaw.lowering.fim.job_timing import Cycles, predict
from macaw.lowering.fim.number_arrays import rounded
from macaw.lowering.fim.routes import Route, external, runs
from macaw.lowering.fim.shape import part
from macaw.lowering.fim.stream import DIV, ROW_BYTES


@dataclass(frozen=True)
class DepthwiseJob:
    """The job of an island that computes a depthwise convolution and functions of it.

    The convolution is `whole`. The rows of its result are divided into `shares` equal shares. In
    each share, the pixels have the same distances from the share's first pixel. `slices` is the
    number of slices of the accumulator register Rz.
    """

    tasks: tuple[Task, ...]
    whole: Depthwise
    island: int
    form: int  # index of the number format
    shares: int
    slices: int
    memory: Geometry
    resident: bool  # whether the constants stay in the banks
    row: int = 0  # the first row of the banks that the job uses

    # --- the division among banks ---

    @property
    def lanes(self) -> int:
        """How many numbers a column of memory holds."""
        return FORMATS[self.form].lanes

    @property
    def groups(self) -> int:
        """The number of columns of memory that the channels of one pixel take."""
        return self.whole.output.columns // self.lanes

    @property
    def side(self) -> int:
        """The number of banks that work on one share of the result's rows at the same time.

        Each of them computes other channels.
        """
        return min(self.groups, self.memory.banks // self.shares)

    @property
    def turns(self) -> int:
        """The number of turns: how often the block executes its program, each time for other
        channels.
        """
        return part(self.groups, self.side)

    @property
    def banks(self) -> int:
        """The number of banks of the block."""
        return self.shares * self.side

    @property
    def share(self) -> int:
        """The number of rows of the result that a bank computes."""
        return self.whole.output.rows // self.shares

    def group(self, turn: int, bank: int) -> int:
        """Return the index of the column of channels that a bank computes in a turn.

        A turn is one execution of the block's program. In the last turn the index can be `groups`
        or more; then the bank has nothing to compute.
        """
        return turn * self.side + bank % self.side

    @cached_property
    def pixels(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The distinct pixels that a bank needs, and which of them each of its results needs.

        The rows of the result that a bank computes are a share. The first array says where each
        pixel begins, as a count of numbers after the share's first pixel. The second array has
        indices into the first, in shape (rows of the share, taps).
        """
        places = self.whole.places()[: self.share]
        distinct, order = np.unique(places - places.min(), return_inverse=True)
        return distinct, order.reshape(places.shape)

    def first_place(self, share: int) -> int:
        """Return the index in the image's memory of the first pixel that a share needs.

        A share is the rows of the result that a bank computes; `share` is its number.
        """
        return int(self.whole.places()[share * self.share :][: self.share].min())

    # --- rows of a bank ---

    @property
    def taps(self) -> int:
        """The number of taps. Each row of a bank that has pixels has as many columns of weights."""
        return len(self.whole.taps)

    @property
    def pixel_rows(self) -> int:
        """The number of rows of a bank with weights and pixels, for one run of the program.

        The block runs its program once in each turn, with other rows and channels.
        """
        return part(len(self.pixels[0]), COLUMNS - self.taps)

    @property
    def operands(self) -> int:
        """The number of second operands of functions; each is a column in every row of results."""
        return len(self.whole.rows)

    @property
    def chunk(self) -> int:
        """The number of rows of the result whose sums a bank has in register Rz at once."""
        return min(self.slices, self.share, COLUMNS - self.operands)

    @property
    def chunks(self) -> int:
        """The number of chunks into which a bank divides the rows of the result that it computes.

        A chunk has at most `chunk` rows.
        """
        return part(self.share, self.chunk)

    @property
    def row_chunks(self) -> int:
        """The number of chunks (of up to `chunk` results) that fit into a row of a bank."""
        return (COLUMNS - self.operands) // self.chunk

    @property
    def turn_rows(self) -> int:
        """The number of rows of a bank that one run of the block's program uses.

        They are rows with weights and pixels, then rows with results.
        """
        return self.pixel_rows + part(self.chunks, self.row_chunks)

    @property
    def rows(self) -> int:
        """The number of rows that the job uses in each bank of `mask`."""
        return self.turns * self.turn_rows

    @property
    def mask(self) -> int:
        """A bit mask of the banks that the job uses."""
        return (1 << self.banks) - 1

    # --- words ---

    @property
    def words(self) -> int:
        """The number of words of the job's program."""
        return sum(2 + words_of(block.items) for block in self.blocks()) + 1

    def blocks(self) -> list[Block]:
        """Return a list of a single block, which has all banks."""
        head = (
            Word(f"mmr arrange, {ARRANGEMENT_NAMES[ELEMENTWISE]}"),
            Word(f"mmr format, {FORMATS[self.form].name}"),
        )
        chunks = (word for number in range(self.chunks) for word in self._chunk(number))
        body = Repeat(self.turns, tuple(chunks), "turn")
        sums = (Mode(MUL, ELEMENTWISE, self.form, more) for more in (False, True))
        after = (Mode(function, ELEMENTWISE, self.form) for function in self.whole.after)
        banks = tuple(range(self.banks))
        return [Block(banks, (*head, body), (*sums, *after), self.row + self.rows - 1)]

    def _act(self, row: int) -> Word:
        """Return the word that opens a row.

        `row` counts from the first of the rows that the present run of the program uses.
        """
        return Word(f"act {self.row + row} + turn * {self.turn_rows}", ACT)

    def _chunk(self, number: int) -> Iterator[Item]:
        """Yield the words that compute and store chunk number `number` of a bank's results.

        A chunk is the results whose sums are in register Rz at once.
        """
        first = number * self.chunk
        needs = self.pixels[1][first : first + self.chunk]
        yield Word(f"mmr op, {FUNCTION_NAMES[MUL]}")
        yield Word("mmr rz_step, 1 # slices of Rz one after the other")
        yield from self._sums(needs)
        if self.taps > 1:
            yield Word("mmr accumulate, 0")
        row, place = divmod(number, self.row_chunks)
        yield self._act(self.pixel_rows + row)
        yield from self._functions(len(needs))
        yield Word("mmr rz_slot, 0")
        column = self.operands + place * self.chunk
        text = f"iosa[{_columns(column, len(needs))}] <- rz"
        yield Word(text, OPERATE, len(needs), operation=STORE)

    def _sums(self, needs: NDArray[np.int64]) -> Iterator[Word]:
        """Yield the words that add up the products of some results (up to `chunk`) in register Rz.

        `needs` has the index of the pixel that each tap of each result reads, in shape (results,
        taps). A result adds its products in the order of the taps. So at any time each result has
        one next pixel. The block opens the first row that contains the next pixel of any result. It
        adds products as long as the next pixel of some result is in this row, and only then opens
        another row.
        """
        rows, columns = np.divmod(needs, COLUMNS - self.taps)
        done, accumulates, slot = [0] * len(needs), -1, -1
        while min(done) < self.taps:
            row = min(int(rows[n, tap]) for n, tap in enumerate(done) if tap < self.taps)
            yield self._act(row)
            while True:
                ready = [n for n, t in enumerate(done) if t < self.taps and rows[n, t] == row]
                if not ready:
                    break
                tap = min(done[n] for n in ready)
                ready = [n for n in ready if done[n] == tap]
                if (tap > 0) != accumulates:
                    accumulates = int(tap > 0)
                    yield Word(f"mmr accumulate, {accumulates}")
                yield Word(f"rop <- iosa[{tap}]", OPERATE, operation=READ)
                for first, count in _adjacent(ready, columns[:, tap]):
                    if first != slot:
                        yield Word(f"mmr rz_slot, {first}")
                    text = f"rz <- rop * iosa[{_columns(self.taps + columns[first, tap], count)}]"
                    mode = int(tap > 0)
                    yield Word(text, OPERATE, count, mode, COMPUTE)
                    slot = first + count if first + count < self.slices else -1
                for n in ready:
                    done[n] += 1

    def _functions(self, count: int) -> Iterator[Word]:
        """Yield the words that apply the functions to the sums in `count` slices of register Rz.

        For each function and slice, a word moves the sum to the register Rop; the next one computes
        the function of Rop into the slice.
        """
        if self.whole.after:
            yield Word("mmr rz_step, 0")
        operand = 0
        for mode, number in enumerate(self.whole.after, 2):
            what = FUNCTIONS[number]
            yield Word(f"mmr op, {what.name}")
            for one in range(count):
                yield Word(f"mmr rz_slot, {one}")
                yield Word("rop <- rz", OPERATE, operation=FROM_RZ)
                if what.operands == 1:
                    text = f"{what.symbol}rop" if what.symbol else f"{what.name}(rop)"
                    yield Word(f"rz <- {text}", OPERATE, value=mode, operation=COMPUTE_ALONE)
                    continue
                text = f"rz <- rop {what.symbol} iosa[{operand}]"
                yield Word(text, OPERATE, value=mode, operation=COMPUTE)
            operand += what.operands == 2
        if self.whole.after:
            yield Word("mmr rz_step, 1")

    # --- copies ---

    def phases(self) -> Iterator[Phase]:
        """Yield a single phase: the job's only start of the island, with its copies."""
        bring = [(False, Route(tuple(self._bring_pixels()), {}))]
        if not self.resident:
            bring.append((True, Route(tuple(self._bring_constants()), {})))
        yield phase(bring, (Route(tuple(self._fetch()), {}),))

    def _bank(self, bank: int, row: int, column: int = 0) -> Location:
        offset = bank * self.memory.bank_bytes + (self.row + row) * ROW_BYTES
        return Location(ISLAND, offset=offset + column * COLUMN_BYTES, island=self.island)

    def _bring_constants(self) -> Iterator[Copy]:
        """Yield copies of the constants to the banks: one copy for each row, which fills all banks.

        A row with pixels gets the weights of all taps; a row for results gets the second operands
        of the functions.
        """
        one = (self.taps + self.operands) * COLUMN_BYTES  # bytes of a bank
        for turn in range(self.turns):
            src = Location(EXTERNAL, "a.tiles", turn * self.banks * one)
            for row in range(self.turn_rows):
                weights = row < self.pixel_rows
                length = (self.taps if weights else self.operands) * COLUMN_BYTES
                place = src if weights else src.at(self.taps * COLUMN_BYTES)
                dst = self._bank(0, turn * self.turn_rows + row)
                yield Copy(dst, place, length, self.banks, self.memory.bank_bytes, one)

    def _bring_pixels(self) -> Iterator[Copy]:
        """Yield copies of pixels to the first row of every bank, then to the second, and so on."""
        size, room, (distinct, _) = FORMATS[self.form].size, COLUMNS - self.taps, self.pixels
        image = Location(EXTERNAL, self.whole.image.name)
        firsts = [self.first_place(share) for share in range(self.shares)]
        for turn in range(self.turns):
            for row in range(self.pixel_rows):
                at = distinct[row * room : (row + 1) * room] * size
                to = np.arange(len(at)) * COLUMN_BYTES
                copies = list(runs(to, at, np.full(len(at), COLUMN_BYTES)))
                for bank in self._used(turn):
                    first = firsts[bank // self.side] + self.group(turn, bank) * self.lanes
                    place = self._bank(bank, turn * self.turn_rows + row, self.taps)
                    for dst, src, form in copies:
                        yield Copy(place.at(dst), image.at(first * size + src), *form)

    def _fetch(self) -> Iterator[Copy]:
        size, count = FORMATS[self.form].size, self.row_chunks * self.chunk
        pitch = self.whole.output.columns * size  # bytes of a row of the result
        out = external(self.whole.output, size)
        for turn in range(self.turns):
            for number, first in enumerate(range(0, self.share, count)):
                results = min(count, self.share - first)
                row = turn * self.turn_rows + self.pixel_rows + number
                for bank in self._used(turn):
                    line = bank // self.side * self.share + first
                    dst = out.at(line * pitch + self.group(turn, bank) * COLUMN_BYTES)
                    src = self._bank(bank, row, self.operands)
                    yield Copy(dst, src, COLUMN_BYTES, results, pitch, COLUMN_BYTES)

    def _used(self, turn: int) -> Iterator[int]:
        """Yield the numbers of the banks that have channels in run number `turn` of the program."""
        return (bank for bank in range(self.banks) if self.group(turn, bank) < self.groups)

    # --- constants ---

    @property
    def key(self) -> Hashable:
        """A value that is equal for two jobs with the same constants at the same places.

        A place counts from the first row that a job uses, so the jobs may use different rows.
        """
        names = tuple(tap.weights.name for tap in self.whole.taps)
        rows = tuple(tensor.name for tensor in self.whole.rows)
        form = self.shares, self.pixel_rows, self.turn_rows, self.whole.after
        return self.island, names, rows, form

    def _constants(self) -> NDArray[Any]:
        """Return weights and operands, in shape (turns, banks, taps + operands, lanes)."""
        operands = [tap.weights for tap in self.whole.taps] + list(self.whole.rows)
        form, divisors = FORMATS[self.form], self._divisors
        table = np.zeros((len(operands), self.turns * self.side * self.lanes), form.numbers)
        for number, tensor in enumerate(operands):
            table[number] = number in divisors
            table[number, : tensor.columns] = rounded(tensor.data, form)[0]
        groups = table.reshape(len(operands), self.turns, 1, self.side, self.lanes)
        every = np.repeat(groups, self.shares, axis=2).transpose(1, 2, 3, 0, 4)
        return every.reshape(self.turns, self.banks, len(operands), self.lanes)

    @property
    def _divisors(self) -> list[int]:
        """The indices, in the third axis of `_constants`, of the constants that are divisors.

        The unused lanes of a divisor are 1, those of other constants are 0.
        """
        binary = [number for number in self.whole.after if FUNCTIONS[number].operands == 2]
        return [self.taps + place for place, number in enumerate(binary) if number == DIV]

    def files(self) -> dict[str, NDArray[Any]]:
        """Return the constants that copies bring, by the symbol that the copies use for them.

        The only symbol is that of the array of `_constants`. If the constants stay in the banks,
        the result is empty.
        """
        return {} if self.resident else {"a.tiles": self._constants()}

    def images(self) -> list[BankImage]:
        """Return the constants that stay in the banks, as one image of whole rows."""
        if not self.resident:
            return []
        table = self._constants()
        shape = self.banks, self.turns, self.turn_rows, COLUMNS, self.lanes
        image = np.zeros(shape, table.dtype)
        for turn in range(self.turns):
            rows = table[turn, :, None]
            image[:, turn, : self.pixel_rows, : self.taps] = rows[:, :, : self.taps]
            image[:, turn, self.pixel_rows :, : self.operands] = rows[:, :, self.taps :]
        places = tuple((bank, bank) for bank in range(self.banks))
        return [BankImage("a", image.reshape(self.banks, self.rows, COLUMNS, -1), places)]

    def at_row(self, row: int) -> DepthwiseJob:
        """Return the same job with `row` as the first row that it uses in each bank."""
        return replace(self, row=row)


def _columns(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first}:{first + count}"


def _adjacent(results: Sequence[int], columns: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield runs of consecutive results whose pixels are in consecutive columns.

    An item has the run's first result and its number of results. `columns` has the column of each
    result's pixel.
    """
    first = results[0]
    for before, result in zip(results, [*results[1:], -1], strict=True):
        if result != before + 1 or columns[result] != columns[before] + 1:
            yield first, before + 1 - first
            first = result


def depthwise_job(
    tasks: tuple[Task, ...], config: Configuration, island: int, form: int, place: BankRows
) -> tuple[DepthwiseJob, Cycles]:
    """Return the fastest job for a depthwise convolution on an island, and its cycles.

    The function tries each division of the result's rows into shares. `place` has the rows that the
    job may use. Raises `CannotError` if the tasks are no depthwise convolution, or if the island
    does not have its functions or enough rows or instruction words.
    """
    whole, able, memory = depthwise_of(tasks, form), abilities(config, island), geometry(config)
    for function in (MUL, FUNCTION_NAMES.index("add"), *whole.after):
        why = able.lacks(function, ELEMENTWISE, form)
        if why:
            raise CannotError(why)
    best: tuple[DepthwiseJob, Cycles] | None = None
    for shares in range(1, memory.banks // 2 + 1):
        job = DepthwiseJob(
            tasks, whole, island, form, shares, able.rz_slices, memory, place.resident
        )
        if shares > 1 and not _divides(whole, shares, job.groups, memory.banks):
            continue
        if job.rows > place.limit or job.words > config["fim.instructions"]:
            continue
        cycles = predict(job, config)
        if best is None or cycles.total < best[1].total:
            best = job, cycles
    if best is None:
        raise MemoryExceededError(
            "its pixels take more rows (fim.rows) or words (fim.instructions)"
        )
    return best


def _divides(whole: Depthwise, shares: int, groups: int, banks: int) -> bool:
    """Return whether the result can be divided into `shares` shares.

    It can under three conditions. All shares have equal numbers of rows. In each share, the pixels
    have the same distances from the share's first pixel. Each share needs `groups`
    banks, and `banks` banks are enough for all shares.
    """
    if whole.output.rows % shares or shares * groups > banks:
        return False
    places = whole.places().reshape(shares, -1)
    relative = places - places.min(axis=1, keepdims=True)
    return not np.any(relative != relative[0])
