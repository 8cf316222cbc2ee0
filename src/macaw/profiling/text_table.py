"""Tables of text, as data and as lines for a screen. A narrow screen shows fewer columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from macaw.terminal.plain import records

INDENT = "  "

Row = tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table of texts.

    `names` has the indices of the columns that contain names; the others contain numbers. `least`
    has the indices of the columns that a narrow screen leaves out, the first one first. `note` is a
    sentence after the table. A table without rows is only its note.
    """

    headings: Row
    rows: Sequence[Row]  # each with a text for each heading
    names: tuple[int, ...] = (0,)  # columns that contain names; the others contain numbers
    least: tuple[int, ...] = ()  # columns that a narrow screen leaves out, one after the other
    note: str = ""  # a sentence after the table


def table_lines(table: Table, width: int | None) -> Iterator[str]:
    """Yield the lines of a table for a screen of `width` columns, with names aligned left.

    If `width` is None, each row is one line of fields, each with its heading.
    """
    if width is None:
        yield from records(table.headings, table.rows)
        if table.note:
            yield table.note
        return
    if table.rows:
        yield from _aligned(table, width)
    if table.note:
        yield f"{INDENT}{table.note}"


def _aligned(table: Table, width: int) -> Iterator[str]:
    cells = zip(table.headings, *table.rows, strict=True)
    widths = [max(map(len, column)) for column in cells]
    shown = list(range(len(widths)))
    for place in table.least:
        if sum(widths[x] + len(INDENT) for x in shown) > width:
            shown.remove(place)
    for row in (table.headings, *table.rows):
        texts = (
            f"{row[x]:<{widths[x]}}" if x in table.names else f"{row[x]:>{widths[x]}}"
            for x in shown
        )
        yield f"{INDENT}{'  '.join(texts)}".rstrip()
