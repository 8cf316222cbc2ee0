"""The mouse on the screen: off by default; clicks, the wheel, and keys that print nothing."""

from __future__ import annotations

import re
import time

import pytest

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.layout import Arrangement
from macaw.debugger.screen.keys import KEYS, bar, table
from macaw.debugging import DebuggerFiles
from tests.debugger.programs import of_source, session
from tests.debugger.sources import LONG_LOOP
from tests.debugger.typist import Typist
from tests.macaw.conftest import ROOT

pytestmark = pytest.mark.once
RIGHT, ALT_6 = "\x1b[C", "\x1b6"
SIZE = (120, 40)


def mouse(button, x, y, released=False):
    """The bytes that a terminal sends (SGR, cells from 1) for a button at (x, y)."""
    return f"\x1b[<{button};{x + 1};{y + 1}{'m' if released else 'M'}"


def click(x, y):
    return mouse(0, x, y) + mouse(0, x, y, released=True)


def place_of(user, text):
    """Column and row at which a text is on the screen."""
    user.until(text)
    for y, row in enumerate(user.rows()):
        if text in row:
            return row.index(text), y
    raise AssertionError(text)


def test_a_click_on_a_unit_moves_the_focus_and_the_wheel_scrolls():
    debug = session("layer")

    def act(user):
        user.type("mouse on\r")
        user.until("mouse on")
        x, y = place_of(user, "pe[0,1] ")
        user.type(click(x + len("pe[0,1] ") + 2 * 3, y))
        user.until("registers pe[0,1].3")
        assert user.screen.arrangement.active == "grid"
        x, y = place_of(user, "1 code")
        user.type(click(x, y))
        user.wait(lambda _: user.screen.arrangement.active == "code", "the code")
        x, y = place_of(user, "5 memory")
        first = user.rows()[y + 1]
        user.type(mouse(65, x, y + 3))
        user.wait(lambda seen: first not in seen, "down")
        user.type(mouse(64, x, y + 3) * 9)  # no farther than to the start
        user.wait(lambda seen: first in seen, "up")
        user.type(mouse(65, x, y + 3))
        user.wait(lambda seen: first not in seen, "down")
        user.type("mouse off\r")
        user.until("mouse off")
        assert not user.screen.app.renderer.mouse_support()

    typist = Typist(debug, SIZE).play(act)
    assert str(debug.focus[0]) == "pe[0,1].3"
    assert not [line for line in typist.log if line.startswith("focus")]


def test_arrows_in_the_grid_say_nothing_and_what_an_empty_line_repeats_stays():
    debug = session("layer")

    def act(user):
        user.type("stepc\r")
        user.until("step done at cycle 1 ")
        user.type(ALT_6 + RIGHT)
        user.until("registers pe[0,0].")
        user.type("\x1b")
        user.wait(lambda _: not user.screen.arrangement.active, "the line")
        user.type("\r")
        user.until("step done at cycle 2 ")

    typist = Typist(debug, SIZE).play(act)
    assert not [line for line in typist.log if line.startswith("focus")]
    assert typist.interpreter.history == ["stepc"]


def test_the_mouse_is_off_until_it_is_asked_for_and_is_kept():
    run = Interpreter(of_source(LONG_LOOP), DebuggerFiles())
    assert run.execute("mouse").lines == ("mouse off",)
    run.execute("mouse on")
    other = Arrangement()
    assert not other.mouse
    other.take(run.arrangement.plain())
    assert other.mouse
    other.take({"mouse": "yes"})
    assert not other.mouse


def test_a_click_on_a_small_screen_and_beside_the_units():
    debug = session("layer")

    def act(user):
        user.type("mouse on\r")
        user.until("mouse on")
        user.type(ALT_6)
        user.until("6 grid", "pe[0,1] ")
        x, y = place_of(user, "pe[0,1] ")
        for at in ((x, y), (x + 7, y), (79, y), (x, y + 9)):
            user.type(click(*at))
        user.type("stepc\r")
        user.until("step done at cycle 1 ")

    Typist(debug).play(act)
    assert str(debug.focus[0]) == "cp"


ALONE = 0.12  # seconds after Esc: it is no begin of another key
MARK = "\x1bOS"  # F4, a key that nothing else uses


def in_bar(user, text, button=0):
    x, y = user.rows()[-1].index(text), SIZE[1] - 1
    return mouse(button, x, y) + mouse(button, x, y, released=True)


def at_title(user, name, button=0):
    x, y = place_of(user, f" {name}")
    return mouse(button, x + 2, y) + (
        "" if button >= 64 else mouse(button, x + 2, y, released=True)
    )


def at_line(user):
    return click(30, SIZE[1] - 2)


def at_unit(user, across):
    x, y = place_of(user, "pe[0,0] ")
    return click(x + len("pe[0,0] ") + 2 * across, y)


def at_pages(user, button=0):
    x, y = place_of(user, "more rows: Space")
    return mouse(button, x, y) + mouse(button, x, y, released=True)


RIGHT_BUTTON, WHEEL_UP, WHEEL_DOWN = 2, 64, 65
LINE = ("Esc", "\x1b", at_line)
ACTIONS = (  # a key of the table, what a terminal sends for it, what the mouse does instead
    ("F12", "\x1b[24~", lambda user: in_bar(user, "F12")),
    ("F12", "\x1b[24~", lambda user: in_bar(user, "F12")),
    ("Shift-F12", "\x1b[24;2~", lambda user: in_bar(user, "F12", RIGHT_BUTTON)),
    ("F11", "\x1b[23~", lambda user: in_bar(user, "F11")),
    ("Shift-F11", "\x1b[23;2~", lambda user: in_bar(user, "F11", RIGHT_BUTTON)),
    ("F10", "\x1b[21~", lambda user: in_bar(user, "F10")),
    ("Shift-F10", "\x1b[21;2~", lambda user: in_bar(user, "F10", RIGHT_BUTTON)),
    ("F9", "\x1b[20~", lambda user: in_bar(user, "F9")),
    ("F9", "\x1b[20~", lambda user: in_bar(user, "F9")),
    ("Alt-digit", ALT_6, lambda user: at_title(user, "6 grid")),
    ("arrows in the grid", RIGHT, lambda user: at_unit(user, 1)),
    ("Enter in the grid", "\r", lambda user: at_unit(user, 1)),
    ("Alt-Z", "\x1bz", lambda user: at_title(user, "2 registers")),
    ("Alt-Z", "\x1bz", lambda user: at_title(user, "2 registers")),
    ("Alt-+", "\x1b+", lambda user: at_title(user, "2 registers", WHEEL_UP)),
    ("Alt--", "\x1b-", lambda user: at_title(user, "2 registers", WHEEL_DOWN)),
    LINE,
    ("Alt-digit", "\x1b9", lambda user: click(SIZE[0] - 3, 0)),  # a panel that is not shown
    LINE,
    ("Alt-digit", "\x1b5", lambda user: at_title(user, "5 memory")),
    ("arrows, Page Up, Page Down", "\x1b[B" * 3, lambda user: mouse(WHEEL_DOWN, SIZE[0] - 3, 34)),
    LINE,
    ("", "help\r", lambda user: "help\r"),
    ("Space, Enter", " ", at_pages),
    ("b", "b", lambda user: at_pages(user, RIGHT_BUTTON)),
    ("q", "q", at_line),
    ("F1", "\x1bOP", lambda user: in_bar(user, "F1")),
    LINE,
    ("Ctrl-P", "\x10", lambda user: in_bar(user, "Ctrl-P")),
    ("Ctrl-C", "\x03", lambda user: in_bar(user, "Ctrl-C")),
    ("Ctrl-R", "\x12", lambda user: in_bar(user, "Ctrl-R")),
    ("Ctrl-C", "\x03", lambda user: in_bar(user, "Ctrl-C")),
    ("F5", "\x1b[15~", lambda user: in_bar(user, "F5")),
    ("Shift-F5", "\x1b[15;2~", lambda user: in_bar(user, "F5", RIGHT_BUTTON)),
    ("Ctrl-D", "\x04", lambda user: in_bar(user, "Ctrl-D")),
)


def states_after(actions):
    """The state of the screen after each action."""
    states = []

    def act(user):
        marks = []
        user.screen.app.key_bindings.add("f4")(lambda event: marks.append(event))
        user.type("mouse on\r")
        user.until("\nmouse on")
        for number, action in enumerate(actions, 1):
            user.type(action if isinstance(action, str) else action(user))
            if action == LINE[1]:
                time.sleep(ALONE)
            user.type(MARK)
            user.wait(
                lambda _, n=number: len(marks) == n or user.screen.app.is_running is False, "a key"
            )
            user.wait(lambda _: not user.screen.worker.waiting, "the end of a command")
            for _ in range(2):  # the first one may have begun before the action
                version = user.screen.app.render_counter
                user.screen.app.invalidate()
                user.wait(
                    lambda _, v=version: (
                        user.screen.app.render_counter > v or user.screen.app.is_running is False
                    )
                )
            screen, view = user.screen, user.screen.arrangement
            shares = {panel: round(share, 6) for panel, share in view.shares.items()}
            scroll = {panel: rows for panel, rows in view.scroll.items() if rows}
            stop = user.interpreter.session.last_stop.json()
            states.append((
                view.active, view.zoom_panel, tuple(view.extra_panels), shares, scroll, stop,
                str(user.interpreter.session.focus[0]), len(list(user.interpreter.session.points)),
                screen.words.palette, screen.app.layout.is_searching, tuple(user.log),
                screen.app.is_running is False,
            ))  # fmt: skip

    Typist(session("layer"), SIZE).play(act)
    return states


def test_the_mouse_does_what_each_key_does():
    assert {name for name, _, _ in ACTIONS} - {""} == {name for name, _, _ in table()}
    keys = states_after([key for _, key, _ in ACTIONS])
    with_mouse = states_after([action for _, _, action in ACTIONS])
    for (name, _, _), one, two in zip(ACTIONS, keys, with_mouse, strict=True):
        assert one == two, name
    for (name, _, _), before, after in zip(ACTIONS[1:], keys, keys[1:], strict=False):
        assert before != after, name  # each key does something
    assert keys[-1][-1]


def test_the_page_has_the_table_of_keys():
    page = (ROOT / "docs/debugger.md").read_text("utf-8")
    for row in table():
        assert f"| {' | '.join(row)} |" in page


@pytest.mark.parametrize("width", [20, 60, 80, 100, 120, 200])
def test_the_bar_has_all_keys_where_it_has_room(width):
    text = bar(width)
    assert len(text) <= width
    if width >= 80:
        assert all(re.search(rf"\b{key.label}|\^{key.label[-1]}", text) for key in KEYS if key.word)
    assert width < 120 or "Ctrl-D quit" in text
