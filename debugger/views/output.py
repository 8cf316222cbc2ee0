"""Draws the output panel: commands' answers and the program's output, the newest at the bottom."""

from __future__ import annotations

from rich.text import Text

from macaw.debugger.frame import Frame, OutputLine
from macaw.debugger.views.area import BAD, FAINT, NAME, Area, line

STYLES = {"command": "bold", "error": BAD, "stderr": "red", "dprintf": NAME, "stdout": "green"}
HANGING = 4  # cells by which the rest of a long line is indented


def view(frame: Frame, area: Area) -> list[Text]:
    """Return the last lines; a long line continues in the next row."""
    part: tuple[OutputLine, ...] = frame.parts["output"]
    if not part:
        return [line((area.cut("help lists the commands, F1 shows the keys", area.width), FAINT))]
    rows: list[Text] = []
    for output_line in reversed(part):
        mark = "> " if output_line.kind == "command" else ""
        text = line((mark + output_line.text, STYLES.get(output_line.kind, "")))
        rows += reversed(_fold(text, area.width))
        if len(rows) >= area.height - min(0, area.scroll):
            break
    rows.reverse()
    return [rows[at] for at in area.window(len(rows), len(rows) - area.height)]


def _fold(text: Text, width: int) -> list[Text]:
    """Return a line wrapped at words into rows of `width` cells; all but the first are indented."""
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
    return [*rows, text]
