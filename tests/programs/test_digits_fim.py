"""The digits network, lowered from ONNX to islands, reads the documented number of images right."""

from __future__ import annotations

import re

import numpy as np
import onnx
import pytest

import macaw
from macaw.fim_lowering import GraphLowering
from tests.programs.scripts import PROGRAMS, script

FOLDER = PROGRAMS / "digits_fim"


@pytest.fixture(scope="module")
def lowered() -> GraphLowering:
    return macaw.lower_graph(FOLDER / "digits.onnx")


def test_the_file_is_that_of_the_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PROGRAMS / "digits_nnp"))
    made = script("digits_fim/make.py").model()
    assert made == onnx.load(FOLDER / "digits.onnx")


def test_two_islands_at_work(lowered: GraphLowering) -> None:
    """Blocks of the two islands run at the same time."""
    plan = lowered.plan
    runs = [
        (row.begin, row.end, plan.steps[row.step].option.island)
        for row in plan.actions
        if row.kind == "start"
    ]
    assert any(
        one[2] != other[2] and one[0] < other[1] and other[0] < one[1]
        for one in runs
        for other in runs
    )


def test_accuracy(lowered: GraphLowering) -> None:
    images, labels = script("digits_nnp/reference.py").test_set()
    run = macaw.run(lowered.assemble(), x=images.reshape(5, 80, 64))
    digits = run.outputs["y"].reshape(400, 10).argmax(axis=1)
    (right,) = re.findall(r"\*\*(\d+)\*\* of the 400", (FOLDER / "README.md").read_text("utf-8"))
    assert int(np.sum(digits == labels)) == int(right)
    assert abs(lowered.cycles * 5 / run.cycles - 1) < 0.05
