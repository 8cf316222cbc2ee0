"""The line table, which maps each byte of a program to its position in a source."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice
from operator import le
from typing import overload

from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.typed_records import NamedTuple

_WIDEST = 0xFFFF_FFFF  # the greatest number in the table


@dataclass(frozen=True, slots=True)
class Line:
    """The source position of the bytes from `address` to the address of the section's next line."""

    section: str
    address: int
    file: str
    line: int  # from 1; 0: not known
    column: int  # from 1; 0: not known


def _numbers() -> array[int]:
    return array("I")


class Block(NamedTuple):
    """The rows of a line table that a repetition has added.

    The repetition has `rounds` rounds of `rows` rows each; the first round begins at row `first`.
    From round to round all addresses grow by the same number. All other columns of the table are
    equal in each round.
    """

    first: int
    rows: int
    rounds: int

    @property
    def end(self) -> int:
        """The index of the first row after the block."""
        return self.first + self.rows * self.rounds


def _blocks() -> list[Block]:
    return []


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one section's line table, with one array for each column.

    The arrays contain the rows of all rounds of repetitions. `blocks` says which of these rows
    repetitions have added; the blocks are in ascending order and do not overlap. A function that
    computes something from the files, lines and columns needs to do this for only one round of a
    block, because these are equal in all rounds.
    """

    addresses: array[int] = field(default_factory=_numbers)
    files: array[int] = field(default_factory=_numbers)  # indices into `LineTable.files`
    lines: array[int] = field(default_factory=_numbers)
    columns: array[int] = field(default_factory=_numbers)
    blocks: list[Block] = field(default_factory=_blocks, compare=False)

    def add(self, address: int, file: int, line: int, column: int) -> None:
        """Append a row. A line or column number of more than 32 bits is stored as unknown (0)."""
        self.addresses.append(address)
        self.files.append(file)
        self.lines.append(line if line <= _WIDEST else 0)
        self.columns.append(column if column <= _WIDEST else 0)

    def extend(self, other: Rows) -> None:
        """Append the rows of `other`."""
        for mine, more in zip(self._arrays, other._arrays, strict=True):
            mine.extend(more)

    def inside(self, start: int, end: int) -> Rows:
        """Return the rows whose addresses are at least `start` and below `end`.

        The rows must be sorted by address.
        """
        low, high = bisect_left(self.addresses, start), bisect_left(self.addresses, end)
        if high - low == len(self):
            return self
        return Rows._of([column[low:high] for column in self._arrays])

    def sorted(self) -> Rows:
        """Return the same rows sorted by address. Rows with equal addresses keep their order."""
        addresses = self.addresses
        if all(map(le, addresses, islice(addresses, 1, None))):
            return self
        order = sorted(range(len(addresses)), key=addresses.__getitem__)
        return Rows._of([array("I", map(column.__getitem__, order)) for column in self._arrays])

    @classmethod
    def _of(cls, arrays: Sequence[array[int]]) -> Rows:
        addresses, files, lines, columns = arrays
        return cls(addresses, files, lines, columns)

    @property
    def _arrays(self) -> tuple[array[int], ...]:
        return self.addresses, self.files, self.lines, self.columns

    def __len__(self) -> int:
        return len(self.addresses)


class LineTable(Sequence[Line]):
    """A line table: the rows of all sections, by section name and address.

    The table stores numbers in arrays and creates a `Line` when the caller reads one.
    """

    __slots__ = ("_rows", "files")

    def __init__(self, files: Iterable[str] = (), rows: Mapping[str, Rows] | None = None) -> None:
        """Create a table from `rows`, which has the rows of each section by its name.

        The `file` of a row is an index into `files`.
        """
        self.files = tuple(files)
        self._rows = {name: table.sorted() for name, table in (rows or {}).items() if len(table)}

    @classmethod
    def of(cls, lines: Iterable[Line]) -> LineTable:
        """Return a table of the given lines."""
        files: dict[str, int] = {}
        rows: dict[str, Rows] = {}
        for item in lines:
            file = files.setdefault(item.file, len(files))
            rows.setdefault(item.section, Rows()).add(item.address, file, item.line, item.column)
        return cls(files, rows)

    def renamed(self, rename: Callable[[str], str]) -> LineTable:
        """Return the same lines with other names of files."""
        table = LineTable(map(rename, self.files))
        table._rows = self._rows
        return table

    @property
    def sections(self) -> tuple[str, ...]:
        """The names of the sections that have rows."""
        return tuple(self._rows)

    def rows(self, section: str) -> Rows:
        """Return the rows of a section; there may be none."""
        return self._rows.get(section, Rows())

    def at(self, section: str, address: int) -> Line | None:
        """Return the source line of the byte at `address` of a section; None if it is unknown.

        The line is that of the last row whose address is not greater than `address`.
        """
        rows = self.rows(section)
        place = bisect_right(rows.addresses, address) - 1
        if place < 0 or not rows.lines[place]:
            return None
        return self._line(section, rows, place)

    def _line(self, section: str, rows: Rows, place: int) -> Line:
        file = self.files[rows.files[place]]
        return Line(section, rows.addresses[place], file, rows.lines[place], rows.columns[place])

    def __len__(self) -> int:
        return sum(len(rows) for rows in self._rows.values())

    def __iter__(self) -> Iterator[Line]:
        for section, rows in self._rows.items():
            for place in range(len(rows)):
                yield self._line(section, rows, place)

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Line]: ...
    def __getitem__(self, index: int | slice) -> Line | Sequence[Line]:
        if isinstance(index, slice):
            return tuple(self)[index]
        place = index + len(self) if index < 0 else index
        for section, rows in self._rows.items() if place >= 0 else ():
            if place < len(rows):
                return self._line(section, rows, place)
            place -= len(rows)
        raise IndexError(index)

    def __eq__(self, other: object) -> bool:
        """Return whether both tables have the same rows.

        The order of sections and files is ignored.
        """
        if not isinstance(other, LineTable):
            return NotImplemented
        return self._by_section() == other._by_section()

    def _by_section(self) -> dict[str, list[Line]]:
        result: dict[str, list[Line]] = {}
        for line in self:
            result.setdefault(line.section, []).append(line)
        return result

    def __repr__(self) -> str:
        return f"<LineTable: {len(self)} rows, {len(self.files)} files>"
