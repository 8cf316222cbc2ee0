"""The table of keys, from which the bindings, the bar of keys and the help are made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """A row of the table: a key that executes a command line (`line`) or an action (`act`).

    `keys` are prompt-toolkit's names of the key, `label` is its name for users, `word` its text in
    the bar. The help shows `line` or, for an action, `meaning`. `mouse` is the mouse action that
    does the same.
    """

    keys: tuple[str, ...]  # prompt-toolkit's names of the keys
    label: str
    word: str  # text for the bar; empty: the bar leaves the key out
    line: str = ""
    act: str = ""
    meaning: str = ""
    mouse: str = "click it in the last row"  # the mouse action that does the same


BACK = "right-click {} in the last row"

# Terminals send Shift-F5 as F17, Shift-F6 as F18, and so on.
KEYS = (
    Key(("f1",), "F1", "help", act="help", meaning="show the keys, or help for the line"),
    Key(("f5",), "F5", "continue", "continue"),
    Key(("f17",), "Shift-F5", "", "reverse-continue", mouse=BACK.format("F5")),
    Key(("f9",), "F9", "break", act="break", meaning="set or delete a breakpoint at the focus"),
    Key(("f10",), "F10", "next", "next"),
    Key(("f22",), "Shift-F10", "", "reverse-next", mouse=BACK.format("F10")),
    Key(("f11",), "F11", "step", "step"),
    Key(("f23",), "Shift-F11", "", "reverse-step", mouse=BACK.format("F11")),
    Key(("f12",), "F12", "cycle", "stepc"),
    Key(("f24",), "Shift-F12", "", "reverse-stepc", mouse=BACK.format("F12")),
    Key(("c-p",), "Ctrl-P", "palette", act="palette", meaning="find commands by what they do"),
    Key(("c-r",), "Ctrl-R", "search", meaning="search the history"),
    Key(("c-c",), "Ctrl-C", "stop", act="stop", meaning="stop the run, or clear the line"),
    Key(("c-d",), "Ctrl-D", "quit", act="quit", meaning="end the debugger, if the line is empty"),
    Key(
        ("escape", "z"),
        "Alt-Z",
        "",
        act="zoom",
        meaning="let the active panel fill the screen, or not",
        mouse="click its title",
    ),
    Key(
        ("escape", "+"),
        "Alt-+",
        "",
        act="grow",
        meaning="make the active panel higher",
        mouse="wheel up on its title",
    ),
    Key(
        ("escape", "-"),
        "Alt--",
        "",
        act="shrink",
        meaning="make the active panel lower",
        mouse="wheel down on its title",
    ),
)  # fmt: skip
PANEL_KEYS = (  # keys, what they do, and the mouse action that does the same
    ("Alt-digit", "show a panel, make it active", "click it, or its digit in the first row"),
    ("arrows, Page Up, Page Down", "scroll the active panel", "wheel on a panel"),
    ("Esc", "back to the line; the end of a long answer", "click the line"),
    ("Space, Enter", "the next page of a long answer", "click the row that names these keys"),
    ("b", "the page before", "right-click that row"),
    ("q", "the end of a long answer", "click the line"),
    ("arrows in the grid", "move the focus to a unit", "click the unit"),
    ("Enter in the grid", "show the registers of the unit", "click the unit of the focus"),
)


def bar(width: int) -> str:
    """Return the text of a bar of `width` columns: the keys that `bar_keys` returns."""
    return "  ".join(text for _, text in bar_keys(width))


def bar_keys(width: int) -> list[tuple[Key, str]]:
    """Return the keys that a bar of `width` columns shows, with their texts.

    Two blanks separate the texts. If not all texts fit, the last keys have short texts (`^P`). If
    the short texts do not fit either, the last keys are left out.
    """
    keys = [key for key in KEYS if key.word]
    texts = [f"{key.label} {key.word}" for key in keys]
    for at in range(len(keys) - 1, -1, -1):
        if len("  ".join(texts)) <= width:
            break
        texts[at] = keys[at].label.replace("Ctrl-", "^")
    while texts and len("  ".join(texts)) > width:
        texts.pop()
    return list(zip(keys, texts, strict=False))


def table() -> Iterable[tuple[str, str, str]]:
    """Yield (keys, what they do, how the mouse does the same) for each row of the table."""
    yield from ((key.label, key.line or key.meaning, key.mouse) for key in KEYS)
    yield from PANEL_KEYS
