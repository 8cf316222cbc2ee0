"""The committed convolutional network: its record, and its reference against plain loops."""

import tomllib
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.programs.scripts import PROGRAMS, script

FOLDER = PROGRAMS / "digits_cnn"


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    """programs/digits_cnn/reference.py, which belongs to no package."""
    return script("digits_cnn/reference.py")


def test_shapes_and_record(reference: ModuleType) -> None:
    record = tomllib.loads((FOLDER / "network.toml").read_text(encoding="utf-8"))
    network = reference.load()
    assert [layer.kind for layer in network] == ["conv", "depthwise", "conv", "dense"]
    assert [layer.weights.shape for layer in network] == [
        (8, 3, 3, 1),
        (8, 3, 3),
        (16, 1, 1, 8),
        (10, 256),
    ]
    for layer, entry in zip(network, record["layer"], strict=True):
        assert layer.weights.dtype == np.int8
        assert layer.bias.dtype == np.int32
        assert np.count_nonzero(layer.weights) == entry["nonzero"]
    images, labels = reference.load_test_set()
    assert (images.dtype, images.shape) == (np.int8, (400, 8, 8, 1))
    assert reference.accuracy(images, labels) == pytest.approx(record["test"]["accuracy"], abs=1e-9)
    assert record["test"]["accuracy"] >= 0.97
    assert reference.largest_accumulator(network) == record["test"]["accumulator_bound"] < 2**24


def test_images_are_those_of_the_perceptron(reference: ModuleType) -> None:
    images, labels = reference.load_test_set()
    other = FOLDER.parent / "digits_mlp"
    assert np.array_equal(images.reshape(5, 80, 64), np.load(other / "images.npy"))
    assert np.array_equal(labels.reshape(5, 80), np.load(other / "labels.npy"))


def _plain(layer: Any, x: list[list[list[int]]], row: int, column: int, channel: int) -> int:
    """One sum of a convolution by loops over Python integers.

    Numbers outside the map are zero.
    """
    weights = layer.weights.tolist()[channel]
    total = int(layer.bias[channel])
    for i in range(layer.weights.shape[1]):
        for j in range(layer.weights.shape[2]):
            y, z = row * layer.stride + i - layer.padding, column * layer.stride + j - layer.padding
            if not (0 <= y < len(x) and 0 <= z < len(x[0])):
                continue
            if layer.kind == "depthwise":
                total += weights[i][j] * x[y][z][channel]
            else:
                total += sum(w * v for w, v in zip(weights[i][j], x[y][z], strict=True))
    return total


def test_layers_against_plain_python(reference: ModuleType) -> None:
    """The layers of reference.py equal loops in Python, in which Fractions round half to even."""
    network = reference.load()
    images = reference.load_test_set()[0][::100]
    found = reference.outputs(images)
    for n, image in enumerate(images.tolist()):
        x = image
        for layer, maps in zip(network[:-1], found[:-1], strict=True):
            got = maps[n].tolist()
            for row, line in enumerate(got):
                for column, pixel in enumerate(line):
                    for channel, value in enumerate(pixel):
                        total = max(0, _plain(layer, x, row, column, channel))
                        assert value == min(127, round(Fraction(total, 2**layer.shift)))
            x = got
        flat = [value for line in x for pixel in line for value in pixel]
        last = network[-1]
        for digit, weights in enumerate(last.weights.tolist()):
            total = int(last.bias[digit]) + sum(w * v for w, v in zip(weights, flat, strict=True))
            assert found[-1][n][digit] == total
