"""Makes the copies that bring a product's operands into the banks and its result out of them.

Tensors are stored row by row in external memory; constants are stored as tiles in advance. Data
that are not tiles, or do not begin at a column, pass through cp's local memory. There a beat takes
one cycle, however short it is. In a bank even a short beat takes the time of a whole column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from macaw.isa.fim_circuit import COLUMN_BYTES, OUTER, TENSOR
from macaw.lowering.fim.dma_timing import EXTERNAL, ISLAND, LOCAL, Copy, Location
from macaw.lowering.fim.graph import Tensor
from macaw.lowering.fim.shape import Region, part
from macaw.lowering.fim.stream import ROW_BYTES, StreamTiling


@dataclass(frozen=True)
class Operand:
    """An operand of a product in external memory: a tensor row by row, or tiles made in advance.

    The tiles of a sum's constants are together in one operand, the first one.
    """

    place: Location
    rows: int
    columns: int
    tiles: bool = False


def external(tensor: Tensor, size: int) -> Location:
    """Return where a tensor is in external memory; `size` is the size of a number in bytes."""
    return Location(EXTERNAL, tensor.memory.name, tensor.offset * size)


def operand(tensor: Tensor, size: int, side: str) -> Operand:
    """Return the operand for a tensor; constants are stored as tiles.

    `size` is the size of a number in bytes, `side` is "a" or "b".
    """
    shape = tensor.rows, tensor.columns
    if tensor.data is not None:
        return Operand(Location(EXTERNAL, f"{side}.tiles"), *shape, tiles=True)
    return Operand(external(tensor, size), *shape)


@dataclass(frozen=True)
class Route:
    """A sequence of copies, and the bytes of local memory that they use, by symbol."""

    copies: tuple[Copy, ...]
    scratch: dict[str, int]


def _count(first: int, step: int, end: int) -> int:
    """Return the number of elements of first, first + step, ... that are less than `end`."""
    return max(0, -(-(end - first) // step))


class Router:
    """Makes the copies of a stream.

    If several islands share the product, `region` is the part of C that this stream computes. The
    operands A and B are sequences: a sum of products has several.
    """

    def __init__(self, stream: StreamTiling, region: Region | None = None) -> None:
        self.stream = stream
        self.size = stream.shape.numbers.size  # bytes of a number
        self.pitch = stream.shape.n if region is None else region.pitch  # numbers of a row of B, C
        self.origin = 0 if region is None else region.origin
        self.row = 0 if region is None else region.row
        self.column = 0 if region is None else region.column

    def _bank(self, bank: int, row: int = 0) -> Location:
        offset = self.stream.offset(bank, row)
        return Location(ISLAND, offset=offset, island=self.stream.island)

    # --- B ---

    def bring_b(self, *operands: Operand) -> Route:
        """Return the copies of B into the banks of each block."""
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
        """Yield copies of tiles, in the order of `StreamTiling.b_tiles`, into the banks.

        One copy fills one row in all banks of a block. If a block has a single bank, one copy fills
        the row in the banks of all blocks.
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
        """Yield copies that rearrange B into tiles: one for each line of each column of tiles."""
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
                    _count(line, deep, rows),
                    stream.wide * COLUMN_BYTES,
                    deep * self.pitch * size,
                )

    # --- A ---

    def bring_a(self, operands: Sequence[Operand], start: int) -> Route:
        """Return the copies of the strips of A into the buffers for start number `start`."""
        stream, shape = self.stream, self.stream.shape
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

    def _is_aligned(self, a: Operand) -> bool:
        """Return whether the rows of A consist of whole columns of memory."""
        return a.columns * self.size % COLUMN_BYTES == 0 == a.place.offset % COLUMN_BYTES

    def _fill_rows(self, operands: Sequence[Operand], strips: int) -> Iterator[Copy]:
        """Yield copies of rows of A to the buffers, side by side if there are several operands."""
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
        """Yield copies of tiles to the buffers. The strips of each block go to its buffer."""
        stream = self.stream
        pitch = stream.steps * COLUMN_BYTES
        for block in range(stream.blocks):
            first = block * stream.share
            # If the last item is not full, copy all its columns, because its tiles interleave.
            count = min(stream.share, -(-(strips - first) // stream.high) * stream.high)
            if count > 0:
                yield Copy(self._bank(stream.buffer(block)), image.at(first * pitch), count * pitch)

    def _pieces_of_a(self, a: Operand, dst: Location, rows: int) -> Iterator[Copy]:
        """Yield copies that rearrange A into tiles.

        One copy moves a row of A, or the same line of tiles in many items, whichever needs fewer
        copies.
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
        """Return the byte offset of row `row` of A in the buffer's image as tiles."""
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
                    _count(row, item, rows),
                    stream.steps * stream.high * COLUMN_BYTES,
                    item * a.columns * size,
                )

    # --- C ---

    def fetch(self, tensor: Tensor, start: int) -> Route:
        """Return the copies of the results of start number `start` to a tensor, row by row."""
        stream, shape = self.stream, self.stream.shape
        first = start * stream.blocks * stream.share * stream.tile[0]  # a row of C
        rows = min(shape.m - first, stream.blocks * stream.share * stream.tile[0])
        length, whole_row = shape.n * self.size, self.pitch * self.size
        dst = external(tensor, self.size).at(self.origin * self.size + first * whole_row)
        if stream.layout == TENSOR:
            place = Location(LOCAL, f"{tensor.name}.tiles")
            size = stream.blocks * stream.banks * self._results
            by_lines = (*self._banks_of(place), *self._lines_of_tiles(place, dst, rows))
            by_rows = (*self._strips_of_tiles(place), *self._rows_of_tiles(place, dst, rows))
            return Route(min(by_lines, by_rows, key=len), {place.symbol: size})
        if length % COLUMN_BYTES == whole_row % COLUMN_BYTES == dst.offset % COLUMN_BYTES == 0:
            return Route(tuple(self._results_to(dst, whole_row, rows)), {})
        place, pitch = (
            Location(LOCAL, f"{tensor.name}.c"),
            -(-length // COLUMN_BYTES) * COLUMN_BYTES,
        )
        whole = Copy(dst, place, length, rows, whole_row, pitch)
        return Route((*self._results_to(place, pitch, rows), whole), {place.symbol: rows * pitch})

    @property
    def _results(self) -> int:
        """The number of bytes of results in one bank."""
        stream = self.stream
        return stream.rounds * stream.items * stream.slices * COLUMN_BYTES

    def _places(self) -> Iterator[tuple[int, int, int, Location]]:
        """Yield where the results of each round and bank are.

        Each item has the first row and the first column of C, the number of the bank, and the
        location.
        """
        stream = self.stream
        for block in range(stream.blocks):
            for turn in range(stream.rounds):
                for bank in range(stream.banks):
                    row = block * stream.share * stream.tile[0]
                    column = (turn * stream.banks + bank) * stream.wide * stream.tile[2]
                    offset = turn * stream.items * stream.slices * COLUMN_BYTES
                    place = self._bank(stream.bank(block, bank), stream.result_row).at(offset)
                    yield row, column, block * stream.banks + bank, place

    def _results_to(self, dst: Location, pitch: int, rows: int) -> Iterator[Copy]:
        """Yield copies of results, which are parts of rows of C, to rows `pitch` bytes apart.

        There are two ways to group the parts of a round; the method chooses the one with fewer
        copies.
        """
        stream, size = self.stream, self.size
        across = stream.wide * stream.tile[2]  # numbers of a row of C in a bank
        for block in range(stream.blocks):
            first = block * stream.share * stream.tile[0]
            count = min(rows - first, stream.share * stream.tile[0])
            for turn in range(stream.rounds):
                column = turn * stream.banks * across
                full = max(0, min(stream.banks, (stream.shape.n - column) // across))
                there = dst.at(first * pitch + column * size)
                banks = range(stream.banks)
                if full > 1 and count < full * (1 if stream.layout == OUTER else stream.high):
                    yield from self._rows_of_banks(there, pitch, count, (block, turn, full))
                    banks = range(full, stream.banks)
                for bank in banks:
                    length = min(across, stream.shape.n - column - bank * across) * size
                    if length > 0:
                        to, place = there.at(bank * across * size), self._results_of(block, turn)
                        place = place.at(bank * stream.memory.bank_bytes)
                        yield from self._rows_of_a_bank(to, place, length, count, pitch)

    def _results_of(self, block: int, turn: int) -> Location:
        """Return the location of a round's first result in the first bank of a block."""
        offset = turn * self.stream.items * self.stream.slices * COLUMN_BYTES
        return self._bank(self.stream.bank(block), self.stream.result_row).at(offset)

    def _rows_of_banks(
        self, dst: Location, pitch: int, rows: int, part: tuple[int, int, int]
    ) -> Iterator[Copy]:
        """Yield a copy for each row of C: its parts in the first banks of a block.

        `part` has the block, the round and the number of these banks.
        """
        stream = self.stream
        block, turn, banks = part
        place, length = self._results_of(block, turn), stream.wide * stream.tile[2] * self.size
        for row in range(rows):
            if stream.layout == OUTER:
                offset = row * COLUMN_BYTES
            else:
                item, high = divmod(row, stream.high)
                offset = item * stream.slices * COLUMN_BYTES + high * length
            pitch_of_banks = stream.memory.bank_bytes
            yield Copy(dst.at(row * pitch), place.at(offset), length, banks, length, pitch_of_banks)

    def _rows_of_a_bank(
        self, dst: Location, src: Location, length: int, rows: int, pitch: int
    ) -> Iterator[Copy]:
        """Yield copies of the parts of rows of C, of `length` bytes each, that are in one bank."""
        stream = self.stream
        if stream.layout == OUTER:
            if rows > 0:
                yield Copy(dst, src, length, rows, pitch, COLUMN_BYTES)
            return
        across = stream.wide * stream.tile[2] * self.size
        for high in range(stream.high):
            count = _count(high, stream.high, rows)
            if count:
                yield Copy(
                    dst.at(high * pitch),
                    src.at(high * across),
                    length,
                    count,
                    stream.high * pitch,
                    stream.slices * COLUMN_BYTES,
                )

    def _banks_of(self, dst: Location) -> Iterator[Copy]:
        """Yield the copy of all results to `dst`, one bank after the other."""
        stream = self.stream
        src = self._bank(stream.bank(0), stream.result_row)
        count = stream.blocks * stream.banks
        yield Copy(dst, src, self._results, count, self._results, stream.memory.bank_bytes)

    def _strips_of_tiles(self, dst: Location) -> Iterator[Copy]:
        """Yield copies of all results to `dst`, in which the tiles of a strip follow each other.

        One copy moves the tiles that all banks of a block have of a strip.
        """
        stream = self.stream
        length, strip = stream.wide * COLUMN_BYTES, self._strip
        for row, column, bank, place in self._places():
            if bank % stream.banks:
                continue
            for item in range(stream.items):
                for down in range(stream.high):
                    number = row // stream.tile[0] + item * stream.high + down
                    src = place.at((item * stream.slices + down * stream.wide) * COLUMN_BYTES)
                    to = dst.at(number * strip + column // stream.tile[2] * COLUMN_BYTES)
                    pitch = stream.memory.bank_bytes
                    yield Copy(to, src, length, stream.banks, length, pitch)

    @property
    def _strip(self) -> int:
        """The number of bytes of a strip of C's tiles, with the columns that pad it."""
        stream = self.stream
        return stream.rounds * stream.banks * stream.wide * COLUMN_BYTES

    def _rows_of_tiles(self, src: Location, dst: Location, rows: int) -> Iterator[Copy]:
        """Yield copies of the rows of C from `src`, where `_strips_of_tiles` has put the tiles."""
        high, _, wide = self.stream.tile
        line, whole = wide * self.size, self.stream.shape.n // wide
        for row in range(rows):
            strip, place = divmod(row, high)
            here = src.at(strip * self._strip + place * line)
            there = dst.at(row * self.pitch * self.size)
            if whole:
                yield Copy(there, here, line, whole, line, COLUMN_BYTES)
            rest = self.stream.shape.n % wide * self.size
            if rest:
                yield Copy(there.at(whole * line), here.at(whole * COLUMN_BYTES), rest)

    def _lines_of_tiles(self, src: Location, dst: Location, rows: int) -> Iterator[Copy]:
        """Yield copies of the lines of C's tiles from `src`, where `_banks_of` has put them.

        There are two ways to group the lines; the method chooses the one with fewer copies.
        """
        stream = self.stream
        lines = stream.tile[0] * stream.high * stream.wide * stream.rounds
        by_items = lines * stream.banks * stream.blocks
        by_banks = lines * stream.items * stream.blocks
        for line in self._tiles(src, dst, rows, stream.banks > 1 and by_banks < by_items):
            if line.rows:
                yield line

    def _tiles(self, src: Location, dst: Location, rows: int, by_banks: bool) -> Iterator[Copy]:
        """Yield the copies of lines of tiles to C.

        With `by_banks`, one copy moves a line of all banks of a block, else of all items of a bank.
        """
        stream, shape, size = self.stream, self.stream.shape, self.size
        high, _, wide = stream.tile
        item = high * stream.high  # number of rows of C
        step = stream.wide * wide  # columns of C in a bank
        for first, column, bank, _ in self._places():
            number = bank % stream.banks
            turn = column // (step * stream.banks)
            if by_banks and number:
                continue
            for place in range(stream.high * stream.wide):
                down, right = divmod(place, stream.wide)
                at = column + right * wide
                if at >= shape.n:
                    continue
                slot = turn * stream.items * stream.slices + place
                base = src.at(bank * self._results + slot * COLUMN_BYTES)
                for line in range(high):
                    row = first + down * high + line
                    here = base.at(line * wide * size)
                    there = dst.at((row * self.pitch + at) * size)
                    if by_banks:
                        yield from self._of_banks(here, there, row, at, rows)
                        continue
                    count = _count(row, item, min(rows, first + stream.share * high))
                    length = min(wide, shape.n - at) * size
                    src_pitch = stream.slices * COLUMN_BYTES
                    yield Copy(there, here, length, count, item * self.pitch * size, src_pitch)

    def _of_banks(
        self, src: Location, dst: Location, row: int, at: int, rows: int
    ) -> Iterator[Copy]:
        """Yield copies of one line of the tiles in all banks of a block, one for each item.

        `row` and `at` are the row of C and the first column of C to which the first item's line
        belongs; `rows` is the number of rows of C to copy. A last tile that is narrower has a copy
        of its own.
        """
        stream, shape, size = self.stream, self.stream.shape, self.size
        high, _, wide = stream.tile
        step = stream.wide * wide
        columns = range(at, min(shape.n, at + stream.banks * step), step)
        full = sum(1 for column in columns if column + wide <= shape.n)
        for item in range(stream.items):
            if row + item * high * stream.high >= rows:
                break
            here = src.at(item * stream.slices * COLUMN_BYTES)
            there = dst.at(item * high * stream.high * self.pitch * size)
            yield Copy(there, here, wide * size, full, step * size, self._results)
            if full < len(columns):
                length = (shape.n - columns[-1]) * size
                yield Copy(there.at(full * step * size), here.at(full * self._results), length)
