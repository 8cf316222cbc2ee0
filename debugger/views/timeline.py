"""Draws the timeline panel: states of cores at moments of the past."""

from __future__ import annotations

from dataclasses import replace

from rich.text import Text

from macaw.debugger.frame import Frame, Timeline
from macaw.debugger.views.area import BAD, FAINT, GOOD, NAME, Area, Signs, line

STYLES = {"run": GOOD, "wait": BAD, "idle": FAINT}


def need(frame: Frame, width: int, signs: Signs) -> int:
    """Return how many rows the panel fills."""
    return 1 + len(frame.parts["timeline"].tracks)


def view(frame: Frame, area: Area) -> list[Text]:
    """Return a row for each core, the newest moment at the right, and a legend with the cycles."""
    part: Timeline = frame.parts["timeline"]
    if not part.tracks:
        return [line((area.cut("nothing has run yet", area.width), FAINT))]
    signs = area.signs
    marks = {"run": signs.running, "wait": signs.waiting, "idle": signs.idle}
    names = max(len(track.core) for track in part.tracks)
    width = max(1, area.width - names - 1)
    lines = []
    for at in replace(area, height=max(1, area.height - 1)).window(len(part.tracks)):
        track = part.tracks[at]
        text = line((track.core.rjust(names) + " ", NAME))
        for state in track.past[-width:]:
            text.append(marks[state], STYLES[state])
        lines.append(text)
    cycles = part.cycles[-width:]
    legend = f"cycles {cycles[0]:,} to {cycles[-1]:,}; {signs.running} runs {signs.waiting} waits"
    return [*lines, line((area.cut(legend, area.width), FAINT))]
