"""Makes the copies that bring a product's operands into the banks.

Tensors are stored row by row in external memory; constants are stored as tiles in advance. Data
that are not tiles, or do not begin at a column, pass through cp's local memory. There a beat takes
one cycle, however short it is. In a bank even a short beat takes the time of a whole column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.fim_circuit import COLUMN_BYTES
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.fim.dma_timing import EXTERNAL, ISLAND, LOCAL, Copy, Location
from macaw.lowering.fim.graph import Tensor
from macaw.lowering.fim.result_copies import ResultRouter
from macaw.lowering.fim.routes import Route, count_of, external, runs
from macaw.lowering.fim.shape import Region, part
from macaw.lowering.fim.stream import ROW_BYTES, StreamTiling
from macaw.lowering.fim.windows import adjacent_lines, line_groups


@dataclass(frozen=True)
class Operand:
    """An operand of a product in external memory: a tensor row by row, or tiles made in advance.

    If a sum of products has constants, the tiles of all of them belong to the first operand.
    """

    place: Location  # the place of the first number
    rows: int
    columns: int
    tiles: bool = False  # whether it is stored as tiles


def operand(tensor: Tensor, size: int, side: str) -> Operand:
    """Return the operand for a tensor; constants are stored as tiles.

    `size` is the size of a number in bytes, `side` is "a" or "b".
    """
    shape = tensor.rows, tensor.columns
    if tensor.data is not None:
        return Operand(Location(EXTERNAL, f"{side}.tiles"), *shape, tiles=True)
    return Operand(external(tensor, size), *shape)


class Router:
    """Makes the copies of a stream (a product that an island computes in blocks).

    The copies bring its operands into the banks, and its results out of them.

    If several islands share the product, `region` is the part of C that this stream computes. The
    operands A and B are sequences, because a sum of products has several of each.
    """

    def __init__(self, stream: StreamTiling, region: Region | None = None) -> None:
        self.stream, self.region = stream, region
        self.size = stream.shape.numbers.size  # bytes of a number
        self.pitch = stream.shape.n if region is None else region.pitch  # numbers of a row of B, C
        self.row = 0 if region is None else region.row
        self.column = 0 if region is None else region.column

    def _bank(self, bank: int, row: int = 0) -> Location:
        offset = self.stream.offset(bank, row)
        return Location(ISLAND, offset=offset, island=self.stream.island)

    # --- B ---

    def bring_b(self, *operands: Operand) -> Route:
        """Return the copies that bring B (all `operands`) into the banks of each block."""
        stream, first = self.stream, operands[0]
        if first.tiles:
            return Route(tuple(self._spread(first.place)), {})
        place = Location(LOCAL, f"{first.place.symbol}.b")
        pieces, step = list[Copy](), 0
        for b in operands:
            pieces += self._pieces_of_b(b, place.at(step * stream.wide * COLUMN_BYTES))
            step += part(b.rows, stream.tile[1])
        size = stream.banks * stream.result_row * ROW_BYTES
        return Route((*pieces, *self._spread(place)), {place.symbol: size})

    def _spread(self, image: Location) -> Iterator[Copy]:
        """Yield copies that bring the tiles at `image` to the banks.

        The tiles have the order of `StreamTiling.b_tiles`. One copy fills one row in all banks of a
        block. If a block has a single bank, one copy fills the row in the banks of all blocks.
        """
        stream = self.stream
        pitch, rows = stream.memory.bank_bytes, stream.result_row
        for row in range(rows):
            steps = min(stream.deep, stream.steps - row % stream.depth * stream.deep)
            columns = steps * stream.wide
            if row >= stream.operand_row:
                columns = stream.operands * stream.patterns
            length = columns * COLUMN_BYTES
            src = image.at(row * ROW_BYTES)
            if stream.banks == 1:
                yield Copy(self._bank(stream.bank(0), row), src, length, stream.blocks, pitch, 0)
                continue
            for block in range(stream.blocks):
                dst = self._bank(stream.bank(block), row)
                yield Copy(dst, src, length, stream.banks, pitch, rows * ROW_BYTES)

    def _pieces_of_b(self, b: Operand, dst: Location) -> Iterator[Copy]:
        """Yield copies that rearrange B into tiles at `dst`.

        A line is a row of a tile. For each column of tiles, the first copy moves the first line of
        all its tiles, the second copy the second line of all its tiles, and so on.
        """
        stream, shape, size = self.stream, self.stream.shape, self.size
        _, deep, wide = stream.tile
        # a consumer's k is padded to the tiles that the producer pushes
        rows = min(shape.k, b.rows)
        for column in range(stream.across):
            turn, bank, place = stream.tile_of_b(column)
            row = bank * stream.result_row + turn * stream.depth
            tile = dst.at(row * ROW_BYTES + place * COLUMN_BYTES)
            length = min(wide, shape.n - column * wide) * size
            for line in range(min(deep, rows)):
                yield Copy(
                    tile.at(line * wide * size),
                    b.place.at((line * self.pitch + self.column + column * wide) * size),
                    length,
                    count_of(line, deep, rows),
                    stream.wide * COLUMN_BYTES,
                    deep * self.pitch * size,
                )

    # --- A ---

    def bring_a(self, operands: Sequence[Operand], start: int) -> Route:
        """Return the copies of the strips of A into the buffers for start number `start`."""
        stream, shape = self.stream, self.stream.shape
        if stream.windows is not None:
            return self._bring_windows(operands[0])
        high = stream.tile[0]
        first = start * stream.blocks * stream.share
        strips = min(stream.strips - first, stream.blocks * stream.share)
        pitch = stream.steps * COLUMN_BYTES  # bytes of a strip
        if operands[0].tiles:
            return Route(tuple(self._fill(operands[0].place.at(first * pitch), strips)), {})
        rows = min(strips * high, shape.m - first * high)
        plain = stream.tile[0] == 1 == stream.high and stream.tile[1] > 1
        parts = [
            replace(a, place=a.place.at((self.row + first * high) * a.columns * self.size))
            for a in operands
        ]
        if plain and all(self._is_aligned(a) for a in parts):
            return Route(tuple(self._fill_rows(parts, strips)), {})
        place = Location(LOCAL, f"{operands[0].place.symbol}.a")
        pieces, step = list[Copy](), 0
        for a in parts:
            there = place.at(step * stream.high * COLUMN_BYTES)
            if plain:
                length = a.columns * self.size
                pieces.append(Copy(there, a.place, length, rows, pitch, length))
            else:
                pieces += self._pieces_of_a(a, there, rows)
            step += part(a.columns, stream.tile[1])
        size = stream.blocks * stream.share * pitch
        return Route((*pieces, *self._fill(place, strips)), {place.symbol: size})

    def _bring_windows(self, image: Operand) -> Route:
        """Return the copies of the distinct tiles of windows into the buffers.

        If all tiles are whole columns of the image, they are copied directly to the buffers.
        Otherwise the image is copied to local memory, and the tiles are made from it there.
        """
        stream, size = self.stream, self.size
        high, deep, _ = stream.tile
        keys = [stream.tiles_of(block).keys for block in range(stream.blocks)]
        length = (max(int(rows.max()) for rows in keys) + deep) * size
        whole = deep * size == COLUMN_BYTES and not image.place.offset % COLUMN_BYTES
        if whole and not any(np.any(rows * size % COLUMN_BYTES) for rows in keys):
            columns = (
                Copy(self._bank(stream.buffer(block)).at(to), image.place.at(at), *form)
                for block, rows in enumerate(keys)
                for to, at, form in _columns_of(rows, size)
            )
            return Route(tuple(columns), {})
        symbol = image.place.symbol
        place, copied = Location(LOCAL, f"{symbol}.a"), Location(LOCAL, f"{symbol}.image")
        repeats = stream.shape.numbers.lanes // (high * deep)  # copies of each number
        pitch = max(map(len, keys)) * COLUMN_BYTES  # bytes of a block's tiles
        pieces, scratch = [Copy(copied, image.place, length)], {copied.symbol: length}
        source, places = copied, keys
        groups = line_groups(keys, deep, length // size)
        if groups is not None:  # lines of a tile are side by side there
            source = Location(LOCAL, f"{symbol}.groups")
            scratch[source.symbol] = groups.numbers * size
            for group, count in enumerate(groups.counts):
                pieces.append(
                    Copy(
                        source.at(group * groups.pixels * deep * size),
                        copied.at(group * deep * size),
                        deep * size,
                        count,
                        deep * size,
                        groups.pitch * size,
                    )
                )
            places = [groups.places(rows) for rows in keys]
        for block, rows in enumerate(places):
            there = block * pitch + np.arange(len(rows)) * COLUMN_BYTES
            for (line, lines), lane in product(adjacent_lines(rows, deep), range(repeats)):
                to = there + (line * deep * repeats + lane) * size
                sizes = np.full(len(rows), lines * deep * size)
                pieces += [
                    Copy(place.at(dst), source.at(src), *form)
                    for dst, src, form in runs(to, rows[:, line] * size, sizes)
                ]
        bank, between = self._bank(stream.buffer(0)), stream.memory.bank_bytes
        for at in range(0, pitch, ROW_BYTES):  # a row of memory in all buffers
            row = min(ROW_BYTES, pitch - at)
            count = max(block for block, rows in enumerate(keys) if len(rows) * COLUMN_BYTES > at)
            pieces.append(Copy(bank.at(at), place.at(at), row, count + 1, between, pitch))
        return Route(tuple(pieces), {place.symbol: stream.blocks * pitch, **scratch})

    def _is_aligned(self, a: Operand) -> bool:
        """Return whether each row of A begins at a column of memory and has whole columns."""
        return a.columns * self.size % COLUMN_BYTES == 0 == a.place.offset % COLUMN_BYTES

    def _fill_rows(self, operands: Sequence[Operand], strips: int) -> Iterator[Copy]:
        """Yield copies of `strips` rows of A to the buffers, if each tile is a part of one row.

        If there are several operands, the buffers have their rows side by side.
        """
        if len(operands) == 1:
            yield from self._fill(operands[0].place, strips)
            return
        stream = self.stream
        pitch, place = stream.steps * COLUMN_BYTES, 0
        for a in operands:
            length = a.columns * self.size
            for block in range(stream.blocks):
                first = block * stream.share
                count = min(stream.share, strips - first)
                if count > 0:
                    dst = self._bank(stream.buffer(block)).at(place)
                    yield Copy(dst, a.place.at(first * length), length, count, pitch, length)
            place += length

    def _fill(self, image: Location, strips: int) -> Iterator[Copy]:
        """Yield copies that bring `strips` strips of tiles at `image` to the buffers."""
        stream = self.stream
        pitch = stream.steps * COLUMN_BYTES
        for block in range(stream.blocks):
            first = block * stream.share
            # If the last item is not full, copy all its columns, because its tiles interleave.
            count = min(stream.share, -(-(strips - first) // stream.high) * stream.high)
            if count > 0:
                yield Copy(self._bank(stream.buffer(block)), image.at(first * pitch), count * pitch)

    def _pieces_of_a(self, a: Operand, dst: Location, rows: int) -> Iterator[Copy]:
        """Yield copies that rearrange `rows` rows of A into tiles at `dst`.

        There are two ways, and the method chooses the one with fewer copies. In the first, one copy
        moves a row of A. The second is for items: an item is the rows of A that a bank uses at
        once. One copy then moves one line (a row of a tile) for all items, from the tile with the
        same position in each item.
        """
        stream = self.stream
        high, deep, _ = stream.tile
        lanes = stream.shape.numbers.lanes // (high * deep)  # how often each number is repeated
        steps = part(a.columns, deep)
        by_rows = rows + high * stream.high * (a.columns % deep > 0)
        by_lines = steps * min(rows, high * stream.high)
        for lane in range(lanes):
            place = dst.at(lane * self.size)
            if by_rows <= by_lines:
                yield from self._by_rows(a, place, rows)
            else:
                yield from self._by_lines(a, place, rows, range(steps))

    def _line(self, row: int) -> int:
        """Return at which byte offset row `row` begins if A is stored as tiles."""
        stream = self.stream
        high, deep, _ = stream.tile
        strip, line = divmod(row, high)
        item, place = divmod(strip, stream.high)
        column = item * stream.steps * stream.high + place
        return column * COLUMN_BYTES + line * deep * self.size

    def _by_rows(self, a: Operand, dst: Location, rows: int) -> Iterator[Copy]:
        stream, deep = self.stream, self.stream.tile[1]
        piece, whole = deep * self.size, a.columns // deep
        if whole:
            for row in range(rows):
                src = a.place.at(row * a.columns * self.size)
                pitch = stream.high * COLUMN_BYTES
                yield Copy(dst.at(self._line(row)), src, piece, whole, pitch, piece)
        if a.columns % deep:
            yield from self._by_lines(a, dst, rows, range(whole, whole + 1))

    def _by_lines(self, a: Operand, dst: Location, rows: int, steps: range) -> Iterator[Copy]:
        stream, size = self.stream, self.size
        high, deep, _ = stream.tile
        item = high * stream.high  # number of rows of A
        for step in steps:
            length = min(deep, a.columns - step * deep) * size
            for row in range(min(item, rows)):
                yield Copy(
                    dst.at(self._line(row) + step * stream.high * COLUMN_BYTES),
                    a.place.at((row * a.columns + step * deep) * size),
                    length,
                    count_of(row, item, rows),
                    stream.steps * stream.high * COLUMN_BYTES,
                    item * a.columns * size,
                )

    def fetch(self, tensor: Tensor, start: int) -> Route:
        """Return the copies that bring the results of start number `start` to a tensor."""
        return ResultRouter(self.stream, self.region, tensor).fetch(start)


def _columns_of(
    keys: NDArray[Any], size: int
) -> Iterator[tuple[int, int, tuple[int, int, int, int]]]:
    """Yield the copies that put tiles, each 32 adjacent bytes of an image, one after the other.

    `keys` has the index in the image of each tile's first number, in shape (tiles, 1); `size` is
    the size of a number in bytes. Each item has the byte offsets of destination and source, and
    (bytes of a row, rows, strides in bytes of destination and source).
    """
    to = np.arange(len(keys)) * COLUMN_BYTES
    return runs(to, keys[:, 0] * size, np.full(len(keys), COLUMN_BYTES))
