"""Computes (A B) C by two blocks of one island, a producer and a consumer (seed 004 ¶48-52, Fig.
2).

The producer computes A B strip by strip, including functions, and pushes each strip when it is
done. It pushes tiles in the form in which the consumer pulls them, so nothing is stored or copied
in between. Two layouts produce such tiles: dot (a tile is part of a row) and tensor (a tile is a
square).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from heapq import nsmallest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.isa.fim_circuit import ARRANGEMENT_NAMES, COLUMN_BYTES, COLUMNS, DOT, TENSOR
from macaw.isa.fim_islands import geometry
from macaw.lowering.fim.bank_images import BankImage, BankRows
from macaw.lowering.fim.block_program import LOCK, POINT, PUSH, UNLOCK, Block, Word
from macaw.lowering.fim.fused_task import (
    CannotError,
    FusedTask,
    MemoryExceededError,
    Traits,
    check,
)
from macaw.lowering.fim.graph import Tensor
from macaw.lowering.fim.island_job import (
    Cycles,
    Phase,
    b_image,
    bank_places,
    buffer_places,
    predict,
)
from macaw.lowering.fim.stream import Link, StreamTiling
from macaw.lowering.fim.stream_candidates import streams
from macaw.lowering.fim.stream_program import program
from macaw.lowering.fim.tile_copies import Router, operand

_BETWEEN = 1  # number of the buffer between the blocks; the buffer of A has number 0
_FOLLOWED = 3


@dataclass(frozen=True)
class ProducerConsumerJob:
    """The job of two fused tasks that an island does in one start."""

    parts: tuple[FusedTask, FusedTask]
    producer: StreamTiling
    consumer: StreamTiling
    resident: bool = False

    @property
    def island(self) -> int:
        """The number of the island."""
        return self.producer.island

    @property
    def _bank(self) -> int:
        """The number of the bank with the buffer between the two blocks."""
        return self.producer.buffer(0) + 1

    @property
    def columns(self) -> int:
        """The number of columns for the producer's results in the buffer between the two blocks.

        The program makes the buffer larger by the columns of one more push, because the consumer
        pulls each tile before it needs it.
        """
        return self.producer.items * self.producer.slices * self.producer.banks

    @property
    def _size(self) -> int:
        return self.columns + self.producer.banks

    @property
    def mask(self) -> int:
        """A bit mask of the banks that the job uses."""
        return (1 << self._bank + 1 + self.consumer.banks) - 1

    @property
    def rows(self) -> int:
        """The number of rows that the job uses in each bank of `mask`."""
        own = max(self.producer.rows, self.producer.buffer_rows, self.consumer.rows)
        return max(own, -(-self._size // COLUMNS))

    @property
    def words(self) -> int:
        """An upper bound of the number of words of the job's program."""
        return self.producer.most_words + self.consumer.most_words + 8

    def blocks(self) -> list[Block]:
        """Return two blocks: the producer, which also sets up the buffer, and the consumer."""
        (first,), (second,) = program(self.producer), program(self.consumer)
        low = self.producer.offset(self._bank) // COLUMN_BYTES
        places = (f"{self.producer.address(column):#x}" for column in (low, low + self._size))
        head = (
            Word(f"mmr b{_BETWEEN}_low, {next(places)}", POINT, value=_BETWEEN, start=low, end=low),
            Word(f"mmr b{_BETWEEN}_high, {next(places)}"),
            Word(f"lock {_BETWEEN}", LOCK, value=_BETWEEN),
        )
        # After the last strip the consumer pulls one more tile in advance, which it does not use.
        tail = (
            Word(f"push rz, {_BETWEEN}", PUSH, value=_BETWEEN),
            Word(f"unlock {_BETWEEN}", UNLOCK, value=_BETWEEN),
        )
        return [replace(first, items=(*head, *first.items, *tail)), second]

    def phases(self) -> Iterator[Phase]:
        """Yield the only start, with its copies."""
        size = self.producer.shape.numbers.size
        a, b = self.parts[0].products[0].inputs
        c = self.parts[1].products[0].inputs[1]
        first, second = Router(self.producer), Router(self.consumer)
        bring = []
        if not self._stays("b"):
            bring.append(first.bring_b(operand(b, size, "b")))
        if not self._stays("c"):
            bring.append(second.bring_b(operand(c, size, "c")))
        if not self._stays("a"):
            bring.append(first.bring_a([operand(a, size, "a")], 0))
        yield Phase(tuple(bring), (second.fetch(self.parts[1].output, 0),))

    @property
    def row(self) -> int:
        """The first row that the job uses in each bank."""
        return self.producer.row

    @property
    def _constants(self) -> dict[str, Tensor]:
        """The constant operands, by symbol."""
        a, b = self.parts[0].products[0].inputs
        operands = {"a": a, "b": b, "c": self.parts[1].products[0].inputs[1]}
        return {symbol: tensor for symbol, tensor in operands.items() if tensor.data is not None}

    def _stays(self, symbol: str) -> bool:
        """Return whether operand a, b or c stays in the banks."""
        return self.resident and symbol in self._constants

    @property
    def key(self) -> Hashable:
        """A value that is equal for jobs with the same constants in the same places."""
        rows = tuple(tuple(tensor.name for tensor in part.rows) for part in self.parts)
        names = tuple((symbol, tensor.name) for symbol, tensor in self._constants.items())
        same = self.at_row(0)
        return same.producer, same.consumer, names, rows

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Return the constant operands in tiles, by symbol."""
        arrays, dtype = {}, self.producer.shape.numbers.dtype
        for symbol, tensor in self._constants.items():
            data = np.asarray(tensor.data, dtype)
            if symbol == "a":
                arrays[symbol] = self.producer.a_tiles(data)
            else:
                number = "bc".index(symbol)
                stream = (self.producer, self.consumer)[number]
                after = [np.asarray(row.data) for row in self.parts[number].rows]
                arrays[symbol] = b_image(stream, [data], after)
        return arrays

    def files(self) -> dict[str, NDArray[Any]]:
        """Return the constant operands that the copies bring, in tiles, by symbol."""
        if self.resident:
            return {}
        return {f"{symbol}.tiles": array for symbol, array in self._arrays().items()}

    def images(self) -> list[BankImage]:
        """Return the constants that stay in the banks."""
        if not self.resident:
            return []
        places = {
            "a": buffer_places(self.producer),
            "b": bank_places(self.producer),
            "c": bank_places(self.consumer),
        }
        return [BankImage(name, array, places[name]) for name, array in self._arrays().items()]

    def at_row(self, row: int) -> ProducerConsumerJob:
        """Return the same job with `row` as the first row that it uses in each bank."""
        return replace(
            self,
            producer=replace(self.producer, row=row),
            consumer=replace(self.consumer, row=row),
        )


@dataclass(frozen=True)
class _Query:
    """Two fused tasks for which an island's tilings are wanted.

    It is the key of a cache; queries with equal traits have equal results.
    """

    traits: tuple[Traits, ...]
    config: Configuration
    island: int
    layout: int
    place: BankRows
    parts: tuple[FusedTask, FusedTask] = field(compare=False)


def pair(
    parts: Sequence[FusedTask],
    config: Configuration,
    island: int,
    layout: int,
    form: int,
    place: BankRows,
) -> tuple[ProducerConsumerJob, Cycles]:
    """Return the job with the fastest pair of tilings on an island in a layout, and its cycles.

    Raises `CannotError`.
    """
    first, second = parts
    for part in parts:
        check(part, config, island, layout, form)
    if layout not in (DOT, TENSOR):
        name = ARRANGEMENT_NAMES[layout]
        raise CannotError(f"what {name} yields is no tile of A; what dot and tensor yield is one")
    traits = tuple(part.traits(form, layout) for part in parts)
    best = _least(_Query(traits, config, island, layout, place, (first, second)))
    if best is None:
        raise MemoryExceededError("two products and their buffers take more banks, rows or words")
    job, cycles = best
    return replace(job, parts=(first, second)), cycles


@lru_cache(maxsize=1024)
def _least(query: _Query) -> tuple[ProducerConsumerJob, Cycles] | None:
    config = query.config
    rows, words = query.place.limit, config["fim.instructions"]
    jobs = (job for job in _jobs(query) if job.rows <= rows and job.words <= words)
    timings = ((job, predict(job, config)) for job in nsmallest(_FOLLOWED, jobs, key=_rough))
    return min(timings, key=lambda pair: pair[1].total, default=None)


def _jobs(query: _Query) -> Iterator[ProducerConsumerJob]:
    (first, second), config = query.traits, query.config
    island, layout = query.island, query.layout
    banks = geometry(config).banks
    for way in streams(first.shape, config, island, layout, rows=query.place.limit):
        if way.high > 1 or way.blocks > 1 or way.rounds > 1 or way.starts > 1:
            continue
        if layout == DOT and way.wide != first.shape.numbers.lanes:
            continue
        producer = replace(way, after=first.after, link=Link(pushes=_BETWEEN))
        left = banks - producer.banks - 2
        steps = producer.banks * producer.slices
        shape = replace(second.shape, k=steps * way.tile[1])
        for other in streams(shape, config, island, layout, rows=query.place.limit):
            if other.high > 1 or other.blocks > 1 or other.starts > 1 or other.banks > left:
                continue
            link = Link(producer.buffer(0) + 2, _BETWEEN, takes_pushed=True)
            consumer = replace(other, after=second.after, link=link)
            yield ProducerConsumerJob(query.parts, producer, consumer, query.place.resident)


def _rough(job: ProducerConsumerJob) -> tuple[int, int]:
    """Return the sort key of a candidate: an estimate of its cycles, then the number of rows copied
    in.
    """
    producer, consumer = job.producer, job.consumer
    first = producer.items * (producer.steps * max(25, 2 + 4 * producer.wide) + 60)
    second = consumer.items * (consumer.steps * max(25, 2 + 4 * consumer.wide) + 90)
    rows_in = producer.banks * producer.result_row + consumer.banks * consumer.result_row
    rows_in *= not job.resident
    return max(first, second * consumer.rounds) + 128 * rows_in, rows_in
