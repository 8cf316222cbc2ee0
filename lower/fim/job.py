"""What an island does at a step: copies in, blocks, copies out, and the cycles of each.

`row` is the first row of the island's banks that a job may use; times do not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from isa.config import Configuration
from lower.fim.banks import Banks
from lower.fim.carry import Carrier, Copy
from lower.fim.copies import Operand, Route, Router
from lower.fim.graph import Task
from lower.fim.stream import Stream
from lower.fim.words import Block, ended


@dataclass(frozen=True)
class Phase:
    """A start of an island's blocks with the copies before and behind it."""

    bring: tuple[Route, ...]
    fetch: tuple[Route, ...]


@dataclass(frozen=True)
class Cycles:
    """What the phases take one after the other."""

    bring: int
    compute: int
    fetch: int
    reorder: int = 0

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
    """A product as a stream."""

    task: Task
    stream: Stream

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
        return self.stream.program(row)

    def phases(self, row: int = 0) -> Iterator[Phase]:
        """The starts; B stays where it is for all of them."""
        router, (a, b) = Router(self.stream, row), self.task.inputs
        left, right = (
            Operand(x.name if x.data is None else f"{side}.tiles", x.data is not None)
            for side, x in (("a", a), ("b", b))
        )
        for start in range(self.stream.starts):
            routes = [router.bring_a(left, start)]
            if not start:
                routes.insert(0, router.bring_b(right))
            yield Phase(tuple(routes), (router.fetch(self.task.output.name, start),))

    def files(self) -> dict[str, NDArray[Any]]:
        """Sides that are known, as tiles."""
        found, dtype = {}, self.stream.shape.numbers.dtype
        a, b = (tensor.data for tensor in self.task.inputs)
        if a is not None:
            found["a.tiles"] = self.stream.placed_a(np.asarray(a, dtype))
        if b is not None:
            found["b.tiles"] = self.stream.placed_b(np.asarray(b, dtype))
        return found


def copies(routes: tuple[Route, ...]) -> list[Copy]:
    """All copies of routes that move something."""
    return [copy for route in routes for copy in route.copies if copy.rows and copy.row_bytes]


def predicted(job: Job, config: Configuration) -> Cycles:
    """The cycles of a job by itself, cp's own left out."""
    banks = Banks(config)
    carrier = Carrier(config, {job.island: banks})
    time = bring = compute = fetch = 0
    blocks = job.blocks()
    for phase in job.phases():
        there = carrier.copies(copies(phase.bring), time)
        bring += there - time
        done = ended(blocks, config, job.island, banks, there)
        compute += done - there
        time = carrier.copies(copies(phase.fetch), done + 1)
        fetch += time - done
    return Cycles(bring, compute, fetch)
