"""Builds the line table during a run of the assembler. A row takes few bytes of memory."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from sys import byteorder

from macaw.asm.layout import Area
from macaw.asm.lines import Block, LineTable, Rows
from macaw.asm.source import SourceText


class LineTableBuilder:
    """A line table under construction. Its rows map offsets in areas to offsets in sources.

    Consecutive rows of the same area and source are called a run of rows.
    """

    def __init__(self) -> None:
        self._offsets = array("I")  # the offset of each row in its area
        self._places = array("I")  # the offset of each row in its source
        self._runs: list[tuple[int, Area, SourceText]] = []  # first row of each run
        self._blocks: list[Block] = []  # no block extends over two runs

    def __len__(self) -> int:
        return len(self._offsets)

    def _run(self, area: Area, source: SourceText) -> None:
        last = self._runs[-1] if self._runs else None
        if last is None or last[1] is not area or last[2] is not source:
            self._runs.append((len(self._offsets), area, source))

    def add(self, area: Area, offset: int, source: SourceText, place: int) -> None:
        """Map the bytes that begin at `offset` of `area` to the offset `place` of a source."""
        self._run(area, source)
        self._offsets.append(offset)
        self._places.append(place)

    def add_words(
        self, area: Area, offset: int, size: int, source: SourceText, places: Sequence[int]
    ) -> None:
        """Map each of several words to its source offset in `places`.

        The words have `size` bytes each and follow each other from `offset` of `area` on.
        """
        self.add_rows(area, range(offset, offset + size * len(places), size), source, places)

    def add_rows(
        self, area: Area, offsets: Sequence[int], source: SourceText, places: Sequence[int]
    ) -> None:
        """Map each offset of `area` in `offsets` to an offset of `source`.

        The offsets of `source` are in `places`, in the same order.
        """
        if places:
            self._run(area, source)
            self._offsets.extend(offsets)
            self._places.extend(places)

    def offsets(self, first: int) -> Sequence[int]:
        """Return the area offsets of row `first` and of all later rows."""
        return self._offsets[first:]

    def rows_from(self, first: int) -> tuple[Sequence[int], Sequence[int]]:
        """Return (area offsets, source offsets) of row `first` and of all later rows."""
        return self._offsets[first:], self._places[first:]

    def repeat(self, first: int, rounds: int, size: int) -> None:
        """Append `rounds` copies of row `first` and all later rows.

        Each copy is `size` bytes further in the area. The offsets in the source do not change.
        """
        offsets, places = self._offsets[first:], self._places[first:]
        if not offsets or not rounds:
            return
        self._offsets.extend(_repeated([offset + size for offset in offsets], rounds, size))
        self._places.extend(places * rounds)
        while self._blocks and self._blocks[-1].first >= first:
            self._blocks.pop()  # a repetition inside of this one
        inner = [run for run in self._runs if run[0] > first]
        if not inner:
            self._blocks.append(Block(first, len(offsets), rounds + 1))
        else:  # each round has the runs of the recorded one, whose first run may begin before it
            start = next(run for run in reversed(self._runs) if run[0] <= first)
            self._runs += [
                (begin + len(offsets) * number, area, source)
                for number in range(1, rounds + 1)
                for begin, area, source in ((first, *start[1:]), *inner)
            ]

    def runs(self) -> Iterator[tuple[Area, SourceText, array[int], array[int]]]:
        """Yield (area, source, offsets in the area, offsets in the source) for each run of rows.

        A run consists of consecutive rows of the same area and source.
        """
        for start, end, area, source in self._spans():
            yield area, source, self._offsets[start:end], self._places[start:end]

    def _spans(self) -> Iterator[tuple[int, int, Area, SourceText]]:
        """Yield (first row, end row, area, source) for each run of rows.

        A run consists of consecutive rows of the same area and source. The end row is the first row
        after the run.
        """
        ends = [*(run[0] for run in self._runs[1:]), len(self)]
        for (start, area, source), end in zip(self._runs, ends, strict=False):  # no runs: one end
            yield start, end, area, source

    def _locate(
        self, start: int, end: int, source: SourceText, blocks: Sequence[Block]
    ) -> tuple[str, Sequence[int], Sequence[int]]:
        """Return (file, lines, columns) of the rows from `start` up to `end`.

        `blocks` says which of these rows repetitions have added. All rounds of a repetition have
        the same lines, so the method looks up the lines of only one round.
        """
        if not blocks:
            return source.places(self._places[start:end])
        ends = [start, *(block.end for block in blocks)]
        once = [
            (begin, block.first + block.rows) for begin, block in zip(ends, blocks, strict=False)
        ]
        once.append((ends[-1], end))
        places = array("I")
        for begin, stop in once:
            places.extend(self._places[begin:stop])
        name, *found = source.places(places)
        lines, columns = (array("I", values) for values in found)
        for number in range(len(blocks) - 1, -1, -1):  # backwards: later indices move
            block = blocks[number]
            at = sum(stop - begin for begin, stop in once[: number + 1])
            for column in (lines, columns):
                column[at:at] = column[at - block.rows : at] * (block.rounds - 1)
        return name, lines, columns

    def table(self) -> LineTable:
        """Return the line table of the program, after the layout."""
        files: dict[str, int] = {}
        tables: dict[str, Rows] = {}
        blocks = deque(self._blocks)
        for start, end, area, source in self._spans():
            inside = []
            while blocks and blocks[0].first < end:
                inside.append(blocks.popleft())
            name, lines, columns = self._locate(start, end, source, inside)
            rows, base = tables.setdefault(area.section, Rows()), area.base or 0
            shift = len(rows) - start
            rows.blocks.extend(block._replace(first=block.first + shift) for block in inside)
            for block in inside:
                rows.addresses.extend(map(base.__add__, self._offsets[start : block.first]))
                round_end = block.first + block.rows
                once = [base + offset for offset in self._offsets[block.first : round_end]]
                step = self._offsets[round_end] - self._offsets[block.first]
                rows.addresses.extend(_repeated(once, block.rounds, step))
                start = block.end
            rows.addresses.extend(_plus(self._offsets[start:end], base))
            file = files.setdefault(name, len(files))
            rows.files.extend(array("I", [file]) * len(lines))
            rows.lines.extend(lines)
            rows.columns.extend(columns)
        return LineTable(files, tables)


def _plus(numbers: array[int], base: int) -> array[int]:
    """Return `numbers` plus `base`; no sum may have more than 32 bits.

    The additions are one addition of two long integers, which takes an eighth of a loop's time.
    """
    bases = array("I", [base]) * len(numbers)
    total = sum(int.from_bytes(part.tobytes(), byteorder) for part in (numbers, bases))
    return array("I", total.to_bytes(numbers.itemsize * len(numbers), byteorder))


def _repeated(numbers: Sequence[int], rounds: int, step: int) -> array[int]:
    """Return `numbers` `rounds` times, one copy after the other.

    In each copy, the numbers are greater by `step` than in the copy before.
    """
    count = len(numbers)
    if not step:
        return array("I", numbers) * rounds
    result = array("I", [0]) * (count * rounds)
    for place, number in enumerate(numbers):
        result[place::count] = array("I", range(number, number + step * rounds, step))
    return result
