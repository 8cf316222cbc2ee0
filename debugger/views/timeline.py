"""What the cores were at in the moments that were looked at."""

from __future__ import annotations

from dataclasses import replace

from rich.text import Text

from macaw.debugger.frame import Frame, Timeline
from macaw.debugger.views.room import BAD, FAINT, GOOD, NAME, Room, line

STYLES = {"run": GOOD, "wait": BAD, "idle": FAINT}


def view(frame: Frame, room: Room) -> list[Text]:
    """A row a core, the newest moment at the right; cycles below."""
    part: Timeline = frame.parts["timeline"]
    if not part.tracks:
        return [line((room.cut("nothing has run yet", room.width), FAINT))]
    signs = room.signs
    marks = {"run": signs.running, "wait": signs.waiting, "idle": signs.idle}
    names = max(len(track.core) for track in part.tracks)
    width = max(1, room.width - names - 1)
    found = []
    for at in replace(room, height=max(1, room.height - 1)).window(len(part.tracks)):
        track = part.tracks[at]
        text = line((track.core.rjust(names) + " ", NAME))
        for state in track.past[-width:]:
            text.append(marks[state], STYLES[state])
        found.append(text)
    cycles = part.cycles[-width:]
    legend = f"cycles {cycles[0]:,} to {cycles[-1]:,}; {signs.running} runs {signs.waiting} waits"
    return [*found, line((room.cut(legend, room.width), FAINT))]
