"""Functions as steps of binary32: their errors, and which nodes become such steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from macaw.lowering.onnx import formulas
from macaw.lowering.onnx.formulas import Step, evaluate, formula
from macaw.lowering.onnx.graph import Node

ERF = np.vectorize(math.erf)
EXACT: dict[str, Any] = {
    "EXP": np.exp,
    "SIGMOID": lambda x: 1 / (1 + np.exp(-x)),
    "TANH": np.tanh,
    "ERF": ERF,
    "GELU": lambda x: 0.5 * x * (1 + ERF(x / math.sqrt(2))),
    "GELU_TANH": lambda x: 0.5 * x * (
        1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_errors(name):
    """The error of a function is below the bound that the module states."""
    small = np.logspace(-8, 1, 300)
    x = np.concatenate([np.linspace(-20, 20, 5001), small, -small]).astype(np.float32)
    exact = EXACT[name](x.astype(float))
    errors = np.abs(evaluate(getattr(formulas, name), x) - exact) / np.maximum(1, np.abs(exact))
    assert errors.max() < 5e-7


def test_what_has_no_end_and_no_number():
    x = np.array([np.inf, -np.inf, np.nan], np.float32)
    np.testing.assert_array_equal(evaluate(formulas.TANH, x), [1, -1, np.nan])
    np.testing.assert_array_equal(evaluate(formulas.SIGMOID, x), [1, 0, np.nan])
    np.testing.assert_array_equal(evaluate(formulas.ERF, x), [1, -1, np.nan])


def steps(operator, *inputs, **attributes):
    constants = {"half": np.float32(0.5).reshape(1), "row": np.ones(3, np.float32), "x": None,
                 "y": None, "whole": np.int64(2).reshape(1)}  # fmt: skip
    return formula(Node("n", operator, inputs, ("z",), attributes), constants)


def test_nodes_with_constants():
    assert steps("Sub", "half", "x") == (Step("sub", 0, (0.5, 0)),)
    assert steps("Div", "x", "y") == (Step("div", 0, (0, 1)),)
    assert steps("Clip", "x", "", "half") == (Step("min", 0, (0, 0.5)),)
    assert steps("Relu", "x", activation_range=(-math.inf, 6.0))[1:] == (Step("min", 0, (0, 6.0)),)
    for refused in (
        steps("Add", "x", "row"), steps("Add", "x", "whole"), steps("Log", "x"),
        steps("Max", "x", "y", "half"), steps("Clip", "x", "y"), steps("Add", "half", "half"),
    ):  # fmt: skip
        assert refused is None
