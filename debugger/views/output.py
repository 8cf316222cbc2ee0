"""What commands have answered and the program has written, the newest below."""

from __future__ import annotations

from rich.text import Text

from debugger.frame import Frame, Written
from debugger.views.room import BAD, FAINT, NAME, Room, line

STYLES = {"command": "bold", "error": BAD, "stderr": "red", "dprintf": NAME, "stdout": "green"}


def view(frame: Frame, room: Room) -> list[Text]:
    """The last lines; long ones go on in the next row."""
    part: tuple[Written, ...] = frame.parts["output"]
    if not part:
        return [line((room.cut("help lists the commands, F1 shows the keys", room.width), FAINT))]
    rows: list[Text] = []
    for written in reversed(part):
        mark = "> " if written.kind == "command" else ""
        text = Text(mark + written.text, STYLES.get(written.kind, ""), end="")
        rows += reversed(_folded(text, room.width))
        if len(rows) >= room.height - min(0, room.scroll):
            break
    rows.reverse()
    return [rows[at] for at in room.window(len(rows), len(rows) - room.height)]


def _folded(text: Text, width: int) -> list[Text]:
    """A line as rows of at most so many cells."""
    found = []
    while text.cell_len > width:
        head = text.copy()
        head.truncate(width)
        cut = len(head.plain.rstrip()) if text.cell_len == len(text.plain) else len(head.plain)
        cut = max(1, min(cut, width))
        found.append(text[:cut])
        text = text[cut:]
    return [*found, text]
