"""Draws the grid panel: one cell for each unit, coloured by the value of an expression."""

from __future__ import annotations

from dataclasses import replace

from rich.text import Text

from macaw.debugger.frame import Frame, Grid
from macaw.debugger.views.area import FAINT, NAME, Area, Signs, line

# From low to high, one for each sign of heat: without colours, the signs alone show the value.
COLOURS = ("bright_black", "blue", "green", "yellow", "red")


def need(frame: Frame, width: int, signs: Signs) -> int:
    """Return how many rows the panel needs."""
    return 1 + len(frame.parts["grid"].rows)


def view(frame: Frame, area: Area) -> list[Text]:
    """Return a legend, followed by a row for each group of units."""
    part: Grid = frame.parts["grid"]
    if part.message:
        return [line((area.cut(part.message, area.width), FAINT))]
    values = [x for _, row in part.rows for x in row if x is not None]
    low, high = min(values, default=0.0), max(values, default=0.0)
    names, wide, window = _shape(part, area)
    legend = f"{part.heat}: {_number(low)} to {_number(high)}"
    if len(window) < len(part.rows):
        legend += f"; rows {window.start + 1} to {window.stop} of {len(part.rows)}"
    lines = [line((area.cut(legend, area.width), NAME))]
    for at in window:
        name, row = part.rows[at]
        fitting = max(0, area.width - names - 1) // wide
        units = list(zip(part.places[at], row, strict=True))
        cells = [
            _cell(value, low, high, wide, place == part.focus, area)
            for place, value in units[:fitting]
        ]
        more = area.signs.more if len(units) > fitting else ""  # `draw` cuts the row here
        lines.append(line((name.rjust(names) + " ", FAINT), *cells, more))
    return lines


def _shape(part: Grid, area: Area) -> tuple[int, int, range]:
    """Return (width of the names, width of a unit, range of the rows below the legend to show)."""
    names = max(len(name) for name, _ in part.rows)
    columns = max(len(row) for _, row in part.rows)
    wide = max(1, min(2, (area.width - names - 1) // max(1, columns)))
    inner = replace(area, height=max(1, area.height - 1))
    focus_row = next((at for at, row in enumerate(part.places) if part.focus in row), 0)
    return names, wide, inner.window(len(part.rows), max(0, focus_row - inner.height + 1))


def place_at(frame: Frame, area: Area, x: int, y: int) -> str | None:
    """Return the unit whose cell is at column `x` and row `y` of the area, or None."""
    part: Grid = frame.parts["grid"]
    if part.message or not part.rows:
        return None
    names, wide, window = _shape(part, area)
    if not (1 <= y <= len(window) and x > names):
        return None
    row, unit = part.places[window[y - 1]], (x - names - 1) // wide
    return row[unit] if unit < len(row) else None


def _cell(
    value: float | None, low: float, high: float, wide: int, is_focus: bool, area: Area
) -> tuple[str, str]:
    if value is None:
        return "?" * wide, "reverse" if is_focus else FAINT
    part = (value - low) / (high - low) if high > low else (1.0 if value else 0.0)
    signs = area.signs.heat
    step = min(len(signs) - 1, int(part * len(signs)))
    step = step or (1 if value else 0)
    sign = signs[step] if signs[step] != " " else area.signs.idle
    if is_focus:
        return ("[" + "]" if wide == 2 else "@"), "bold reverse"
    return sign * wide, COLOURS[step]


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:.4g}"
