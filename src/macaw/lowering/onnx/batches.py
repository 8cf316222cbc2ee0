"""Changes the number of samples in a batch, and checks that no node mixes samples of a batch.

The batch is the first axis of the inputs, and all dimensions with the name of such an axis. The
model is read once with one sample and once with all samples. Each value has its batch along the
axis in which the two readings differ.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import prod
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.graph import Graph, Node
from macaw.lowering.onnx.model_file import message_name
from macaw.lowering.onnx.read import PlacedError, Wishes, node_error, read, type_and_sizes
from macaw.lowering.onnx.shapes import RulesError

_SHAPES = {"Reshape": 1, "Expand": 1, "Resize": 3}  # by operator: the input that is a shape
_RESHAPES = ("Reshape", "Flatten", "Squeeze", "Unsqueeze")  # they keep the order of the elements
# operators on images, whose batch is along axis 0
_IMAGES = frozenset(
    """
    AveragePool BatchNormalization Conv ConvInteger ConvTranspose DepthToSpace GlobalAveragePool
    GlobalMaxPool InstanceNormalization LRN LpPool MaxPool QLinearConv Resize SpaceToDepth Upsample
    """.split()
)
_MOST = 2**63 - 1  # size of a dimension
# operators whose inputs are repeated to one shape, so that their last axes belong together
_ALIGNED = frozenset(
    """
    Add And Concat Div Equal Greater GreaterOrEqual Less LessOrEqual MatMul Max Mean Min Mod Mul Or
    PRelu Pow Sub Sum Where Xor
    """.split()
)
_RECURRENT = ("RNN", "GRU", "LSTM")
# operators that compute a result from all elements along an axis, and their default axis
_ALONG = dict.fromkeys(
    ("Softmax", "LogSoftmax", "Hardmax", "LpNormalization", "LayerNormalization"), -1
)
_FROM = ("LayerNormalization",)  # operators that also compute along all later axes
# operators that do so in operator sets before 13, in which their default axis is 1
_FROM_BEFORE_13 = ("Softmax", "LogSoftmax", "Hardmax")
_HINT = "a model of one sample, and one run for each sample"


def with_batch(
    model: onnx.ModelProto, count: int, dims: Mapping[str, int]
) -> tuple[onnx.ModelProto, dict[str, int]]:
    """Return `model` with `count` samples along the batch's axis of its inputs, and `dims`.

    `model` is a checked model. `dims` gives sizes to named dimensions; it is returned without the
    dimensions of the batch, which the returned model no longer names. Raises `LowerError` for an
    input or output without a batch, and for a node that mixes samples; the message names it.
    """
    if count > _MOST:
        raise LowerError(f"a batch of more than {_MOST:,} samples, which ONNX cannot count", _HINT)
    names = _batch_names(model, count)
    if names is None:
        return model, dict(dims)
    for name in names & dims.keys():
        if dims[name] != count:
            raise LowerError(f"a batch of {count}, and its dimension {name} is {dims[name]}")
    known = {name: size for name, size in dims.items() if name not in names}
    one, many = (_resized(model, names, size) for size in (1, count))
    if count == 1:
        return one, known
    single = read(one, Wishes(dims=known))
    try:
        graph = read(many, Wishes(dims=known))
    except PlacedError as error:
        if not isinstance(error.cause, RulesError):
            raise
        text = f"{error.place}: it can compute one sample, but no batch of {count}"
        raise LowerError(text, _HINT) from None
    _Check(graph, single, count).check()
    for row in many.graph.output:
        _set_shape(row, graph.values[row.name].shape)
    return many, known


def _batch_names(model: onnx.ModelProto, count: int) -> set[str] | None:
    """Return the names of the batch's dimensions; None if all inputs have `count` samples already.

    Raises `LowerError` for an input without a batch.
    """
    initial = {row.name for row in model.graph.initializer}
    shapes = {
        row.name: type_and_sizes(row)[1] for row in model.graph.input if row.name not in initial
    }
    names = {size for sizes in shapes.values() for size in sizes[:1] if isinstance(size, str)}
    names.discard("")
    if shapes and all(sizes[:1] == [count] for sizes in shapes.values()):
        return None
    for name, sizes in shapes.items():
        if sizes[:1] not in ([1], [""]) and not names & set(sizes):
            text = "×".join(str(size) or "?" for size in sizes) or "no dimensions"
            raise LowerError(
                f"the input {message_name(name)} has no batch of {count}: its shape is {text}",
                "the first dimension is 1, or has a name",
            )
    return names


def _resized(model: onnx.ModelProto, names: set[str], count: int) -> onnx.ModelProto:
    """Return the model with `count` samples along the batch's dimensions.

    `names` has the names of these dimensions (`_batch_names`). Some nodes, such as Reshape, have a
    shape as an input. If such a shape is constant and begins with 1, it begins with `count` in the
    result.
    """
    result = onnx.ModelProto()
    result.CopyFrom(model)
    graph = result.graph
    del graph.value_info[:]
    initial = {row.name: row for row in graph.initializer}
    for row in graph.input:
        dims = row.type.tensor_type.shape.dim
        for axis, dim in enumerate(dims):
            if _is_batch(dim, axis, names) and row.name not in initial:
                dim.dim_value = count
    for row in graph.output:
        row.type.tensor_type.ClearField("shape")
    made = {node.output[0]: node for node in graph.node if node.op_type == "Constant"}
    for number, node in enumerate(graph.node):
        place = _SHAPES.get(node.op_type, len(node.input))
        if count > 1 and place < len(node.input) and node.input[place]:
            array = _constant(node.input[place], initial, made)
            if array is not None and array.ndim == 1 and array.size and array[0] == 1:
                array = array.copy()
                array[0] = count
                name = f"{node.input[place]}_batch_{number}"
                graph.initializer.append(numpy_helper.from_array(array, name))
                node.input[place] = name
    return result


def _is_batch(dim: onnx.TensorShapeProto.Dimension, axis: int, names: Collection[str]) -> bool:
    """Return whether a dimension of an input is the batch's dimension.

    A dimension with a name is the batch's if the name is in `names`. A dimension without a name is
    the batch's if its `axis` is 0 and its size is 1 or not given.
    """
    if dim.dim_param:
        return dim.dim_param in names
    return axis == 0 and dim.dim_value in (0, 1, -1)


def _constant(
    name: str, initial: Mapping[str, onnx.TensorProto], made: Mapping[str, onnx.NodeProto]
) -> NDArray[Any] | None:
    if name in initial:
        return numpy_helper.to_array(initial[name])
    for row in made[name].attribute if name in made else ():
        if row.name == "value":
            return numpy_helper.to_array(row.t)
        if row.name == "value_ints":
            return np.asarray(row.ints, np.int64)
    return None


def _difference(shape: tuple[int, ...], other: tuple[int, ...]) -> int | None:
    """Return the axis in which two shapes differ.

    Return None if they do not differ, differ in several axes, or have different numbers of axes.
    """
    if len(shape) != len(other):
        return None
    differ = [axis for axis, size in enumerate(shape) if size != other[axis]]
    return differ[0] if len(differ) == 1 else None


def _set_shape(row: onnx.ValueInfoProto, shape: tuple[int, ...]) -> None:
    for size in shape:
        row.type.tensor_type.shape.dim.add().dim_value = size


class _Check:
    """Compares the graph of a batch with the graph of one sample, to find where samples mix."""

    def __init__(self, graph: Graph, one: Graph, count: int) -> None:
        self.graph, self.one, self.count = graph, one, count
        self.axes: dict[str, int] = {}  # the batch's axis, by the name of a value

    def check(self) -> None:
        """Raise `LowerError` if a node mixes samples, or an output does not depend on the batch."""
        for name in self.graph.inputs:
            self._add(name)
        for node in self.graph.nodes:
            if not any(name in self.axes for name in node.inputs):
                continue
            problem = self._problem(node)
            for name in filter(None, node.outputs):
                if not problem and not self._add(name):
                    shape = self.graph.values[name].shape
                    problem = f"its result {message_name(name)} has the shape {shape}"
            if problem:
                text = f"it mixes the {self.count} samples of a batch: {problem}"
                raise node_error(node.label, node.operator, LowerError(text, _HINT))
        for name in self.graph.outputs:
            if name not in self.axes:
                raise LowerError(f"the output {message_name(name)} does not depend on the batch")

    def _add(self, name: str) -> bool:
        """Note which axis of a value is the batch's; return False if there is none."""
        shape, other = self.graph.values[name].shape, self._shape(name)
        axis = _difference(shape, other)
        if axis is None or shape[axis] != self.count * other[axis]:
            return False
        self.axes[name] = axis
        return True

    def _shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a value for one sample."""
        value = self.one.values.get(name)
        return () if value is None else value.shape

    def _problem(self, node: Node) -> str:
        """Return why a node mixes samples of a batch; an empty text if it does not."""
        source = next(name for name in node.inputs if name in self.axes)
        batch, own = self.axes[source], self._shape(source)
        if node.operator in _IMAGES and batch:
            return f"the batch of its input is along axis {batch}"
        ends = {self.axes[x] - len(self._shape(x)) for x in node.inputs if x in self.axes}
        if node.operator in _ALIGNED and len(ends) > 1:
            return "its inputs have their batches along different axes"
        steps = 1 if node.attributes.get("layout") else 0
        if node.operator in _RECURRENT and source == node.inputs[0] and batch != 1 - steps:
            return f"the batch of its input is along axis {batch}, not {1 - steps}"
        axis = self._axis(node, len(own))
        later = node.operator in _FROM or self._is_old(node)
        if axis == batch or (later and -1 < axis < batch):
            return f"it is over axis {axis}"
        if node.operator == "Slice" and self._reverses(node, batch, len(own)):
            return f"it reverses axis {batch}"
        for name in filter(None, node.outputs):
            shape, others = self.graph.values[name].shape, self._shape(name)
            place = _difference(shape, others)
            kept = place is None or others[place] == own[batch]
            if place is not None and node.operator == "Expand":  # it aligns the last axes
                kept = kept and place - len(others) == batch - len(own)
            if place is not None and node.operator in _RESHAPES:
                kept = prod(others[:place]) == prod(own[:batch])
            if not kept:
                return f"its result {message_name(name)} has the shape {shape}"
        return ""

    def _axis(self, node: Node, rank: int) -> int:
        """Return the axis whose elements a node combines, for example the axis of a Softmax.

        `rank` is the number of axes. The result is -1 if there is no such axis, or if it is not
        constant.
        """
        if node.operator in _ALONG:
            default = 1 if self._is_old(node) else _ALONG[node.operator]
            return int(node.attributes.get("axis", default)) % rank
        if node.operator == "CumSum":
            array = self.graph.constant(node.inputs[1])
            return -1 if array is None else int(array.reshape(-1)[0]) % rank
        return -1

    def _is_old(self, node: Node) -> bool:
        """Return whether a node has the meaning of its operator in operator sets before 13."""
        return node.operator in _FROM_BEFORE_13 and self.graph.version < 13

    def _reverses(self, node: Node, batch: int, rank: int) -> bool:
        """Return whether a Slice takes the elements along the batch's axis backwards."""
        axes, steps = (
            self.graph.constant(name) if name else None for name in (*node.inputs[3:5], "", "")[:2]
        )
        if steps is None:
            return False
        places = range(steps.size) if axes is None else [int(axis) % rank for axis in axes]
        return any(axis == batch and step < 0 for axis, step in zip(places, steps, strict=True))
