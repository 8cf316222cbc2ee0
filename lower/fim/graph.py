"""Graphs of tasks for the islands: tensors, tasks, and who waits for whom (seed 004 ¶53-60).

There are four kinds of task, and layers are made of them: chains and perceptrons are products and
functions, a GRU cell is products and functions of gates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.fim_circuit import FUNCTION_NAMES, FUNCTIONS
from lower.errors import LowerError

PRODUCT, POINTWISE, GATHER, SCATTER = "product", "pointwise", "gather", "scatter"
KINDS = (PRODUCT, POINTWISE, GATHER, SCATTER)
_OPERANDS = {row.name: row.operands for row in FUNCTIONS}


@dataclass(frozen=True)
class Tensor:
    """A matrix (rows, columns); `data` if its numbers are known."""

    name: str
    rows: int
    columns: int
    data: NDArray[Any] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Task:
    """What makes a tensor of others: a product A · B, a function, or rows by their numbers."""

    kind: str
    inputs: tuple[Tensor, ...]
    output: Tensor
    function: str = ""  # of pointwise
    places: tuple[int, ...] = ()  # of gather: which rows; of scatter: where each row goes


class Graph:
    """Tasks in an order in which they can be done."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self.tasks: list[Task] = []

    def tensor(self, name: str, rows: int, columns: int) -> Tensor:
        """A tensor that the host gives."""
        return self._new(Tensor(name, rows, columns))

    def constant(self, name: str, data: NDArray[Any]) -> Tensor:
        """A tensor whose numbers are known."""
        rows, columns = data.shape
        return self._new(Tensor(name, rows, columns, data))

    def product(self, a: Tensor, b: Tensor, name: str = "") -> Tensor:
        """A · B."""
        if a.columns != b.rows:
            raise LowerError(
                f"{a.name} ({a.rows} x {a.columns}) times {b.name} ({b.rows} x {b.columns})"
            )
        return self._task(PRODUCT, (a, b), a.rows, b.columns, name)

    def pointwise(self, function: str, *operands: Tensor, name: str = "") -> Tensor:
        """A function number by number, of one tensor or of two of one shape."""
        if function not in FUNCTION_NAMES:
            raise LowerError(f"no function is called {function}", ", ".join(FUNCTION_NAMES))
        if len(operands) != _OPERANDS[function]:
            raise LowerError(f"{function} takes {_OPERANDS[function]} tensors, not {len(operands)}")
        rows, columns = operands[0].rows, operands[0].columns
        for other in operands[1:]:
            if (other.rows, other.columns) != (rows, columns):
                raise LowerError(f"{function} of {operands[0].name} and {other.name}: two shapes")
        return self._task(POINTWISE, operands, rows, columns, name, function=function)

    def gather(self, a: Tensor, rows: Sequence[int], name: str = "") -> Tensor:
        """Rows of a tensor, by their numbers."""
        self._check_rows(rows, a.rows)
        return self._task(GATHER, (a,), len(rows), a.columns, name, places=tuple(rows))

    def scatter(self, a: Tensor, rows: Sequence[int], height: int, name: str = "") -> Tensor:
        """Rows of a tensor to rows of one of zeros with so many rows; each goes to its own."""
        self._check_rows(rows, height)
        if len(set(rows)) != len(rows) or len(rows) != a.rows:
            raise LowerError(f"scatter of {a.name}: {a.rows} rows go to as many different ones")
        return self._task(SCATTER, (a,), height, a.columns, name, places=tuple(rows))

    # --- layers ---

    def chain(self, *matrices: Tensor) -> Tensor:
        """A · B · C ..., from the left."""
        found = matrices[0]
        for other in matrices[1:]:
            found = self.product(found, other)
        return found

    def perceptron(self, x: Tensor, layers: Sequence[Tensor], function: str = "relu") -> Tensor:
        """A multi-layer perceptron; the function stands between layers."""
        for number, weights in enumerate(layers):
            x = self.product(x, weights)
            if number < len(layers) - 1:
                x = self.pointwise(function, x)
        return x

    def gru(self, x: Tensor, h: Tensor, w: Mapping[str, Tensor], one: Tensor) -> Tensor:
        """A GRU cell: weights wr, wz, wn of x and ur, uz, un of h; `one` is a tensor of ones."""
        gates = {}
        for gate in "rz":
            total = self.pointwise(
                "add", self.product(x, w["w" + gate]), self.product(h, w["u" + gate])
            )
            gates[gate] = self.pointwise("sigmoid", total)
        reset = self.pointwise("mul", gates["r"], self.product(h, w["un"]))
        new = self.pointwise("tanh", self.pointwise("add", self.product(x, w["wn"]), reset))
        kept = self.pointwise("mul", gates["z"], h)
        left = self.pointwise("sub", one, gates["z"])
        return self.pointwise("add", self.pointwise("mul", left, new), kept)

    # --- order ---

    def before(self, task: Task) -> list[Task]:
        """The tasks that make a task's inputs."""
        names = {tensor.name for tensor in task.inputs}
        return [other for other in self.tasks if other.output.name in names]

    def evaluate(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float64]]:
        """All tensors in float64, without the islands' roundings."""
        found = {
            name: np.asarray(inputs[name] if tensor.data is None else tensor.data, np.float64)
            for name, tensor in self.tensors.items()
            if name not in {task.output.name for task in self.tasks}
        }
        for task in self.tasks:
            found[task.output.name] = _evaluated(task, [found[x.name] for x in task.inputs])
        return found

    def _task(
        self, kind: str, inputs: tuple[Tensor, ...], rows: int, columns: int, name: str, **more: Any
    ) -> Tensor:
        for tensor in inputs:
            if self.tensors.get(tensor.name) is not tensor:
                raise LowerError(f"{tensor.name} is of another graph")
        output = self._new(Tensor(name or f"t{len(self.tasks)}", rows, columns))
        self.tasks.append(Task(kind, inputs, output, **more))
        return output

    def _new(self, tensor: Tensor) -> Tensor:
        if tensor.name in self.tensors:
            raise LowerError(f"two tensors are called {tensor.name}")
        self.tensors[tensor.name] = tensor
        return tensor

    @staticmethod
    def _check_rows(rows: Sequence[int], height: int) -> None:
        for row in rows:
            if not 0 <= row < height:
                raise LowerError(f"row {row} is out of range, 0 to {height - 1}")


def _evaluated(task: Task, values: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    if task.kind == PRODUCT:
        return np.asarray(values[0] @ values[1])
    if task.kind == GATHER:
        return values[0][list(task.places)]
    if task.kind == SCATTER:
        found = np.zeros((task.output.rows, task.output.columns))
        found[list(task.places)] = values[0]
        return found
    x = values[0]
    match task.function:
        case "add":
            return x + values[1]
        case "sub":
            return x - values[1]
        case "mul":
            return x * values[1]
        case "div":
            return x / values[1]
        case "relu":
            return np.maximum(x, 0.0)
        case "vssqr":
            return x * x
        case "vssqrt":
            return np.sqrt(x)
        case "sigmoid":
            return np.asarray(1 / (1 + np.exp(-x)))
        case "tanh":
            return np.tanh(x)
    raise LowerError(f"{task.function} is of bits, not of numbers")
