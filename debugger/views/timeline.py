"""Draws the timeline panel: states of cores at moments of the past."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

from rich.text import Text

from macaw.debugger.frame import Frame, Timeline
from macaw.debugger.views.area import BAD, FAINT, GOOD, NAME, Area, Signs, line

STYLES = {"run": GOOD, "wait": BAD, "idle": FAINT}


def need(frame: Frame, width: int, signs: Signs) -> int:
    """Return how many rows the panel needs."""
    return 1 + len(frame.parts["timeline"].tracks)


def view(frame: Frame, area: Area) -> list[Text]:
    """Return a row for each core, and a legend with the cycles.

    The columns of a row are at equal distances in time, from the cycle of the first moment to the
    present.
    """
    part: Timeline = frame.parts["timeline"]
    if not part.tracks:
        return [line((area.cut("nothing has run yet", area.width), FAINT))]
    signs = area.signs
    marks = {"run": signs.running, "wait": signs.waiting, "idle": signs.idle}
    names = max(len(track.core) for track in part.tracks)
    width = max(1, area.width - names - 1)
    shown = _moments(part.cycles, width)
    lines = []
    for at in replace(area, height=max(1, area.height - 1)).window(len(part.tracks)):
        track = part.tracks[at]
        states = (track.past[moment] for moment in shown)
        cells = ((marks[state], STYLES[state]) for state in states)
        lines.append(line((track.core.rjust(names) + " ", NAME), *cells))
    first, last = part.cycles[0], part.cycles[-1]
    legend = f"cycles {first:,} to {last:,}; {signs.running} runs {signs.waiting} waits"
    return [*lines, line((area.cut(legend, area.width), FAINT))]


def _moments(cycles: tuple[int, ...], width: int) -> list[int]:
    """Return, for each column, the index of the last moment at or before the column's cycle.

    There are `width` columns, or fewer if the timeline has fewer cycles.
    """
    first, last = cycles[0], cycles[-1]
    count = min(width, last - first + 1)
    apart = (last - first) / max(1, count - 1)
    return [bisect_right(cycles, first + round(at * apart)) - 1 for at in range(count)]
