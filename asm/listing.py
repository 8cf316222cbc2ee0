"""Prints the listing: each line of the sources with its address and its bytes.

If the caller wants a listing, the run collects a `Record`. After the layout, `text` returns the
listing in the style of GNU as -alm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import groupby

from macaw.asm.diagnostics import printable
from macaw.asm.layout import Area
from macaw.asm.program import Program, Section
from macaw.asm.source import LogicalLine, SourceText
from macaw.isa.lazy_dataclass import dataclass

_GROUP = 4  # bytes that are printed without a space
_ROW = 2 * _GROUP  # bytes of a row
_MOST_ROWS = 4  # rows of one chunk; further bytes are counted
_TAB = 8
_BYTES_WIDTH = 2 * _ROW + 1
_NO_PLACE = " " * 8


@dataclass(slots=True)
class Chunk:
    """Consecutive bytes of a statement: the bytes of an area from offset `start` up to `end`."""

    area: Area
    start: int  # offset in the area, in bytes
    end: int


@dataclass(slots=True)
class Entry:
    """A statement in the listing: its line, the number of its file in the run, and its bytes."""

    line: LogicalLine
    file: int  # index into `Record.files`
    chunks: list[Chunk] = field(default_factory=list)


class Record:
    """The data that a run collects for its listing."""

    def __init__(self) -> None:
        self.files: list[SourceText] = []
        self.entries: dict[int, Entry] = {}  # by the statement's number in the run

    def add_file(self, text: SourceText) -> None:
        """Add a source file. The statements that are added after it belong to this file."""
        self.files.append(text)

    def add_statement(self, number: int, line: LogicalLine) -> None:
        """Add the statement in `line`; `number` is the number of the statement in the run."""
        self.entries[number] = Entry(line, len(self.files) - 1)

    def add_bytes(self, number: int, line: LogicalLine, area: Area, start: int) -> None:
        """Add the bytes of `area` from `start` to the area's current end to statement `number`."""
        entry = self.entries.get(number)
        if entry is None or entry.line is not line or area.size <= start:
            return  # bytes at the end of a part belong to no statement
        _add(entry.chunks, area, start, area.size)


def _add(chunks: list[Chunk], area: Area, start: int, end: int) -> None:
    """Add the bytes of `area` from `start` up to `end` to `chunks`.

    If these bytes directly follow the last chunk, extend that chunk.
    """
    if chunks and chunks[-1].area is area and chunks[-1].end == start:
        chunks[-1].end = end
    else:
        chunks.append(Chunk(area, start, end))


def text(program: Program, record: Record) -> str:
    """Return the listing of a program, from the record of its run."""
    lines: list[str] = []
    entries: list[list[Entry]] = [[] for _ in record.files]
    for entry in record.entries.values():
        entries[entry.file].append(entry)
    for file, inside in zip(record.files, entries, strict=True):
        lines += [printable(file.name), "", *_file(program, file, inside), ""]
    lines += _unlisted_bytes(program, record)
    lines += _sections(program)
    lines += ["", *_symbols(program)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _file(program: Program, file: SourceText, entries: Sequence[Entry]) -> Iterator[str]:
    """Yield the lines of a file, each followed by the lines to which it expands."""
    by_line: dict[int, list[Entry]] = {}
    for entry in entries:
        by_line.setdefault(_root(entry.line), []).append(entry)
    sources = file.text.removesuffix("\n").split("\n")
    for number, source in enumerate(sources, 1):
        inside = by_line.get(number, [])
        direct: list[Chunk] = []
        for item in inside:
            if not item.line.source.chain:
                for chunk in item.chunks:
                    _add(direct, chunk.area, chunk.start, chunk.end)
        yield from _rows(program, direct, str(number), _printed(source))
        above = file.name
        for item in inside:
            depth = len(item.line.source.chain)
            if not depth:
                above = file.name
                continue
            span = item.line.source.span(item.line.start, item.line.start)
            mark = ">" * depth
            if span.file != above:
                above = span.file
                yield from _rows(program, (), "", f"{mark} {printable(above)}:")
            text = f"{mark} {_printed(item.line.text)}"
            yield from _rows(program, item.chunks, str(span.line), text)


def _root(line: LogicalLine) -> int:
    """Return the line number of `line` in its file.

    For a line of an expansion, this is the number of the line with the outermost call.
    """
    chain = line.source.chain
    return chain[-1].span.line if chain else line.source.locate(line.start)[0]


def _printed(source: str) -> str:
    return printable(source.rstrip("\r").expandtabs(_TAB))


def _rows(program: Program, chunks: Sequence[Chunk], number: str, source: str) -> Iterator[str]:
    """Yield the source line `source` with its first bytes, then lines with its other bytes.

    `number` is the text of the line number.
    """
    rows = [row for chunk in chunks for row in _chunk(program, chunk)] or [""]
    yield f"{number:>6} {rows[0]:<{len(_NO_PLACE) + 1 + _BYTES_WIDTH}}  {source}"
    for row in rows[1:]:
        yield f"{'':6} {row}"


def _chunk(program: Program, chunk: Chunk) -> Iterator[str]:
    address = (chunk.area.base or 0) + chunk.start
    yield from _bytes(program.section(chunk.area.section), address, chunk.end - chunk.start)


def _bytes(section: Section, address: int, size: int) -> Iterator[str]:
    """Yield lines with the `size` bytes at `address`, each line with its address.

    If there are too many bytes, the last line gives the number of bytes left out.
    """
    listed_size = min(size, _ROW * _MOST_ROWS)
    first = address - section.address
    data = section.data[first : first + listed_size].ljust(listed_size, b"\0")
    for place in range(0, listed_size, _ROW):
        row = data[place : place + _ROW].hex(" ", -_GROUP)
        yield f"{address + place:08x} {row}"
    if size > listed_size:
        yield f"{_NO_PLACE} ... {size - listed_size} more"


def _unlisted_bytes(program: Program, record: Record) -> Iterator[str]:
    """Yield lines with the bytes that belong to no statement, for example padding."""
    chunks = [chunk for entry in record.entries.values() for chunk in entry.chunks]
    chunks.sort(key=lambda chunk: chunk.area.section)
    covered = {
        name: sorted(
            ((chunk.area.base or 0) + chunk.start, (chunk.area.base or 0) + chunk.end)
            for chunk in group
        )
        for name, group in groupby(chunks, key=lambda chunk: chunk.area.section)
    }
    rows: list[str] = []
    for section in program.sections:
        position = section.address
        for start, end in [*covered.get(section.name, ()), (section.end, section.end)]:
            if start > position:
                pieces = list(_bytes(section, position, start - position))
                rows.append(
                    f"{'':6} {pieces[0]:<{len(_NO_PLACE) + 1 + _BYTES_WIDTH}}  {section.name}"
                )
                rows += [f"{'':6} {row}" for row in pieces[1:]]
            position = max(position, end)
    if rows:
        yield from ("Bytes of no line: alignment, places, commands", "", *rows, "")


def _sections(program: Program) -> Iterator[str]:
    yield from _table(
        ("section", "address", "loaded at", "size", "align", "flags"),
        [
            (
                item.name,
                f"{item.address:08x}",
                f"{item.load_address:08x}",
                str(item.size),
                str(item.align),
                item.flags,
            )
            for item in program.sections
        ],
    )


def _symbols(program: Program) -> Iterator[str]:
    yield from _table(
        ("symbol", "value", "size", "kind", "binding", "section"),
        [
            (
                item.name,
                f"{item.value:08x}",
                str(item.size),
                item.kind,
                "weak" if item.is_weak else "global" if item.is_global else "local",
                item.section or "-",
            )
            for item in sorted(program.symbols, key=lambda item: (item.name, item.value))
        ],
    )


_RIGHT = ("size", "align")  # columns of decimal numbers


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        yield "  ".join(
            cell.rjust(width) if name in _RIGHT else cell.ljust(width)
            for cell, width, name in zip(row, widths, head, strict=True)
        )
