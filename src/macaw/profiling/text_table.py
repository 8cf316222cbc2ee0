"""Tables of text for a screen, of which columns are left out if it is narrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

INDENT = "  "

Row = tuple[str, ...]


def table_lines(
    headings: Row,
    rows: Sequence[Row],
    names: tuple[int, ...],
    width: int,
    least: tuple[int, ...] = (),
) -> Iterator[str]:
    """Yield the lines of a table; the columns `names` are aligned left, the others right.

    On a screen with too few columns, the columns `least` are left out, one after the other.
    """
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    shown = list(range(len(widths)))
    for place in least:
        if sum(widths[x] + len(INDENT) for x in shown) > width:
            shown.remove(place)
    for row in (headings, *rows):
        cells = (
            f"{row[x]:<{widths[x]}}" if x in names else f"{row[x]:>{widths[x]}}" for x in shown
        )
        yield f"{INDENT}{'  '.join(cells)}".rstrip()
