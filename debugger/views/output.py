"""Draws the output panel: the answers to commands and the program's output.

The panel shows the last lines. It shows an answer that is longer than the panel in pages, beginning
at the answer's first line. The last row then says how many rows follow, and which keys show them.
"""

from __future__ import annotations

from functools import lru_cache

from rich.text import Text

from macaw.debugger.frame import Frame, Output, OutputLine
from macaw.debugger.views.area import BAD, FAINT, NAME, Area, Signs, line

STYLES = {
    "command": "bold",
    "error": BAD,
    "title": "bold",
    "stdout": "italic green",
    "stderr": "bold italic red",
    "dprintf": f"underline {NAME}",
}
HANGING = 4  # the rest of a long line is indented by so many cells
PAGE_KEYS = "Space Enter next, b back, q end"


def need(frame: Frame, width: int, signs: Signs) -> int:
    """Return how many rows the last answer needs at this width."""
    part: Output = frame.parts["output"]
    return len(_rows(part.lines[part.first :], width))


def view(frame: Frame, area: Area) -> list[Text]:
    """Return the rows of the panel: the last lines, or a page of the last answer."""
    part: Output = frame.parts["output"]
    if not part.lines:
        return [line((area.cut("help lists the commands, F1 shows the keys", area.width), FAINT))]
    answer = _rows(part.lines[part.first :], area.width)
    is_paged = part.pages and len(answer) > area.height > 1
    rows = _rows(part.lines[: part.first], area.width)
    begin = len(rows) if is_paged else len(rows) + len(answer) - area.height
    rows += answer
    shown = area.window(len(rows), begin)
    if not is_paged or shown.stop == len(rows):
        return [rows[at] for at in shown]
    shown = area.note(shown.start, len(rows), area.offset[0], area.height - 1)
    area.pages[:] = [area.height - 1, shown.start > begin]
    text = f"{len(rows) - shown.stop:,} more rows: {PAGE_KEYS}"
    return [*(rows[at] for at in shown), line((area.cut(text, area.width), "reverse"))]


def _rows(lines: tuple[OutputLine, ...], width: int) -> list[Text]:
    """Return the rows for `lines`; a line that is longer than `width` continues in the next row."""
    return [row for output_line in lines for row in _fold(output_line, width)]


@lru_cache(maxsize=8192)
def _fold(output_line: OutputLine, width: int) -> tuple[Text, ...]:
    """Return a line wrapped at words into rows of `width` cells, indented from the second on."""
    mark = "> " if output_line.kind == "command" else ""
    text = line((mark + output_line.text, STYLES.get(output_line.kind, "")))
    text.rstrip()
    indent = min(len(text.plain) - len(text.plain.lstrip()) + HANGING, width // 3)
    rows = []
    while text.cell_len > width:
        head = text.copy()
        head.truncate(width)
        cut = len(head.plain)
        if not text.plain.startswith(head.plain):  # the cut was inside a wide character
            cut -= 1
        space = text.plain.rfind(" ", width // 2, cut + 1)  # a very long word is cut
        cut = max(1, cut if space < 0 else space)
        rows.append(text[:cut])
        rest = text[cut:]
        text = line(" " * indent, rest[len(rest.plain) - len(rest.plain.lstrip()) :])
    return (*rows, text)
