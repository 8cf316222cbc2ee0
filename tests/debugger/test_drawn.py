"""The whole screen on a terminal: the golden panels with their surroundings, with and without
colours, in ASCII.
"""

from __future__ import annotations

import os
from functools import cache

import pytest
from prompt_toolkit.utils import get_cwidth
from rich.cells import cell_len
from wcwidth import wcwidth

from macaw.debugger.screen.keys import bar
from macaw.debugger.views.area import ASCII, UNICODE, Area
from tests.debugger.drawn import drawn, styles
from tests.debugger.programs import session
from tests.debugger.screens import GOLDENS, SCREEN_SIZES, SCREEN_STORIES

pytestmark = pytest.mark.once
COLOURS = {"default", "black", "red", "green", "brown", "blue", "magenta", "cyan", "white"}
COLOURS |= {f"bright{name}" for name in COLOURS - {"default"}}


@cache
def of_story(story, size):
    """The screen of a story, drawn once for all tests: they only look at it."""
    folder, lines = SCREEN_STORIES[story]
    return drawn(session(folder), lines, size)


def looks(shown, name):
    """All values that an attribute has in the cells."""
    return {getattr(cell, name) for row in shown.buffer.values() for cell in row.values()}


@pytest.mark.parametrize("size", SCREEN_SIZES, ids="{0[0]}x{0[1]}".format)
@pytest.mark.parametrize("story", SCREEN_STORIES)
def test_the_terminal_shows_the_golden_between_status_and_keys(story, size):
    shown = of_story(story, size)
    status, *panels = (GOLDENS / f"{story}-{size[0]}x{size[1]}.txt").read_text("utf-8").splitlines()
    found = [row.rstrip() for row in shown.display]
    assert found[0] == Area(size[0], 1).cut(f" {status} ", size[0]).rstrip()
    assert found[1:-2] == panels
    assert found[-2:] == ["(macaw)", bar(size[0])]
    assert looks(shown, "fg") | looks(shown, "bg") <= COLOURS


@pytest.mark.parametrize("story", SCREEN_STORIES)
def test_colours(story):
    """The colours of the screen are those of the golden; `MACAW_GOLDENS=write` writes it."""
    found = styles(of_story(story, (80, 24)))
    place = GOLDENS / f"{story}-80x24.colours.txt"
    if os.environ.get("MACAW_GOLDENS") == "write":
        place.write_text(found, "utf-8")
    assert found == place.read_text("utf-8")


def test_without_colours_text_and_attributes_are_the_same(monkeypatch):
    folder, lines = SCREEN_STORIES["pe"]
    coloured = of_story("pe", (120, 40))
    monkeypatch.setenv("NO_COLOR", "1")
    plain = drawn(session(folder), lines, (120, 40))
    assert plain.display == coloured.display
    assert looks(plain, "fg") | looks(plain, "bg") == {"default"}
    for name in ("bold", "reverse"):
        assert looks(plain, name) == {True, False}
        for y in range(40):
            for x in range(120):
                assert getattr(plain.buffer[y][x], name) == getattr(coloured.buffer[y][x], name)


@pytest.mark.parametrize("size", SCREEN_SIZES[::2], ids="{0[0]}x{0[1]}".format)
@pytest.mark.parametrize("story", SCREEN_STORIES)
def test_ascii_shows_the_same_in_other_characters(story, size):
    folder, lines = SCREEN_STORIES[story]
    shown = drawn(session(folder), lines, size, ASCII)
    assert all(row.isascii() for row in shown.display)
    wanted = (GOLDENS / f"{story}-{size[0]}x{size[1]}.txt").read_text("utf-8")
    wanted = wanted.replace(UNICODE.below, ASCII.below)  # two cells, of which one was a space
    signs = set(zip("".join(vars(UNICODE).values()), "".join(vars(ASCII).values()), strict=True))
    for row, golden in zip(shown.display[1:-2], wanted.splitlines()[1:], strict=True):
        for found, char in zip(row, golden.ljust(size[0]), strict=True):
            assert found == char or (not char.isascii() and (char, found) in signs)


def test_lines_of_the_output_look_like_what_they_are():
    shown = drawn(session("hello"), ["print nothing", "continue"], (80, 24))
    looks = {row.split(" ")[0]: shown.buffer[y][0] for y, row in enumerate(shown.display)}
    assert (looks["error:"].fg, looks["error:"].bold) == ("red", True)
    assert (looks[">"].fg, looks[">"].bold) == ("default", True)
    assert looks["Hello"].fg == "green"
    assert looks["exit"].fg == "default"
    shown = drawn(session("hello"), [f"print {'no' * 30}"], (80, 24))
    rows = [y for y, row in enumerate(shown.display) if "nonono" in row]
    assert [shown.buffer[y][10].fg for y in rows[-2:]] == ["red"] * 2  # the message, and the line


@pytest.mark.parametrize("text", ["漢字" * 30, "e\u0301" * 60, "👩\u200d👩\u200d👧" * 12, "a\u200bb\ufeffc\u00ad", "\u202eright to left", "ﷺ" * 9])  # fmt: skip
def test_wide_and_joined_characters_move_no_column(text):
    shown = drawn(session("hello"), [f"echo {text}", "echo behind"], (120, 40))
    begin = next(y for y, row in enumerate(shown.display) if "4 output" in row)
    column = shown.display[begin].index("│")
    for y in range(begin, 38):
        assert shown.buffer[y][column].data == "│", shown.display[y]
    assert any(row.startswith("behind ") for row in shown.display)


def test_signs_are_one_cell_wide_for_all_who_count_cells():
    for sign in "".join(vars(UNICODE).values()):
        assert (cell_len(sign), get_cwidth(sign), wcwidth(sign)) == (1, 1, 1), sign
    assert "".join(vars(ASCII).values()).isascii()
    assert [len(sign) for sign in vars(ASCII).values()] == [
        len(sign) for sign in vars(UNICODE).values()
    ]
