"""Builds the line table during a run of the assembler, with few bytes for each row."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from macaw.asm.layout import Area
from macaw.asm.lines import LineTable, Rows
from macaw.asm.source import SourceText


class LineTableBuilder:
    """A line table under construction. Its rows map bytes of areas to offsets of sources.

    Consecutive rows of the same area and source form a run.
    """

    def __init__(self) -> None:
        self._offsets = array("I")  # in the area
        self._places = array("I")  # in the source
        self._runs: list[tuple[int, Area, SourceText]] = []  # with their first row

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
        """Map consecutive words of `size` bytes, the first at `offset`, to source offsets."""
        self.add_rows(area, range(offset, offset + size * len(places), size), source, places)

    def add_rows(
        self, area: Area, offsets: Sequence[int], source: SourceText, places: Sequence[int]
    ) -> None:
        """Map the bytes at each of the `offsets` of an area to the source offset in `places`."""
        if places:
            self._run(area, source)
            self._offsets.extend(offsets)
            self._places.extend(places)

    def offsets(self, first: int) -> Sequence[int]:
        """Return the area offsets of all rows from row `first` on."""
        return self._offsets[first:]

    def repeat(self, first: int, rounds: int, size: int) -> None:
        """Append copies of all rows from row `first` on, `rounds` times.

        Each copy is `size` bytes further in the area and has the same offsets of the source.
        """
        offsets, places = self._offsets[first:], self._places[first:]
        if not offsets:
            return
        further = range(size, size * (rounds + 1), size)
        self._offsets.extend([offset + more for more in further for offset in offsets])
        self._places.extend(places * rounds)
        inner = [run for run in self._runs if run[0] > first]
        if inner:  # each round has the runs of the recorded one, of which the first may be older
            start = next(run for run in reversed(self._runs) if run[0] <= first)
            self._runs += [
                (begin + len(offsets) * number, area, source)
                for number in range(1, rounds + 1)
                for begin, area, source in ((first, *start[1:]), *inner)
            ]

    def runs(self) -> Iterator[tuple[Area, SourceText, array[int], array[int]]]:
        """Yield (area, source, offsets in the area, offsets in the source) for each run."""
        ends = [*(run[0] for run in self._runs[1:]), len(self)]
        for (start, area, source), end in zip(self._runs, ends, strict=False):  # no runs: one end
            yield area, source, self._offsets[start:end], self._places[start:end]

    def table(self) -> LineTable:
        """Return the line table of the program, after the layout."""
        files: dict[str, int] = {}
        tables: dict[str, Rows] = {}
        for area, source, offsets, places in self.runs():
            rows, base = tables.setdefault(area.section, Rows()), area.base or 0
            rows.addresses.extend([base + offset for offset in offsets])
            name, lines, columns = source.places(places)
            file = files.setdefault(name, len(files))
            rows.files.extend([file] * len(offsets))
            rows.lines.extend(lines)
            rows.columns.extend(columns)
        return LineTable(files, tables)
