"""The mouse on the screen: off until it is asked for; clicks and the wheel; quiet keys."""

from __future__ import annotations

import pytest

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.layout import Arrangement
from macaw.debugging import DebuggerFiles
from tests.debugger.programs import of_source, session
from tests.debugger.sources import LONG_LOOP
from tests.debugger.typist import Typist

pytestmark = pytest.mark.once
RIGHT, ALT_6 = "\x1b[C", "\x1b6"
SIZE = (120, 40)


def mouse(button, x, y, released=False):
    """What a terminal sends: SGR, cells from 1."""
    return f"\x1b[<{button};{x + 1};{y + 1}{'m' if released else 'M'}"


def click(x, y):
    return mouse(0, x, y) + mouse(0, x, y, released=True)


def place_of(user, text):
    """Column and row of a text on the screen."""
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
        user.type(mouse(64, x, y + 3) * 9)  # no farther than to the begin
        user.wait(lambda seen: first in seen, "up")
        user.type(mouse(65, x, y + 3))
        user.wait(lambda seen: first not in seen, "down")
        user.type("mouse off\r")
        user.until("mouse off")
        assert not user.screen.app.renderer.mouse_support()

    typist = Typist(debug, SIZE).play(act)
    assert str(debug.focus[0]) == "pe[0,1].3"
    assert "focus" not in " ".join(typist.log)


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
    assert not [line for line in typist.log if "focus" in line]
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
