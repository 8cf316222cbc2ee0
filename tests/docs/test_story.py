"""docs/debugging-story.md: the debugger prints what the page shows and finds the true cause.

The test computes the right values again, with Python's integers.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import macaw
from docs.shown import ROOT, made, page
from macaw.debugger.causes.finder import Cause
from macaw.debugger.session import Session
from macaw.emu.engines import ENGINES
from macaw.execution import configuration_of
from tests.macaw.command_runs import run_shown
from tests.programs.scripts import script

pytestmark = pytest.mark.once

FOLDER = ROOT / "programs" / "wrong_shift"
SOURCE = (FOLDER / "wrong_shift.s").read_text("utf-8")
STORY = page("debugging-story").read_text("utf-8")


@cache
def array(name: str) -> np.ndarray:
    return np.load(FOLDER / f"{name}.npy")


def hidden(shift: int) -> list[list[int]]:
    """The activations of the first layer, for sums shifted right by `shift`.

    The activations are rounded half to even and limited to 0 to 127.
    """

    def finished(total: int) -> int:
        low, rest = divmod(max(total, 0), 1 << shift)
        low += 2 * rest + (low & 1) > 1 << shift
        return min(low, 127)

    rows, images = array("w1").tolist(), array("x").tolist()
    return [[finished(sum(map(int.__mul__, row, x))) for row in rows] for x in images]


def sums(shift: int) -> list[list[int]]:
    rows = array("w2").tolist()
    return [[sum(map(int.__mul__, row, x)) for row in rows] for x in hidden(shift)]


def mended() -> str:
    """The source after the `sed` command of the page."""
    command = next(line[6:] for line in STORY.splitlines() if line.startswith("    $ sed "))
    (edit,) = re.findall(r"'(s/.*?/)'", command)
    return subprocess.run(
        ["sed", edit], input=SOURCE, capture_output=True, text=True, check=True
    ).stdout


def session() -> Session:
    program = macaw.assemble(FOLDER / "wrong_shift.s")
    return Session(program, configuration_of(program), {"x": array("x")})


def test_the_commands_print_what_the_page_shows() -> None:
    assert made(STORY, "debugging-story", run_shown) == STORY


def test_the_files_are_those_that_are_made() -> None:
    make = script("wrong_shift/make.py")
    given = make.tensors()
    for name, found in given.items():
        np.testing.assert_array_equal(array(name), found)
    for name, found in zip(("golden_hidden", "golden"), make.layers(given), strict=True):
        np.testing.assert_array_equal(array(name), found)


def test_one_shift_alone_is_right_and_the_program_has_another() -> None:
    right = [shift for shift in range(16) if sums(shift) == array("golden").tolist()]
    assert right == [8]
    assert hidden(8) == array("golden_hidden").tolist()
    run = session()
    run.cont()
    assert run.read("hidden").tolist() == hidden(5)
    assert run.read("y").tolist() == sums(5) != sums(8)


def test_the_cause_is_the_line_that_is_edited() -> None:
    run = session()
    run.cont()
    first = np.argwhere(run.read("y") != array("golden"))[0].tolist()
    assert f"the first is y[{first[0]}, {first[1]}]" in STORY

    def settings(causes: list[Cause]) -> list[Cause]:
        below = [item for cause in causes for item in cause.causes]
        return [item for item in causes if item.setting] + (settings(below) if below else [])

    found = settings(run.why(f"y[{first[0]}, {first[1]}]"))
    shifts = [item for item in found if item.role == "shift"]
    assert {item.value for item in shifts} == {5}
    assert all(item.where is not None for item in shifts)
    (number,) = {
        int(line)
        for item in shifts
        for line in re.findall(r"with shift = 5 of \S+ \S+ wrong_shift\.s:(\d+)", STORY)
    }
    lines, after = SOURCE.splitlines(), mended().splitlines()
    assert [at for at, (a, b) in enumerate(zip(lines, after, strict=True), 1) if a != b] == [number]
    assert lines[number - 1].replace("shift=5", "shift=8") == after[number - 1]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_mended_program_gives_what_numpy_says(engine: str, tmp_path: Path) -> None:
    for name in ("w1.npy", "w2.npy"):
        shutil.copy(FOLDER / name, tmp_path)
    (tmp_path / "mended.s").write_text(mended(), "utf-8")
    run = macaw.run(tmp_path / "mended.s", x=array("x"), engine=engine)
    np.testing.assert_array_equal(run.outputs["y"], array("golden"))
    assert run.outputs["y"].dtype == array("golden").dtype
