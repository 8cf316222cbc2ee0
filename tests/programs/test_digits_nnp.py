"""The digits network in block floating point: bits of the reference, accuracies of the README."""

from __future__ import annotations

import re
from types import ModuleType

import numpy as np
import pytest

import macaw
from tests.programs.scripts import PROGRAMS, script

FOLDER = PROGRAMS / "digits_nnp"


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    return script("digits_nnp/reference.py")


def right(width: str) -> int:
    """The number of images that the network reads right with this width, as the README states."""
    text = (FOLDER / "README.md").read_text("utf-8")
    (row,) = re.findall(rf"^\| {width} \| (\d+) \|", text, re.M)
    return int(row)


@pytest.mark.parametrize("width", [3, 5, 8, 16])
def test_logits_are_the_reference_s(reference: ModuleType, width: int) -> None:
    images, labels = reference.test_set()
    changed = {"nnp.vector_bits": width, "nnp.matrix_bits": width}
    device = macaw.configuration("base").changed(changed)
    program = macaw.assemble(FOLDER / "digits_nnp.s", device=device)
    y = macaw.run(program, x=images.reshape(-1, 32)).outputs["y"][:, :10]
    assert y.tobytes() == reference.logits(images, width).tobytes()
    assert int((y.argmax(axis=1) == labels).sum()) == right(str(width))


@pytest.mark.once
def test_the_emulator_confirms_the_fine_tuned_network(reference: ModuleType) -> None:
    """The emulator gives the outputs of the network that finetune.py trained to 3 bits.

    See seed 003 ¶38, ¶42.
    """
    images, labels = reference.test_set()
    changed = {"nnp.vector_bits": 3, "nnp.matrix_bits": 3}
    device = macaw.configuration("base").changed(changed)
    found = macaw.concord(FOLDER / "digits_nnp.s", device=device)
    data = {**np.load(FOLDER / "three_bits.npz"), "x": images}
    y = found.emulate(data)["y"]
    assert y.tobytes() == found.run(data)["y"].tobytes()
    digits = y.argmax(axis=1)
    assert int((digits == labels).sum()) == right("after") >= 0.95 * len(labels)


def test_binary64_reads_what_the_readme_says(reference: ModuleType) -> None:
    images, labels = reference.test_set()
    x = images.astype(np.float64)
    weights, biases = reference.load()
    for weight, bias in zip(weights[:2], biases[:2], strict=True):
        x = np.maximum(x @ weight.astype(np.float64).T + bias, 0)
    x = x @ weights[2].astype(np.float64).T + biases[2]
    digits = x[:, :10].argmax(axis=1)
    assert int((digits == labels).sum()) == right("binary64")
