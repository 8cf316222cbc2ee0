"""Maps the values of an ONNX graph, of any rank, to tensors of a graph of tasks.

A constant is stored as an array. Some nodes only move numbers. For such a node, ONNX's own
reference implementation moves the indices of the numbers once. The moved indices then determine a
view, or segments for the dma.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.fim_circuit import FORMATS
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import Graph, Places, Tensor
from macaw.lowering.fim.labels import symbol
from macaw.lowering.fim.number_arrays import rounded
from macaw.lowering.onnx.values import Room, Value, check_room, element_of

TASKS = 2000  # the greatest number of tasks of a graph
_CHUNK = 1 << 20  # number of indices that are compared at once
_WIDE = (np.float16, np.float32, np.float64)  # types that are rounded without a cast


@dataclass(frozen=True)
class TaskValue(Value):
    """A value of an ONNX graph.

    Its numbers are in `tensor`, a tensor of the graph of tasks, or it is a constant, in `array`.
    """

    tensor: Tensor | None = None


Inputs = Sequence[TaskValue | None]  # the inputs of a node; None for an input that is left out


def optional(inputs: Inputs, place: int) -> TaskValue | None:
    """Return input number `place` of a node, from 0 on, or None if it is left out."""
    return inputs[place] if place < len(inputs) else None


def required(inputs: Inputs, place: int) -> TaskValue:
    """Return input number `place` of a node, from 0 on. Raises `LowerError` if it is left out."""
    value = optional(inputs, place)
    if value is None:
        raise LowerError(f"its input {place} is missing")
    return value


class Values:
    """The values of an ONNX graph by name, and the graph of tasks that compute them."""

    def __init__(self, form: int, room: Room, version: int) -> None:
        self.version = version  # the version of ONNX's operator set
        self.graph = Graph(form)
        self.room = room  # size of external memory
        self.numbers_held = 0  # count of numbers of inputs and moved values, all in external memory
        self.by_name: dict[str, TaskValue] = {}
        # Derived constants by id of their source. The source's array is stored so that the id stays
        # valid.
        self._constants: dict[tuple[int, int, int], tuple[NDArray[Any], Tensor]] = {}
        self._derived: dict[tuple[int, object], tuple[NDArray[Any], TaskValue]] = {}

    def name(self, onnx_name: str) -> str:
        """Return a tensor name for an ONNX name: letters, digits and `_`.

        No tensor of the graph has this name yet, and it is no label of the program.
        """
        return symbol(onnx_name, self.graph.tensors)

    def array(self, array: NDArray[Any], name: str = "") -> TaskValue:
        """Return an array as a constant value."""
        return TaskValue(array.shape, array, name, element_of(array))

    def of_tensor(self, tensor: Tensor, shape: Sequence[int]) -> TaskValue:
        """Return the value in shape `shape` that has the numbers of a tensor of the graph of tasks.

        Raises `LowerError` if the tensor has another count of numbers.
        """
        if tensor.numbers != math.prod(shape):
            raise LowerError(f"{tensor.numbers:,} numbers in a shape of {tuple(shape)}")
        return TaskValue(tuple(shape), tensor=tensor)

    def input_value(self, name: str, shape: tuple[int, ...], element: int) -> TaskValue:
        """Add an input of the graph, and return its value.

        `element` is the ONNX number of its type. Raises `LowerError` if external memory has no room
        for it.
        """
        self._take(math.prod(shape))
        tensor = self.graph.tensor(self.name(name), *matrix(shape))
        return TaskValue(shape, tensor=tensor, element=element)

    def fits(self, numbers: int, beside: bool) -> None:
        """Raise `LowerError` if external memory has no room for this count of numbers.

        With `beside`, there must be room in addition to all inputs of the graph and all values
        for which this object has already taken room.
        """
        check_room(self.room, numbers, self.numbers_held * beside)

    def check_tasks(self) -> None:
        """Raise `LowerError` if the graph has too many tasks for a plan."""
        if len(self.graph.tasks) > TASKS:
            raise LowerError(f"the graph has more than {TASKS:,} tasks here")

    def _take(self, numbers: int) -> None:
        self.fits(numbers, beside=True)
        self.numbers_held += numbers

    def tensor(self, value: TaskValue, name: str, shape: tuple[int, int] | None = None) -> Tensor:
        """Return a value as a matrix of `shape` (rows, columns).

        By default the columns are the last dimension, and the rows all others. If the value has no
        such tensor yet, the graph gets a constant or a view, named after `name`. Raises
        `LowerError` for a constant with a number too large for the format.
        """
        rows, columns = shape or matrix(value.shape)
        if value.array is not None:
            key = id(value.array), rows, columns
            if key not in self._constants:
                numbers = self._numbers(value.array, rows, columns)
                tensor = self.graph.constant(self.name(value.name or name), numbers)
                self._constants[key] = value.array, tensor
            return self._constants[key][1]
        assert value.tensor is not None
        if (value.tensor.rows, value.tensor.columns) == (rows, columns):
            return value.tensor
        return self.graph.view(value.tensor, rows, columns, name=self.name(f"{name}_view"))

    def _numbers(self, array: NDArray[Any], rows: int, columns: int) -> NDArray[Any]:
        try:
            wide = array if array.dtype in _WIDE else np.asarray(array, np.float64)
        except (TypeError, ValueError):
            raise LowerError(f"a constant of {array.dtype}, not of numbers") from None
        if wide.size != rows * columns:
            raise LowerError(f"a constant of the shape {array.shape} as {rows} x {columns} numbers")
        with np.errstate(over="ignore", invalid="ignore"):
            numbers = rounded(wide, FORMATS[self.graph.form])
        overflows = np.isfinite(wide) & ~np.isfinite(numbers)
        if overflows.any():
            name = FORMATS[self.graph.form].name
            raise LowerError(f"the constant {wide[overflows][0]:g} is too large for {name}")
        return np.ascontiguousarray(numbers.reshape(rows, columns))

    def broadcast(self, value: TaskValue, shape: tuple[int, ...], name: str) -> TaskValue:
        """Return a value broadcast to a shape by NumPy's rules.

        If the value is not a constant, this adds a gather, whose output is named after `name`.
        Raises `LowerError` if the shapes do not allow it.
        """
        if value.shape == shape:
            return value
        try:
            fits = np.broadcast_shapes(value.shape, shape) == shape
        except ValueError:
            fits = False
        if not fits:
            raise LowerError(f"a shape of {value.shape} cannot be repeated to {shape}")
        if value.array is not None:
            array = value.array
            return self.derive(value, "repeated", lambda: np.broadcast_to(array, shape), shape)
        places = np.broadcast_to(places_of(value.shape), shape)
        return self.move(value, places, name)

    def derive(
        self, value: TaskValue, how: str, make: Callable[[], NDArray[Any]], key: object = None
    ) -> TaskValue:
        """Return a constant that `make` computes from the constant `value`.

        `make` is called once for each combination of `value`, `how` (a word for the computation)
        and `key`.
        """
        assert value.array is not None
        place = id(value.array), (how, key)
        if place not in self._derived:
            name = f"{value.name}_{how}" if value.name else ""
            self._derived[place] = value.array, self.array(make(), name)
        return self._derived[place][1]

    def move(self, value: TaskValue, places: Places, name: str) -> TaskValue:
        """Return a value that consists of the numbers of `value` at the indices `places`.

        It is a constant if `value` is a constant, a view if the indices are consecutive, else the
        output of a gather.
        """
        if value.array is not None:
            return self.array(value.array.reshape(-1)[places])
        assert value.tensor is not None
        rows, columns = matrix(places.shape)
        if not places.size:
            return self.array(np.zeros(places.shape))
        begins, width = segments(places)
        if len(begins) == 1:
            begin = int(begins[0])
            if (rows, columns, begin) == (value.tensor.rows, value.tensor.columns, 0):
                return self.of_tensor(value.tensor, places.shape)
            tensor = self.graph.view(value.tensor, rows, columns, begin, self.name(name))
        else:
            self._take(places.size)
            tensor = self.graph.segments(
                value.tensor, begins, width, (rows, columns), self.name(name)
            )
        return self.of_tensor(tensor, places.shape)

    def part(self, value: TaskValue, begin: int, shape: tuple[int, ...], name: str) -> TaskValue:
        """Return a value of shape `shape`: consecutive numbers of `value` from index `begin` on.

        It is a constant if `value` is a constant, else a view or the whole tensor.
        """
        rows, columns = matrix(shape)
        if value.array is not None:
            numbers = value.array.reshape(-1)[begin : begin + math.prod(shape)]
            return self.array(numbers.reshape(shape))
        assert value.tensor is not None
        if (rows, columns, begin) == (value.tensor.rows, value.tensor.columns, 0):
            return self.of_tensor(value.tensor, shape)
        tensor = self.graph.view(value.tensor, rows, columns, begin, self.name(name))
        return self.of_tensor(tensor, shape)

    def rows(self, value: TaskValue, name: str) -> list[TaskValue]:
        """Return the rows of a value (rows, numbers), each as a value (1, numbers)."""
        rows, numbers = value.shape
        parts = [(row * numbers, f"{name}_row{row}") for row in range(rows)]
        return [self.part(value, begin, (1, numbers), part) for begin, part in parts]

    def spread(self, into: TaskValue, updates: TaskValue, places: Places, name: str) -> TaskValue:
        """Add a scatter; return `into` with the numbers at the indices `places` replaced.

        The numbers of `updates` replace them, in this order. At least one of the two values is not
        a constant.
        """
        begins, width = segments(places)
        self._take(math.prod(into.shape))
        shape = matrix(into.shape)
        zeros = into.array is not None and not np.any(into.array)
        target = None if zeros else self.tensor(into, f"{name}_data", shape)
        source = self.tensor(updates, f"{name}_updates")
        tensor = self.graph.spread(source, begins, width, shape, self.name(name), target)
        return self.of_tensor(tensor, into.shape)

    def join(
        self, parts: Sequence[TaskValue], places: Sequence[Places], shape: Any, name: str
    ) -> TaskValue:
        """Return a value of shape `shape` in which the numbers of `parts[i]` are at `places[i]`.

        `places[i]` has indices of numbers of the new value; its numbers at other indices are zero.
        Each part that is not a constant needs a scatter.
        """
        array = np.zeros(shape)
        for part, where in zip(parts, places, strict=True):
            if part.array is not None:
                array.reshape(-1)[where.reshape(-1)] = part.array.reshape(-1)
        value = self.array(array)
        rest = [row for row in zip(parts, places, strict=True) if row[0].array is None]
        for number, (part, where) in enumerate(rest):
            last = number == len(rest) - 1
            value = self.spread(value, part, where, name if last else f"{name}_part{number}")
        return value


def matrix(shape: Sequence[int]) -> tuple[int, int]:
    """Return (rows, columns) of the matrix for a value of this shape.

    The columns are the last dimension, the rows all others. A scalar has one row and one column.
    """
    return (math.prod(shape[:-1]), shape[-1]) if shape else (1, 1)


def matrix_pairs(left: Sequence[int], right: Sequence[int]) -> list[tuple[int, int]]:
    """Return which matrices of two stacks a product multiplies.

    Each pair has the index of a matrix in the left stack and of one in the right stack. The pairs
    are in the order of the matrices of the result. `left` and `right` are the shapes of the stacks;
    the dimensions before the last two broadcast.
    """
    batch = np.broadcast_shapes(tuple(left[:-2]), tuple(right[:-2]))
    firsts, seconds = (
        np.broadcast_to(places_of(shape[:-2]), batch).reshape(-1).tolist()
        for shape in (left, right)
    )
    return list(zip(firsts, seconds, strict=True))


def places_of(shape: Sequence[int]) -> Places:
    """Return an array of the given shape with the numbers 0, 1, 2, ... in order: the indices."""
    count = math.prod(shape)
    places: Places = np.arange(count, dtype=np.int32 if count < 1 << 31 else np.int64)
    return places.reshape(shape)


def segments(places: Places) -> tuple[Places, int]:
    """Split indices into stretches of consecutive indices; all stretches have the same length.

    The length is the greatest possible one. Return the first index of each stretch, and the length.
    """
    flat = places.reshape(-1)
    width = len(flat)
    for first in range(0, len(flat) - 1, _CHUNK):
        some = flat[first : first + _CHUNK + 1]
        cuts = np.flatnonzero(some[1:] != some[:-1] + 1) + (first + 1)
        width = math.gcd(width, int(np.gcd.reduce(cuts, initial=0)))
        if width == 1:
            break
    return flat[::width], width
