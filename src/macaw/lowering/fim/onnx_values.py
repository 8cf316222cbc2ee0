"""Values of an ONNX graph as tensors of a graph of tasks: any rank, constants kept as arrays.

What only moves numbers is done once on numbers' places, by ONNX's own reference: the places are
then a view, or segments for the dma.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper

from macaw.isa.fim_circuit import FORMATS
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import Graph, Places, Tensor
from macaw.lowering.fim.labels import free

LARGEST = 2 << 30  # bytes of the largest external memory that a device may have
TASKS = 2000  # of a graph
_LONGEST = 60  # characters of a tensor's name
_CHUNK = 1 << 20  # places that are looked at together
_WIDE = (np.float16, np.float32, np.float64)  # types that are rounded as they are


@dataclass(frozen=True)
class Value:
    """A value: its shape, and its numbers as they are known (`array`) or made (`tensor`)."""

    shape: tuple[int, ...]
    tensor: Tensor | None = None
    array: NDArray[Any] | None = None
    name: str = ""  # of a constant, in the model
    element: int = TensorProto.FLOAT  # what the model says that its numbers are

    @property
    def constant(self) -> bool:
        """Whether its numbers are known."""
        return self.array is not None


class Values:
    """The values of an ONNX graph by name, and the tasks that make them."""

    def __init__(self, form: int, room: int = LARGEST) -> None:
        self.graph = Graph(form)
        self.room = room  # bytes of external memory
        self.taken = 0  # numbers of inputs, and of what was moved: they lie there at once
        self.known: dict[str, Value] = {}
        # What is made of constants, once: the arrays are kept, so that their ids stay theirs.
        self._constants: dict[tuple[int, int, int], tuple[NDArray[Any], Tensor]] = {}
        self._derived: dict[tuple[int, object], tuple[NDArray[Any], Value]] = {}

    def name(self, onnx_name: str) -> str:
        """A tensor's name for an ONNX one: letters, digits and `_`, and no other tensor's."""
        base = re.sub(r"\W+", "_", onnx_name, flags=re.ASCII).strip("_")[:_LONGEST] or "value"
        base = base if free(base) else f"v{base}"
        name, number = base, 1
        while name in self.graph.tensors:
            number += 1
            name = f"{base}_{number}"
        return name

    def array(self, array: NDArray[Any], name: str = "") -> Value:
        """A constant."""
        element = TensorProto.STRING
        if array.dtype.kind not in "OSUT":
            element = helper.np_dtype_to_tensor_dtype(array.dtype)
        return Value(array.shape, array=array, name=name, element=element)

    def made(self, tensor: Tensor, shape: Sequence[int]) -> Value:
        """What a task has made, in a shape."""
        if tensor.numbers != math.prod(shape):
            raise LowerError(f"{tensor.numbers:,} numbers in a shape of {tuple(shape)}")
        return Value(tuple(shape), tensor)

    def given(self, name: str, shape: tuple[int, ...], element: int = TensorProto.FLOAT) -> Value:
        """An input."""
        self._take(math.prod(shape))
        tensor = self.graph.tensor(self.name(name), *matrix(shape))
        return Value(shape, tensor, element=element)

    def fits(self, numbers: int, beside: bool = False) -> None:
        """Raise `LowerError` if external memory cannot hold so many numbers.

        `beside`: beside all inputs, and what was moved before.
        """
        size = FORMATS[self.graph.form].size
        size_needed = size * (numbers + self.taken * beside)
        if size_needed > self.room:
            others = ", with the inputs and what was moved before," if beside and self.taken else ""
            raise LowerError(
                f"{numbers:,} numbers{others} take {size_needed:,} bytes, external memory has"
                f" {self.room:,}",
                "mem.external_bytes",
            )

    def check_tasks(self) -> None:
        """Raise `LowerError` if there are more tasks than a plan is made of."""
        if len(self.graph.tasks) > TASKS:
            raise LowerError(f"the graph has more than {TASKS:,} tasks here")

    def _take(self, numbers: int) -> None:
        self.fits(numbers, beside=True)
        self.taken += numbers

    def tensor(self, value: Value, name: str, rows: int = 0, columns: int = 0) -> Tensor:
        """A value as a matrix; by default of all its numbers, the last dimension across."""
        if not rows:
            rows, columns = matrix(value.shape)
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
            numbers = wide.astype(FORMATS[self.graph.form].dtype)
        overflows = np.isfinite(wide) & ~np.isfinite(numbers)
        if overflows.any():
            name = FORMATS[self.graph.form].name
            raise LowerError(f"the constant {wide[overflows][0]:g} is too large for {name}")
        return np.ascontiguousarray(numbers.reshape(rows, columns))

    def broadcast(self, value: Value, shape: tuple[int, ...], name: str) -> Value:
        """A value repeated to a shape, as NumPy does it."""
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
            return self.derived(value, "repeated", lambda: np.broadcast_to(array, shape), shape)
        places = np.broadcast_to(places_of(value.shape), shape)
        return self.moved(value, places, name)

    def derived(
        self, value: Value, how: str, make: Callable[[], NDArray[Any]], key: object = None
    ) -> Value:
        """A constant made of another one: the same for the same `how` and `key`."""
        assert value.array is not None
        place = id(value.array), (how, key)
        if place not in self._derived:
            name = f"{value.name}_{how}" if value.name else ""
            self._derived[place] = value.array, self.array(make(), name)
        return self._derived[place][1]

    def moved(self, value: Value, places: Places, name: str) -> Value:
        """The numbers of a value at places: a view if they lie behind each other, else a gather."""
        assert value.tensor is not None
        rows, columns = matrix(places.shape)
        if not places.size:
            return self.array(np.zeros(places.shape))
        begins, width = segments(places)
        if len(begins) == 1:
            begin = int(begins[0])
            if (rows, columns, begin) == (value.tensor.rows, value.tensor.columns, 0):
                return self.made(value.tensor, places.shape)
            tensor = self.graph.view(value.tensor, rows, columns, begin, self.name(name))
        else:
            self._take(places.size)
            tensor = self.graph.segments(
                value.tensor, begins, width, (rows, columns), self.name(name)
            )
        return self.made(tensor, places.shape)

    def part(self, value: Value, begin: int, shape: tuple[int, ...], name: str) -> Value:
        """The numbers of a value from a place on, in another shape: a view."""
        rows, columns = matrix(shape)
        if value.array is not None:
            numbers = value.array.reshape(-1)[begin : begin + math.prod(shape)]
            return self.array(numbers.reshape(shape))
        assert value.tensor is not None
        if (rows, columns, begin) == (value.tensor.rows, value.tensor.columns, 0):
            return self.made(value.tensor, shape)
        tensor = self.graph.view(value.tensor, rows, columns, begin, self.name(name))
        return self.made(tensor, shape)

    def spread(self, into: Value, updates: Value, places: Places, name: str) -> Value:
        """A value with other numbers at places; both may be constant, but not both."""
        begins, width = segments(places)
        self._take(math.prod(into.shape))
        shape = matrix(into.shape)
        zeros = into.array is not None and not np.any(into.array)
        target = None if zeros else self.tensor(into, f"{name}_data", *shape)
        source = self.tensor(updates, f"{name}_updates")
        tensor = self.graph.spread(source, begins, width, shape, self.name(name), target)
        return self.made(tensor, into.shape)

    def joined(
        self, parts: Sequence[Value], places: Sequence[Places], shape: Any, name: str
    ) -> Value:
        """Parts whose numbers go to places of a new value."""
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
    """Rows and columns of a value: all dimensions but the last one are rows."""
    return (math.prod(shape[:-1]), shape[-1]) if shape else (1, 1)


def places_of(shape: Sequence[int]) -> Places:
    """The place of each number of a value."""
    count = math.prod(shape)
    places: Places = np.arange(count, dtype=np.int32 if count < 1 << 31 else np.int64)
    return places.reshape(shape)


def segments(places: Places) -> tuple[Places, int]:
    """Begins and the width of the longest equal segments that places are made of."""
    flat = places.reshape(-1)
    width = len(flat)
    for first in range(0, len(flat) - 1, _CHUNK):
        some = flat[first : first + _CHUNK + 1]
        cuts = np.flatnonzero(some[1:] != some[:-1] + 1) + (first + 1)
        width = math.gcd(width, int(np.gcd.reduce(cuts, initial=0)))
        if width == 1:
            break
    return flat[::width], width
