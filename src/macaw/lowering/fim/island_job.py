"""What an island does at a step: copies in, blocks, copies out, and the cycles of each.

`row` is the first row of the island's banks that a job may use; times do not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.lowering.fim.bank_timing import Banks
from macaw.lowering.fim.block_program import Block
from macaw.lowering.fim.dma_timing import LOCAL, Carrier, Copy
from macaw.lowering.fim.graph import Task, Tensor
from macaw.lowering.fim.instruction_timing import ended
from macaw.lowering.fim.stream import Stream
from macaw.lowering.fim.stream_program import program
from macaw.lowering.fim.tile_copies import Route, Router, operand


@dataclass(frozen=True)
class Phase:
    """A start of an island's blocks with the copies before and behind it."""

    bring: tuple[Route, ...]
    fetch: tuple[Route, ...]


@dataclass(frozen=True)
class Cycles:
    """What a job takes: copies in, all from the first start to the last end, copies out."""

    bring: int
    compute: int
    fetch: int
    reorder: int = 0
    held_bring: int = 0  # of the dma's queue: see `plan.Option`
    held_fetch: int = 0
    during: int = 0  # of `compute`: until the last start, while cp and dma belong to this job

    @property
    def total(self) -> int:
        """All of them."""
        return self.bring + self.compute + self.fetch


class Job(Protocol):
    """What a step does on an island."""

    @property
    def island(self) -> int:
        """Which island."""

    @property
    def mask(self) -> int:
        """The banks in use."""

    @property
    def rows(self) -> int:
        """Rows of these banks in use."""

    @property
    def words(self) -> int:
        """Words of the program."""

    def blocks(self, row: int = 0) -> list[Block]:
        """The blocks."""

    def phases(self, row: int = 0) -> Iterator[Phase]:
        """The starts."""

    def files(self) -> dict[str, NDArray[Any]]:
        """What constants are laid out as, by symbol."""


@dataclass(frozen=True)
class ProductJob:
    """A product as a stream, and functions that go with it."""

    tasks: tuple[Task, ...]
    stream: Stream
    rows_after: tuple[Tensor, ...] = ()  # the second operands of the functions

    @property
    def island(self) -> int:
        """Which island."""
        return self.stream.island

    @property
    def mask(self) -> int:
        """The banks in use."""
        return self.stream.mask

    @property
    def rows(self) -> int:
        """Rows of these banks in use."""
        return max(self.stream.rows, self.stream.buffer_rows)

    @property
    def words(self) -> int:
        """Words of the program, at most."""
        return self.stream.most_words

    def blocks(self, row: int = 0) -> list[Block]:
        """The blocks."""
        return program(self.stream, row)

    def phases(self, row: int = 0) -> Iterator[Phase]:
        """The starts; B stays where it is for all of them."""
        router, (a, b) = Router(self.stream, row), self.tasks[0].inputs
        size = self.stream.shape.numbers.size
        left, right = operand(a, size, "a"), operand(b, size, "b")
        for start in range(self.stream.starts):
            routes = [router.bring_a(left, start)]
            if not start:
                routes.insert(0, router.bring_b(right))
            yield Phase(tuple(routes), (router.fetch(self.tasks[-1].output.name, start),))

    def files(self) -> dict[str, NDArray[Any]]:
        """Sides that are known, as tiles."""
        arrays, dtype = {}, self.stream.shape.numbers.dtype
        a, b = (tensor.data for tensor in self.tasks[0].inputs)
        if a is not None:
            arrays["a.tiles"] = self.stream.placed_a(np.asarray(a, dtype))
        if b is not None:
            arrays["b.tiles"] = placed(self.stream, b, self.rows_after)
        return arrays


def placed(stream: Stream, b: NDArray[Any], after: Sequence[Tensor]) -> NDArray[Any]:
    """B and the rows of functions as the banks hold them."""
    dtype = stream.shape.numbers.dtype
    rows = [np.asarray(tensor.data, dtype)[0] for tensor in after]
    tiles = stream.placed_b(np.asarray(b, dtype))
    return np.concatenate([tiles, stream.placed_rows(rows)], axis=1) if rows else tiles


def copies(routes: tuple[Route, ...]) -> list[Copy]:
    """All copies of routes that move something."""
    return [copy for route in routes for copy in route.copies if copy.rows and copy.row_bytes]


_MANY = 4  # starts of a program that are followed one by one


def held_up(
    several: Sequence[Copy], config: Configuration, banks: dict[int, Banks], begin: int = 0
) -> int:
    """Cycles from the begin of copies until the dma's queue has taken the last one."""
    ahead = len(several) - int(config["dma.queue"])
    if ahead <= 0:
        return 0
    return Carrier(config, deepcopy(banks)).copies(several[:ahead], begin) - begin


def predicted(job: Job, config: Configuration) -> Cycles:
    """The cycles of a job by itself, cp's own left out."""
    banks = Banks(config)
    islands = {job.island: banks}
    carrier = Carrier(config, islands)
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
            queue_waits[0] = held_up(several, config, islands)
        there = carrier.copies(several, time)
        if not number:
            bring = begin = there
            reorder = carrier.copies([x for x in several if x.dst.memory == LOCAL], 0)
        blocks_end = ended(blocks, config, job.island, banks, there)
        several = copies(phase.fetch)
        if number == len(phases) - 1:
            queue_waits[1] = held_up(several, config, islands, blocks_end + 1)
            compute, during = blocks_end - begin, there - begin
        time = carrier.copies(several, blocks_end + 1)
        fetch = time - blocks_end
        ends.append(time)
    if left_out:
        more = left_out * (ends[1] - ends[0])
        compute, during = compute + more, during + more
    return Cycles(bring, compute, fetch, reorder, queue_waits[0], queue_waits[1], during)
