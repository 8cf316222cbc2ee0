"""Sigmoid and tanh of sums, in floating-point numbers and in fixed-point integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import macaw
from macaw.emu.engines import ENGINES
from macaw.isa.config import load
from macaw.layer_lowering import lower

pytestmark = pytest.mark.usefixtures("few_plans")

RNG = np.random.default_rng(11)
WEIGHTS = {
    "spmm": RNG.integers(-3, 4, (7, 10)),
    "conv2d": RNG.integers(-2, 3, (5, 3, 3, 2)),
    "depthwise": RNG.integers(-3, 4, (4, 3, 3)),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "spmm": {"rows": 6},
    "conv2d": {"image": (5, 6), "padding": 1},
    "depthwise": {"image": (5, 6), "layout": "cwh"},
}


def curve(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """The function in double precision."""
    return np.tanh(values) if name == "tanh" else 1 / (1 + np.exp(-values))


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("operation", "activation", "element"),
    [
        ("spmm", "sigmoid", "int8"),
        ("spmm", "tanh", "fp32"),
        ("conv2d", "tanh", "int16"),
        ("conv2d", "sigmoid", "fp16"),
        ("depthwise", "tanh", "int8"),
        ("depthwise", "sigmoid", "fp32"),
    ],
)
def test_results_are_the_curves_of_the_sums(operation: str, activation: str, element: str) -> None:
    """Results are sigmoid or tanh of the sums.

    For integers, sums have 5 fraction bits, results all bits except the sign.
    """
    device = load("tiny").changed({"pe.element": element})
    words: dict[str, Any] = {"device": device, **OPTIONS[operation]}
    weights = WEIGHTS[operation]
    found = lower(operation, weights, activation=activation, shift=5 if "int" in element else None,
                  **words)  # fmt: skip
    plain = lower(operation, weights, **words)
    (tensor,) = found.assemble().inputs
    x = RNG.integers(-4, 5, tensor.shape).astype(tensor.dtype)
    sums = macaw.run(plain.assemble(), x=x).outputs["y"].astype(float)
    if "int" in element:
        bits = 8 * np.dtype(element).itemsize
        most = 2 ** (bits - 1) - 1
        wanted = np.minimum(np.rint(curve(activation, sums / 32) * (most + 1)), most)
    else:
        wanted = curve(activation, sums).astype(np.float32)
    program = found.assemble()
    for engine in ENGINES:
        np.testing.assert_array_equal(macaw.run(program, engine=engine, x=x).outputs["y"], wanted)
    assert found.measure(x).equal, "the reference, too"


def test_integers_need_the_number_of_fraction_bits() -> None:
    with pytest.raises(macaw.InputError, match=r"^tanh of integers needs a shift$") as caught:
        lower("spmm", WEIGHTS["spmm"], rows=2, activation="tanh", device="tiny")
    assert caught.value.hint == "the fraction bits of the sums"
