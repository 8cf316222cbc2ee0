"""Long answers on the screen begin at their first line, and keys show the other pages."""

from __future__ import annotations

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.frame import Frame, Output, OutputLine
from macaw.debugger.frame_builder import LINES
from macaw.debugger.layout import Arrangement
from macaw.debugger.views import draw
from macaw.debugger.views.area import ASCII, Area
from macaw.debugging import DebuggerFiles
from tests.debugger.programs import of_source, session
from tests.debugger.screens import Screen
from tests.debugger.sources import LONG_LOOP
from tests.debugger.typist import Typist

NEXT, BACK, END = " ", "b", "q"


def rows(area, before=3, lines=10, pages=True):
    """The rows of the output panel for `before` old lines and an answer of `lines` lines."""
    texts = [f"old {at}" for at in range(before)] + [f"row {at}" for at in range(lines)]
    part = Output(tuple(OutputLine("answer", text) for text in texts), before, pages)
    return [row.plain for row in draw("output", Frame(1, "", "", 0, "", {"output": part}), area)]


def test_an_answer_that_fits_is_shown_below_what_was_there_before():
    assert rows(Area(60, 5, ASCII), lines=4) == ["old 2", "row 0", "row 1", "row 2", "row 3"]
    assert rows(Area(60, 5, ASCII), lines=5) == [f"row {at}" for at in range(5)]


def test_pages_show_each_row_once():
    mark = "more rows: Space Enter next, b back, q end"
    first = Area(60, 5, ASCII)
    assert rows(first) == ["row 0", "row 1", "row 2", "row 3", f"6 {mark}"]
    assert (first.hidden, first.pages) == ([3, 6], [4, False])
    second = Area(60, 5, ASCII, scroll=4)
    assert rows(second) == ["row 4", "row 5", "row 6", "row 7", f"2 {mark}"]
    assert second.pages == [4, True]
    last = Area(60, 5, ASCII, scroll=8)
    assert rows(last) == [f"row {at}" for at in range(5, 10)]
    assert (last.pages, last.offset) == ([], [5])
    assert rows(Area(60, 5, ASCII), pages=False) == [f"row {at}" for at in range(5, 10)]


def test_keys_of_pages():
    def act(user):
        user.type("help\r")
        seen = user.until("> help", "load the program again and run it", "more rows: Space Enter")
        assert "3 queues" in seen  # the other panels keep some rows
        user.type(NEXT)
        user.wait(lambda seen: "load the program again and run it" not in seen, "the second page")
        user.type(BACK)
        user.until("load the program again and run it")
        user.type("break\r")  # there is no page before: `b` is typed
        user.until("> break", "break 1: ")
        assert user.interpreter.history == ["help", "break"]
        user.type("help\r")
        user.until("more rows: Space Enter")
        user.type("\r" * 2 + END)
        user.wait(lambda seen: "help NAME shows the operands" in seen and "more rows" not in seen)
        user.type("\r")  # pages are no lines; an empty line repeats nothing here
        user.type("echo end\r")
        user.until("\nend ")

    typist = Typist(of_source(LONG_LOOP)).play(act)
    assert typist.interpreter.history == ["help", "break", "help", "echo end"]


def test_page_keys_scroll_the_output_without_an_active_panel():
    def act(user):
        user.type("help\r")
        user.until("more rows: Space Enter")
        user.type("\x1b")
        user.until("help NAME shows the operands")
        user.type("\x1b[5~" * 30)
        user.until("> help")
        user.type("\x1b[6~" * 40)
        user.until("help NAME shows the operands")

    Typist(of_source(LONG_LOOP)).play(act)


def test_pagination_off_shows_the_end_and_is_kept():
    for line in ("set pagination off", "set height 0"):
        run = Interpreter(of_source(LONG_LOOP), DebuggerFiles())
        assert run.execute("show pagination").lines == ("pagination on",)
        assert run.execute(line).lines == ("pagination off",)
        later = Arrangement()
        later.take(run.arrangement.plain())
        assert not later.pages
    screen = Screen(session("hello"))
    screen.do("pagination off", "help")
    assert "more rows" not in screen.text(80, 21)
    assert "help NAME shows the operands" in screen.text(80, 21)
    screen.do("set pagination on", "help")
    assert "more rows" in screen.text(80, 21)


def test_the_output_of_a_program_does_not_hide_a_stop():
    """If a program prints more lines than fit, `continue` shows the last lines and the stop."""
    screen = Screen(of_source(LONG_LOOP))
    screen.builder.add_command("continue")
    screen.builder.add_output("stdout", b"line\n" * 100)
    screen.builder.add_answer("continue", screen.interpreter.execute("stepi"))
    text = screen.text(80, 21)
    assert "step done at cycle" in text
    assert "more rows" not in text


def test_an_answer_of_very_many_lines_keeps_its_begin():
    screen = Screen(session("hello"))
    screen.builder.add_command("echo")
    screen.builder.add_text("answer", [f"row {at}" for at in range(3 * LINES)])
    part = screen.builder.output()
    assert [row.text for row in part.lines[:2]] == ["echo", "row 0"]
    assert part.lines[-1].text == f"... {2 * LINES + 2:,} more lines are not shown"
    assert part.first == 0


def test_pieces_of_a_line_are_one_line():
    screen = Screen(session("hello"))
    for stream, data in (("stdout", b"y["), ("stdout", b"3"), ("stdout", b"] = 9\nnext"), ("stderr", b"oh"), ("stdout", b" line\n"), ("stdout", b"end\n")):  # fmt: skip
        screen.builder.add_output(stream, data)
    written = [(row.kind, row.text) for row in screen.builder.log if row.kind.startswith("std")]
    assert written == [
        ("stdout", "y[3] = 9"),
        ("stdout", "next"),
        ("stderr", "oh"),
        ("stdout", " line"),
        ("stdout", "end"),
    ]
