"""The time of a session's first `why` and of the plain run: digits_mlp with eighty images.

The first question records the end of the run, from the last checkpoint on. If the steps further back
are not in that record, the run is recorded from an earlier checkpoint. Later questions read the record.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

import macaw
from benchmarks.figures import LOWER, Effort, Figure, ratio
from benchmarks.measure import timed
from macaw.debugger.causes.cause_text import lines
from macaw.debugger.session import Session
from macaw.emu.device import Device
from macaw.execution import configuration_of

ROUNDS = 5
PROGRAMS = Path(__file__).parents[1] / "programs"
# A program, the file of its input x, and two questions.
DIGITS = ("digits_mlp", "images.npy", "y[0,3]", "y[0,4]")
SMALL = ("layer", "x.npy", "y[3]", "y[4]")


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the times of the plain run, of the first question and of a later one."""
    name, file, question, another = SMALL if effort.small else DIGITS
    program = macaw.assemble(PROGRAMS / name / f"{name}.s")
    x = np.load(PROGRAMS / name / file)
    inputs: dict[str, object] = {"x": x if effort.small else x[0]}
    plain, first, shown, later = [], [], [], []
    for _ in range(effort.rounds(ROUNDS)):
        device = Device(configuration_of(program))
        device.load(program)
        device.write_tensor("x", inputs["x"])
        plain.append(timed(device.run))
        session = Session(program, configuration_of(program), inputs)
        stop = session.cont()
        assert stop.reason == "exit", stop
        first.append(timed(partial(session.why, question)))
        shown.append(timed(partial(_text, session, question)))
        later.append(timed(partial(session.why, another)))
    for row, values in (
        ("plain run, no session", plain),
        (f"first why {question}", first),
        ("then its text, six steps back", shown),
        (f"then why {another}", later),
    ):
        yield Figure(row, "ms", tuple(1000 * x for x in values), LOWER)
        if values is not plain:
            yield ratio(row, "times the plain run", values, plain, LOWER, "plain run")


def _text(session: Session, question: str) -> list[str]:
    """Return the answer as the command `why` prints it."""
    return list(lines(session.why(question)))
