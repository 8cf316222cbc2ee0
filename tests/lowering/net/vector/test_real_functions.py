"""Functions, Softmax and LayerNormalization in binary32 on vc: bits, cycles, refused operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.isa.config import load
from macaw.lowering.errors import LowerError
from macaw.lowering.net.vector.operations import VectorOperation
from macaw.lowering.net.vector.real_function import LayerNormalization, RealFunction, Softmax
from macaw.lowering.net.vector.reference import compute
from macaw.lowering.net.vector.source import cycles
from macaw.lowering.onnx import formulas
from macaw.lowering.onnx.formulas import Step
from tests.fuzzing import sessions
from tests.lowering.net.vector.programs import random_inputs, run

few = settings(sessions, max_examples=max(8, sessions.max_examples // 3))
STEPS = {
    "exp": formulas.EXP, "sigmoid": formulas.SIGMOID, "tanh": formulas.TANH, "erf": formulas.ERF,
    "gelu": formulas.GELU, "gelu of tanh": formulas.GELU_TANH, "swish": formulas.swish(1.5),
    "root": (Step("abs", 0, (0,)), Step("sqrt", 0, (0,))),
    "range": (Step("max", 0, (0, -1.5)), Step("min", 0, (0, 6.0))),
    "leaky": (Step("mul", 1, (0.1, 0)), Step("select", 0, (0, 1, 0))),
}  # fmt: skip


@st.composite
def functions(draw: Any) -> RealFunction:
    """Draw functions of one tensor, between all types, and of two tensors."""
    shape = (draw(st.integers(1, 70)),)
    if draw(st.integers(0, 3)) == 0:
        step = Step(draw(st.sampled_from("add sub mul div max min".split())), 0, (0, 1))
        return RealFunction("float32", shape, (step,), "two", count=2)
    dtype, to = (draw(st.sampled_from(["int8", "int16", "float32"])) for _ in range(2))
    name = draw(st.sampled_from(sorted(STEPS)))
    zero = draw(st.sampled_from([0, 0, -128, 5, 127]))
    result_zero = draw(st.sampled_from([0, 0, -128, 7, 127]))
    scale, divisor = (draw(st.sampled_from([1.0, 0.125, 0.037])) for _ in range(2))
    return RealFunction(dtype, shape, STEPS[name], name, to, 1, zero, scale, divisor, result_zero)


@few
@given(functions(), st.integers(0, 999), st.sampled_from(["fast", "reference"]))
def test_functions(operation, seed, engine):
    inputs = random_inputs(operation, seed)
    found, measured = run(operation, *inputs, engine=engine)
    np.testing.assert_array_equal(found, compute(operation, *inputs))
    assert abs(cycles(operation, load("tiny")) - measured) <= 0.15 * measured


@pytest.mark.parametrize("to", ["int8", "int16"])
@pytest.mark.parametrize("zero", [-128, -5, 7, 127])
def test_numbers_beyond_the_range_become_its_ends(to, zero):
    """Also numbers so large that a sum with the zero point would overflow 32 bits."""
    step = (Step("max", 0, (0, -3e38)),)
    operation = RealFunction("float32", (8,), step, "max", to, 1, 0, 1.0, 1.0, zero)
    x = np.array([-3e38, -2147483648, -40000, -300, 300, 40000, 2147483520, 3e38], np.float32)
    info = np.iinfo(to)
    wanted = np.clip(np.clip(x.astype(float), -(2**31), 2**31 - 1) + zero, info.min, info.max)
    found, _ = run(operation, x)
    assert found.tolist() == wanted.astype(int).tolist()


@st.composite
def rows(draw: Any) -> VectorOperation:
    """Draw Softmax and LayerNormalization of rows of any length."""
    shape = (draw(st.integers(1, 4)), draw(st.integers(1, 40)))
    if draw(st.booleans()):
        return Softmax("float32", shape)
    rng = np.random.default_rng(shape[1])
    factors, offsets = (tuple(rng.normal(size=shape[1]).tolist()) for _ in range(2))
    return LayerNormalization("float32", shape, factors, draw(st.sampled_from([(), offsets])), 1e-5)


@few
@given(rows(), st.integers(0, 999), st.sampled_from(["fast", "reference"]), st.booleans())
def test_rows(operation, seed, engine, extreme):
    x = np.random.default_rng(seed).normal(scale=3, size=operation.result).astype(np.float32)
    x = random_inputs(operation, seed)[0] if extreme else x
    found, measured = run(operation, x, engine=engine)
    np.testing.assert_array_equal(found, compute(operation, x))
    assert abs(cycles(operation, load("tiny")) - measured) <= 0.15 * measured


def test_four_partial_sums_by_hand():
    """By hand: a row is added in four partial sums.

    2**25 + 1 is no binary32: the sum of elements 0 and 4 loses the 1; that of 1 and 5 keeps it.
    """
    x = np.array([[2.0**25, 0, 0, 0, 1, 1]], np.float32)
    ones = (1.0,) * 6
    (mean_less,) = compute(LayerNormalization("float32", (1, 6), ones, (), 0.0), x)
    assert mean_less.dtype == np.float32
    from macaw.lowering.onnx.operators.elementwise import row_sums

    assert row_sums(x).tolist() == [[2.0**25]]
    assert row_sums(np.array([[2.0**25, 0, 1, 1]], np.float32)).tolist() == [[2.0**25]]
    assert row_sums(np.array([[0, 2.0**25, 3, 0, 0, 0, 1, 0]], np.float32)).tolist() == [
        [2.0**25 + 4]
    ]


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (RealFunction("int32", (4,), formulas.EXP, "exp"), "elements of type int32"),
        (RealFunction("int8", (4,), formulas.EXP, "exp", "int32"), "results of type int32"),
        (
            RealFunction(
                "int8", (4,), tuple(Step("add", 0, (0, float(n))) for n in range(15)), "many"
            ),
            "a function with 15 constants",
        ),
        (Softmax("int8", (4,)), "elements of type int8"),
        (LayerNormalization("float32", (2, 3), (1.0,), (), 0.0), "1 factors and 0 offsets"),
        (LayerNormalization("float32", (2, 1), (1.0,), (1.0, 2.0), 0.0), "1 factors and 2"),
    ],
)
def test_refusals(operation, message):
    with pytest.raises(LowerError) as error:
        operation.check()
    assert str(error.value).startswith(message)
