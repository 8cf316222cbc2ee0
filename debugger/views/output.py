"""What commands have answered and the program has written, the newest below."""

from __future__ import annotations

from rich.text import Text

from macaw.debugger.frame import Frame, Written
from macaw.debugger.views.room import BAD, FAINT, NAME, Room, line

STYLES = {"command": "bold", "error": BAD, "stderr": "red", "dprintf": NAME, "stdout": "green"}
HANGING = 4  # cells that the rest of a long line is further in


def view(frame: Frame, room: Room) -> list[Text]:
    """The last lines; long ones go on in the next row."""
    part: tuple[Written, ...] = frame.parts["output"]
    if not part:
        return [line((room.cut("help lists the commands, F1 shows the keys", room.width), FAINT))]
    rows: list[Text] = []
    for written in reversed(part):
        mark = "> " if written.kind == "command" else ""
        text = line((mark + written.text, STYLES.get(written.kind, "")))
        rows += reversed(_folded(text, room.width))
        if len(rows) >= room.height - min(0, room.scroll):
            break
    rows.reverse()
    return [rows[at] for at in room.window(len(rows), len(rows) - room.height)]


def _folded(text: Text, width: int) -> list[Text]:
    """A line as rows of at most so many cells: broken between words, the rest further in."""
    text.rstrip()
    indent = min(len(text.plain) - len(text.plain.lstrip()) + HANGING, width // 3)
    found = []
    while text.cell_len > width:
        head = text.copy()
        head.truncate(width)
        cut = len(head.plain)
        if not text.plain.startswith(head.plain):  # a space for half of a wide character
            cut -= 1
        space = text.plain.rfind(" ", width // 2, cut + 1)  # a long word is cut, not moved
        cut = max(1, cut if space < 0 else space)
        found.append(text[:cut])
        rest = text[cut:]
        text = line(" " * indent, rest[len(rest.plain) - len(rest.plain.lstrip()) :])
    return [*found, text]
