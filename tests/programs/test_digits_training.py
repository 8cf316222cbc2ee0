"""The committed digits network has the stated shapes, accuracy, density and MACs."""

import tomllib
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tests.programs.scripts import PROGRAMS, script

FOLDER = PROGRAMS / "digits_mlp"


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    """programs/digits_mlp/reference.py, which belongs to no package."""
    return script("digits_mlp/reference.py")


def test_shapes_and_types(reference: ModuleType) -> None:
    images, labels = reference.load_test_set()
    assert (images.dtype, images.shape) == (np.int8, (5, 80, 64))
    assert (labels.dtype, labels.shape) == (np.uint8, (5, 80))
    assert images.min() == 0
    assert images.max() == 16
    network = reference.load()
    assert [w.shape for w in network.weights] == [(64, 64), (64, 64), (10, 64)]
    assert all(w.dtype == np.int8 for w in network.weights)
    assert all(b.dtype == np.int32 for b in network.biases)
    assert all(0 <= shift <= 31 for shift in network.shifts)


def test_accuracy_and_density(reference: ModuleType) -> None:
    record = tomllib.loads((FOLDER / "shifts.toml").read_text(encoding="utf-8"))
    network = reference.load()
    accuracy = reference.accuracy(*reference.load_test_set())
    assert accuracy >= 0.975
    assert accuracy == pytest.approx(record["accuracy"], abs=1e-9)
    assert max(reference.densities(network)) <= 0.3
    assert [np.count_nonzero(w) for w in network.weights] == [
        record[f"nonzero{k}"] for k in (1, 2, 3)
    ]
    assert reference.largest_accumulator(network) == record["accumulator_bound"] < 2**24


def test_layers_against_plain_python(reference: ModuleType) -> None:
    """The layers of reference.py equal loops in Python, in which Fractions round half to even."""
    network = reference.load()
    images = reference.load_test_set()[0][:2, ::4].reshape(-1, 64)
    outputs = reference.layers(images)
    effectual = [0, 0, 0]
    for i, image in enumerate(images.tolist()):
        x = image
        for k in range(3):
            rows = network.weights[k].tolist()
            effectual[k] += sum(1 for row in rows for w, a in zip(row, x, strict=True) if w and a)
            x = [
                sum(w * a for w, a in zip(row, x, strict=True)) + bias
                for row, bias in zip(rows, network.biases[k].tolist(), strict=True)
            ]
            if k < 2:
                unit = 2 ** network.shifts[k]
                x = [min(127, round(Fraction(max(acc, 0), unit))) for acc in x]
            assert outputs[k][i].tolist() == x
    assert reference.macs(images).effectual == tuple(effectual)


def test_macs_of_the_test_set(reference: ModuleType) -> None:
    record = tomllib.loads((FOLDER / "shifts.toml").read_text(encoding="utf-8"))
    macs = reference.macs(reference.load_test_set()[0])
    assert sum(macs.dense) == 400 * (64 * 64 + 64 * 64 + 10 * 64) == record["macs_dense"]
    assert sum(macs.effectual) == record["macs_effectual"]
    assert all(e < w < d for e, w, d in zip(macs.effectual, macs.weights, macs.dense, strict=True))


@pytest.mark.parametrize(
    ("acc", "shift", "expected"),
    [(8, 4, 0), (24, 4, 2), (25, 4, 2), (40, 4, 2), (2040, 4, 127), (-9000, 4, -128), (5, 0, 5)],
)
def test_requantise(reference: ModuleType, acc: int, shift: int, expected: int) -> None:
    assert reference.requantise(np.array([acc], np.int32), shift).tolist() == [expected]


def test_unequal_bias_copies_are_refused(reference: ModuleType, tmp_path: Path) -> None:
    for path in FOLDER.glob("*.npy"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    bias = np.load(tmp_path / "b2.npy")
    bias[5, 3] += 1
    np.save(tmp_path / "b2.npy", bias)
    with pytest.raises(ValueError, match=r"b2\.npy: expected 4 equal copies of the bias"):
        reference.load(tmp_path)
