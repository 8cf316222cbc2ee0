"""Freezes an ONNX model: all shapes become static, and all constant nodes are computed.

The branch of an `If` is chosen by its constant condition. Loops are refused. Each error names the
node, the input, the output or the initializer that causes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import AttributeProto, TensorProto

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.onnx import recurrent_nodes
from macaw.lowering.onnx.constants import FOLDED, SLOW, Evaluator
from macaw.lowering.onnx.graph import Graph, Node, node_of
from macaw.lowering.onnx.model_file import message_name, message_text, node_place, reason
from macaw.lowering.onnx.shapes import STANDARD, Form, opset, results
from macaw.lowering.onnx.values import LARGEST, Room, Value, check_room, element_name, element_of

NOT_FOLDED = frozenset(("DequantizeLinear",))  # not folded: constants stay integers
SIZES = ("Shape", "Size")  # operators whose results depend only on shapes
# An empty result of these operators means that the kernel is larger than the image.
_WINDOWS = ("Conv", "MaxPool", "AveragePool")
Scope = Mapping[str, str]  # from names in an `If`'s branch to names of the graph


@dataclass(frozen=True)
class Wishes:
    """The settings of a caller of `read` for the frozen graph.

    `dims` has sizes for dimensions that the model only names, `shapes` whole shapes for inputs, and
    `constants` arrays for inputs that become constants. `room` is the memory into which the largest
    value must fit. Operators in `not_folded` are kept although their inputs are constants.
    """

    dims: Mapping[str, int] = field(default_factory=dict)
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    constants: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    room: Room = field(default_factory=lambda: Room(LARGEST, 4))
    not_folded: frozenset[str] = NOT_FOLDED


def read(model: onnx.ModelProto, wishes: Wishes | None = None) -> Graph:
    """Return the frozen graph of a checked model, as `wishes` demands.

    Raises `LowerError` if Macaw does not support the model, if a shape is not known beforehand, or
    if the wishes do not suit the model.
    """
    return _Reader(model, wishes or Wishes()).read()


def node_error(name: str, operator: str, error: LowerError) -> LowerError:
    """Return the error with the name and operator of the node that causes it."""
    return LowerError(f"{node_place(name, operator)}: {message_text(error)}", error.hint)


class _Reader:
    def __init__(self, model: onnx.ModelProto, wishes: Wishes) -> None:
        self.model, self.wishes = model, wishes
        self.version = opset(model)
        self.evaluator = Evaluator(self.version)
        self.values: dict[str, Value] = {}
        self.nodes: list[Node] = []
        self.inputs: list[str] = []

    def read(self) -> Graph:
        graph = self.model.graph
        self._check_wishes()
        if graph.sparse_initializer:
            raise LowerError("sparse initializers are not read")
        if not graph.output:
            raise LowerError("the model has no output")
        for row in graph.initializer:
            self.values[row.name] = _initial(row, row.name)
        for row in graph.input:
            if row.name not in self.values:
                self.values[row.name] = self._input(row)
        self._nodes(graph.node, {})
        for row in graph.output:
            self._check_output(row)
        names = tuple(row.name for row in graph.output)
        labels = Counter(node.label for node in self.nodes)
        operators = {node.label: _operator(node) for node in self.nodes if labels[node.label] == 1}
        return Graph(
            tuple(self.nodes), self.values, tuple(self.inputs), names, self.version, operators
        )

    def _check_wishes(self) -> None:
        """Raise `LowerError` for dimensions and inputs that the model does not have."""
        graph = self.model.graph
        shapes = (row.type.tensor_type.shape for row in (*graph.input, *graph.output))
        there = dict.fromkeys(dim.dim_param for shape in shapes for dim in shape.dim)
        names = [name for name in there if name]
        for name in self.wishes.dims:
            if name not in names:
                some = ", ".join(message_name(name) for name in names[:8])
                hint = f"there are {some}" if names else "all sizes are known"
                raise LowerError(f"the model calls no dimension '{message_name(name)}'", hint)
        initial = {row.name for row in graph.initializer}
        inputs = [row.name for row in graph.input if row.name not in initial]
        for name in (*self.wishes.shapes, *self.wishes.constants):
            if name not in inputs:
                hint = "there are " + ", ".join(message_name(name) for name in inputs[:8])
                raise LowerError(f"the model has no input '{message_name(name)}'", hint)

    # --- inputs and outputs ---

    def _input(self, row: onnx.ValueInfoProto) -> Value:
        try:
            element, sizes = type_and_sizes(row)
            array = self.wishes.constants.get(row.name)
            if array is not None:
                return given_constant(array, element, sizes, row.name)
            shape = self._shape(row, sizes)
            check_room(self.wishes.room, int(np.prod(shape, dtype=object)), others=0)
        except LowerError as error:
            raise LowerError(f"the input {message_name(row.name)}: {error}", error.hint) from None
        self.inputs.append(row.name)
        return Value(shape, element=element)

    def _shape(self, row: onnx.ValueInfoProto, sizes: Sequence[int | str]) -> tuple[int, ...]:
        """Return the shape of the model's input `row`.

        It is the shape that the caller of `read` wishes for this input, or else the declared one.
        `sizes` has the declared sizes, and names of dimensions whose sizes the caller has to give.
        Raises `LowerError` if a size is not known or below 1.
        """
        whole = self.wishes.shapes.get(row.name)
        if whole is not None:
            whole = tuple(int(size) for size in whole)
            _check_sizes(sizes, whole, "")
        known = []
        for axis, size in enumerate(sizes):
            if whole is not None:
                known.append(whole[axis])
            elif isinstance(size, int):
                known.append(size)
            elif size in self.wishes.dims:
                known.append(self.wishes.dims[size])
            else:
                name = message_name(size)
                hint = f"--dim {name}=N, dims={{'{name}': N}}" if name else ""
                name = f"'{name}'" if name else "not named"
                raise LowerError(f"a dimension has no size, {name}", hint)
        if any(size < 1 for size in known):
            raise LowerError(f"sizes of {tuple(known)}, which are 1 at least")
        return tuple(known)

    def _check_output(self, row: onnx.ValueInfoProto) -> None:
        """Raise `LowerError` if nothing makes an output, or its declared type or shape is wrong."""
        name, value = message_name(row.name), self.values.get(row.name)
        if value is None:
            raise LowerError(f"no node makes the output {name}")
        kind = row.type.tensor_type
        if kind.elem_type not in (TensorProto.UNDEFINED, value.element):
            kinds = element_name(value.element), element_name(kind.elem_type)
            raise LowerError(f"the output {name} is of {kinds[0]}, the model says {kinds[1]}")
        if kind.HasField("shape"):
            sizes = [_size(dim) for dim in kind.shape.dim]
            _check_sizes(sizes, value.shape, f"the output {name} is of {value.shape}, ")

    # --- nodes ---

    def _nodes(self, nodes: Iterable[onnx.NodeProto], scope: Scope) -> None:
        for node in nodes:
            try:
                self._node(node, scope)
            except LowerError as error:
                if isinstance(error, PlacedError):
                    raise
                raise PlacedError(node_place(node.name, node.op_type), error) from None

    def _node(self, proto: onnx.NodeProto, scope: Scope) -> None:
        """Add the node `proto` to the graph, in its simplest form.

        If the node computes constants, the method adds the constants, and no node. For an `If`, it
        adds the nodes of the branch that is executed. `scope` is empty, except for a node of a
        branch: then it maps the branch's names of values to those in the graph.
        """
        if scope:
            proto = _renamed(proto, scope)
        missing = [name for name in proto.input if name and name not in self.values]
        if missing:
            raise LowerError(f"nothing makes its input {message_name(missing[0])}")
        inputs = [self.values[name] if name else None for name in proto.input]
        if proto.domain not in STANDARD:
            raise LowerError(f"the domain {message_name(proto.domain)} is not ONNX's own")
        if proto.op_type == "If":
            self._branch(proto, inputs, scope)
            return
        if any(
            row.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS) for row in proto.attribute
        ):
            raise LowerError("it executes a graph of its own repeatedly, which is not supported")
        forms = results(proto, inputs, self.version)
        if proto.op_type in recurrent_nodes.GATES:
            recurrent_nodes.check_size(node_of(proto))
        if proto.op_type == "Dropout" and inputs[0]:  # early operator sets infer no mask
            forms = [form and Form(form.element, inputs[0].shape) for form in forms]
        for form in forms:
            if form is not None:
                check_room(self.wishes.room, form.numbers, others=0)
        arrays = self._constant_results(proto, inputs, forms)
        if arrays is not None:
            for name, array, form in zip(proto.output, arrays, forms, strict=True):
                if name and form:
                    _check_result(array.shape, form)
                    self.values[name] = Value(array.shape, array, element=form.element)
            return
        for name, form in zip(proto.output, forms, strict=True):
            if name and form:
                if form.shape is None:
                    raise LowerError("the size of its result is not known beforehand")
                self.values[name] = Value(form.shape, element=form.element)
        self.nodes.append(
            _dropout(node_of(proto), self.values) if proto.op_type == "Dropout" else node_of(proto)
        )

    def _constant_results(
        self, proto: onnx.NodeProto, inputs: Sequence[Value | None], forms: Sequence[Form | None]
    ) -> list[NDArray[Any]] | None:
        """Return the results of a node if they are constants, else None.

        `forms` has their types and shapes. Raises `LowerError` if they cannot be computed.
        """
        kind = proto.op_type
        if kind not in _WINDOWS and all(form is None or form.empty for form in forms):
            return [_nothing(form) for form in forms]
        if kind in SIZES:
            first = inputs[0]
            assert first is not None
            zeros = np.broadcast_to(np.int8(0), first.shape)
            return self.evaluator.fold(proto, [Value(first.shape, zeros)], forms)
        there = [value for value in inputs if value is not None]
        if kind in self.wishes.not_folded or not all(value.constant for value in there):
            return None
        return self.evaluator.fold(proto, inputs, forms) if kind in FOLDED | SLOW else None

    def _branch(self, proto: onnx.NodeProto, inputs: Sequence[Value | None], scope: Scope) -> None:
        """Add the nodes of the branch of an `If` that its constant condition selects."""
        condition = inputs[0]
        if condition is None or condition.array is None:
            raise LowerError("its condition depends on an input")
        if condition.array.size != 1:
            raise LowerError(f"its condition has {condition.array.size} values")
        wanted = "then_branch" if condition.array.reshape(-1)[0] else "else_branch"
        graphs = [row.g for row in proto.attribute if row.name == wanted]
        if len(graphs) != 1 or len(graphs[0].output) != len(proto.output):
            raise LowerError(f"its {wanted} does not fit its outputs")
        graph = graphs[0]
        if graph.sparse_initializer:
            raise LowerError("sparse initializers are not read")
        names = dict(scope)
        made = [row.name for row in graph.initializer]
        made += [name for node in graph.node for name in node.output if name]
        names |= {name: self._free(name) for name in made}
        for row in graph.initializer:
            self.values[names[row.name]] = _initial(row, names[row.name])
        self._nodes(graph.node, names)
        for name, row in zip(proto.output, graph.output, strict=True):
            source = names.get(row.name, row.name)
            if source not in self.values:
                raise LowerError(f"nothing makes its result {message_name(row.name)}")
            self.values[name] = self.values[source]
            if not self.values[name].constant:
                self.nodes.append(Node(proto.name, "Identity", (source,), (name,)))

    def _free(self, name: str) -> str:
        """Return a name that no value has yet: `name`, or `name` with a number appended."""
        unique, number = name, 1
        while unique in self.values:
            number += 1
            unique = f"{name}_{number}"
        return unique


class PlacedError(LowerError):
    """An error whose message begins with the node (`place`); `cause` is the error without it."""

    def __init__(self, place: str, cause: LowerError) -> None:
        super().__init__(f"{place}: {message_text(cause)}", cause.hint)
        self.place, self.cause = place, cause


def _operator(node: Node) -> str:
    return str(node.proto.op_type) if node.proto is not None else node.operator


def _renamed(proto: onnx.NodeProto, scope: Scope) -> onnx.NodeProto:
    """Return a branch's node in which `scope` has replaced the names of values by the graph's."""
    node = onnx.NodeProto()
    node.CopyFrom(proto)
    del node.input[:], node.output[:]
    node.input.extend(scope.get(name, name) for name in proto.input)
    node.output.extend(scope.get(name, name) for name in proto.output)
    return node


def _dropout(node: Node, values: dict[str, Value]) -> Node:
    """Return the Identity that replaces a Dropout, which drops no numbers outside of training.

    If the node has a mask as second output, its value in `values` becomes a constant: all true.
    Raises `LowerError` for a Dropout in training mode.
    """
    ratio, training = (values[name].array if name else None for name in (*node.inputs, "", "")[1:3])
    has_training = len(node.inputs) > 2 and node.inputs[2]
    if has_training and (training is None or np.any(training)):
        keeps_all = ratio is not None and not np.any(ratio)
        if training is None or not keeps_all:
            raise LowerError("in training mode it drops numbers at random", "training_mode=false")
    for mask in node.outputs[1:]:
        if mask:
            shape = values[node.inputs[0]].shape
            values[mask] = replace(values[mask], array=np.broadcast_to(np.True_, shape))
    return replace(node, operator="Identity", inputs=node.inputs[:1], outputs=node.outputs[:1])


def _nothing(form: Form | None) -> NDArray[Any]:
    """Return the result of a node whose result has no elements: an array of size 0.

    The array has the type and the shape of `form`, for example (0, 3), if these are known.
    """
    if form is None or form.shape is None:
        return np.zeros(0)
    try:
        return np.zeros(form.shape, onnx.helper.tensor_dtype_to_np_dtype(form.element))
    except ValueError:  # one size is 0, another one too large for any array
        raise LowerError(f"its result is of {form.shape}, which is too large") from None


def _check_result(shape: tuple[int, ...], form: Form) -> None:
    if form.shape not in (None, shape):
        raise LowerError(f"its result is of {shape}, by ONNX's rules of {form.shape}")


def _initial(row: onnx.TensorProto, name: str) -> Value:
    """Return an initializer as a constant with the name `name`.

    Raises `LowerError` for an element type that is not read, and for broken data.
    """
    if row.data_type not in onnx.helper.get_all_tensor_dtypes():
        kind = element_name(row.data_type)
        raise LowerError(
            f"the initializer {message_name(row.name)} is of {kind}, which is not read"
        )
    try:
        array = onnx.numpy_helper.to_array(row)
        return Value(array.shape, array, name, element_of(array))
    except Exception as error:  # exceptions of onnx and NumPy, of many kinds
        raise LowerError(f"the initializer {message_name(row.name)}: {reason(error)}") from None


def type_and_sizes(row: onnx.ValueInfoProto) -> tuple[int, list[int | str]]:
    """Return element type and sizes of an input; an unknown size is its name, or the empty text."""
    kind = row.type.tensor_type
    if not row.type.HasField("tensor_type") or not kind.HasField("shape"):
        raise LowerError("it has no shape")
    if (
        kind.elem_type not in onnx.helper.get_all_tensor_dtypes()
        or kind.elem_type == TensorProto.STRING
    ):
        raise LowerError(f"it is of {element_name(kind.elem_type)}, no type of numbers")
    return kind.elem_type, [_size(dim) for dim in kind.shape.dim]


def _size(dim: onnx.TensorShapeProto.Dimension) -> int | str:
    """Return the size of a dimension, or its name if the size is not known."""
    # exporters write -1 for an unknown size
    known = dim.HasField("dim_value") and dim.dim_value != -1
    return int(dim.dim_value) if known else str(dim.dim_param)


def given_constant(
    array: NDArray[Any], element: int, sizes: Sequence[int | str], name: str
) -> Value:
    """Return the array that the caller passes for an input, as a constant.

    `element` and `sizes` are the element type and the sizes that the model declares. Raises
    `LowerError` if the array does not have them.
    """
    dtype = onnx.helper.tensor_dtype_to_np_dtype(element)
    array = np.asarray(array)
    if array.ndim == 0 and all(size in (1, "") or isinstance(size, str) for size in sizes):
        array = array.reshape((1,) * len(sizes))
    with np.errstate(all="ignore"):
        exact = array.astype(dtype)
    if dtype.kind in "biu" and not np.array_equal(
        exact.astype(np.float64), array.astype(np.float64)
    ):
        raise LowerError(f"the constant is no {element_name(element)}")
    _check_sizes(sizes, exact.shape, "")
    return Value(exact.shape, exact, name, element)


def _check_sizes(sizes: Sequence[int | str], shape: tuple[int, ...], what: str) -> None:
    """Raise `LowerError` if a shape differs from the sizes that the model declares.

    `what` is the start of the message; if it is empty, the message begins with the shape.
    """
    if len(sizes) != len(shape) or any(
        isinstance(wanted, int) and wanted != size
        for wanted, size in zip(sizes, shape, strict=True)
    ):
        text = ", ".join(str(size) if isinstance(size, int) else "?" for size in sizes)
        raise LowerError(f"{what or f'a shape of {shape}, '}the model says ({text})")
