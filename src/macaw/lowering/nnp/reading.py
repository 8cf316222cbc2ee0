"""Holds the values and operations of a model while functions for each kind of node read it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.nnp import HOST_TYPES
from macaw.isa.nnp_layouts import LAST_ADDRESS
from macaw.lowering.errors import LowerError
from macaw.lowering.nnp import operations as ops
from macaw.lowering.nnp.layouts import (
    PADDING,
    Groups,
    Indices,
    Value,
    groups,
    regrouped,
    vector_copies,
)
from macaw.lowering.nnp.operations import Layer, Matrix, Operation, Phase, Place, Tensor
from macaw.lowering.onnx.graph import Graph, Node
from macaw.lowering.onnx.model_file import message_name
from macaw.lowering.onnx.values import element_name

Array = NDArray[Any]
FLOATS: Mapping[int, str] = {  # element types of values on the device
    TensorProto.FLOAT: "float32",
    TensorProto.FLOAT16: "float16",
    TensorProto.DOUBLE: "float64",
}
HOST: Mapping[str, np.dtype[Any]] = {
    name: np.dtype(element) for name, element in HOST_TYPES.items()
}


def untaken(word: str, taken: Container[str]) -> str:
    """Return a word, with a number appended if its lower-case form is in `taken`."""
    symbol, number = word, 2
    while symbol.lower() in taken:
        symbol, number = f"{word}_{number}", number + 1
    return symbol


@dataclass
class Builder:
    """A model that is being read: its tensors, matrices and phases so far.

    `values` has the values on the device by their ONNX names. If a later node needs the last axis
    of a value in segments, `segments` has their length by the value's name. `layers` has the nodes
    that compute something, `ports` the symbols of inputs and outputs.
    """

    graph: Graph
    config: Configuration
    segments: Mapping[str, int]
    values: dict[str, Value] = field(default_factory=dict)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    matrices: dict[str, Matrix] = field(default_factory=dict)
    phases: list[Phase] = field(default_factory=list)
    layers: dict[str, Layer] = field(default_factory=dict)  # nodes that compute something
    ports: dict[str, str] = field(default_factory=dict)  # symbols of inputs and outputs
    # operations that are executed once and are not in a phase yet
    _straight: list[Operation] = field(default_factory=list)

    @property
    def native(self) -> int:
        """The native dimension N."""
        return int(self.config["nnp.native"])

    @property
    def host(self) -> np.dtype[Any]:
        """The type of all numbers outside of the matrix multiplier, which has its own format."""
        return HOST[str(self.config["nnp.host_format"])]

    def name(self, wanted: str) -> str:
        """Return a symbol made from `wanted` that no tensor or matrix has yet."""
        word = re.sub(r"\W+", "_", wanted, flags=re.ASCII).strip("_") or "_"
        if word[0].isdigit():
            word = f"_{word}"
        there = (*self.tensors, *self.matrices, *self.ports.values())
        taken = {name.lower() for name in there} | _RESERVED
        return untaken(word, taken)

    def tensor(self, wanted: str, vectors: int, **fields: Any) -> str:
        """Add a tensor and return its name, which is made from `wanted`.

        Raises `LowerError` if the tensor has too many vectors.
        """
        if vectors > LAST_ADDRESS:
            raise LowerError(
                f"a value takes {vectors:,} native vectors; addresses end at {LAST_ADDRESS:,}",
                "nnp.native",
            )
        name = self.name(wanted)
        self.tensors[name] = Tensor(name, vectors, **fields)
        return name

    def port(self, name: str, vectors: int, memory: str, shape: tuple[int, int]) -> str:
        """Add the tensor of input or output `name` in the queue `memory`, and return its symbol.

        `shape` is (rows, elements of a row).
        """
        symbol = self.ports[name]
        self.tensors[symbol] = Tensor(symbol, vectors, memory=memory, shape=shape)
        return symbol

    def result(self, wanted: str, shape: tuple[int, ...], elements: Indices, zeros: bool) -> Value:
        """Add a tensor for a value of shape `shape`, and return the value.

        `elements` has, for each place of each row, the index of its element in the value, or -1 for
        padding. `zeros` says whether padding is zero.
        """
        vectors = elements.shape[1] // self.native
        name = self.tensor(wanted, len(elements) * vectors)
        return Value(shape, name, elements, self.native, 0, vectors, zeros)

    def constant(self, wanted: str, rows: Array, columns: int | None = None) -> Place:
        """Add a constant and return its place. `rows` has shape (count, elements of whole vectors).

        `columns` is the number of elements of a row without padding, if all padding is at the row's
        end. If an equal constant is there already, the result is its place.
        """
        numbers = self.to_host(rows)
        count, vectors = len(rows), rows.shape[1] // self.native
        shape = (count, columns or rows.shape[1])
        for tensor in self.tensors.values():
            if tensor.constant is None or tensor.shape != shape:
                continue
            if np.array_equal(tensor.constant.reshape(-1), numbers.reshape(-1)):
                return Place(tensor.name, count, vectors, 0, vectors)
        data = numbers.reshape(-1, self.native)
        name = self.tensor(wanted, count * vectors, constant=data, shape=shape)
        return Place(name, count, vectors, 0, vectors)

    def matrix(self, wanted: str, values: Array, rows: Indices, columns: Indices) -> str:
        """Add a matrix of elements of `values`, and return its name.

        `rows` and `columns` are the indices in `values` of each row and column, or -1 for padding.
        """
        whole = np.zeros((len(rows), len(columns)), self.host)
        numbers = self.to_host(values)
        at = np.ix_(rows >= 0, columns >= 0)
        whole[at] = numbers[np.ix_(rows[rows >= 0], columns[columns >= 0])]
        shape = _extent(rows), _extent(columns)
        name = self.name(wanted)
        sizes = len(rows) // self.native, len(columns) // self.native
        self.matrices[name] = Matrix(name, *sizes, shape, whole)
        return name

    def to_host(self, numbers: Array) -> Array:
        """Return numbers in the host format. Raises `LowerError` for a number that does not fit."""
        wide = np.asarray(numbers, np.float64)
        with np.errstate(over="ignore"):
            host = wide.astype(self.host)
        wrong = ~np.isfinite(host)
        if np.any(wrong):
            text = str(self.config["nnp.host_format"])
            raise LowerError(
                f"the constant {float(wide[wrong][0])!r} is no finite number of {text}",
                "nnp.host_format" if text == "fp16" else "",
            )
        return host

    def emit(self, operation: Operation) -> None:
        """Append an operation that is executed once."""
        self._straight.append(operation)

    def loop(self, body: Iterable[Operation], steps: int) -> None:
        """Append a phase whose operations `body` are executed in each of `steps` time steps."""
        self.close()
        self.phases.append(Phase(tuple(body), steps))

    def close(self) -> None:
        """Make a phase of the operations that `emit` appended after the last phase, if any."""
        if self._straight:
            self.phases.append(Phase(tuple(self._straight)))
            self._straight.clear()

    # --- values ---

    def array(self, name: str) -> Array | None:
        """Return a constant by its ONNX name; None for another value."""
        return self.graph.constant(name)

    def value(self, name: str) -> Value:
        """Return a value on the device. Raises `LowerError` for a constant, and for integers."""
        if name not in self.values:
            value = self.graph.values[name]
            if value.array is None:
                kind = element_name(value.element)
                raise LowerError(
                    f"its input {message_name(name)} is of {kind}, no floating-point type"
                )
            raise LowerError("its input is a constant, and nothing of it depends on an input")
        return self.values[name]

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of an ONNX value."""
        return self.graph.values[name].shape

    def contiguous(self, label: str, value: Value) -> Value:
        """Return the value in vectors without gaps between rows.

        If it has gaps, append a copy to a new tensor, whose name begins with `label`.
        """
        if value.rows == 1 or value.stride == value.vectors:
            return value
        copy = self.result(label, value.shape, value.elements, value.zeros)
        self.emit(Operation(label, ops.COPY, (value.place,), copy.place))
        return copy

    def pointwise(self, node: Node, kind: str, value: Value, *others: Place) -> Value:
        """Append operation `kind` on the elements of `value` and `others`; return its result.

        The result has the layout of `value`.
        """
        zeros = value.zeros and kind != ops.SIGMOID
        result = self.result(node.outputs[0], value.shape, value.elements, zeros)
        self.emit(Operation(node.label, kind, (value.place, *others), result.place))
        return result


def rows_of_groups(
    builder: Builder, label: str, value: Value, group: Indices, key: Indices
) -> Groups:
    """Return the value arranged so that each group of its elements is one row.

    If its rows are arranged differently, append copies to a new tensor, whose name begins with
    `label`. `group` and `key` have, for each element of the value, the number of its group and its
    index in the group. Raises `LowerError` if copies of vectors cannot arrange the rows in this
    way.
    """
    arranged = groups(value, group, key)
    if arranged is not None:
        return arranged
    copies, table = vector_copies(value, group, key)
    result = builder.result(f"{label}_rows", value.shape, table, value.zeros)
    for copy in copies:
        source = copy.source
        target = Place(result.tensor, source.count, source.vectors, copy.column, result.stride)
        builder.emit(Operation(label, ops.COPY, (source,), target))
    keys = np.where(table[0] >= 0, key[table[0]], PADDING)
    return Groups(result, np.arange(len(table)), keys)


def spread_constant(builder: Builder, wanted: str, array: Array, value: Value) -> Place:
    """Add a constant for an operation with `value`, and return its place.

    `array` has the shape of `value`. In the rows of the constant, the elements are arranged like
    those of `value`. If all rows are equal, the constant has a single row, which the place repeats.
    """
    flat = array.reshape(-1)
    rows = np.where(value.elements >= 0, flat[value.elements], 0)
    there = value.elements >= 0
    if np.all(rows == rows[0]) and np.all(there == there[0]):
        place = builder.constant(wanted, rows[:1], _extent(value.elements[0]))
        return Place(place.tensor, value.rows, place.vectors)
    return builder.constant(wanted, rows)


def matching(value: Value, other: Value, shape: tuple[int, ...]) -> Place | None:
    """Return the place of `other`, broadcast to `shape`, for an operation with `value`.

    `value` has this shape. Return None if the elements of `other` are not arranged like those of
    `value`.
    """
    flat = np.arange(int(np.prod(other.shape)), dtype=np.int64).reshape(other.shape)
    wide = np.broadcast_to(flat, shape).reshape(-1)
    wanted = np.where(value.elements >= 0, wide[value.elements], PADDING)
    for count in (value.rows, 1):
        arranged = regrouped(other, count)
        if arranged is None or arranged.vectors != value.vectors:
            continue
        table = np.broadcast_to(arranged.elements, wanted.shape)
        if np.all((table == wanted) | (wanted < 0)):
            place = arranged.place
            stride = 0 if count == 1 else place.stride
            return Place(place.tensor, value.rows, place.vectors, place.first, stride)
    return None


def _extent(keys: Indices) -> int:
    """Return the number of elements of a row without the padding at its end.

    `keys` has the index of the element in each place of the row, or -1 for padding. If there is
    padding before the last element, return the row's length with all padding.
    """
    count = int(np.count_nonzero(keys >= 0))
    return count if np.all(keys[:count] >= 0) else len(keys)


_RESERVED = frozenset(
    """
    step steps row rows cols vectors matrices scratch iterations dram netinq netoutq initialvrf
    mulvrf addsubvrf0 addsubvrf1 matrixrf valid width height kernel stride pad depth
    """.split()
)
