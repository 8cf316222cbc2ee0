"""What an island does in a step: copies in, blocks, copies out, and the cycles of each.

`row` is the first row of the banks that a job may use; times do not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.lowering.fim.bank_timing import BankTiming
from macaw.lowering.fim.block_program import Block
from macaw.lowering.fim.dma_timing import LOCAL, Copy, DmaTiming
from macaw.lowering.fim.graph import Task, Tensor
from macaw.lowering.fim.instruction_timing import blocks_end
from macaw.lowering.fim.stream import StreamTiling
from macaw.lowering.fim.stream_program import program
from macaw.lowering.fim.tile_copies import Route, Router, operand


@dataclass(frozen=True)
class Phase:
    """One start of an island's blocks, with the copies before it and after it."""

    bring: tuple[Route, ...]
    fetch: tuple[Route, ...]


@dataclass(frozen=True)
class Cycles:
    """The cycles of a job: copies in, from the first start to the last end, copies out."""

    bring: int
    compute: int
    fetch: int
    reorder: int = 0
    bring_queue_wait: int = 0  # of the dma's queue: see `plan.Option`
    fetch_queue_wait: int = 0
    until_last_start: int = (
        0  # of `compute`: until the last start, while cp and dma belong to this job
    )

    @property
    def total(self) -> int:
        """The sum of the three."""
        return self.bring + self.compute + self.fetch


class Job(Protocol):
    """The work of a step on an island."""

    @property
    def island(self) -> int:
        """The number of the island."""

    @property
    def mask(self) -> int:
        """The banks that it uses, a bit each."""

    @property
    def rows(self) -> int:
        """The number of rows that it uses in these banks."""

    @property
    def words(self) -> int:
        """The words of its program."""

    def blocks(self, row: int = 0) -> list[Block]:
        """Return the blocks."""

    def phases(self, row: int = 0) -> Iterator[Phase]:
        """Give the starts, with their copies."""

    def files(self) -> dict[str, NDArray[Any]]:
        """Return the constants as they lie in memory, by symbol."""


@dataclass(frozen=True)
class ProductJob:
    """A product, computed as a stream, and the functions applied to its result."""

    tasks: tuple[Task, ...]
    stream: StreamTiling
    rows_after: tuple[Tensor, ...] = ()  # the second operands of the functions

    @property
    def island(self) -> int:
        """The number of the island."""
        return self.stream.island

    @property
    def mask(self) -> int:
        """The banks that it uses, a bit each."""
        return self.stream.mask

    @property
    def rows(self) -> int:
        """The number of rows that it uses in these banks."""
        return max(self.stream.rows, self.stream.buffer_rows)

    @property
    def words(self) -> int:
        """An upper bound of the words of its program."""
        return self.stream.most_words

    def blocks(self, row: int = 0) -> list[Block]:
        """Return the blocks."""
        return program(self.stream, row)

    def phases(self, row: int = 0) -> Iterator[Phase]:
        """Give the starts; B is copied before the first one and stays."""
        router, (a, b) = Router(self.stream, row), self.tasks[0].inputs
        size = self.stream.shape.numbers.size
        left, right = operand(a, size, "a"), operand(b, size, "b")
        for start in range(self.stream.starts):
            routes = [router.bring_a(left, start)]
            if not start:
                routes.insert(0, router.bring_b(right))
            yield Phase(tuple(routes), (router.fetch(self.tasks[-1].output.name, start),))

    def files(self) -> dict[str, NDArray[Any]]:
        """Return the constant operands as tiles, by symbol."""
        arrays, dtype = {}, self.stream.shape.numbers.dtype
        a, b = (tensor.data for tensor in self.tasks[0].inputs)
        if a is not None:
            arrays["a.tiles"] = self.stream.a_tiles(np.asarray(a, dtype))
        if b is not None:
            arrays["b.tiles"] = b_image(self.stream, b, self.rows_after)
        return arrays


def b_image(stream: StreamTiling, b: NDArray[Any], after: Sequence[Tensor]) -> NDArray[Any]:
    """Return B and operands of functions as the banks hold them: (banks, rows, columns, lanes)."""
    dtype = stream.shape.numbers.dtype
    rows = [np.asarray(tensor.data, dtype)[0] for tensor in after]
    tiles = stream.b_tiles(np.asarray(b, dtype))
    return np.concatenate([tiles, stream.row_tiles(rows)], axis=1) if rows else tiles


def copies(routes: tuple[Route, ...]) -> list[Copy]:
    """Return the copies of routes, empty ones left out."""
    return [copy for route in routes for copy in route.copies if copy.rows and copy.row_bytes]


_MANY = 4  # starts of a program that are followed one by one


def queue_wait(
    several: Sequence[Copy], config: Configuration, banks: dict[int, BankTiming], begin: int = 0
) -> int:
    """Return for how many cycles cp waits until the dma's queue has taken all copies."""
    ahead = len(several) - int(config["dma.queue"])
    if ahead <= 0:
        return 0
    return DmaTiming(config, deepcopy(banks)).copies(several[:ahead], begin) - begin


def predict(job: Job, config: Configuration) -> Cycles:
    """Predict the cycles of a job that runs alone; the instructions of cp are left out."""
    banks = BankTiming(config)
    islands = {job.island: banks}
    carrier = DmaTiming(config, islands)
    time = bring = compute = fetch = begin = 0
    blocks = job.blocks()
    phases, left_out = list(job.phases()), 0
    if len(phases) > _MANY:  # those between take what the second one takes
        phases, left_out = [*phases[:2], phases[-1]], len(phases) - 3
    queue_waits = [0, 0]
    ends = []
    for number, phase in enumerate(phases):
        several = copies(phase.bring)
        if not number:
            queue_waits[0] = queue_wait(several, config, islands)
        there = carrier.copies(several, time)
        if not number:
            bring = begin = there
            reorder = carrier.copies([x for x in several if x.dst.memory == LOCAL], 0)
        end = blocks_end(blocks, config, job.island, banks, there)
        several = copies(phase.fetch)
        if number == len(phases) - 1:
            queue_waits[1] = queue_wait(several, config, islands, end + 1)
            compute, until_last_start = end - begin, there - begin
        time = carrier.copies(several, end + 1)
        fetch = time - end
        ends.append(time)
    if left_out:
        more = left_out * (ends[1] - ends[0])
        compute, until_last_start = compute + more, until_last_start + more
    return Cycles(bring, compute, fetch, reorder, queue_waits[0], queue_waits[1], until_last_start)
