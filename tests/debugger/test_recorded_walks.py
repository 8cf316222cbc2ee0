"""The transcripts of generated walks of the debugger are those that files record.

Each walk has 10 to 25 lines for a small program (tests/debugger/generated_lines.py), with either
engine. `MACAW_GOLDENS=write` writes the transcripts; read them before you keep them.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.text import answer_text
from macaw.debugger.session import Session
from macaw.emu.engines import ENGINES
from macaw.execution import configuration_of
from tests.debugger.generated_lines import LOOKS, MIXED, POINTS, Lines, walk
from tests.debugger.transcripts import KEPT, PROMPT
from tests.fuzz.debugger_lines import Kept
from tests.recorded import check, shortened
from tests.small_programs import PROGRAMS, program

pytestmark = pytest.mark.once
RECORDED = Path(__file__).parent / "recorded"
KINDS = {"mixed": MIXED, "points": POINTS, "looks": LOOKS}
WALKS = 5  # in each file
LINES = 6  # of an answer; of a longer one only the sum is recorded besides


def transcript(session: Session, lines: Lines, kind: str) -> str:
    """Execute a walk; return its lines with the program's output and the answers."""
    interpreter = Interpreter(session, Kept())
    found = []
    for line in walk(lines, KINDS[kind]):
        answer = interpreter.execute(line)
        found.append(PROMPT + line)
        output = "".join(interpreter.take_output().values())
        text = KEPT.sub("... kept", answer_text(answer, line.strip()))
        found += [*output.splitlines(), *shortened(text, LINES).splitlines()]
        lines.points, lines.ended = list(session.points.all), session.device.stopped is not None
    return "\n".join(found)


@pytest.mark.few(8)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_walks(name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = PROGRAMS[name]
    monkeypatch.chdir(tmp_path)
    small.write(Path())
    loaded = program(name)
    outcomes = {}
    for number in range(WALKS):
        rng = Random(f"{name} {kind} {number}")
        engine = rng.choice(ENGINES)
        session = Session(loaded, configuration_of(loaded), small.inputs, engine)
        outcomes[f"walk {number} {engine}"] = transcript(session, Lines(rng, small), kind)
    check(RECORDED / f"walks_{name}_{kind}.txt", outcomes)
