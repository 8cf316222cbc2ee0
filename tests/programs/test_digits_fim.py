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


def right() -> int:
    """The number of images that the network reads right, as the README states it."""
    (found,) = re.findall(r"\*\*(\d+)\*\* of the 400", (FOLDER / "README.md").read_text("utf-8"))
    return int(found)


def test_logits_of_a_run(lowered: GraphLowering) -> None:
    """A run over 80 images has nearly the logits, and all the digits, of binary64 numbers.

    In binary64 the network reads as many of all 400 images right as the README states.
    """
    reference = script("digits_nnp/reference.py")
    images, labels = reference.test_set()
    expected = images.astype(np.float64)
    for layer, (weight, bias) in enumerate(zip(*reference.load(), strict=True)):
        expected = expected @ weight.T.astype(np.float64) + bias
        if layer < 2:
            expected = np.maximum(expected, 0)
    expected = expected[:, :10]
    assert int(np.sum(expected.argmax(axis=1) == labels)) == right()
    run = macaw.run(lowered.assemble(), x=images[:80])
    np.testing.assert_allclose(run.outputs["y"], expected[:80], rtol=0, atol=0.05)
    np.testing.assert_array_equal(run.outputs["y"].argmax(axis=1), expected[:80].argmax(axis=1))
    assert abs(lowered.cycles / run.cycles - 1) < 0.05


@pytest.mark.long
def test_accuracy(lowered: GraphLowering) -> None:
    images, labels = script("digits_nnp/reference.py").test_set()
    run = macaw.run(lowered.assemble(), x=images.reshape(5, 80, 64))
    digits = run.outputs["y"].reshape(400, 10).argmax(axis=1)
    assert int(np.sum(digits == labels)) == right()
    assert abs(lowered.cycles * 5 / run.cycles - 1) < 0.05
