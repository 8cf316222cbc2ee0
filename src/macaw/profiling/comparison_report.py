"""The lines of text that show which lines of the source changed since an earlier profile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from macaw.profiling.earlier import LineDifference
from macaw.terminal.plain import record

MOST_LINES = 10
MOST_CAUSES = 3
HEADINGS = ("before", "now", "change")


def line_table(differences: Sequence[LineDifference], width: int | None) -> Iterator[str]:
    """Yield the lines of a table of the source lines whose cycles changed most.

    The last line of the table says how many more source lines changed. Only the text of a statement
    is cut, where the screen of `width` columns ends. If `width` is None, the table has one line of
    fields for each source line, for programs that read the output.
    """
    shown = differences[:MOST_LINES]
    numbers = [
        tuple("-" if x is None else f"{x:,}" for x in (item.before, item.after))
        + (f"{item.change:+,}",)
        for item in shown
    ]
    causes = [
        ", ".join(f"{name} {change:+,}" for name, change in [*item.causes.items()][:MOST_CAUSES])
        for item in shown
    ]
    widths = [
        max(len(heading), *(len(row[column]) for row in numbers))
        for column, heading in enumerate(HEADINGS)
    ]
    if width is not None:
        yield _aligned(HEADINGS, widths, "line")
    for item, row, why in zip(shown, numbers, causes, strict=True):
        if width is None:
            yield record((*HEADINGS, "line", "", ""), (*row, _place(item), item.text, why))
            continue
        yield _fitted(_aligned(row, widths, _place(item)), f": {item.text}", width)
        yield " " * (sum(widths) + 10) + why
    if len(differences) > len(shown):
        yield f"  {len(differences) - len(shown):,} more lines changed"


def _place(item: LineDifference) -> str:
    return f"{item.core} {item.place}".rstrip() if item.place else f"{item.core} (no line)"


def _aligned(row: Sequence[str], widths: Sequence[int], last: str) -> str:
    cells = "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))
    return f"  {cells}  {last}"


def _fitted(head: str, statement: str, width: int) -> str:
    """Return `head` with as much of `statement` as fits into `width` characters."""
    text = head + (statement if len(statement) > 2 else "")
    if len(text) <= width or not statement[2:]:
        return text
    room = width - len(head) - 1
    return f"{head}{statement[:room]}…" if room > 4 else head
