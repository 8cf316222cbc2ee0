"""The table of keys, from which bindings, the bar of keys and the help are made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """A key that executes a command line or an action of the screen."""

    keys: tuple[str, ...]  # as prompt-toolkit names them
    label: str
    word: str  # for the bar; empty: the bar leaves it out
    line: str = ""
    act: str = ""
    meaning: str = ""


# Terminals send Shift-F5 as F17, and so on.
KEYS = (
    Key(("f1",), "F1", "help", act="help", meaning="show the keys, or help for the line"),
    Key(("f5",), "F5", "continue", "continue"),
    Key(("f17",), "Shift-F5", "", "reverse-continue"),
    Key(("f9",), "F9", "break", act="break", meaning="set or delete a breakpoint at the focus"),
    Key(("f10",), "F10", "next", "next"),
    Key(("f22",), "Shift-F10", "", "reverse-next"),
    Key(("f11",), "F11", "step", "step"),
    Key(("f23",), "Shift-F11", "", "reverse-step"),
    Key(("f12",), "F12", "cycle", "stepc"),
    Key(("f24",), "Shift-F12", "", "reverse-stepc"),
    Key(("c-p",), "Ctrl-P", "palette", act="palette", meaning="find commands by what they do"),
    Key(("c-r",), "Ctrl-R", "search", meaning="search the history"),
    Key(("c-c",), "Ctrl-C", "stop", act="stop", meaning="stop the run, or clear the line"),
    Key(("c-d",), "Ctrl-D", "quit", act="quit", meaning="end the debugger, if the line is empty"),
    Key(("escape", "z"), "Alt-Z", "", act="zoom", meaning="let the active panel fill the screen"),
    Key(("escape", "+"), "Alt-+", "", act="grow", meaning="make the active panel higher"),
    Key(("escape", "-"), "Alt--", "", act="shrink", meaning="make the active panel lower"),
)  # fmt: skip
PANEL_KEYS = (
    ("Alt-digit", "show a panel; arrows and page keys go to it"),
    ("Esc", "back to the line"),
    ("arrows, Enter", "in the grid: move the focus, open the unit"),
)


def bar(width: int) -> str:
    """Return the keys as one row of text, as many as fit into `width` columns."""
    text = ""
    for key in KEYS:
        if key.word:
            piece = f"{key.label} {key.word}"
            if len(text) + len(piece) + 2 > width:
                break
            text += ("  " if text else "") + piece
    return text


def table() -> Iterable[tuple[str, str]]:
    """Yield all keys with what they do."""
    yield from ((key.label, key.line or key.meaning) for key in KEYS)
    yield from PANEL_KEYS
