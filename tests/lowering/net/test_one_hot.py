"""One-hot vectors of integers: a product with them reads rows of a table, or is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import macaw
from tests.lowering.net.models import ModelBuilder

pytestmark = pytest.mark.usefixtures("few_plans")

POSITIONS, COUNT, WIDTH = 4, 6, 5  # fewer positions than integers


def model(compared: Any, dtype: int = TensorProto.INT32) -> onnx.ModelProto:
    """A model that multiplies one-hot vectors by a constant matrix, and squares the product."""
    builder = ModelBuilder(0, (1, POSITIONS))
    builder.nodes.clear()
    builder.inputs = [helper.make_tensor_value_info("x", dtype, [1, POSITIONS])]
    whole = helper.tensor_dtype_to_np_dtype(dtype)
    shapes = [builder.constant(f"shape{n}", np.array([1, POSITIONS, size]))
              for n, size in enumerate((1, COUNT))]  # fmt: skip
    numbers = builder.constant("numbers", np.asarray(compared, whole))
    value = builder.node("Reshape", ["x", shapes[0]], "places")
    value = builder.node("Expand", [value, shapes[1]], "repeated")
    value = builder.node("Equal", [value, numbers], "equal")
    builder.value = builder.node("Cast", [value], "hot", to=TensorProto.FLOAT)
    builder.shape = (1, POSITIONS, COUNT)
    builder.quantise("hot", 2.0**-6)
    inputs = [builder.constant("w", builder.rng.integers(-9, 9, (COUNT, WIDTH)).astype(np.int8)),
              builder.constant("ws", np.float32(2.0**-4))]  # fmt: skip
    weights = builder.node("DequantizeLinear", inputs, "wdq")
    builder.value = builder.node("MatMul", [builder.value, weights], "product")
    builder.quantise("product", 2.0**-4)
    builder.multiply("square", builder.value, 2.0**-3)
    builder.shape = (1, POSITIONS, WIDTH)
    return builder.model()


def test_a_product_is_one_lookup():
    network = macaw.compile(model(np.arange(COUNT)), device="tiny")
    assert [layer.operator for layer in network.layers] == ["lookup"]
    x = np.array([[5, 0, -3, 6]], np.int32)
    run = network.run(x=x)
    assert [layer.equal for layer in run.layers] == [True]
    (wanted,) = onnxruntime.InferenceSession(network.model).run(None, {"x": x})
    np.testing.assert_array_equal(run.outputs["y"], wanted)
    assert wanted.any(2).tolist() == [[True, True, False, False]]


@pytest.mark.parametrize(
    ("compared", "dtype", "message"),
    [
        (np.arange(COUNT), TensorProto.INT64, "the input x is int64"),
        (np.arange(COUNT) - 1, TensorProto.INT32, "the input x is int32"),
        (np.full((1, POSITIONS, 1), 2), TensorProto.INT32, "the input x is int32"),
    ],
)
def test_what_stays_is_refused(compared, dtype, message):
    """Other types, negative integers, and integers that differ between positions are refused."""
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(model(compared, dtype), device="tiny")
    assert str(caught.value) == f"node /places/Reshape (Reshape): {message}"


def test_axes_in_front_are_no_positions():
    """A model is refused if its input is repeated as rows: then no row depends on one integer.

    Column j of each row depends on integer j, so the rows are no one-hot vectors.
    """
    builder = ModelBuilder(0, (POSITIONS,))
    builder.nodes.clear()
    builder.inputs = [helper.make_tensor_value_info("x", TensorProto.INT32, [POSITIONS])]
    shape = builder.constant("shape", np.array([POSITIONS, POSITIONS]))
    zero = builder.constant("zero", np.zeros((1, 1), np.int32))
    value = builder.node("Equal", [builder.node("Expand", ["x", shape], "rows"), zero], "equal")
    builder.value = builder.node("Cast", [value], "hot", to=TensorProto.FLOAT)
    builder.shape = (POSITIONS, POSITIONS)
    builder.quantise("hot", 2.0**-6)
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(builder.model(), device="tiny")
    assert "the input x is int32" in str(caught.value)
