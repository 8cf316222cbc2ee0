"""Computes (A B) C by two blocks of an island: producer and consumer (seed 004 ¶48-52, Fig. 2).

The producer computes A B strip by strip, including functions, and pushes each finished strip. The
tiles have the form in which the consumer pulls them, so nothing is stored or copied in between. Two
layouts produce such tiles: dot (a tile is part of a row) and tensor (a tile is a square). A chain
of more products has more blocks: those between the first and the last one are consumers and
producers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import field, replace
from functools import lru_cache
from heapq import nsmallest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.isa.fim_circuit import ARRANGEMENT_NAMES, COLUMN_BYTES, COLUMNS, DOT, TENSOR
from macaw.isa.fim_islands import geometry
from macaw.isa.lazy_dataclass import dataclass
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
from macaw.lowering.fim.island_job import Phase, b_image, bank_places, buffer_places, phase
from macaw.lowering.fim.job_timing import Cycles, predict
from macaw.lowering.fim.number_arrays import rounded
from macaw.lowering.fim.shape import part
from macaw.lowering.fim.stream import Link, StreamTiling
from macaw.lowering.fim.stream_candidates import streams
from macaw.lowering.fim.stream_program import program
from macaw.lowering.fim.tile_copies import Router, operand

_FOLLOWED = 3
_RIGHT = "bcde"  # symbols of the right operands; the buffer of A has number 0


@dataclass(frozen=True)
class ProducerConsumerJob:
    """The job of a chain of fused tasks that an island does in one start.

    `streams` has the tiling of each product, which one block computes. Each block but the last one
    pushes its results to the buffer from which the next block pulls.
    """

    parts: tuple[FusedTask, ...]
    streams: tuple[StreamTiling, ...]
    resident: bool  # whether the constants stay in the banks

    @property
    def island(self) -> int:
        """The number of the island."""
        return self.streams[0].island

    @property
    def columns(self) -> int:
        """The number of columns that all producers together push into the buffers between blocks.

        The program makes each buffer larger than that, by the columns of one more push. The reason
        is that a consumer pulls one tile ahead: after the last tile it pulls one more column.
        """
        return sum(map(_columns_between, self.streams[:-1]))

    @property
    def mask(self) -> int:
        """A bit mask of the banks that the job uses."""
        last = self.streams[-1]
        return (1 << last.link.bank + last.banks) - 1

    @property
    def rows(self) -> int:
        """The number of rows that the job uses in each bank of `mask`."""
        between = (part(_size_between(x), COLUMNS) for x in self.streams[:-1])
        own = (stream.rows for stream in self.streams)
        return max(*own, *between, self.streams[0].buffer_rows)

    @property
    def words(self) -> int:
        """An upper bound of the number of words of the job's program."""
        return sum(stream.most_words + 8 for stream in self.streams)

    def blocks(self) -> list[Block]:
        """Return a block for each stream; each producer also sets up the buffer that it fills."""
        blocks = []
        for stream in self.streams:
            (block,) = program(stream)
            if stream.link.pushes is not None:
                head, tail = _around(stream, stream.link.pushes)
                block = replace(block, items=(*head, *block.items, *tail))
            blocks.append(block)
        return blocks

    def phases(self) -> Iterator[Phase]:
        """Yield a single phase: the job's only start of the island, with its copies."""
        size = self.streams[0].shape.numbers.size
        routers = [Router(stream) for stream in self.streams]
        right = _RIGHT[: len(self.parts)]
        known = self._constants
        bring = [
            (symbol in known, router.bring_b(operand(one.products[0].inputs[1], size, symbol)))
            for one, router, symbol in zip(self.parts, routers, right, strict=True)
            if not self._stays(symbol)
        ]
        if not self._stays("a"):
            a = self.parts[0].products[0].inputs[0]
            bring.append(("a" in known, routers[0].bring_a([operand(a, size, "a")], 0)))
        yield phase(bring, (routers[-1].fetch(self.parts[-1].output, 0),))

    @property
    def row(self) -> int:
        """The first row that the job uses in each bank."""
        return self.streams[0].row

    @property
    def _constants(self) -> dict[str, Tensor]:
        """The constant operands by symbol.

        `a` and `b` are the sides of the first product, `c`, `d`, ... the right sides of later ones.
        """
        operands = {"a": self.parts[0].products[0].inputs[0]}
        operands |= {
            symbol: one.products[0].inputs[1]
            for symbol, one in zip(_RIGHT, self.parts, strict=False)
        }
        return {symbol: tensor for symbol, tensor in operands.items() if tensor.data is not None}

    def _stays(self, symbol: str) -> bool:
        """Return whether an operand stays in the banks; `symbol` is its symbol in the copies."""
        return self.resident and symbol in self._constants

    @property
    def key(self) -> Hashable:
        """A value that is equal for two jobs with the same constants at the same places.

        A place counts from the first row that a job uses, so the jobs may use different rows.
        """
        rows = tuple(tuple(tensor.name for tensor in one.rows) for one in self.parts)
        names = tuple((symbol, tensor.name) for symbol, tensor in self._constants.items())
        return self.at_row(0).streams, names, rows

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Return the constant operands in tiles, by their symbol in the copies."""
        arrays, numbers = {}, self.streams[0].shape.numbers
        for symbol, tensor in self._constants.items():
            data = rounded(tensor.data, numbers)
            if symbol == "a":
                arrays[symbol] = self.streams[0].a_tiles(data)
            else:
                number = _RIGHT.index(symbol)
                after = [np.asarray(row.data) for row in self.parts[number].rows]
                arrays[symbol] = b_image(self.streams[number], [data], after)
        return arrays

    def files(self) -> dict[str, NDArray[Any]]:
        """Return the constant operands that the copies bring, in tiles, by their symbol in the
        copies.
        """
        if self.resident:
            return {}
        return {f"{symbol}.tiles": array for symbol, array in self._arrays().items()}

    def images(self) -> list[BankImage]:
        """Return the constants that stay in the banks."""
        if not self.resident:
            return []
        right = zip(_RIGHT, map(bank_places, self.streams), strict=False)
        places = {"a": buffer_places(self.streams[0]), **dict(right)}
        return [BankImage(name, array, places[name]) for name, array in self._arrays().items()]

    def at_row(self, row: int) -> ProducerConsumerJob:
        """Return the same job with `row` as the first row that it uses in each bank."""
        return replace(self, streams=tuple(replace(x, row=row) for x in self.streams))


def _columns_between(producer: StreamTiling) -> int:
    """Return the number of columns that a producer pushes."""
    return producer.items * producer.slices * producer.banks


def _size_between(producer: StreamTiling) -> int:
    """Return the number of columns of a producer's buffer."""
    return _columns_between(producer) + producer.banks


def _around(producer: StreamTiling, number: int) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """Return the words before and after the program of a producer that fills buffer `number`.

    The words before it set up the buffer and lock it; those after it push once more and unlock it.
    """
    low = producer.offset(_bank_between(producer), 0) // COLUMN_BYTES
    places = (low, low + _size_between(producer))
    first, end = (f"{producer.address(column):#x}" for column in places)
    head = (
        Word(f"mmr b{number}_low, {first}", POINT, value=number, start=low, end=low),
        Word(f"mmr b{number}_high, {end}"),
        Word(f"lock {number}", LOCK, value=number),
    )
    # After the last strip the consumer pulls one more tile in advance, which it does not use.
    tail = (
        Word(f"push rz, {number}", PUSH, value=number),
        Word(f"unlock {number}", UNLOCK, value=number),
    )
    return head, tail


def _bank_between(producer: StreamTiling) -> int:
    """Return the number of the bank with the buffer that a producer fills.

    The producer's own banks come before it: the banks with tiles of B and, only for the first
    producer, one bank with the buffer of A.
    """
    return producer.link.bank + producer.banks + (not producer.link.takes_pushed)


@dataclass(frozen=True)
class _Query:
    """Asks for the tilings by which an island can do a chain of fused tasks, in one layout.

    It is the key of a cache; queries with equal traits have equal results. `parts` has the fused
    tasks, `traits` the traits of each. `place` says which rows of the banks they may use.
    """

    traits: tuple[Traits, ...]
    config: Configuration
    island: int
    layout: int
    place: BankRows
    parts: tuple[FusedTask, ...] = field(compare=False)


def chain(
    parts: Sequence[FusedTask],
    config: Configuration,
    island: int,
    layout: int,
    form: int,
    place: BankRows,
) -> tuple[ProducerConsumerJob, Cycles]:
    """Return the job with the fastest tilings for a chain of products, and its cycles.

    All blocks are on one island and in one layout. `place` has the rows that they may use. Raises
    `CannotError` if the island or the layout cannot do the chain, or if the chain needs more banks,
    rows or instruction words than there are.
    """
    for one in parts:
        check(one, config, island, layout, form)
    if layout not in (DOT, TENSOR):
        name = ARRANGEMENT_NAMES[layout]
        raise CannotError(f"what {name} yields is no tile of A; what dot and tensor yield is one")
    traits = tuple(one.traits(form, layout) for one in parts)
    best = _least(_Query(traits, config, island, layout, place, tuple(parts)))
    if best is None:
        count = ("two", "three", "four")[len(parts) - 2]
        text = f"{count} products and their buffers take more banks, rows or words"
        raise MemoryExceededError(text)
    job, cycles = best
    return replace(job, parts=tuple(parts)), cycles


@lru_cache(maxsize=1024)
def _least(query: _Query) -> tuple[ProducerConsumerJob, Cycles] | None:
    config = query.config
    rows, words = query.place.limit, config["fim.instructions"]
    jobs = (
        ProducerConsumerJob(query.parts, several, query.place.resident)
        for several in _streams(query, ())
    )
    jobs = (job for job in jobs if job.rows <= rows and job.words <= words)
    timings = ((job, predict(job, config)) for job in nsmallest(_FOLLOWED, jobs, key=_rough))
    return min(timings, key=lambda pair: pair[1].total, default=None)


def _streams(query: _Query, before: tuple[StreamTiling, ...]) -> Iterator[tuple[StreamTiling, ...]]:
    """Yield the candidates for a chain whose first tilings are `before`.

    A candidate is a tuple with the tilings of all products of the chain, one for each. Each product
    runs on one block with one start, and its items (the parts of the result that a bank sums at
    once) are one tile high. Its banks and buffer come after those of the earlier products, and the
    island has enough banks for them. A block that pushes computes all columns of its result in one
    round, so that it pushes the tiles in the order in which the next block pulls them. In the
    layout dot, each item of this block has the numbers of one tile that the next block pulls.
    """
    number, config, layout = len(before), query.config, query.layout
    if number == len(query.traits):
        yield before
        return
    traits, pushes = query.traits[number], number < len(query.traits) - 1
    shape, link = traits.shape, Link()
    if before:
        producer = before[-1]
        shape = replace(shape, k=producer.banks * producer.slices * producer.tile[1])
        link = Link(_bank_between(producer) + 1, number, takes_pushed=True)
    link = replace(link, pushes=number + 1 if pushes else None)
    left = geometry(config).banks - link.bank - pushes - (not before)
    for way in streams(shape, config, query.island, layout, rows=query.place.limit):
        if way.high > 1 or way.blocks > 1 or way.starts > 1 or way.banks > left:
            continue
        if pushes and (way.rounds > 1 or (layout == DOT and way.wide != shape.numbers.lanes)):
            continue
        whole = replace(way, after=traits.after, integers=traits.integers, link=link)
        yield from _streams(query, (*before, whole))


def _rough(job: ProducerConsumerJob) -> tuple[int, int]:
    """Return the sort key of a candidate: estimated cycles, then rows of banks that copies fill."""
    *producers, last = job.streams
    cycles = [x.items * (x.steps * max(25, 2 + 4 * x.wide) + 60) for x in producers]
    consumer = last.items * (last.steps * max(25, 2 + 4 * last.wide) + 90)
    rows_in = sum(x.banks * x.result_row for x in job.streams) * (not job.resident)
    return max(*cycles, consumer * last.rounds) + 128 * rows_in, rows_in
