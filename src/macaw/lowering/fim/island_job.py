"""Describes what an island does in a step, and predicts its cycles.

A job consists of copies into banks, blocks, and copies out of banks. If the job's constants stay in
the banks, the loader writes them there, and no copies bring them. Such a job uses separate rows.
The cycles do not depend on the numbers of these rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache
from math import lcm
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from macaw.emu.rules.fim_dram import Timings
from macaw.isa.config import Configuration
from macaw.isa.fim_circuit import COLUMN_BYTES
from macaw.isa.fim_islands import abilities
from macaw.lowering.fim.bank_images import BankImage
from macaw.lowering.fim.bank_timing import ANY, OTHER, BankTiming
from macaw.lowering.fim.block_program import Block
from macaw.lowering.fim.dma_timing import ISLAND, LOCAL, Copy, DmaTiming, Location
from macaw.lowering.fim.graph import Task, Tensor
from macaw.lowering.fim.instruction_timing import blocks_end
from macaw.lowering.fim.number_arrays import rounded
from macaw.lowering.fim.routes import Route, external
from macaw.lowering.fim.shape import Region
from macaw.lowering.fim.stream import StreamTiling
from macaw.lowering.fim.stream_program import program
from macaw.lowering.fim.tile_copies import Operand, Router, operand
from macaw.lowering.fim.windows import row_places


@dataclass(frozen=True)
class Phase:
    """One start of an island's blocks, with the copies before it and after it.

    A route is a sequence of copies. The first `constants` routes of `bring` copy constants. These
    copies can be made earlier than the others, because they depend on no task.
    """

    bring: tuple[Route, ...]  # the copies into the banks, before the start
    fetch: tuple[Route, ...]  # the copies of results out of the banks, after the start
    constants: int = 0

    @property
    def early(self) -> tuple[Route, ...]:
        """The copies in `bring` that can be early: those of constants."""
        return self.bring[: self.constants]

    @property
    def late(self) -> tuple[Route, ...]:
        """The copies in `bring` of inputs, and of results of other tasks."""
        return self.bring[self.constants :]


def phase(bring: Iterable[tuple[bool, Route]], fetch: Iterable[Route]) -> Phase:
    """Return a phase whose copies bring constants first.

    Each item of `bring` is a pair: whether the route brings a constant, and the route. `fetch` has
    the routes of the results.
    """
    routes = list(bring)
    early = [route for known, route in routes if known]
    late = [route for known, route in routes if not known]
    return Phase((*early, *late), tuple(fetch), len(early))


@dataclass(frozen=True)
class Cycles:
    """The cycles of a job.

    `bring` counts the cycles of the copies into banks, `fetch` those of the copies out of banks,
    and `compute` those from the first start of the blocks to their last end. `reorder` is the part
    of `bring` that brings inputs into the order of tiles, and `constants` the part that copies
    constants. `bring` takes `reopen` cycles more if the banks have other rows open. The other
    fields are explained in `macaw.lowering.fim.plan.Option`.
    """

    bring: int
    compute: int
    fetch: int
    reorder: int = 0
    reopen: int = 0  # more cycles to copy in if the banks have other rows open
    constants: int = 0  # part of `bring`: cycles to copy constants
    bring_queue_wait: int = 0  # cycles of waits for the dma's queue, as in `plan.Option`
    fetch_queue_wait: int = 0
    constants_queue_wait: int = 0
    until_last_start: int = (
        0  # part of `compute`: until the last start, while cp and dma serve only this job
    )
    slack: tuple[int, ...] = (0, 0, 0, 0)  # cycles that the parts can save, as in `plan.Option`

    @property
    def total(self) -> int:
        """The sum of `bring`, `compute` and `fetch`."""
        return self.bring + self.compute + self.fetch


class Job(Protocol):
    """The work of an island in a step of a plan.

    There are jobs for products, chains of products, functions of elements, and depthwise
    convolutions.
    """

    @property
    def island(self) -> int:
        """The number of the island."""

    @property
    def mask(self) -> int:
        """A bit mask of the banks that the job uses."""

    @property
    def rows(self) -> int:
        """The number of rows that the job uses in each bank of `mask`."""

    @property
    def words(self) -> int:
        """The number of words of the job's program.

        For products and chains of products it is only an upper bound.
        """

    def blocks(self) -> list[Block]:
        """Return the blocks that the island executes at each start."""

    def phases(self) -> Iterator[Phase]:
        """Yield a phase for each start of the island: the start with its copies."""

    @property
    def resident(self) -> bool:
        """Whether the job's constants stay in the banks."""

    @property
    def row(self) -> int:
        """The first row that the job uses in each bank."""

    @property
    def key(self) -> Hashable:
        """A value that is equal for two jobs with the same constants at the same places.

        A place counts from the first row that a job uses, so the jobs may use different rows.
        """

    def files(self) -> dict[str, NDArray[Any]]:
        """Return the constants that the copies bring, in their memory layout.

        The keys are the symbols with which the copies name the constants (`Location.symbol`).
        """

    def images(self) -> list[BankImage]:
        """Return the constants that stay in the banks."""

    def at_row(self, row: int) -> Job:
        """Return the same job with `row` as the first row that it uses in each bank."""


@dataclass(frozen=True)
class ProductJob:
    """The job of a product or a sum of products, and of functions of the result.

    `tasks` has all tasks, `products` only the products. `rows_after` has the second operands of the
    functions. `stream` is the tiling. If `gather` is not None, it makes the left side from windows
    of an image. If several islands share the result, `region` is the part that this island
    computes.
    """

    tasks: tuple[Task, ...]
    products: tuple[Task, ...]
    stream: StreamTiling
    rows_after: tuple[Tensor, ...] = ()  # the second operands of the functions
    resident: bool = False  # whether the constants stay in the banks
    region: Region | None = None  # the part of the result; None: all of it
    gather: Task | None = None  # makes the left side from windows of an image

    @property
    def island(self) -> int:
        """The number of the island."""
        return self.stream.island

    @property
    def mask(self) -> int:
        """A bit mask of the banks that the job uses."""
        return self.stream.mask

    @property
    def rows(self) -> int:
        """The number of rows that the job uses in each bank of `mask`."""
        return max(self.stream.rows, self.stream.buffer_rows)

    @property
    def words(self) -> int:
        """An upper bound of the number of words of the job's program."""
        return self.stream.most_words

    def blocks(self) -> list[Block]:
        """Return the blocks that the island executes at each start."""
        return program(self.stream)

    def phases(self) -> Iterator[Phase]:
        """Yield a phase for each start of the island.

        B is copied before the first start only. Operands that stay in the banks are never copied.
        """
        router, size = Router(self.stream, self.region), self.stream.shape.numbers.size
        left, right = (
            [operand(task.inputs[side], size, "ab"[side]) for task in self.products]
            for side in (0, 1)
        )
        if self.gather is not None:
            left = [self._image(self.gather, size)]
        for start in range(self.stream.starts):
            routes = list[tuple[bool, Route]]()
            if not start and not self._stays(1):
                routes.append((self._known(1), router.bring_b(*right)))
            if not self._stays(0):
                alone = self.stream.starts == 1  # else the next start overwrites this part of A
                routes.append((alone and self._known(0), router.bring_a(left, start)))
            yield phase(routes, (router.fetch(self.tasks[-1].output, start),))

    def _image(self, gather: Task, size: int) -> Operand:
        """Return the input of `gather`, an image, without the numbers before the first needed one.

        `size` is the size of a number in bytes.
        """
        image, places = gather.inputs[0], row_places(gather)
        first = int(places[self.region.row_range if self.region else slice(None)].min())
        return Operand(external(image, size).at(first * size), 1, image.numbers - first)

    @property
    def row(self) -> int:
        """The first row that the job uses in each bank."""
        return self.stream.row

    def _stays(self, side: int) -> bool:
        """Return whether the operand A (0) or B (1) stays in the banks.

        A does not stay if the job has several starts, because each start needs another part of A.
        """
        return self.resident and self._known(side) and (side == 1 or self.stream.starts == 1)

    def _known(self, side: int) -> bool:
        """Return whether the operand A (0) or B (1) is a constant."""
        return self.products[0].inputs[side].data is not None

    @property
    def key(self) -> Hashable:
        """A value that is equal for two jobs with the same constants at the same places.

        A place counts from the first row that a job uses, so the jobs may use different rows.
        """
        operands = (x for task in self.products for x in task.inputs)
        names = tuple("" if x.data is None else x.name for x in operands)
        rows = tuple(tensor.name for tensor in self.rows_after)
        return replace(self.stream, row=0), self.region, names, rows

    def _array(self, side: int) -> NDArray[Any] | None:
        """Return the operand A (`side` 0) or B (1) in tiles; None if it is not a constant.

        The result has only the rows of A, or the columns of B, that `region` needs.
        """
        stream, part = self.stream, self.region
        first = self.products[0].inputs[side].data
        if first is None:
            return None
        if side == 0:
            rows = slice(None) if part is None else part.row_range
            return stream.a_tiles(rounded(first, stream.shape.numbers)[rows])
        columns = slice(None) if part is None else part.column_range
        after = [np.asarray(tensor.data)[:, columns] for tensor in self.rows_after]
        matrices = [np.asarray(task.inputs[1].data)[:, columns] for task in self.products]
        return b_image(stream, matrices, after)

    def files(self) -> dict[str, NDArray[Any]]:
        """Return the constant operands that the copies bring, in tiles, by their symbol in the
        copies.
        """
        arrays = ((side, self._array(side)) for side in (0, 1) if not self._stays(side))
        return {f"{'ab'[side]}.tiles": array for side, array in arrays if array is not None}

    def images(self) -> list[BankImage]:
        """Return the constants that stay in the banks."""
        places = buffer_places(self.stream), bank_places(self.stream)
        arrays = ((side, self._array(side)) for side in (0, 1) if self._stays(side))
        return [
            BankImage("ab"[side], array, places[side])
            for side, array in arrays
            if array is not None
        ]

    def at_row(self, row: int) -> ProductJob:
        """Return the same job with `row` as the first row that it uses in each bank."""
        return replace(self, stream=replace(self.stream, row=row))


def bank_places(stream: StreamTiling) -> tuple[tuple[int, int], ...]:
    """Return which part of B each bank stores, as pairs (number of the bank, index).

    The index counts the parts along the first axis of the array that `b_image` returns. All
    blocks store the same parts.
    """
    return tuple(
        (stream.bank(block, number), number)
        for block in range(stream.blocks)
        for number in range(stream.banks)
    )


def buffer_places(stream: StreamTiling) -> tuple[tuple[int, int], ...]:
    """Return which part of A the buffer of each block stores, as pairs (bank, index).

    The pair has the number of the buffer's bank, and the index of the part along the first axis of
    the array that `StreamTiling.a_tiles` returns. The function is only for streams with one start.
    """
    return tuple((stream.buffer(block), block) for block in range(stream.blocks))


def b_image(
    stream: StreamTiling, matrices: Sequence[NDArray[Any]], after: Sequence[NDArray[Any]]
) -> NDArray[Any]:
    """Return B as it is stored in the banks, in an array of shape (banks, rows, columns, lanes).

    B consists of `matrices`, one below the other; if there are several, each begins at a tile.
    `after` has operands of the functions that follow, as matrices of equal rows. They are stored
    in these banks, too.
    """
    numbers, deep = stream.shape.numbers, stream.tile[1]
    rows = [rounded(matrix, numbers)[0] for matrix in after]
    b = rounded(matrices[0], numbers)
    if len(matrices) > 1:
        padded = [np.pad(matrix, ((0, -len(matrix) % deep), (0, 0))) for matrix in matrices]
        b = rounded(np.concatenate(padded), numbers)
    tiles = stream.b_tiles(b)
    return np.concatenate([tiles, stream.row_tiles(rows)], axis=1) if rows else tiles


def copies(routes: tuple[Route, ...]) -> list[Copy]:
    """Return the copies of all routes, without empty copies."""
    return [copy for route in routes for copy in route.copies if copy.rows and copy.row_bytes]


_MANY = 4  # `predict` simulates all starts of a job if it has at most so many
_KEPT = 1000  # `predict` keeps the cycles of a job if it has at most so many copies and words


def queue_wait(
    several: Sequence[Copy], config: Configuration, banks: dict[int, BankTiming], begin: int = 0
) -> int:
    """Return for how many cycles cp waits until the queue of the dma has taken all copies.

    cp queues the first copy in cycle `begin`. `banks` has the timing of each island's banks.
    """
    ahead = len(several) - int(config["dma.queue"])
    if ahead <= 0:
        return 0
    return DmaTiming(config, deepcopy(banks)).copies(several[:ahead], begin) - begin


def predict(job: Job, config: Configuration) -> Cycles:
    """Predict the cycles of a job, without cp's instructions, if nothing else uses the device.

    If the job starts the island more than `_MANY` times, only the first two starts and the last are
    simulated. Each start between them is assumed to take as long as the second. A job with the same
    blocks and copies as an earlier job has the same cycles, and is not simulated.
    """
    blocks, phases, left_out = tuple(job.blocks()), list(job.phases()), 0
    # each start between the second and the last takes as long as the second
    if len(phases) > _MANY:
        phases, left_out = [*phases[:2], phases[-1]], len(phases) - 3
    period = lcm(int(config["dma.width"]), int(config["mem.external_width"]), COLUMN_BYTES)
    timed = tuple(
        tuple(
            tuple(_without_place(copy, period) for copy in copies(routes))
            for routes in (row.early, row.late, row.fetch)
        )
        for row in phases
    )
    size = sum(len(several) for row in timed for several in row) + sum(len(x.items) for x in blocks)
    simulate = _simulated if size <= _KEPT else _simulated.__wrapped__
    return simulate(blocks, timed, left_out, config, job.island)


def _without_place(copy: Copy, period: int) -> Copy:
    """Return `copy` with other addresses but the same cycles, to compare the copies of two jobs.

    In external and local memory, the addresses have no symbol, and their offsets are taken modulo
    `period` bytes: two copies whose offsets differ by a multiple of it have the same beats.
    """

    def place(old: Location) -> Location:
        return old if old.memory == ISLAND else Location(old.memory, "", old.offset % period)

    sizes = copy.row_bytes, copy.rows, copy.dst_stride, copy.src_stride
    return Copy(place(copy.dst), place(copy.src), *sizes)


@lru_cache(maxsize=1024)
def _simulated(
    blocks: tuple[Block, ...],
    phases: tuple[tuple[tuple[Copy, ...], ...], ...],
    left_out: int,
    config: Configuration,
    island: int,
) -> Cycles:
    """Simulate a job, and return its cycles.

    Each of `phases` has three tuples of copies: those that bring constants, the others that bring
    inputs, and those of the results. There are `left_out` starts that are not in `phases`; each
    takes as long as the second.
    """
    banks = BankTiming(config)
    islands = {island: banks}
    carrier = DmaTiming(config, islands)
    time = bring = constants = compute = fetch = begin = 0
    queue_waits = [0, 0, 0]
    ends = []
    for number, (early, late, results) in enumerate(phases):
        several = (*early, *late)
        if not number:
            queue_waits[0] = queue_wait(several, config, islands)
            queue_waits[2] = queue_wait(early, config, islands)
            constants = carrier.copies(early, time)
            bring = begin = there = carrier.copies(late, constants)
            reorder = carrier.copies([x for x in several if x.dst.memory == LOCAL], 0)
            open_banks = {island: BankTiming(config, OTHER)}
            reopen = DmaTiming(config, open_banks).copies(several, 0) - bring
        else:
            there = carrier.copies(several, time)
        end = blocks_end(blocks, config, island, banks, there)
        if number == len(phases) - 1:
            queue_waits[1] = queue_wait(results, config, islands, end + 1)
            compute, until_last_start = end - begin, there - begin
        time = carrier.copies(results, end + 1)
        fetch = time - end
        ends.append(time)
    if left_out:
        more = left_out * (ends[1] - ends[0])
        compute, until_last_start = compute + more, until_last_start + more
    cycles = (bring, compute, fetch, constants)
    first, last = phases[0], phases[-1]
    slack = _slack((first[0], first[1], last[2]), cycles, config, island)
    bring_wait, fetch_wait, constants_wait = queue_waits
    return Cycles(
        bring, compute, fetch, reorder, reopen, constants, bring_wait, fetch_wait, constants_wait,
        until_last_start, slack,
    )  # fmt: skip


def _slack(
    parts: tuple[tuple[Copy, ...], ...],
    cycles: tuple[int, ...],
    config: Configuration,
    island: int,
) -> tuple[int, ...]:
    """Return the most cycles that each part of a job can save in a plan with other steps.

    `parts` has the first start's copies of constants, its copies of other inputs, and the last
    start's copies of results. The result has a number for all copies of inputs, for the blocks, for
    the copies of results, and for the copies of constants. `cycles` has the cycles of each of these
    if the job is alone on the device. Copies save cycles if earlier steps have left open each row
    that they need. A fetch saves the setup of the dma if the dma does it while the blocks still
    run. Blocks save at most the cycles for which the accesses before them delay their first
    command: an open row must be closed, at the earliest after its data are written, and another
    row opened.
    """
    # No part waits for the commands of another part, so each has a new model of the banks.
    carriers = [DmaTiming(config, {island: BankTiming(config, ANY)}) for _ in range(3)]
    constants, late, fetch = (
        carrier.copies(several, 0) for carrier, several in zip(carriers, parts, strict=True)
    )
    bring = constants + late
    fetch -= carriers[0].setup
    times = Timings.of(config)
    written = times.data_end(0, True) + times.t_wr
    closed = max(written + times.t_rp, times.t_ras + times.t_rp, times.t_rc)
    delay = closed + max(times.t_rcdrd, times.t_rcdwr) + abilities(config, island).divider
    least = bring, cycles[1] - delay, fetch, constants
    pairs = zip(cycles, least, strict=True)
    return tuple(old - max(0, min(old, new)) for old, new in pairs)
