"""ONNX graphs as graphs of tasks (seed 004 ¶61: the scheduler analyses a framework's graph).

Numbers of all values are of one format, the lanes' fp16 or fp32. What does not depend on inputs is
computed beforehand by ONNX's reference; it also tells where numbers go that are only moved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.reference
from onnx import TensorProto

from isa.fim_circuit import FORMAT_NAMES
from lower.errors import LowerError
from lower.fim.graph import Graph
from lower.fim.onnx_layers import LAYERS
from lower.fim.onnx_values import Value, Values, matrix, places_of

TWO = {"Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div"}
ONE = {"Relu": "relu", "Sigmoid": "sigmoid", "Tanh": "tanh", "Sqrt": "vssqrt"}
FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16)
SAME = ("Identity", "Cast", "Dropout")
# fmt: off
MOVES = (  # of the first input; the others are constants
    "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Split", "Expand", "Tile",
    "Gather", "GatherElements", "GatherND", "DepthToSpace", "SpaceToDepth",
)
# fmt: on
SCATTERS = ("ScatterElements", "ScatterND", "Scatter")
CONSTANTS = ("Constant", "ConstantOfShape", "Shape")
NODES = tuple(sorted((*TWO, *ONE, *SAME, *MOVES, *SCATTERS, *CONSTANTS, *LAYERS, "Concat", "Pad")))


@dataclass(frozen=True)
class Read:
    """A graph of tasks, and the shapes of its inputs and outputs in the model, by tensor."""

    graph: Graph
    inputs: Mapping[str, tuple[int, ...]]
    outputs: Mapping[str, tuple[int, ...]]


def load(path: Path) -> onnx.ModelProto:
    """The model in a file. Raises `LowerError` if it is none, `OSError` if it cannot be read."""
    data = path.read_bytes()
    try:
        model = onnx.load_model_from_string(data)
        if model.HasField("graph"):
            onnx.load_external_data_for_model(model, str(path.parent))
        onnx.checker.check_model(model)
    except Exception as error:  # protobuf's and the checker's own, of many kinds
        first = str(error).strip().splitlines()[:1]
        raise LowerError(f"{path} is no ONNX model", first[0] if first else "") from None
    return model


def read(model: onnx.ModelProto, form: int = 0, dims: Mapping[str, int] | None = None) -> Read:
    """The graph of a model, its numbers in a format of `isa.fim_circuit.FORMATS`.

    `dims` are numbers for dimensions that the model calls by name. Raises `LowerError`.
    """
    return _Reader(model, form, dims or {}).read()


class _Reader:
    def __init__(self, model: onnx.ModelProto, form: int, dims: Mapping[str, int]) -> None:
        self.model, self.dims = model, dims
        self.values = Values(form)
        self.inputs: dict[str, tuple[int, ...]] = {}

    def read(self) -> Read:
        graph, known = self.model.graph, self.values.known
        self._known_dims()
        for row in graph.initializer:
            known[row.name] = self.values.array(onnx.numpy_helper.to_array(row), row.name)
        for row in graph.input:
            if row.name not in known:
                shape = self._shape(row)
                known[row.name] = value = self.values.given(row.name, shape)
                assert value.tensor is not None
                self.inputs[value.tensor.name] = shape
        for node in graph.node:
            self._node(node)
        outputs = {}
        for row in graph.output:
            value = self._result(row.name)
            assert value.tensor is not None
            outputs[value.tensor.name] = value.shape
        self.values.graph.shapes |= {**self.inputs, **outputs}
        return Read(self.values.graph, self.inputs, outputs)

    def _known_dims(self) -> None:
        """Refuse sizes of dimensions that the model does not have."""
        graph = self.model.graph
        shapes = (row.type.tensor_type.shape for row in (*graph.input, *graph.output))
        there = dict.fromkeys(dim.dim_param for shape in shapes for dim in shape.dim)
        names = [name for name in there if name]
        for name in self.dims:
            if name not in names:
                hint = f"there are {', '.join(names)}" if names else "all sizes are known"
                raise LowerError(f"the model calls no dimension '{name}'", hint)

    def _shape(self, row: onnx.ValueInfoProto) -> tuple[int, ...]:
        if not row.type.HasField("tensor_type") or not row.type.tensor_type.HasField("shape"):
            raise LowerError(f"the input {row.name} has no shape")
        if row.type.tensor_type.elem_type not in FLOATS:
            kind = TensorProto.DataType.Name(row.type.tensor_type.elem_type).lower()
            raise LowerError(f"the input {row.name} is of {kind}, no floating-point type")
        found = []
        for dim in row.type.tensor_type.shape.dim:
            named = dim.dim_param
            if not dim.HasField("dim_value") and named not in self.dims:
                name = f"'{named}'" if named else "not named"
                hint = f"--dim {named}=N, dims={{'{named}': N}}" if named else ""
                raise LowerError(f"a dimension of the input {row.name} has no size, {name}", hint)
            found.append(dim.dim_value if dim.HasField("dim_value") else self.dims[named])
        if any(size < 1 for size in found):
            raise LowerError(f"the input {row.name} of {tuple(found)}: sizes are 1 at least")
        return tuple(found)

    def _result(self, name: str) -> Value:
        """An output: a tensor of its own that a task makes."""
        value = self.values.known[name]
        graph = self.values.graph
        if value.array is not None:
            raise LowerError(f"the output {name} does not depend on any input")
        tensor = value.tensor
        assert tensor is not None
        made = {task.output.name for task in graph.tasks}
        if tensor.name not in made or tensor in graph.read:
            shape = matrix(value.shape)
            tensor = graph.segments(tensor, [0], tensor.numbers, shape, self.values.name(name))
            value = self.values.made(tensor, value.shape)
        graph.result(tensor)
        return value

    # --- nodes ---

    def _node(self, node: onnx.NodeProto) -> None:
        inputs = [self.values.known[name] if name else None for name in node.input]
        try:
            found = self._made(node, inputs)
        except LowerError as error:
            where = f"node {node.name} ({node.op_type})" if node.name else f"a node {node.op_type}"
            raise LowerError(f"{where}: {error}", error.hint) from None
        for name, value in zip(node.output, found, strict=False):
            if name:
                self.values.known[name] = value

    def _made(self, node: onnx.NodeProto, inputs: list[Value | None]) -> list[Value]:
        kind, attributes = node.op_type, _attributes(node)
        values = [value for value in inputs if value is not None]
        if kind == "Shape":
            return self._folded(node, [self.values.array(np.zeros(values[0].shape))])
        standard = node.domain in ("", "ai.onnx")
        if standard and all(value.constant for value in values) and (values or kind in CONSTANTS):
            return self._folded(node, inputs)
        if not standard or kind not in NODES:
            raise LowerError("no task of the islands does it", "there are " + ", ".join(NODES))
        name = node.output[0]
        if kind in TWO:
            return [self._two(TWO[kind], values, name)]
        if kind in ONE:
            tensor = self.values.tensor(values[0], f"{name}_in")
            made = self.values.graph.pointwise(ONE[kind], tensor, name=self.values.name(name))
            return [self.values.made(made, values[0].shape)]
        if kind in SAME:
            if attributes.get("to", FLOATS[0]) not in FLOATS:
                raise LowerError("a cast to another type than of floating point")
            return [values[0]]
        if kind in LAYERS:
            return LAYERS[kind](self.values, node, attributes, inputs)
        return self._moves(node, inputs, values)

    def _moves(
        self, node: onnx.NodeProto, inputs: list[Value | None], values: list[Value]
    ) -> list[Value]:
        name = node.output[0]
        if node.op_type in SCATTERS:
            return [self._scatter(node, values, name)]
        if node.op_type == "Concat":
            return [self._concat(node, values, name)]
        if not all(value.constant for value in values[1:]):
            raise LowerError("where its numbers go depends on an input")
        if node.op_type == "Pad":
            return [self._padded(node, values, inputs)]
        first = self.values.array(places_of(values[0].shape))
        found = self._folded(node, [first, *inputs[1:]])
        arrays = [value.array for value in found]
        return [
            self.values.moved(values[0], np.asarray(array, np.int64), output)
            for array, output in zip(arrays, node.output, strict=False)
            if array is not None
        ]

    def _folded(self, node: onnx.NodeProto, inputs: list[Value | None]) -> list[Value]:
        """What ONNX's reference makes of constants."""
        unknown = onnx.helper.make_empty_tensor_value_info
        given, made = (
            [unknown(name) for name in dict.fromkeys(names) if name]
            for names in (node.input, node.output)
        )
        graph = onnx.helper.make_graph([node], "one", given, made)
        model = onnx.helper.make_model(graph, opset_imports=list(self.model.opset_import))
        arrays = {
            name: value.array for name, value in zip(node.input, inputs, strict=True) if value
        }
        try:
            found = onnx.reference.ReferenceEvaluator(model).run(None, arrays)
        except Exception as error:  # whatever its NumPy code raises
            raise LowerError(f"cannot be evaluated: {error}") from None
        return [self.values.array(np.asarray(row)) for row in found]

    def _two(self, function: str, values: list[Value], name: str) -> Value:
        try:
            shape = np.broadcast_shapes(values[0].shape, values[1].shape)
        except ValueError:
            raise LowerError(f"shapes {values[0].shape} and {values[1].shape}") from None
        sides = []
        for side, value in zip("ab", values, strict=True):
            wide = self.values.broadcast(value, shape, f"{name}_{side}")
            sides.append(self.values.tensor(wide, f"{name}_{side}"))
        made = self.values.graph.pointwise(function, *sides, name=self.values.name(name))
        return self.values.made(made, shape)

    def _scatter(self, node: onnx.NodeProto, values: list[Value], name: str) -> Value:
        data, indices, updates = values
        if not indices.constant:
            raise LowerError("where its numbers go depends on an input")
        attributes = _attributes(node)
        if attributes.get("reduction", b"none") != b"none":
            raise LowerError(f"the reduction {attributes['reduction'].decode()}", "none is done")
        count = math.prod(data.shape)
        asked = [places_of(data.shape), indices.array, places_of(updates.shape) + count]
        folded = self._folded(node, [self.values.array(np.asarray(row)) for row in asked])[0].array
        flat = np.asarray(folded).reshape(-1)
        where = np.flatnonzero(flat >= count)
        if len(where) != math.prod(updates.shape):
            raise LowerError("two rows go to one place")
        places = np.empty(len(where), np.int64)
        places[flat[where] - count] = where
        return self.values.spread(data, updates, places, name)

    def _concat(self, node: onnx.NodeProto, values: list[Value], name: str) -> Value:
        axis = _attributes(node)["axis"]
        size = sum(value.shape[axis] for value in values)
        shape = list(values[0].shape)
        shape[axis] = size
        places = np.split(
            places_of(shape), np.cumsum([value.shape[axis] for value in values])[:-1], axis
        )
        return self.values.joined(values, places, shape, name)

    def _padded(
        self, node: onnx.NodeProto, values: list[Value], inputs: list[Value | None]
    ) -> Value:
        """Numbers of the input, marked from 1 on, and zeros where none of them goes."""
        if np.any(np.asarray(values[1].array) < 0):
            raise LowerError("a negative frame", "Slice takes a part")
        fill = inputs[2].array if len(inputs) > 2 and inputs[2] is not None else None
        if fill is not None and np.any(fill):
            raise LowerError("a frame of other numbers than zeros")
        marked = self.values.array(places_of(values[0].shape) + 1)
        found = np.asarray(self._folded(node, [marked, *inputs[1:]])[0].array, np.int64)
        if found.all():
            return self.values.moved(values[0], found - 1, node.output[0])
        where = np.flatnonzero(found.reshape(-1))
        return self.values.spread(
            self.values.array(np.zeros(found.shape)), values[0], where, node.output[0]
        )


def _attributes(node: onnx.NodeProto) -> dict[str, Any]:
    return {row.name: onnx.helper.get_attribute_value(row) for row in node.attribute}


def form_of(name: str) -> int:
    """The number of a format. Raises `LowerError`."""
    if name not in FORMAT_NAMES:
        raise LowerError(f"no format '{name}'", "there are " + ", ".join(FORMAT_NAMES))
    return FORMAT_NAMES.index(name)
