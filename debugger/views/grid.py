"""The array: a cell a unit, coloured by an expression."""

from __future__ import annotations

from dataclasses import replace

from rich.text import Text

from macaw.debugger.frame import Frame, Grid
from macaw.debugger.views.room import FAINT, NAME, Room, line

# From cold to hot, in 16 colours; without colours the signs alone say it.
COLOURS = ("bright_black", "blue", "cyan", "green", "yellow", "red")


def view(frame: Frame, room: Room) -> list[Text]:
    """A legend, then a row for each group of units; numbers where there is room for them."""
    part: Grid = frame.parts["grid"]
    if part.message:
        return [line((room.cut(part.message, room.width), FAINT))]
    values = [x for _, row in part.rows for x in row if x is not None]
    low, high = min(values, default=0.0), max(values, default=0.0)
    names, wide, shown = _shape(part, room)
    legend = f"{part.heat}: {_number(low)} to {_number(high)}"
    if len(shown) < len(part.rows):
        legend += f"; rows {shown.start + 1} to {shown.stop} of {len(part.rows)}"
    found = [line((room.cut(legend, room.width), NAME))]
    for at in shown:
        name, row = part.rows[at]
        text = line((name.rjust(names) + " ", FAINT))
        for place, value in zip(part.places[at], row, strict=True):
            if text.cell_len + wide > room.width:
                break
            text.append(*_cell(value, low, high, wide, place == part.focus, room))
        found.append(text)
    return found


def _shape(part: Grid, room: Room) -> tuple[int, int, range]:
    """Cells of a row's name, cells of a unit, and which rows are shown, below the legend."""
    names = max(len(name) for name, _ in part.rows)
    columns = max(len(row) for _, row in part.rows)
    wide = max(1, min(2, (room.width - names - 1) // max(1, columns)))
    inner = replace(room, height=max(1, room.height - 1))
    focused = next((at for at, row in enumerate(part.places) if part.focus in row), 0)
    return names, wide, inner.window(len(part.rows), max(0, focused - inner.height + 1))


def place_at(frame: Frame, room: Room, x: int, y: int) -> str | None:
    """The unit whose cell is at a column and row of the room; None: there is none."""
    part: Grid = frame.parts["grid"]
    if part.message or not part.rows:
        return None
    names, wide, shown = _shape(part, room)
    if not (1 <= y <= len(shown) and x > names):
        return None
    row, unit = part.places[shown[y - 1]], (x - names - 1) // wide
    return row[unit] if unit < len(row) else None


def _cell(
    value: float | None, low: float, high: float, wide: int, is_focus: bool, room: Room
) -> tuple[str, str]:
    if value is None:
        return "?" * wide, "reverse" if is_focus else FAINT
    part = (value - low) / (high - low) if high > low else (1.0 if value else 0.0)
    signs = room.signs.heat
    step = min(len(signs) - 1, int(part * len(signs)))
    sign = signs[step] if step or not value else signs[1]
    sign = sign if sign != " " else room.signs.idle
    colour = COLOURS[min(len(COLOURS) - 1, int(part * len(COLOURS)))]
    if is_focus:
        return ("[" + "]" if wide == 2 else "@"), "bold reverse"
    return sign * wide, colour


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:.4g}"
