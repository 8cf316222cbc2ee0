"""Computes nodes of an ONNX model that depend on constants only, by ONNX's reference evaluator.

The evaluator ignores modes of recurrent layers, so Macaw's own operators compute these layers.
Only deterministic operators whose results have the declared size are computed. The work for one
model is limited.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.graph import node_of
from macaw.lowering.onnx.model_file import reason
from macaw.lowering.onnx.operators.table import compute
from macaw.lowering.onnx.recurrent_nodes import GATES
from macaw.lowering.onnx.shapes import Form, check_axis
from macaw.lowering.onnx.values import Value

# the most numbers that are read, written and multiplied for the constants of a model
MOST = 1 << 28
SMALL = 1 << 12  # the limit for operators that the reference evaluator computes number by number
# fmt: off
FOLDED = frozenset((  # NumPy computes whole arrays at once
    "Abs", "Acos", "Acosh", "Add", "And", "ArgMax", "ArgMin", "Asin", "Asinh", "Atan", "Atanh",
    "BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "Cast", "CastLike", "Ceil",
    "Celu", "Clip", "Compress", "Concat", "Constant", "ConstantOfShape", "Cos", "Cosh", "CumSum",
    "DepthToSpace", "DequantizeLinear", "Div", "Elu", "Equal", "Erf", "Exp", "Expand", "EyeLike",
    "Flatten", "Floor", "Gather", "GatherElements", "GatherND", "Gemm", "Greater", "GreaterOrEqual",
    "HardSigmoid", "HardSwish", "Identity", "IsInf", "IsNaN", "LeakyRelu", "Less", "LessOrEqual",
    "Log", "LogSoftmax", "MatMul", "Max", "Mean", "Min", "Mod", "Mul", "Neg", "NonZero", "Not",
    "OneHot", "Or", "PRelu", "Pad", "Pow", "QuantizeLinear", "Range", "Reciprocal", "ReduceL1",
    "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
    "ReduceProd", "ReduceSum", "ReduceSumSquare", "Relu", "Reshape", "Round", "Scatter",
    "ScatterElements", "ScatterND", "Selu", "Shape", "Sigmoid", "Sign", "Sin", "Sinh", "Size",
    "Slice", "Softmax", "Softplus", "Softsign", "SpaceToDepth", "Split", "Sqrt", "Squeeze", "Sub",
    "Sum", "Tan", "Tanh", "ThresholdedRelu", "Tile", "TopK", "Transpose", "Trilu", "Unsqueeze",
    "Where", "Xor",
))
SLOW = frozenset(("BatchNormalization", "Conv", "GRU", "LSTM", "LayerNormalization", "RNN"))
# fmt: on
# operators whose results have at most input size times rank numbers
_BOUNDED = ("Compress", "NonZero")


class Evaluator:
    """Evaluates ONNX nodes with constant inputs; it limits the work for the whole model."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.left = MOST

    def fold(
        self, node: onnx.NodeProto, inputs: Sequence[Value | None], forms: Sequence[Form | None]
    ) -> list[NDArray[Any]]:
        """Return the outputs of an ONNX node with constant inputs.

        `forms` has the types and shapes of the outputs. Outputs without a name are empty arrays.
        Raises `LowerError` for an operator that is not computed, and for too much work.
        """
        kind = node.op_type
        if kind not in FOLDED and kind not in SLOW:
            raise LowerError("its inputs are constants, but macaw does not compute it on constants")
        if kind not in _BOUNDED and any(form and form.shape is None for form in forms):
            raise LowerError("the size of its result is not known beforehand")
        values = [value for value in inputs if value is not None]
        count = sum(math.prod(value.shape) for value in values)
        count += sum(form.numbers for form in forms if form)
        if kind in SLOW and count > SMALL:
            raise LowerError(
                f"its inputs are constants of {count:,} numbers",
                f"macaw computes it on at most {SMALL:,}",
            )
        self._spend(count + _products(kind, values, forms))
        return self.evaluate(node, [value.array if value else None for value in inputs])

    def evaluate(
        self, node: onnx.NodeProto, arrays: Sequence[NDArray[Any] | None]
    ) -> list[NDArray[Any]]:
        """Return the results of a node's operator on `arrays`.

        Outputs without a name are empty arrays. Raises `LowerError` if the reference evaluator
        cannot compute the results.
        """
        if node.op_type == "GatherElements":
            _check_indices(node, arrays)
        if node.op_type in GATES:
            return compute(node_of(node), arrays)
        if node.op_type == "Slice":
            arrays = _with_first_starts(arrays)
        # Give the values unique names: those of a node may be empty, or equal those of its inputs.
        one = onnx.NodeProto()
        one.CopyFrom(node)
        names = dict(zip(node.input, (f"i{n}" for n in range(len(node.input))), strict=True))
        del one.input[:], one.output[:]
        one.input.extend(names[name] if name else "" for name in node.input)
        one.output.extend(f"o{n}" if name else "" for n, name in enumerate(node.output))
        one.domain, version = "", self.version
        if one.op_type == "Scatter":  # up to operator set 10; equal to its successor
            one.op_type, version = "ScatterElements", 11
        inputs = {
            names[name]: x for name, x in zip(node.input, arrays, strict=True) if x is not None
        }
        unknown = onnx.helper.make_empty_tensor_value_info
        graph = onnx.helper.make_graph(
            [one], "one", [unknown(name) for name in inputs],
            [unknown(name) for name in one.output if name],
        )  # fmt: skip
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", version)])
        from onnx.reference import ReferenceEvaluator  # its import takes long; few models need it

        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                outputs = ReferenceEvaluator(model).run(None, inputs)
        except Exception as error:  # any exception that NumPy code of an operator raises
            cause = error.__cause__ or error
            # Other messages are about Python, not about the model.
            more = f": {reason(cause)}" if isinstance(cause, ValueError | IndexError) else ""
            more = "" if more.endswith("index out of range") or "<" in more else more
            raise LowerError(f"ONNX's reference cannot compute it{more}") from None
        there = iter(outputs)
        return [np.asarray(next(there)) if name else np.zeros(0) for name in node.output]

    def _spend(self, numbers: int) -> None:
        self.left -= numbers
        if self.left < 0:
            raise LowerError(f"for the constants of a model at most {MOST:,} numbers are computed")


def _check_indices(node: onnx.NodeProto, arrays: Sequence[NDArray[Any] | None]) -> None:
    """Raise `LowerError` for indices outside of their axis.

    The reference evaluator would wrap them, which takes long for large indices.
    """
    data, indices = arrays
    assert data is not None
    assert indices is not None
    axis = next((x.i for x in node.attribute if x.name == "axis"), 0)
    check_axis(axis, data.ndim)
    size = data.shape[axis]
    if indices.size and not -size <= int(indices.min()) <= int(indices.max()) < size:
        raise LowerError(f"an index is outside of -{size} to {size - 1}, the range of axis {axis}")


def _with_first_starts(arrays: Sequence[NDArray[Any] | None]) -> list[NDArray[Any] | None]:
    """Return the inputs of a Slice without starts that lie before the first index.

    With a negative step, ONNX takes the first index for such a start. The reference evaluator would
    take nothing.
    """
    x, starts, _, axes, steps = (*arrays, None, None, None, None)[:5]
    if x is None or starts is None or steps is None:
        return list(arrays)
    places = np.arange(starts.size) if axes is None else axes.reshape(-1)
    least = -np.array([x.shape[axis] for axis in places], starts.dtype)
    backwards = steps.reshape(-1) < 0
    return [x, np.where(backwards, np.maximum(starts, least), starts), *arrays[2:]]


def _products(kind: str, values: Sequence[Value], forms: Sequence[Form | None]) -> int:
    """Return a measure of the work of a MatMul or Gemm; 0 for any other operator.

    The measure is r · a / 8 for r results, if the longest axis of the inputs has length a. A result
    is a sum of at most a products, so the measure is at least an eighth of the number of products.
    `kind` is the operator, `values` are the inputs, `forms` has the shape of the result.
    """
    if kind not in ("MatMul", "Gemm") or not forms or forms[0] is None:
        return 0
    return forms[0].numbers * max(max(value.shape, default=1) for value in values[:2]) // 8
