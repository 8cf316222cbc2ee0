"""Sums of layers on integers: their bounds, and the biases that they begin with."""

from __future__ import annotations

import numpy as np
import pytest

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.accumulators import accumulator_range, check_accumulators
from tests.lowering.onnx.integer_models import F32, quantised
from tests.lowering.onnx.models import NODE
from tests.lowering.onnx.running import network_of, outputs_of, random_integers, runtime_outputs


@pytest.mark.parametrize("seed", range(3))
def test_bounds_of_accumulators(seed):
    random = np.random.default_rng(seed)
    weights, bias = random_integers(random, (4, 9)), random.integers(-500, 500, 4)
    least, most = accumulator_range(weights, bias, "int8")
    for row, offset, low, high in zip(weights.astype(int), bias, least, most, strict=True):
        ends = (
            [(127 if w > 0 else -128) * w for w in row],
            [(-128 if w > 0 else 127) * w for w in row],
        )
        assert (low, high) == (sum(ends[1]) + min(offset, 0), sum(ends[0]) + max(offset, 0))


def test_an_accumulator_that_could_overflow_is_refused():
    weights, bias = np.full((2, 131_000), 127, np.int8), np.zeros(2, np.int64)
    check_accumulators(weights, bias, "int8", "int32")
    bias[1] = 40_000_000
    with pytest.raises(
        LowerError,
        match=r"^output 1 could sum to -2,129,536,000 or to 2,152,899,000, outside of int32$",
    ):
        check_accumulators(weights, bias, "int8", "int32")
    check_accumulators(weights, bias, "int8", "int64")
    nodes = [
        NODE("DequantizeLinear", ["w", "ws"], ["k"]),
        NODE("MatMul", ["a", "k"], ["c"], name="it"),
    ]
    made = quantised(
        nodes, {"x": (1, 140_000)}, w=np.full((140_000, 1), 127, np.int8), ws=F32(0.01)
    )
    with pytest.raises(LowerError, match=r"^node it \(MatMul\): output 0 could sum to"):
        network_of(made)


def test_a_bias_that_does_not_fit():
    nodes = [
        NODE("DequantizeLinear", ["w", "ws"], ["k"]),
        NODE("Gemm", ["a", "k", "far"], ["c"], name="it"),
    ]
    made = quantised(
        nodes, {"x": (1, 4)}, w=np.ones((4, 2), np.int8), ws=F32(1e-6), far=np.array([0, 1e6], F32)
    )
    with pytest.raises(LowerError, match=r"^node it \(Gemm\): its bias does not fit 32 bits$"):
        network_of(made)


@pytest.mark.parametrize("shape", [(3,), (1, 3), (1,), (), (3, 1)])
def test_a_quantised_c_of_a_gemm(shape):
    """A C with a number for each column, or one number, is a bias; one for each row is not."""
    nodes = [
        NODE("DequantizeLinear", ["w", "ws"], ["k"]),
        NODE("DequantizeLinear", ["b", "bs"], ["d"]),
        NODE("Gemm", ["a", "k", "d"], ["c"], name="it"),
    ]
    bias = (np.arange(np.prod(shape, dtype=int)).reshape(shape) * 90 - 77).astype(np.int32)
    made = quantised(
        nodes, {"x": (3, 4)}, w=np.eye(4, 3, dtype=np.int8), ws=F32(0.5), b=bias, bs=F32(0.25)
    )
    x = np.random.default_rng(3).integers(-128, 128, (3, 4)).astype(np.int8)
    np.testing.assert_array_equal(outputs_of(made, x=x)[0], runtime_outputs(made, x=x)[0])
