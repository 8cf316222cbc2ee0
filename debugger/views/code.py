"""Draws the code panel: instructions below their lines of source, in the colours of listings."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from rich.text import Text

from macaw.asm.editors.colours import coloured_words
from macaw.debugger.frame import Code, CodeRow, Frame
from macaw.debugger.views.area import ADDRESS, BAD, FAINT, NAME, Area, cut_text, line

PLACE = 18  # the greatest number of cells for FILE:LINE
DIM = "dim"  # a style that not every terminal has
WIDE = 56  # a panel of this many cells or more shows percentages besides the signs of heat
SHARE = 6  # cells of a percentage
HEAT_STYLES = ("", "green", "yellow", "red", "bold red")


def view(frame: Frame, area: Area) -> list[Text]:
    """Return the rows of the panel, with the current instruction at a third of the height."""
    part: Code = frame.parts["code"]
    rows: list[CodeRow | str] = [*([part.message] if part.message else []), *part.rows]
    window = area.window(len(rows), part.current - area.height // 3)
    return [_any_row(rows[at], part, area) for at in window]


def _any_row(row: CodeRow | str, part: Code, area: Area) -> Text:
    if isinstance(row, str):
        return line((area.cut(row, area.width), FAINT))
    if not part.has_costs:
        return _row(row, part.core, area)
    cost = f"{area.signs.heat[row.heat]} "
    if area.width >= WIDE:
        cost = f"{row.share:>{SHARE}} {cost}"
    rest = replace(area, width=max(0, area.width - len(cost)))
    return line((cost, HEAT_STYLES[row.heat]), _row(row, part.core, rest))


@lru_cache(maxsize=4096)
def _coloured(text: str, core: str) -> Text:
    """Return a line of assembly in colours; `core` is the kind of core that executes it."""
    words = coloured_words(text, core or None)
    return line(*((word, FAINT if style == DIM else style) for word, style in words))


def _row(row: CodeRow, core: str, area: Area) -> Text:
    if row.address is None:
        place = area.cut(row.where, PLACE)
        text = _coloured(row.text, core) if row.is_assembly else row.text
        return line((f"{place} ", NAME), text)
    signs = area.signs
    point = {"on": signs.point, "off": signs.off}.get(row.point, " ")
    here = signs.here if row.current else signs.other if row.mark else " "
    labels = [f"<{row.where}>"] if row.where and "+" not in row.where else []
    digits = f"{row.address:08x} "
    tail = f" {row.mark}" if row.mark and not row.current else ""
    cells_left = area.width - 2 - len(digits) - len(tail)
    code = cut_text(_coloured(row.text, core), cells_left, signs)
    if row.current:
        code = line((code.plain, "bold reverse"))
    text_row = line((point, BAD), (here, "bold green"), (digits, ADDRESS), code, (tail, "green"))
    left = area.width - text_row.cell_len
    names = " ".join([*labels, row.line]).rstrip()
    if len(names) >= left and row.line:  # the line number alone is enough
        names = " ".join([*labels, signs.more + row.line[row.line.rindex(":") :]])
    if names and left >= 2:
        text_row.append(area.cut(names, left - 1).rjust(left), NAME)
    return text_row
