"""A producer and a consumer: (A B) C by two blocks of one island (seed 004 ¶48-52, Fig. 2).

The producer pushes a strip of A B, functions included, as soon as it has it; what it pushes are
tiles as the consumer pulls them, so nothing is stored, fetched or brought in between. The layouts
whose results are such tiles: dot, a part of a row, and tensor, a block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import nsmallest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.config import Configuration
from isa.fim_circuit import ARRANGEMENT_NAMES, COLUMN_BYTES, COLUMNS, DOT, TENSOR
from isa.fim_islands import geometry
from lower.fim.copies import Router, operand
from lower.fim.job import Phase, placed, predicted
from lower.fim.stream import Link, Stream
from lower.fim.tiling import Shape
from lower.fim.unit import CannotError, Part, check
from lower.fim.ways import streams
from lower.fim.words import POINT, PUSH, Block, Word

_BETWEEN = 1  # the number of the buffer between them; 0 is that of A
_FOLLOWED = 3


@dataclass(frozen=True)
class PairJob:
    """Two parts at one start."""

    parts: tuple[Part, Part]
    producer: Stream
    consumer: Stream

    @property
    def island(self) -> int:
        """Which island."""
        return self.producer.island

    @property
    def _bank(self) -> int:
        """The bank of the buffer between them."""
        return self.producer.buffer(0) + 1

    @property
    def columns(self) -> int:
        """Columns of the buffer between them; those of one push more than are used."""
        return self.producer.items * self.producer.slices * self.producer.banks

    @property
    def _size(self) -> int:
        return self.columns + self.producer.banks

    @property
    def mask(self) -> int:
        """The banks in use."""
        return (1 << self._bank + 1 + self.consumer.banks) - 1

    @property
    def rows(self) -> int:
        """Rows of these banks in use."""
        own = max(self.producer.rows, self.producer.buffer_rows, self.consumer.rows)
        return max(own, -(-self._size // COLUMNS))

    @property
    def words(self) -> int:
        """Words of the program, at most."""
        return self.producer.most_words + self.consumer.most_words + 8

    def blocks(self, row: int = 0) -> list[Block]:
        """The producer, which says where the buffer lies, and the consumer."""
        (first,), (second,) = self.producer.program(row), self.consumer.program(row)
        low = self.producer.offset(self._bank, row) // COLUMN_BYTES
        places = (f"{self.producer.address(column):#x}" for column in (low, low + self._size))
        head = (
            Word(f"mmr b{_BETWEEN}_low, {next(places)}", POINT, value=_BETWEEN, start=low, end=low),
            Word(f"mmr b{_BETWEEN}_high, {next(places)}"),
            Word(f"lock {_BETWEEN}"),
        )
        # What the consumer pulls ahead and never uses, behind the last strip.
        tail = (
            Word(f"push rz, {_BETWEEN}", PUSH, value=_BETWEEN),
            Word(f"unlock {_BETWEEN}"),
        )
        return [replace(first, items=(*head, *first.items, *tail)), second]

    def phases(self, row: int = 0) -> Iterator[Phase]:
        """One start."""
        size = self.producer.shape.numbers.size
        a, b = self.parts[0].product.inputs
        c = self.parts[1].product.inputs[1]
        first, second = Router(self.producer, row), Router(self.consumer, row)
        bring = (
            first.bring_b(operand(b, size, "b")),
            second.bring_b(operand(c, size, "c")),
            first.bring_a(operand(a, size, "a"), 0),
        )
        yield Phase(bring, (second.fetch(self.parts[1].output.name, 0),))

    def files(self) -> dict[str, NDArray[Any]]:
        """Sides that are known, as tiles."""
        found, dtype = {}, self.producer.shape.numbers.dtype
        a, b = (tensor.data for tensor in self.parts[0].product.inputs)
        c = self.parts[1].product.inputs[1].data
        if a is not None:
            found["a.tiles"] = self.producer.placed_a(np.asarray(a, dtype))
        if b is not None:
            found["b.tiles"] = placed(self.producer, b, self.parts[0].rows)
        if c is not None:
            found["c.tiles"] = placed(self.consumer, c, self.parts[1].rows)
        return found


def pair(
    parts: list[Part], config: Configuration, island: int, layout: int, form: int
) -> tuple[PairJob, int]:
    """The least pair of an island and a layout, and the columns of its buffer.

    Raises `CannotError`.
    """
    first, second = parts
    for part in parts:
        check(part, config, island, layout, form)
    if layout not in (DOT, TENSOR):
        name = ARRANGEMENT_NAMES[layout]
        raise CannotError(f"what {name} yields are no tiles that {name} takes")
    rows, words = geometry(config).rows, config["fim.instructions"]
    jobs = [
        job
        for job in _jobs((first, second), config, island, layout, form)
        if job.rows <= rows and job.words <= words
    ]
    if not jobs:
        raise CannotError("two products and their buffers take more banks, rows or words")
    found = min(
        nsmallest(_FOLLOWED, jobs, key=_rough), key=lambda job: predicted(job, config).total
    )
    return found, found.columns


def _jobs(
    parts: tuple[Part, Part], config: Configuration, island: int, layout: int, form: int
) -> Iterator[PairJob]:
    a, b = parts[0].product.inputs
    c = parts[1].product.inputs[1]
    banks = geometry(config).banks
    ways = streams(Shape(a.rows, a.columns, b.columns, form), config, island, layout)
    for way in ways:
        lanes = way.shape.numbers.lanes
        if way.high > 1 or way.blocks > 1 or way.rounds > 1 or way.starts > 1:
            continue
        if layout == DOT and way.wide != lanes:
            continue
        producer = replace(way, after=parts[0].after, link=Link(pushes=_BETWEEN))
        left = banks - producer.banks - 2
        steps = producer.banks * producer.slices
        shape = Shape(a.rows, steps * way.tile[1], c.columns, form)
        for other in streams(shape, config, island, layout):
            if other.high > 1 or other.blocks > 1 or other.starts > 1 or other.banks > left:
                continue
            link = Link(producer.buffer(0) + 2, _BETWEEN, fed=True)
            yield PairJob(parts, producer, replace(other, after=parts[1].after, link=link))


def _rough(job: PairJob) -> tuple[int, int]:
    """In which order pairs are followed: the slower block's operations, then what comes in."""
    producer, consumer = job.producer, job.consumer
    first = producer.items * (producer.steps * max(25, 2 + 4 * producer.wide) + 60)
    second = consumer.items * (consumer.steps * max(25, 2 + 4 * consumer.wide) + 90)
    brought = producer.banks * producer.result_row + consumer.banks * consumer.result_row
    return max(first, second * consumer.rounds) + 128 * brought, brought
