"""Views: real values of a graph that are stored as integers with a scale and a zero point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import helper

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.onnx.graph import Graph, Node
from macaw.lowering.onnx.network import Quantisation
from macaw.lowering.onnx.operators.elementwise import ELEMENTWISE
from macaw.lowering.onnx.operators.quantisation import limits
from macaw.lowering.onnx.values import Value

STORED = "_integers"  # ends the name of a tensor with the integers of a real value
SIGNED = {"int8": "int8", "uint8": "int8", "int16": "int16", "uint16": "int16"}
_OFFSETS = {"uint8": -128, "uint16": -32768}
_NOT_UNARY = ("Identity", "Cast", "Where", "Softmax", "LogSoftmax", "LayerNormalization", "LRN",
              "BatchNormalization", "InstanceNormalization", "ArgMax", "ArgMin", "Not", "IsNaN",
              "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "And", "Or", "Xor",
              "Mod")  # fmt: skip
UNARY = tuple(
    name for name in ELEMENTWISE if name not in _NOT_UNARY and not name.startswith("Reduce")
)


@dataclass(frozen=True)
class View:
    """A real value of the graph that the network stores as signed integers.

    `tensor` is the name of the tensor with the integers, and `dtype` their type. `quantisation`
    says which real numbers they stand for.
    """

    tensor: str  # the name of the tensor with the integers
    dtype: str  # the element type of the integers
    quantisation: Quantisation  # which real numbers the integers stand for


@dataclass(frozen=True)
class QuantisedConstant:
    """Constant integers minus their zero point, with one scale, or one for each index on `axis`."""

    numbers: NDArray[np.int64]
    scales: NDArray[np.float32]
    axis: int


@dataclass(frozen=True)
class Target:
    """The type and scale of the integers that QuantizeLinear nodes make of one value.

    `dtype` is the type of the integers in the model; it may be unsigned. `quantisation` says
    which real numbers the integers stand for after they have been made signed. `nodes` are all
    QuantizeLinear nodes that make these integers.
    """

    dtype: str
    quantisation: Quantisation  # quantisation of the signed integers
    nodes: tuple[Node, ...]  # all QuantizeLinear nodes with the same numbers


def offset_of(dtype: str) -> int:
    """Return the number to add to integers of type `dtype` so that they become signed.

    It is -128 for uint8, -32768 for uint16, and 0 for a signed type.
    """
    return _OFFSETS.get(dtype, 0)


def single_quantisation(graph: Graph, node: Node, dtype: str) -> Quantisation | None:
    """Return the quantisation of a QuantizeLinear or DequantizeLinear node, for signed integers.

    The result is None if the quantisation is not constant, or if it is by channel or block. It is
    also None if the scale is not a positive, finite float32, or if `dtype` is not int8, uint8,
    int16 or uint16.
    """
    scale = graph.constant(node.inputs[1])
    zero = graph.constant(node.inputs[2]) if len(node.inputs) > 2 else None
    given = len(node.inputs) > 2 and bool(node.inputs[2])
    if scale is None or (given and zero is None) or scale.size != 1 or dtype not in SIGNED:
        return None
    if scale.dtype != np.float32 or not 0 < float(scale.reshape(-1)[0]) < np.inf:
        return None
    point = 0 if zero is None else int(zero.reshape(-1)[0])
    return Quantisation(float(scale.reshape(-1)[0]), point + offset_of(dtype))


def target_of(graph: Graph, quantisers: Sequence[Node], readers: int) -> Target | None:
    """Return the integers to which all readers of a value quantise it.

    Return None if a reader does not quantise the value, if two readers make different integers, or
    if `single_quantisation` returns None. `quantisers` are the QuantizeLinear nodes that read the
    value; `readers` is the number of all nodes that read it.
    """
    if not quantisers or len(quantisers) != readers:
        return None
    found = []
    for node in quantisers:
        dtype = np.dtype(dtype_name(graph.values[node.outputs[0]])).name
        found.append((dtype, single_quantisation(graph, node, dtype)))
    dtype, quantisation = found[0]
    if quantisation is None or any(other != found[0] for other in found):
        return None
    return Target(dtype, quantisation, tuple(quantisers))


def dtype_name(value: Value) -> str:
    """Return the name of NumPy's type for a value: int8, float32 ..."""
    return str(np.dtype(helper.tensor_dtype_to_np_dtype(value.element)).name)


def quantised_constant(graph: Graph, node: Node) -> QuantisedConstant | None:
    """Return the integers and scales of a dequantised constant.

    Return None if scales or zero points are no constants, if the scales are not binary32, or if
    there is a scale for each block.
    """
    q, scale = graph.constant(node.inputs[0]), graph.constant(node.inputs[1])
    zero = graph.constant(node.inputs[2]) if len(node.inputs) > 2 else None
    given = len(node.inputs) > 2 and bool(node.inputs[2])
    if q is None or scale is None or (given and zero is None) or scale.ndim > 1:
        return None
    if scale.dtype != np.float32 or (scale.ndim and scale.size > 1 and q.ndim == 0):
        return None
    limits(q.dtype.name)
    axis = int(node.attributes.get("axis", 1)) if scale.size > 1 else 0
    axis += q.ndim if axis < 0 else 0
    numbers = q.astype(np.int64)
    if zero is not None:
        shape = [1] * q.ndim
        if zero.size > 1:
            shape[axis] = -1
        numbers = numbers - zero.astype(np.int64).reshape(shape if zero.size > 1 else ())
    return QuantisedConstant(
        numbers, scale.reshape(-1) if scale.size > 1 else scale.reshape(()), axis
    )


def unary_input(node: Node, arrays: Mapping[str, NDArray[Any] | None]) -> str:
    """Return the name of a node's input, if the node computes a function of each of its elements.

    All other inputs of the node are constants of one element. Return "" for other nodes.
    """
    if node.operator not in UNARY or len(node.outputs) != 1:
        return ""
    real = {name for name in node.inputs if name and arrays[name] is None}
    others = [array for name in node.inputs if name and (array := arrays[name]) is not None]
    if len(real) != 1 or any(array.size != 1 for array in others):
        return ""
    return next(iter(real))
