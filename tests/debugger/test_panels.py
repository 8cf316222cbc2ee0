"""Panels of any size: cut texts have a mark, and no space is wasted."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from macaw.debugger.frame_builder import ELEMENTS
from macaw.debugger.layout import LEAST, PANELS, Rectangle, divide, fill
from macaw.debugger.views import draw, need
from macaw.debugger.views.area import ASCII, UNICODE, Area, cut_text, line
from macaw.emu.engines import ENGINES
from tests.debugger.programs import session
from tests.debugger.screens import Screen

pytestmark = pytest.mark.once

GRAPHS = set("".join((UNICODE.spark, UNICODE.heat, UNICODE.full, UNICODE.empty, UNICODE.running)))
GRAPHS |= set("".join((UNICODE.waiting, UNICODE.idle, UNICODE.bar, UNICODE.rule)))
SITUATIONS = {
    "start": ("hello", ["stepi"]),
    "queues of pe": ("digits_mlp", ["stepc 1300", "focus pe[1,0].3", "display acc0", "stepc 20"]),
    "islands": ("fim_mlp", ["stepc 1300", "focus fim[0]"]),
    "a bank": ("fim_mlp", ["stepc 1300", "focus fim[0,1]", "break *0x10000", "stepc 20"]),
    "vc": ("vector_dot", ["stepc 100", "focus vc", "stepi 3"]),
}


@pytest.mark.parametrize("width", [-1, 0, 1, 2, 3])
def test_a_row_is_never_wider_than_its_place(width):
    """The sign of a cut row also takes a cell, so no sign fits into no cells."""
    row = cut_text(line("abc"), width, UNICODE)
    assert row.plain == {-1: "", 0: "", 1: "…", 2: "a…", 3: "abc"}[width]


@cache
def situation(name):
    folder, lines = SITUATIONS[name]
    screen = Screen(session(folder))
    screen.do(*lines)
    return screen


def words(text):
    """The words of a panel's row, without words made only of drawn signs."""
    return {word for word in text.split() if not set(word) <= GRAPHS}


def shown(frame, panel, width, height):
    area = Area(width, height)
    return [row.plain for row in draw(panel, frame, area)], area


@pytest.mark.parametrize("name", SITUATIONS)
@pytest.mark.parametrize("panel", PANELS)
def test_what_a_panel_leaves_out_has_a_mark(panel, name):
    """If a panel is too small for some words, it shows a mark in place of these words."""
    frame = situation(name).builder.frame([panel])
    whole = words(" ".join(shown(frame, panel, 900, 3000)[0]))
    assert UNICODE.more not in " ".join(whole)
    for width in (12, 19, 31, 44, 57, 80, 120):
        for height in (1, 2, 4, 7, 12, 30, 3000):
            rows, area = shown(frame, panel, width, height)
            text = " ".join(rows)
            marks = text.count(UNICODE.more) + sum(area.hidden) + ("more " in text)
            if panel == "output":  # its long words are broken between rows
                missing = set("".join(whole)) - set(text)
            elif panel in ("memory", "grid", "timeline"):  # rows of another length
                missing = {x for x in whole if x.isdecimal() and len(x) < 4} - words(text)
            else:
                missing = whole - words(text)
            assert marks or not missing, (width, height, missing, rows)


@pytest.mark.parametrize("width", range(12, 40))
def test_a_title_is_cut_with_a_mark(width):
    screen = situation("islands")
    frame = screen.frame(200, 47)
    for panel in PANELS:
        box = Rectangle(panel, 0, 0, width, 3)
        row = "".join(piece.text for piece in screen.composer._panel(frame, box)[0])
        assert cell_len(row) == width
        assert f" {panel}" in row or UNICODE.more in row
        hidden = screen.composer.area(panel).hidden
        for sign, count in zip((UNICODE.above, UNICODE.under), hidden, strict=True):
            assert not count or f"{sign}{count}" in row or UNICODE.more in row


def test_panels_give_the_room_that_they_do_not_need_to_others():
    screen = situation("queues of pe")
    frame = screen.frame(200, 47)
    boxes = {box.panel: box for box in screen.composer._rectangles(frame, 200, 47)[0]}
    assert boxes["registers"].height == 3  # two rows, and the title
    assert boxes["queues"].height == 6
    assert boxes["grid"].height >= 18  # all groups
    assert sum(boxes[x].height for x in ("counters", "timeline", "stalls")) == boxes["code"].height
    screen = situation("start")
    frame = screen.frame(200, 47)
    boxes = {box.panel: box for box in screen.composer._rectangles(frame, 200, 47)[0]}
    assert boxes["registers"].height == 9  # 32 in four columns
    assert boxes["memory"].height > boxes["watches"].height == LEAST[1]


@pytest.mark.parametrize("name", SITUATIONS)
def test_no_half_of_a_large_screen_is_empty(name):
    screen = situation(name)
    rows = screen.text(200, 47).splitlines()
    cells = np.array([list(row.ljust(200)) for row in rows])
    for half in (cells[:, :100], cells[:, 100:], cells[:24], cells[24:]):
        lines = (
            (half != " ").any(axis=1) if half.shape[1] == 200 else (half != " ").mean(axis=1) > 0.1
        )
        assert lines.mean() > 0.5


def test_a_long_answer_gets_two_thirds_of_the_screen():
    screen = Screen(session("hello"))
    before = {box.panel: box for box in screen.arrangement.rectangles(80, 21)}
    assert before["output"].height == 9
    screen.do("help")
    frame = screen.frame(80, 21)
    boxes = {box.panel: box for box in screen.composer._rectangles(frame, 80, 21)[0]}
    assert boxes["output"].height == 14
    assert boxes["code"].height == 7
    screen.do("echo short")
    frame = screen.frame(80, 21)
    boxes = {box.panel: box for box in screen.composer._rectangles(frame, 80, 21)[0]}
    assert boxes["output"].height == 9


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 20), st.one_of(st.none(), st.integers(3, 40))), min_size=1, max_size=5),
       st.integers(20, 60))  # fmt: skip
def test_rows_are_filled(rows, total):
    shares, wanted = zip(*rows, strict=True)
    parts = fill(shares, wanted, total, 3)
    assert sum(parts) == total
    assert min(parts) >= 3
    missing = [most is None or part < most for part, most in zip(parts, wanted, strict=True)]
    if any(missing):  # nobody has more than it wants while another wants more
        assert all(most is None or part <= most for part, most in zip(parts, wanted, strict=True))
    assert fill(shares, [None] * len(rows), total, 3) == divide(shares, total, 3)


@pytest.mark.parametrize("engine", ENGINES)
def test_registers_of_islands_are_numbers_of_their_format(engine):
    debug = session("fim_mlp", engine)
    screen = Screen(debug)
    screen.do("stepc 1300", "focus fim[0,1]")
    rows = {row.name: row.text for row in screen.frame(200, 47).parts["registers"]}
    for name in ("rop", "rz"):
        numbers = debug.read(f"fim[0,1].{name}.f16")
        assert numbers.any()
        texts = [str(x) for x in np.asarray(numbers, np.float16)]
        rest = len(texts) - ELEMENTS
        assert rows[name].split() == texts[:ELEMENTS] + (
            f"... {rest} more".split() if rest > 0 else []
        )
    table = screen.do("info registers fim[0,1]").rows
    assert table[0][4] == np.asarray(debug.read("fim[0,1].rop.f16")).tolist()
    screen.do("focus fim[0]")
    of_all = {row.name: row.text for row in screen.frame(200, 47).parts["registers"]}
    assert of_all["rop[1]"] == rows["rop"]
    screen.do("focus fim[1,0]")  # it has executed nothing: its bytes have no format
    assert {*"".join(row.text for row in screen.frame(200, 47).parts["registers"])} == {"0"}


def test_long_registers_are_wrapped_and_need_the_room():
    screen = situation("a bank")
    frame = screen.builder.frame(["registers"])
    rows = draw("registers", frame, Area(40, 99, ASCII))
    texts = [row.text for row in frame.parts["registers"]]
    assert " ".join(" ".join(row.plain.split()) for row in rows) == " ".join(
        f"{name} {text}" for name, text in zip(("rop", "gio", "rz"), texts, strict=True)
    )
    assert len(rows) > 6
    assert len(rows) == need("registers", frame, 40, ASCII)


def test_a_part_of_an_idle_core_is_shown():
    screen = Screen(session("layer"))
    screen.do("focus pe[0,0].1")
    part = screen.builder.code()
    assert part.message == "pe[0] is idle: it is at no instruction. A part of it:"
    assert part.rows
    assert not any(row.current for row in part.rows)
    row = draw("code", screen.builder.frame(["code"]), Area(60, 3))[0]
    assert row.plain == part.message
