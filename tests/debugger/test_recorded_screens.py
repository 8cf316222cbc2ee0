"""Screens of the debugger at odd sizes, in states of generated walks, are those of a file.

The file has a whole screen of the first walk, and sums of the screens of all walks at all sizes.
`MACAW_GOLDENS=write` writes it; look at the screens before you keep them.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.session import Session
from macaw.debugger.views.area import ASCII, UNICODE
from macaw.execution import configuration_of
from tests.debugger.generated_lines import LOOKS, Lines, walk
from tests.debugger.screens import Screen
from tests.fuzz.debugger_lines import Kept
from tests.recorded import check, summary
from tests.small_programs import PROGRAMS, program

pytestmark = pytest.mark.once
RECORDED = Path(__file__).parent / "recorded"
SIZES = (
    (40, 10),
    (59, 20),
    (60, 12),
    (60, 13),
    (79, 21),
    (80, 21),
    (81, 14),
    (109, 31),
    (110, 31),
    (120, 33),
    (120, 37),
    (180, 45),
    (200, 47),
)
KINDS = {**LOOKS, "breakpoint": 8, "watch": 8, "screen": 30}
WALKS = 3


@pytest.mark.parametrize("name", PROGRAMS)
def test_screens(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    PROGRAMS[name].write(Path())
    loaded, outcomes = program(name), {}
    for number in range(WALKS):
        rng = Random(f"screen {name} {number}")
        debug = Session(loaded, configuration_of(loaded), PROGRAMS[name].inputs)
        screen = Screen(debug, rng.choice((UNICODE, UNICODE, ASCII)), Interpreter(debug, Kept()))
        lines = Lines(rng, PROGRAMS[name])
        for line in walk(lines, KINDS):
            screen.do(line, size=rng.choice(SIZES))
            lines.points, lines.ended = list(debug.points.all), debug.device.stopped is not None
        texts = {size: screen.text(*size) for size in SIZES}
        for (width, height), text in texts.items():
            rows = text.splitlines()
            assert len(rows) <= height + 1
            assert all(len(row) <= width for row in rows)
        if not number:
            shown = rng.choice(SIZES[:10])
            outcomes[f"{shown[0]}x{shown[1]}"] = texts[shown]
        sums = [f"{w}x{h}: {summary(text)}" for (w, h), text in texts.items()]
        outcomes[f"{number}"] = "\n".join(sums)
    check(RECORDED / f"screens_{name}.txt", outcomes)
