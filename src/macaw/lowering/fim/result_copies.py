"""Makes the copies that bring a product's result out of the banks to external memory.

The result is stored row by row. A joint product has several results side by side; in memory they
are one below the other (`macaw.lowering.fim.joint_products`). Tiles pass through cp's local memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from macaw.isa.fim_circuit import COLUMN_BYTES, OUTER, TENSOR
from macaw.lowering.fim.dma_timing import ISLAND, LOCAL, Copy, Location
from macaw.lowering.fim.graph import Tensor
from macaw.lowering.fim.routes import Route, count_of, external
from macaw.lowering.fim.shape import Region
from macaw.lowering.fim.stream import StreamTiling


class ResultRouter:
    """Makes the copies of the results of a stream: a product that an island computes in blocks.

    `tensor` is the whole result, C. If several islands share the product, `region` is the part of C
    that this stream computes. A stream computes C in rounds: in each, a bank computes some columns
    of C, item by item. An item has the tiles of C that are in register Rz at once.
    """

    def __init__(self, stream: StreamTiling, region: Region | None, tensor: Tensor) -> None:
        self.stream, self.tensor = stream, tensor
        self.size = stream.shape.numbers.size  # bytes of a number
        self.row = 0 if region is None else region.row
        self.column = 0 if region is None else region.column
        columns = stream.shape.n if region is None else region.pitch  # columns of C
        self.part = stream.shape.part or columns  # numbers of a row of the result in memory
        # numbers from one result of a joint product to the next one
        self.distance = tensor.numbers // (columns // self.part)

    def _bank(self, bank: int, row: int) -> Location:
        offset = self.stream.offset(bank, row)
        return Location(ISLAND, offset=offset, island=self.stream.island)

    def _to(self, column: int) -> int:
        """Return the byte offset, in the tensor, of the top number of a column of the region.

        `column` counts from the region's first column. In a joint product, the column belongs to
        one of several results, which are one below the other in memory. Then the top number is the
        one in the first row of this result.
        """
        number, rest = divmod(self.column + column, self.part)
        return (number * self.distance + rest) * self.size

    def fetch(self, start: int) -> Route:
        """Return the copies that bring the results of start number `start` to the tensor."""
        stream, shape = self.stream, self.stream.shape
        first = start * stream.blocks * stream.share * stream.tile[0]  # a row of C
        rows = min(shape.m - first, stream.blocks * stream.share * stream.tile[0])
        length, whole_row = shape.n * self.size, self.part * self.size
        dst = external(self.tensor, self.size).at((self.row + first) * whole_row)
        if stream.layout == TENSOR:
            place = Location(LOCAL, f"{self.tensor.name}.tiles")
            size = stream.blocks * stream.banks * self._results
            ways = [(*self._strips_of_tiles(place), *self._rows_of_tiles(place, dst, rows))]
            if not shape.part:
                ways.insert(0, (*self._banks_of(place), *self._lines_of_tiles(place, dst, rows)))
            return Route(min(ways, key=len), {place.symbol: size})
        begin = dst.at(self._to(0))
        if length % COLUMN_BYTES == whole_row % COLUMN_BYTES == begin.offset % COLUMN_BYTES == 0:
            return Route(tuple(self._results_to(dst, whole_row, rows, self._to)), {})
        place, pitch = (
            Location(LOCAL, f"{self.tensor.name}.c"),
            -(-length // COLUMN_BYTES) * COLUMN_BYTES,
        )
        whole = Copy(begin, place, length, rows, whole_row, pitch)
        there = self._results_to(place, pitch, rows, lambda column: column * self.size)
        return Route((*there, whole), {place.symbol: rows * pitch})

    @property
    def _results(self) -> int:
        """The number of bytes of results in one bank."""
        stream = self.stream
        return stream.rounds * stream.items * stream.slices * COLUMN_BYTES

    def _places(self) -> Iterator[tuple[int, int, int, Location]]:
        """Yield where the results of each block, round (pass of A) and bank are.

        Each item has the first row and the first column of these results in C, the index of the
        bank among all banks with results, and the location in the bank. Rows count from the first
        row of the start, columns from the first column of the region.
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

    def _results_to(
        self, dst: Location, pitch: int, rows: int, to: Callable[[int], int]
    ) -> Iterator[Copy]:
        """Yield copies of `rows` rows of C from the banks to `dst`, where rows are `pitch` bytes
        apart.

        A bank has a part of each row. `to` returns the byte offset of a column from `dst`. One copy
        moves the parts of one row in several banks, or the parts of several rows in one bank; the
        method chooses the way with fewer copies.
        """
        stream, size = self.stream, self.size
        across = stream.wide * stream.tile[2]  # numbers of a row of C in a bank
        for block in range(stream.blocks):
            first = block * stream.share * stream.tile[0]
            count = min(rows - first, stream.share * stream.tile[0])
            for turn in range(stream.rounds):
                for low, banks in self._groups_of_banks(turn):
                    column = (turn * stream.banks + low) * across
                    here = self._results_of(block, turn).at(low * stream.memory.bank_bytes)
                    there = dst.at(first * pitch + to(column))
                    full = min(banks, (stream.shape.n - column) // across)
                    done = 0
                    if full > 1 and count < full * (1 if stream.layout == OUTER else stream.high):
                        yield from self._rows_of_banks(there, here, pitch, count, full)
                        done = full
                    for bank in range(done, banks):
                        length = min(across, stream.shape.n - column - bank * across) * size
                        place = here.at(bank * stream.memory.bank_bytes)
                        target = there.at(bank * across * size)
                        yield from self._rows_of_a_bank(target, place, length, count, pitch)

    def _groups_of_banks(self, turn: int) -> Iterator[tuple[int, int]]:
        """Divide the banks that a block uses in pass `turn` of A into groups, one for each result.

        A joint product has several results side by side, and a group has the banks with columns of
        one result. Yield (first bank, number of banks) for each group; banks count from the
        block's first one.
        """
        stream = self.stream
        across = stream.wide * stream.tile[2]
        left = stream.shape.n - turn * stream.banks * across
        banks, low = min(stream.banks, -(-left // across)), 0
        while low < banks:
            column = self.column + (turn * stream.banks + low) * across
            count = min(banks - low, -(-(self.part - column % self.part) // across))
            yield low, count
            low += count

    def _results_of(self, block: int, turn: int) -> Location:
        """Return where the results of pass number `turn` of A begin in a block's first bank."""
        offset = turn * self.stream.items * self.stream.slices * COLUMN_BYTES
        return self._bank(self.stream.bank(block), self.stream.result_row).at(offset)

    def _rows_of_banks(
        self, dst: Location, place: Location, pitch: int, rows: int, banks: int
    ) -> Iterator[Copy]:
        """Yield a copy for each of `rows` rows of C; the rows at `dst` are `pitch` bytes apart.

        The copy gathers the row's parts from `banks` consecutive banks. The first part of the first
        row is at `place`.
        """
        stream = self.stream
        length = stream.wide * stream.tile[2] * self.size
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
        """Yield copies of the parts of `rows` rows of C that one bank has from `src` on.

        A part has `length` bytes; the parts at `dst` are `pitch` bytes apart.
        """
        stream = self.stream
        if stream.layout == OUTER:
            if rows > 0:
                yield Copy(dst, src, length, rows, pitch, COLUMN_BYTES)
            return
        across = stream.wide * stream.tile[2] * self.size
        for high in range(stream.high):
            count = count_of(high, stream.high, rows)
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
        """Yield the one copy that moves all results to `dst`, bank after bank."""
        stream = self.stream
        src = self._bank(stream.bank(0), stream.result_row)
        count = stream.blocks * stream.banks
        yield Copy(dst, src, self._results, count, self._results, stream.memory.bank_bytes)

    def _strips_of_tiles(self, dst: Location) -> Iterator[Copy]:
        """Yield copies of all results to `dst`, in which the tiles of a strip follow each other.

        A strip is a row of tiles. One copy moves tiles of one strip from all banks of a block.
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
        """Yield copies of the tiles that `_strips_of_tiles` has put at `src`.

        The copies make `rows` rows of C at `dst`.
        """
        stream = self.stream
        high, _, wide = stream.tile
        line, column = wide * self.size, 0
        while column < stream.shape.n:
            left = self.part - (self.column + column) % self.part
            count = min(stream.shape.n - column, left)  # columns of one result
            whole, rest = divmod(count, wide)
            for row in range(rows):
                strip, place = divmod(row, high)
                tiles = strip * self._strip + column // wide * COLUMN_BYTES
                here = src.at(tiles + place * line)
                there = dst.at(row * self.part * self.size + self._to(column))
                if whole:
                    yield Copy(there, here, line, whole, line, COLUMN_BYTES)
                if rest:
                    last = here.at(whole * COLUMN_BYTES)
                    yield Copy(there.at(whole * line), last, rest * self.size)
            column += count

    def _lines_of_tiles(self, src: Location, dst: Location, rows: int) -> Iterator[Copy]:
        """Yield copies of lines (rows of tiles) from the results that `_banks_of` has put at `src`.

        The copies make `rows` rows of C at `dst`. `_tiles` has two ways to group the lines; the
        method chooses the one with fewer copies.
        """
        stream = self.stream
        lines = stream.tile[0] * stream.high * stream.wide * stream.rounds
        by_items = lines * stream.banks * stream.blocks
        by_banks = lines * stream.items * stream.blocks
        for line in self._tiles(src, dst, rows, stream.banks > 1 and by_banks < by_items):
            if line.rows:
                yield line

    def _tiles(self, src: Location, dst: Location, rows: int, by_banks: bool) -> Iterator[Copy]:
        """Yield the copies of lines (rows of tiles) at `src` to `rows` rows of C at `dst`.

        With `by_banks`, one copy moves a line of one tile from each bank of a block: in all banks
        the same line of the same tile of an item. Otherwise one copy moves a line from each item of
        one bank. A copy may be empty.
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
                    there = dst.at(row * self.part * size + self._to(at))
                    if by_banks:
                        yield from self._of_banks(here, there, row, at, rows)
                        continue
                    count = count_of(row, item, min(rows, first + stream.share * high))
                    length = min(wide, shape.n - at) * size
                    src_pitch = stream.slices * COLUMN_BYTES
                    yield Copy(there, here, length, count, item * self.part * size, src_pitch)

    def _of_banks(
        self, src: Location, dst: Location, row: int, at: int, rows: int
    ) -> Iterator[Copy]:
        """Yield, for each item, a copy of one line (a row of a tile) from all banks of a block.

        For the first item, the line in the first bank belongs to row `row` of C and begins at
        column `at` of C. `rows` is the number of rows of C to copy. If the last tile of the row is
        narrower, its line has a separate copy.
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
            there = dst.at(item * high * stream.high * self.part * size)
            yield Copy(there, here, wide * size, full, step * size, self._results)
            if full < len(columns):
                length = (shape.n - columns[-1]) * size
                yield Copy(there.at(full * step * size), here.at(full * self._results), length)
