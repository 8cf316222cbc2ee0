"""Commands that arrange the screen. Without a screen they only return the arrangement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.line import CommandError, Line
from macaw.debugger.commands.table import command
from macaw.debugger.heat_map import HeatMap
from macaw.debugger.layout import DIGITS, NAMES, PANELS

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context

STEP = 1.25  # one step multiplies the height by this
# the greatest number of steps of one command: more than from the least to the greatest height
MOST_STEPS = 100

_PANELS = "\n".join(f"{name}: {meaning}" for name, meaning in PANELS.items())


@command(
    "layout [NAME]",
    "screen",
    "choose a layout of panels; without NAME: show the present one",
    details=f"{', '.join(NAMES)}; auto chooses by the size of the terminal.\n"
    "The command also undoes the changes that `panel` has made.",
)
def _layout(context: Context, line: Line) -> Answer:
    arrangement, name = context.arrangement, line.get("NAME")
    if name is not None:
        if name not in NAMES:
            hint = f"there are {', '.join(NAMES)}"
            raise CommandError(f"no layout is called '{name}'", hint, line.place("NAME"))
        arrangement.reset(name)
    return answers.message(f"layout {arrangement.name}")


@command(
    "panel [NAME] [show|hide|grow|shrink] [N]",
    "screen",
    "show a panel, hide it, or change its height; without operands: list the panels",
    details=f"{_PANELS}\nN: by N steps",
)
def _panel(context: Context, line: Line) -> Answer:
    arrangement, name = context.arrangement, line.get("NAME")
    if name is None:
        rows = [(DIGITS[panel], panel, what) for panel, what in PANELS.items()]
        return answers.table(("Alt", "panel", "what it shows"), rows)
    _check(name)
    (what,) = line.words or ["show"]
    if what == "show":
        arrangement.show(name)
    elif what == "hide":
        arrangement.hide(name)
    else:
        factor = STEP ** min(line.count(), MOST_STEPS)
        arrangement.resize(name, factor if what == "grow" else 1 / factor)
    return answers.message(f"panel {name}: {what}")


@command(
    "zoom [NAME]", "screen", "let a panel fill the screen; without NAME: switch this on or off"
)
def _zoom(context: Context, line: Line) -> Answer:
    arrangement, name = context.arrangement, line.get("NAME")
    if name is not None:
        _check(name)
    arrangement.zoom(name or ("" if arrangement.zoom_panel else arrangement.active or "code"))
    return answers.message(
        f"zoom {arrangement.zoom_panel}" if arrangement.zoom_panel else "no zoom"
    )


@command(
    "mouse [on|off]",
    "screen",
    "let the screen use the mouse; without operands: show whether it does",
    details="F1 lists for each key what does the same with the mouse.\n"
    "In most terminals text can then be selected with Shift held.",
)
def _mouse(context: Context, line: Line) -> Answer:
    return _switch(context, line, "mouse", "mouse")


@command(
    "pagination [on|off]",
    "screen",
    "show long answers in pages; without operands: show whether the screen does",
    details="An answer that does not fit begins at its first line. Space or Enter shows the next\n"
    "page, b the page before, q the end. GDB's `set pagination off` and `set height 0` work, too.",
)
def _pagination(context: Context, line: Line) -> Answer:
    return _switch(context, line, "pagination", "pages")


def _switch(context: Context, line: Line, name: str, field: str) -> Answer:
    """Switch `field` of the arrangement on or off, if the line has the word `on` or `off`.

    The answer says whether the field is on or off now: `NAME on` or `NAME off`, where NAME is
    `name`.
    """
    arrangement = context.arrangement
    if line.words:
        setattr(arrangement, field, line.has("on"))
        arrangement.note_change()
    return answers.message(f"{name} {'on' if getattr(arrangement, field) else 'off'}")


@command(
    "heat [E]",
    "screen",
    "colour the grid by an expression of each unit (heat q1.level); without E: by the default",
)
def _heat(context: Context, line: Line) -> Answer:
    text = line.get("E") or ""
    grid = HeatMap(context.session).grid(text)
    if grid.message:
        raise CommandError(grid.message, at=line.place("E") if text else None)
    context.arrangement.heat = text
    context.arrangement.note_change()
    return answers.table(("units", *map(str, range(max(len(x) for _, x in grid.rows)))),
                         [(name, *values) for name, values in grid.rows], grid.heat)  # fmt: skip


def _check(name: str) -> None:
    if name not in PANELS:
        raise CommandError(f"no panel is called '{name}'", f"there are {', '.join(PANELS)}")
