"""Read ONNX graphs as graphs of tasks (seed 004 ¶61: the scheduler analyses a framework's graph).

All values have one number format, fp16 or fp32. ONNX's reference evaluator computes in advance what
does not depend on inputs. For nodes that only move numbers, it also determines where they move each
number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from macaw.isa.fim_circuit import FORMAT_NAMES
from macaw.lowering.errors import LowerError
from macaw.lowering.fim import onnx_movement
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.onnx_layers import LAYERS
from macaw.lowering.fim.onnx_movement import JOINS, MOVES, SCATTERS
from macaw.lowering.fim.onnx_values import LARGEST, TaskValue, Values, matrix
from macaw.lowering.onnx.constants import FOLDED, SLOW, Evaluator
from macaw.lowering.onnx.model_file import message_name, reason
from macaw.lowering.onnx.shapes import STANDARD, Form, opset, results
from macaw.lowering.onnx.values import element_name

TWO = {"Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div"}
ONE = {"Relu": "relu", "Sigmoid": "sigmoid", "Tanh": "tanh", "Sqrt": "vssqrt"}
FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16)
SAME = ("Identity", "Cast")
SIZES = ("Shape", "Size")  # operators whose result the shapes alone decide
NODES = tuple(sorted((*TWO, *ONE, *SAME, *SIZES, *MOVES, *SCATTERS, *JOINS, *LAYERS, "Dropout")))
KNOWN = {*NODES, *FOLDED, *SLOW}


@dataclass(frozen=True)
class ImportedGraph:
    """A graph of tasks read from a model, with the model's shapes of inputs and outputs."""

    graph: Graph
    inputs: Mapping[str, tuple[int, ...]]
    outputs: Mapping[str, tuple[int, ...]]


def read(
    model: onnx.ModelProto,
    form: int = 0,
    dims: Mapping[str, int] | None = None,
    room: int = LARGEST,
) -> ImportedGraph:
    """Return the graph of a checked model. Raises `LowerError`.

    `form` is the index of a number format in `macaw.isa.fim_circuit.FORMATS`. `dims` gives sizes to
    dimensions that the model only names. `room` is the size of external memory in bytes.
    """
    return _Reader(model, form, dims or {}, room).read()


class _Reader:
    def __init__(
        self, model: onnx.ModelProto, form: int, dims: Mapping[str, int], room: int
    ) -> None:
        self.model, self.dims = model, dims
        self.values = Values(form, room)
        self.version = opset(model)
        self.evaluator = Evaluator(self.version)
        self.inputs: dict[str, tuple[int, ...]] = {}

    def read(self) -> ImportedGraph:
        graph, values = self.model.graph, self.values.by_name
        self._known_dims()
        if graph.sparse_initializer:
            raise LowerError("sparse initializers are not read")
        for row in graph.initializer:
            values[row.name] = self._initial(row)
        for row in graph.input:
            if row.name not in values:
                values[row.name] = self._input(row)
        for node in graph.node:
            self._node(node)
        outputs = dict(self._result(row) for row in graph.output)
        shapes = {**self.inputs, **outputs}
        # A scalar is a tensor of one number.
        self.values.graph.shapes |= {name: shape or (1,) for name, shape in shapes.items()}
        return ImportedGraph(self.values.graph, self.inputs, outputs)

    def _known_dims(self) -> None:
        """Raise `LowerError` for sizes of dimensions that the model does not name."""
        graph = self.model.graph
        shapes = (row.type.tensor_type.shape for row in (*graph.input, *graph.output))
        there = dict.fromkeys(dim.dim_param for shape in shapes for dim in shape.dim)
        names = [name for name in there if name]
        for name in self.dims:
            if name not in names:
                some = ", ".join(message_name(name) for name in names[:8])
                hint = f"there are {some}" if names else "all sizes are known"
                raise LowerError(f"the model calls no dimension '{message_name(name)}'", hint)

    def _initial(self, row: onnx.TensorProto) -> TaskValue:
        if row.data_type not in onnx.helper.get_all_tensor_dtypes():
            kind = element_name(row.data_type)
            raise LowerError(
                f"the initializer {message_name(row.name)} is of {kind}, which is not read"
            )
        try:
            return self.values.array(onnx.numpy_helper.to_array(row), row.name)
        except Exception as error:  # onnx's and NumPy's, of many kinds
            raise LowerError(f"the initializer {message_name(row.name)}: {reason(error)}") from None

    def _input(self, row: onnx.ValueInfoProto) -> TaskValue:
        try:
            shape = self._shape(row)
            value = self.values.input_value(row.name, shape, row.type.tensor_type.elem_type)
        except LowerError as error:
            raise LowerError(f"the input {message_name(row.name)}: {error}", error.hint) from None
        assert value.tensor is not None
        self.inputs[value.tensor.name] = shape
        return value

    def _shape(self, row: onnx.ValueInfoProto) -> tuple[int, ...]:
        kind = row.type.tensor_type
        if not row.type.HasField("tensor_type") or not kind.HasField("shape"):
            raise LowerError("it has no shape")
        if kind.elem_type not in FLOATS:
            raise LowerError(f"it is of {element_name(kind.elem_type)}, no floating-point type")
        sizes = []
        for dim in kind.shape.dim:
            parameter = dim.dim_param
            if not dim.HasField("dim_value") and parameter not in self.dims:
                name = message_name(parameter)
                hint = f"--dim {name}=N, dims={{'{name}': N}}" if parameter else ""
                name = f"'{name}'" if parameter else "not named"
                raise LowerError(f"a dimension has no size, {name}", hint)
            sizes.append(dim.dim_value if dim.HasField("dim_value") else self.dims[parameter])
        if any(size < 1 for size in sizes):
            raise LowerError(f"sizes of {tuple(sizes)}, which are 1 at least")
        return tuple(sizes)

    def _result(self, row: onnx.ValueInfoProto) -> tuple[str, tuple[int, ...]]:
        """Return the name and shape of an output, and mark its tensor as a result of the graph.

        If no task makes the tensor, or if a task reads it, a gather copies it to a tensor of its
        own. Raises `LowerError`.
        """
        name, graph = message_name(row.name), self.values.graph
        value = self.values.by_name.get(row.name)
        if value is None:
            raise LowerError(f"no node makes the output {name}")
        if value.array is not None:
            raise LowerError(f"the output {name} does not depend on any input")
        _check_declaration(row, name, value)
        tensor = value.tensor
        assert tensor is not None
        outputs = {task.output.name for task in graph.tasks}
        if tensor.name not in outputs or tensor in graph.read:
            rows, columns = matrix(value.shape)
            tensor = graph.segments(
                tensor, [0], tensor.numbers, (rows, columns), self.values.name(row.name)
            )
        graph.result(tensor)
        return tensor.name, value.shape

    # --- nodes ---

    def _node(self, node: onnx.NodeProto) -> None:
        kind = message_name(node.op_type)
        try:
            missing = [name for name in node.input if name and name not in self.values.by_name]
            if missing:
                raise LowerError(f"nothing makes its input {message_name(missing[0])}")
            inputs = [self.values.by_name[name] if name else None for name in node.input]
            values = self._results(node, inputs)
            self.values.check_tasks()
        except LowerError as error:
            where = f"node {message_name(node.name)} ({kind})" if node.name else f"a node {kind}"
            raise LowerError(f"{where}: {error}", error.hint) from None
        for name, value in zip(node.output, values, strict=True):
            if name:
                self.values.by_name[name] = value

    def _results(self, node: onnx.NodeProto, inputs: list[TaskValue | None]) -> list[TaskValue]:
        """Return the outputs of a node, each with the type and shape that ONNX infers."""
        if node.domain not in STANDARD or not {node.op_type} & KNOWN:
            raise _no_task()
        forms = results(node, inputs, self.version)
        for form in forms:
            if form is not None:
                self.values.fits(form.numbers)
        values = self._compute(node, inputs, forms)
        for value, form in zip(values, forms, strict=True):
            if form is not None and form.shape not in (None, value.shape):
                raise LowerError(f"its result is of {value.shape}, by ONNX's rules of {form.shape}")
        return [
            replace(value, element=form.element) if form else value
            for value, form in zip(values, forms, strict=True)
        ]

    def _compute(
        self, node: onnx.NodeProto, inputs: list[TaskValue | None], forms: list[Form | None]
    ) -> list[TaskValue]:
        kind, attributes = node.op_type, _attributes(node)
        values = [value for value in inputs if value is not None]
        if kind not in LAYERS and all(form is None or form.empty for form in forms):
            return [self._nothing(form) for form in forms]
        if kind in SIZES:
            values = [self.values.array(np.broadcast_to(np.int8(0), values[0].shape))]
            return self._constants(node, list(values), forms)
        if kind == "Dropout":
            return _dropout(self.values, node, inputs, forms)
        if all(value.constant for value in values):
            return self._constants(node, inputs, forms)
        if kind not in NODES:
            raise _no_task()
        name = node.output[0]
        if kind in TWO:
            return [self._binary(TWO[kind], values, name)]
        if kind in ONE:
            tensor = self.values.tensor(values[0], f"{name}_in")
            tensor_of_task = self.values.graph.pointwise(
                ONE[kind], tensor, name=self.values.name(name)
            )
            return [self.values.of_tensor(tensor_of_task, values[0].shape)]
        if kind in SAME:
            if attributes.get("to", FLOATS[0]) not in FLOATS:
                raise LowerError("a cast to another type than of floating point")
            return [values[0]]
        if kind in LAYERS:
            return LAYERS[kind](self.values, node, attributes, inputs)
        return onnx_movement.move_node(self.values, self.evaluator, node, attributes, inputs, forms)

    def _nothing(self, form: Form | None) -> TaskValue:
        """Return a value without elements."""
        if form is None or form.shape is None:
            return self.values.array(np.zeros(0))
        dtype = onnx.helper.tensor_dtype_to_np_dtype(form.element)
        try:
            return self.values.array(np.zeros(form.shape, dtype))
        except ValueError:  # one size is 0, another one too large for any array
            raise LowerError(f"its result is of {form.shape}, which is too large") from None

    def _constants(
        self, node: onnx.NodeProto, inputs: list[TaskValue | None], forms: list[Form | None]
    ) -> list[TaskValue]:
        arrays = self.evaluator.fold(node, inputs, forms)
        return [self.values.array(array) for array in arrays]

    def _binary(self, function: str, values: list[TaskValue], name: str) -> TaskValue:
        shape = np.broadcast_shapes(values[0].shape, values[1].shape)
        sides = []
        for side, value in zip("ab", values, strict=True):
            wide = self.values.broadcast(value, shape, f"{name}_{side}")
            sides.append(self.values.tensor(wide, f"{name}_{side}"))
        tensor_of_task = self.values.graph.pointwise(function, *sides, name=self.values.name(name))
        return self.values.of_tensor(tensor_of_task, shape)


def _no_task() -> LowerError:
    return LowerError("no task of the islands does it", "there are " + ", ".join(NODES))


def _dropout(
    values: Values, node: onnx.NodeProto, inputs: list[TaskValue | None], forms: list[Form | None]
) -> list[TaskValue]:
    """Return the outputs of Dropout outside of training: its input, and a mask of ones."""
    x, ratio, training = (*inputs, None, None)[:3]
    assert x is not None
    if training is not None and not (training.array is not None and not np.any(training.array)):
        keeps_all = ratio is not None and ratio.array is not None and not np.any(ratio.array)
        if training.array is None or not keeps_all:
            raise LowerError("in training mode it drops numbers at random", "training_mode=false")
    mask = values.array(np.broadcast_to(np.True_, x.shape))
    return [x, mask][: len(forms)]


def _check_declaration(row: onnx.ValueInfoProto, name: str, value: TaskValue) -> None:
    """Raise `LowerError` if the model declares another type or shape for an output."""
    tensor_type = row.type.tensor_type
    if tensor_type.elem_type not in (TensorProto.UNDEFINED, value.element):
        kinds = element_name(value.element), element_name(tensor_type.elem_type)
        raise LowerError(f"the output {name} is of {kinds[0]}, the model says {kinds[1]}")
    if not tensor_type.HasField("shape"):
        return
    sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor_type.shape.dim]
    if len(sizes) != len(value.shape) or any(
        expected not in (None, size) for expected, size in zip(sizes, value.shape, strict=True)
    ):
        shape = ", ".join("?" if size is None else str(size) for size in sizes)
        raise LowerError(f"the output {name} is of {value.shape}, the model says ({shape})")


def _attributes(node: onnx.NodeProto) -> dict[str, Any]:
    return {row.name: onnx.helper.get_attribute_value(row) for row in node.attribute}


def form_of(name: str) -> int:
    """Return the index of the number format with this name. Raises `LowerError`."""
    if name not in FORMAT_NAMES:
        raise LowerError(f"no format '{name}'", "there are " + ", ".join(FORMAT_NAMES))
    return FORMAT_NAMES.index(name)
