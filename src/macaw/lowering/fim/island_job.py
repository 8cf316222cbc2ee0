"""Describes what an island does in a step.

A job consists of copies into banks, blocks, and copies out of banks. If the job's constants stay in
the banks, the loader writes them there, and no copies bring them. Such a job uses separate rows.
The cycles do not depend on the numbers of these rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.fim.bank_images import BankImage
from macaw.lowering.fim.block_program import Block
from macaw.lowering.fim.dma_timing import Copy
from macaw.lowering.fim.graph import Task, Tensor
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
        """The copies in `bring` of data that are not constants."""
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
        """Return, as an operand, the image that `gather` reads, from the first needed number on.

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
    the array that `StreamTiling.a_tiles` returns. The function is only for streams with one start,
    because each start stores another part of A there.
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
