"""The panels: goldens at four sizes, rules for colours, and positions on the screen."""

from __future__ import annotations

import os
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.frame import (
    OLD,
    Code,
    CodeRow,
    Frame,
    MemoryRow,
    Output,
    OutputLine,
    Queue,
    Register,
    visible,
)
from macaw.debugger.layout import (
    LAYOUTS,
    MOST,
    NAMES,
    OF_TWO,
    PANELS,
    SENTENCE,
    Arrangement,
    divide,
)
from macaw.debugger.places import places
from macaw.debugger.views import VIEWS, draw
from macaw.debugger.views.area import ASCII, UNICODE, Area, spark
from macaw.debugger.views.composer import Composer
from macaw.debugging import DebuggerFiles, join_runs
from tests.debugger.programs import of_source, session
from tests.debugger.screens import GOLDENS, MORE_STORIES, SCREEN_SIZES, SCREEN_STORIES, Screen
from tests.debugger.sources import LONG_LOOP

pytestmark = pytest.mark.once

AROUND = 3  # rows for status, input and keys


@pytest.mark.parametrize("size", SCREEN_SIZES, ids="{0[0]}x{0[1]}".format)
@pytest.mark.parametrize("story", [*SCREEN_STORIES, "first", "island"])
def test_goldens(story, size):
    """The panels of a story are those of the golden; `MACAW_GOLDENS=write` writes it.

    Look at the change before you keep it.
    """
    golden(story, size)


def test_golden_of_rows_that_run_copies():
    golden("rows", (200, 50))


def golden(story, size):
    """Play a story, and compare its panels with the golden."""
    folder, lines = {**SCREEN_STORIES, **MORE_STORIES}[story]
    screen = Screen(session(folder))
    screen.do(*lines, size=(size[0], size[1] - AROUND))
    check_golden(screen, story, size)


@pytest.mark.parametrize("story", [*SCREEN_STORIES, "why", "island"])
def test_a_colour_is_never_the_only_sign(story):
    """A colour is never the only difference between two texts of a panel.

    The code panel is left out: there the position in the line says what a word is.
    """
    folder, lines = {**SCREEN_STORIES, **MORE_STORIES}[story]
    screen = Screen(session(folder))
    colours: dict[object, set[object]] = {}
    for at in range(len(lines) + 1):
        screen.do(*lines[at - 1 : at] if at else ())
        for size in ((200, 50), (80, 21)):
            frame = screen.frame(*size)
            for panel in frame.parts.keys() - {"code"}:
                for text in draw(panel, frame, Area(size[0] // 2, size[1])):
                    for piece in text.render(screen.composer._console):
                        style = piece.style
                        names = ("bold", "italic", "underline", "reverse")
                        looks = [name for name in names if getattr(style, name, None)]
                        colour = style.color if style else None
                        if word := piece.text.strip():
                            colours.setdefault((panel, word, *looks), set()).add(colour)
    assert len(colours) > 50
    assert {key: found for key, found in colours.items() if len(found) > 1} == {}


def test_goldens_of_causes():
    """The panels of `why` are those of the golden, at all sizes of one screen.

    `why` runs the program a second time.
    """
    folder, lines = MORE_STORIES["why"]
    screen = Screen(session(folder))
    screen.do(*lines)
    for size in SCREEN_SIZES:
        check_golden(screen, "why", size)


def check_golden(screen, story, size):
    """Compare the panels with the golden of a story."""
    width, height = size
    frame = screen.frame(width, height - AROUND)
    found = f"{frame.status}\n{screen.composer.text(frame, width, height - AROUND)}\n"
    place = GOLDENS / f"{story}-{width}x{height}.txt"
    if os.environ.get("MACAW_GOLDENS") == "write":
        place.write_text(found, "utf-8")
    assert found == place.read_text("utf-8")


def two_runs():
    """A screen of two runs, whose programs differ in a constant, at their first difference."""
    runs = [Interpreter(of_source(LONG_LOOP.replace("3", step)), DebuggerFiles()) for step in "35"]
    join_runs(runs[0], runs[1], "slow.s", "quick.s")
    screen = Screen(None, interpreter=runs[0])
    screen.arrangement.show(OF_TWO)
    return screen


@pytest.mark.parametrize("size", SCREEN_SIZES, ids="{0[0]}x{0[1]}".format)
def test_golden_of_two_runs(size):
    screen = two_runs()
    if size[0] < 60:
        screen.arrangement.active = OF_TWO
    screen.do("compare registers", "stepi", size=(size[0], size[1] - AROUND))
    check_golden(screen, "two", size)


def test_the_against_panel_shows_what_differs_and_nothing_else():
    screen = two_runs()
    frame = screen.builder.frame([OF_TWO])
    assert [row.name for row in frame.parts[OF_TWO].rows] == ["cycle", "at", "instruction", "stop"]
    screen.do("compare registers", "stepi")
    part = screen.builder.frame([OF_TWO]).parts[OF_TWO]
    assert part.names == ("slow.s", "quick.s")
    other = screen.interpreter.context.other.session
    mine, theirs = (run.registers("cp") for run in (screen.interpreter.session, other))
    names = [name for name in mine if mine[name] != theirs[name]]
    assert names
    shown = {row.name: (row.this, row.other) for row in part.rows[1:-3]}
    assert shown == {x: (str(mine[x]), str(theirs[x])) for x in names if x != "pc"}
    alone = Screen(session("hello"))
    assert (
        "--against FILE starts two"
        in draw(OF_TWO, alone.builder.frame([OF_TWO]), Area(80, 3))[0].plain
    )
    assert OF_TWO not in screen.arrangement.plain()["shown"]  # for a session with one run


@cache
def frame_of_all_panels():
    screen = Screen(session("layer"))
    screen.do("stepc 40", "focus pe[0,1].2", "stepc 6")
    return screen.builder.frame(PANELS)


@pytest.mark.parametrize("signs", [UNICODE, ASCII])
@pytest.mark.parametrize("panel", PANELS)
def test_every_panel_fits_any_room(panel, signs):
    frame = frame_of_all_panels()
    for width in (12, 13, 31, 60, 200):
        for height in (1, 2, 7, 60):
            rows = draw(panel, frame, Area(width, height, signs))
            assert len(rows) <= height
            for row in rows:
                assert row.cell_len <= width, (panel, width, row.plain)
                assert signs is UNICODE or row.plain.isascii()
                assert "\n" not in row.plain


def test_labels_and_lines_are_at_the_right_and_are_cut_with_a_mark():
    row = CodeRow("nop", address=0x10, where="loop", line="a.s:7")
    frame = Frame(0, "", "", 0, "cp", {"code": Code((row,))})
    assert [draw("code", frame, Area(width, 1, ASCII))[0].plain for width in (30, 25, 16, 15)] == [
        "  00000010 nop    <loop> a.s:7",
        "  00000010 nop <loop> ~:7",
        "  00000010 nop ~",
        "  00000010 nop",
    ]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 230), st.integers(1, 60), st.sampled_from(NAMES), st.sets(st.sampled_from(sorted(PANELS))),
       st.sampled_from(["", *PANELS]), st.sampled_from(["", *PANELS]))  # fmt: skip
def test_panels_fill_the_screen_and_nothing_else(width, height, name, hidden, zoomed, shown):
    arrangement = Arrangement(name, hidden_panels=sorted(hidden), zoom_panel=zoomed)
    if shown:
        arrangement.show(shown)
    boxes = arrangement.rectangles(width, height)
    covered = np.zeros((height, width), int)
    for box in boxes:
        assert box.width > 0
        assert box.height > 0
        covered[box.y : box.y + box.height, box.x : box.x + box.width] += 1
    assert covered.max() == 1
    inside = [box for box in boxes if box.x]
    assert (covered == 0).sum() == sum(box.height for box in inside)  # the lines between columns
    assert not any(covered[box.y : box.y + box.height, box.x - 1].any() for box in inside)
    if shown:
        assert shown in [box.panel for box in boxes] or zoomed
    frame = Frame(1, "", "start", 0, "cp", {"output": Output((OutputLine("stdout", "x" * 500),))})
    rows = Composer(arrangement).rows(frame, width, height)
    assert [sum(cell_len(piece.text) for piece in row) for row in rows] == [width] * height


def test_the_page_names_these_panels():
    assert {box.panel for box in Arrangement().rectangles(80, 21)} == {
        "code", "registers", "queues", "output"}  # fmt: skip
    assert {box.panel for box in Arrangement().rectangles(120, 37)} >= {
        "memory",
        "grid",
        "counters",
    }
    assert {box.panel for box in Arrangement().rectangles(200, 47)} == set(PANELS) - {OF_TWO}
    columns = [x for layout in LAYOUTS.values() for band in layout for x in band.columns]
    assert {panel for column in columns for panel, _ in column.panels} == set(PANELS) - {OF_TWO}


def test_a_small_terminal_has_one_panel_and_a_sentence():
    screen = Screen(session("hello"))
    for size in ((59, 24), (80, 12)):
        text = screen.text(*size)
        assert SENTENCE[: size[0]] in text.splitlines()[-1]
        assert "1 code" in text
        assert "registers" not in text


def test_what_looks_like_markup_stays_as_it_is():
    written = Output((OutputLine("stdout", "[r1+4] x[/y] [bold]z[/bold] :smile:"),))
    rows = VIEWS["output"](Frame(1, "", "", 0, "", {"output": written}), Area(80, 5))
    assert rows[0].plain == written.lines[0].text


def test_output_cannot_move_the_cursor():
    assert visible("a\x1b[2Jb\tc\r\x9b") == "a\ufffd[2Jb  c\ufffd\ufffd"
    source = '.core cp\n_start: li a7, 64\nli a0, 1\nla a1, t\nli a2, 6\necall\nebreak\n.data\nt: .ascii "a\\x1b[2Jb"\n'
    screen = Screen(of_source(source))
    screen.do("continue")
    assert "a\ufffd[2Jb" in screen.text(120, 40)
    assert "\x1b" not in screen.text(120, 40)


def test_wide_characters_keep_the_columns():
    frame = Frame(1, "", "", 0, "", {"output": Output((OutputLine("stdout", "漢字" * 50),))})
    for row in Composer(Arrangement()).rows(frame, 81, 21):
        assert sum(cell_len(piece.text) for piece in row) == 81


@given(st.text("ab 字é́.", max_size=60), st.integers(2, 30))
def test_long_lines_of_output_lose_nothing(text, width):
    frame = Frame(1, "", "", 0, "", {"output": Output((OutputLine("answer", text),))})
    rows = VIEWS["output"](frame, Area(width, 60))
    assert all(row.cell_len <= width for row in rows)
    assert "".join(row.plain for row in rows).replace(" ", "") == text.replace(" ", "")


def test_long_lines_of_output_are_broken_between_words():
    written = OutputLine("answer", "  copied from 0x100017bc <logits+12> = -3891: pe[0] st")
    rows = VIEWS["output"](Frame(1, "", "", 0, "", {"output": Output((written,))}), Area(30, 5))
    assert [row.plain for row in rows] == [
        "  copied from 0x100017bc",
        "      <logits+12> = -3891:",
        "      pe[0] st",
    ]


def test_changed_values_stand_out_and_fade():
    screen = Screen(of_source(LONG_LOOP))
    screen.do("stepi 3")
    ages = []
    for _ in range(3):
        screen.do("stepi")
        registers = {row.name: row.age for row in screen.frame(80, 21).parts["registers"]}
        ages.append(registers["s1"])
        assert registers["s5"] == OLD
    assert ages == [1, 2, 0]  # addi s1 is every third instruction
    styles = [
        [span.style for span in VIEWS["registers"](_registers(age), Area(20, 3))[0].spans]
        for age in range(OLD + 1)
    ]
    assert len(set(map(str, styles))) == OLD + 1


def _registers(age):
    return Frame(1, "", "", 0, "cp", {"registers": (Register("x1", "00000001", age),)})


def test_going_back_takes_the_past_of_queues_with_it():
    screen = Screen(session("layer"))
    screen.do("focus pe[0]", "stepc 10", "stepc 30", "stepc 5")
    assert screen.frame(200, 50).parts["timeline"].cycles[-1] == 45
    assert {0, 10, 40} <= set(screen.frame(200, 50).parts["timeline"].cycles)
    screen.do("goto 20")
    assert screen.frame(200, 50).parts["timeline"].cycles[-1] == 20
    assert screen.frame(200, 50).parts["queues"][0].past == (0, 0)  # of 10 and 20


def test_sparklines_by_hand():
    assert spark((0, 1, 4, 8), 8, 6, UNICODE) == "   ▁▄█"
    assert spark((0, 1, 4, 8), 8, 2, UNICODE) == "▄█"
    row = VIEWS["queues"](
        Frame(1, "", "", 0, "vc", {"queues": (Queue("q", 3, 4, 4, (0, 2, 4)),)}), Area(60, 3, ASCII)
    )[0].plain
    assert "q " in row
    assert "3/4" in row
    assert "max 4" in row
    assert "#######..." in row  # 3 of 4 on 10 cells
    assert row.rstrip().endswith("=#")


def test_only_what_is_visible_is_computed():
    screen = Screen(session("layer"))
    assert set(screen.frame(80, 21).parts) == {"code", "registers", "queues", "output"}
    screen.arrangement.zoom_panel = "grid"
    assert set(screen.frame(80, 21).parts) == {"grid"}


def test_a_panel_is_drawn_once_for_a_frame(monkeypatch):
    screen = Screen(session("layer"))
    frame, drawn = screen.frame(80, 21), []
    for panel, view in list(VIEWS.items()):

        def counted(frame, room, view=view, panel=panel):
            drawn.append(panel)
            return view(frame, room)

        monkeypatch.setitem(VIEWS, panel, counted)
    screen.composer.rows(frame, 80, 21)
    assert sorted(drawn) == ["code", "output", "queues", "registers"]
    screen.composer.rows(frame, 80, 21)
    screen.arrangement.active = "queues"
    screen.composer.rows(frame, 80, 21)
    assert drawn[4:] == ["queues"]


def test_divided_by_hand():
    assert divide([1, 1, 2], 11, 2) == [3, 3, 5]
    assert divide([1, 1], 3, 5) == [2, 1]


def test_the_heat_of_the_grid():
    screen = Screen(session("layer"))
    screen.arrangement.heat = "macs"
    screen.do("continue")
    part = screen.builder.grid()
    whole = screen.interpreter.session.read("sum(pe[*,*].*.macs)")
    shown = [value for _, row in part.rows for value in row]
    assert sum(value for value in shown if value is not None) == whole > 0
    assert None not in shown
    # at each unit, as one asks for it; the last one has the same number at all of them
    for heat in ("macs", "q1.level", "macs + 1", "sum(macs)", "cp.s1"):
        screen.arrangement.heat = heat
        part = screen.builder.grid()
        names = [name for row in part.places for name in row]
        assert len(names) > 1
        values = [value for _, row in part.rows for value in row]
        for name, value in zip(names, values, strict=True):
            (place,) = places(screen.interpreter.session.device, name)
            assert value == screen.interpreter.session.expression(heat, (place,)).value()
    screen.arrangement.heat = "nothing at all"
    assert "nothing" in screen.builder.grid().message
    screen.arrangement.heat = "activations"
    assert "a single number" in screen.builder.grid().message


def test_what_is_kept_between_sessions_comes_back_and_rubbish_does_not():
    first = Arrangement("large", hidden_panels=["grid"], shares={"code": 2.0}, heat="macs")
    second = Arrangement()
    second.take(first.plain())
    assert second.plain() == first.plain()
    second = Arrangement()
    second.take({"layout": "x", "hidden": ["?", 3], "shares": {"code": 1e9, "x": 1}, "heat": 3})
    assert second.plain() == {**Arrangement().plain(), "shares": {"code": 8.0}}


def test_a_panel_grows_by_any_number_of_steps():
    screen = Screen(session("hello"))
    assert screen.do("panel code grow 99999").kind == "done"
    assert screen.arrangement.shares["code"] == MOST
    screen.do("panel code shrink 99999")
    assert screen.arrangement.shares["code"] == 1 / MOST


def test_characters_beside_bytes():
    """The text beside bytes has dots for control characters, unknown bytes and bytes from 127."""
    row = MemoryRow(0x100, "", (0x20, 0x41, 0x7E, 0x7F, 0x1F, 0x80, None, 0x21), (OLD,) * 8)
    (text,) = VIEWS["memory"](Frame(1, "", "", 0, "cp", {"memory": (row,)}), Area(80, 1))
    assert text.plain.endswith(" A~....!")
