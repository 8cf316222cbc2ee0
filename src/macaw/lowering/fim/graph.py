"""Describes graphs of tasks for the islands: tensors, tasks and dependencies (seed 004 ¶53-60).

There are four kinds of tasks: product, function, gather and scatter. A perceptron consists of
products and functions; so does a GRU cell. A convolution is a gather and a product.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.fim_circuit import FUNCTIONS
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.fim import graph_checks, task_values
from macaw.lowering.fim.labels import symbol

Places = NDArray[np.integer[Any]]  # indices of numbers in a tensor
PRODUCT, POINTWISE, GATHER, SCATTER = "product", "pointwise", "gather", "scatter"
KINDS = (PRODUCT, POINTWISE, GATHER, SCATTER)
MANY_STEPS = {"max": 2, "min": 2}  # functions that no ALU has, with the number of their operands
MUL_ADD = "mul_add"  # a · b + c · d in int8, two products that are added in Rz
_OPERANDS = {row.name: row.operands for row in FUNCTIONS} | MANY_STEPS | {MUL_ADD: 4}


@dataclass(frozen=True)
class Tensor:
    """A matrix of shape (rows, columns), stored row by row; `data` has the numbers of a constant.

    A view has no separate memory: its numbers are numbers of `base`, starting at index `offset`.
    If the output of a task is a view, the task writes this part of `base`.
    """

    name: str
    rows: int
    columns: int
    data: NDArray[Any] | None = field(default=None, compare=False)
    base: Tensor | None = None
    offset: int = 0  # index of the first number in `base`

    @property
    def memory(self) -> Tensor:
        """The tensor that has the memory: the base of a view, else the tensor itself."""
        return self.base or self

    @property
    def numbers(self) -> int:
        """The number of elements."""
        return self.rows * self.columns

    @property
    def place(self) -> tuple[str, int, int]:
        """The name of the memory, the index of the first number in it, and the count of numbers."""
        return self.memory.name, self.offset, self.numbers

    def overlaps(self, other: Tensor) -> bool:
        """Return whether the two tensors have a number of the same memory in common."""
        if self.memory.name != other.memory.name:
            return False
        first = max(self.offset, other.offset)
        return first < min(self.offset + self.numbers, other.offset + other.numbers)


@dataclass(frozen=True)
class Task:
    """One operation: a product A · B, a function of elements, a gather or a scatter.

    Gather and scatter move segments of `width` consecutive numbers. The output of a gather consists
    of the segments of its input that begin at the indices `places`, in this order. A scatter copies
    its second input, or zeros if it has only one input. Then it writes the segments of its first
    input to the indices `places`.

    A joint product has one left side and `joint` right sides, which are side by side in B. Its
    output has the results one below the other. In int8, the result of a task is divided by
    2 to the power of `shift`, and `bias` is a row of integers that is added to each row of a
    product.

    If a product has several `groups`, as a convolution may have, its left side is a constant. It
    has a block on its diagonal for each group, and zeros beside the blocks. All blocks have the
    same size.
    """

    kind: str
    inputs: tuple[Tensor, ...]
    output: Tensor
    function: str = ""  # the name of the function, for a task of elements
    # Comparisons of tasks leave `places` out, because the output identifies the task.
    places: Places = field(default_factory=lambda: np.zeros(0, np.int64), compare=False)
    width: int = 0
    shift: int | None = None  # int8: the result is divided by 2 ** shift; None: not of integers
    bias: Tensor | None = None  # int8: a row of integers that is added to each row of a product
    joint: int = 1  # the number of results of a product
    groups: int = 1  # the number of blocks on the diagonal of a product's left side

    def __hash__(self) -> int:
        return hash(self.output.name)


class Makers:
    """Says which tasks write a tensor, a part of it, or a tensor of which it is a view."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._outputs: dict[str, list[Tensor]] = {}
        for task in tasks:
            self._outputs.setdefault(task.output.memory.name, []).append(task.output)

    def of(self, tensor: Tensor) -> list[str]:
        """Return the names of the outputs that share at least one number with `tensor`.

        They are in the order of the tasks.
        """
        outputs = self._outputs.get(tensor.memory.name, ())
        return [output.name for output in outputs if output.overlaps(tensor)]


class Graph:
    """Tasks in an order that respects their dependencies, all in one number format.

    The methods that add a task return its output.
    """

    def __init__(self, form: int = 0) -> None:
        self.form = form  # index in `macaw.isa.fim_circuit.FORMATS`
        self.tensors: dict[str, Tensor] = {}
        self.tasks: list[Task] = []
        self.read: list[Tensor] = []
        # by name: shapes of inputs and results that are not matrices
        self.shapes: dict[str, tuple[int, ...]] = {}

    def without_tasks(self) -> Graph:
        """Return a graph with the same tensors and results, to which other tasks can be added."""
        graph = Graph(self.form)
        graph.tensors = dict(self.tensors)
        graph.read, graph.shapes = self.results, self.shapes
        return graph

    def tensor(self, name: str, rows: int, columns: int) -> Tensor:
        """Add an input of shape (rows, columns), whose numbers the host supplies."""
        return self._new(Tensor(name, rows, columns))

    def constant(self, name: str, data: NDArray[Any]) -> Tensor:
        """Add a constant matrix with the numbers in `data`."""
        rows, columns = data.shape
        return self._new(Tensor(name, rows, columns, data))

    def whole(self, name: str, rows: int, columns: int) -> Tensor:
        """Add a tensor of shape (rows, columns) that several products write, each a part of it."""
        return self._new(Tensor(name, rows, columns))

    def add_renamed(self, tensor: Tensor) -> Tensor:
        """Add a tensor. If another tensor has its name, append underscores to the name."""
        name = tensor.name
        while name in self.tensors:
            name += "_"
        return self._new(replace(tensor, name=name))

    def product(
        self,
        a: Tensor,
        b: Tensor,
        name: str = "",
        into: Tensor | None = None,
        row: int = 0,
        groups: int = 1,
        shift: int = 0,
        bias: NDArray[np.integer[Any]] | None = None,
    ) -> Tensor:
        """Add the matrix product A · B, and return its output.

        In int8 the output is A · B + `bias`, divided by 2 to the power of `shift`, rounded half to
        even and limited to int8. The bias has one integer for each column of B; sums and bias have
        32 bits. B is a constant if there is a bias.

        With `into`, the product writes rows of this tensor, starting at `row`. If A is a constant
        with blocks of one size on its diagonal and zeros beside them, `groups` can be the number of
        blocks. Raises `LowerError` if A has no such blocks or not as many columns as B has rows,
        and for a bias that does not fit.
        """
        if a.columns != b.rows:
            raise LowerError(
                f"{a.name} ({a.rows} x {a.columns}) times {b.name} ({b.rows} x {b.columns})"
            )
        if groups != 1:
            graph_checks.group_blocks(a.name, a.data, groups)
        more: dict[str, Any] = {"groups": groups, **graph_checks.scaling(self.form, shift)}
        if bias is not None:
            row_of_bias = graph_checks.bias_row(self.form, b.name, b.data, bias)
            bias_name = symbol(f"{name or f'v{len(self.tensors)}'}_bias", self.tensors)
            more["bias"] = self.constant(bias_name, row_of_bias)
        if into is None:
            return self._task(PRODUCT, (a, b), a.rows, b.columns, name, **more)
        self._own(a)
        self._own(b)
        part = self.view(into, a.rows, b.columns, row * into.columns, name)
        self.tasks.append(Task(PRODUCT, (a, b), part, **more))
        return part

    def pointwise(self, function: str, *operands: Tensor, name: str = "", shift: int = 0) -> Tensor:
        """Add a function of the elements of one tensor, or of two tensors; return its output.

        `function` is the name of a function of the ALU, or `max` or `min`. In int8 the result is
        divided by 2 to the power of `shift`, rounded half to even and limited to int8. Only int8
        has `mul_add`, a · b + c · d: b and d are constants, and the sum has 32 bits. Raises
        `LowerError` for another name, another number of operands, or operands of different shapes.
        """
        if function not in _OPERANDS:
            raise LowerError(f"no function is called {function}", ", ".join(_OPERANDS))
        if len(operands) != _OPERANDS[function]:
            raise LowerError(f"{function} takes {_OPERANDS[function]} tensors, not {len(operands)}")
        rows, columns = operands[0].rows, operands[0].columns
        for other in operands[1:]:
            if (other.rows, other.columns) != (rows, columns):
                raise LowerError(f"{function} of {operands[0].name} and {other.name}: two shapes")
        if function == MUL_ADD:
            graph_checks.mul_add_factors(self.form, (operands[1].data, operands[3].data))
        more = graph_checks.scaling(self.form, shift)
        return self._task(POINTWISE, operands, rows, columns, name, function=function, **more)

    def view(self, a: Tensor, rows: int, columns: int, offset: int = 0, name: str = "") -> Tensor:
        """Return a view of shape (rows, columns) of `a`, from index `offset` of its numbers on.

        A view of a constant is a constant. Raises `LowerError` if the tensor has too few numbers.
        """
        if offset < 0 or rows < 1 or columns < 1 or offset + rows * columns > a.numbers:
            raise LowerError(
                f"{rows} x {columns} numbers of {a.name} ({a.rows} x {a.columns}) from {offset} on"
            )
        self._own(a)
        if (rows, columns, offset, name) == (a.rows, a.columns, 0, ""):
            return a
        name = name or f"v{len(self.tensors)}"
        if a.data is not None:
            part = a.data.reshape(-1)[offset : offset + rows * columns]
            return self.constant(name, part.reshape(rows, columns))
        return self._new(Tensor(name, rows, columns, None, a.memory, a.offset + offset))

    def gather(self, a: Tensor, rows: Sequence[int], name: str = "") -> Tensor:
        """Add a gather of rows of `a`; return its output, whose row i is row `rows[i]` of `a`."""
        graph_checks.row_numbers(rows, a.rows)
        places = np.asarray(rows, np.int64) * a.columns
        return self.segments(a, places, a.columns, (len(rows), a.columns), name)

    def scatter(
        self,
        a: Tensor,
        rows: Sequence[int],
        height: int,
        name: str = "",
        into: Tensor | None = None,
    ) -> Tensor:
        """Add a scatter and return its output: `into`, with row `rows[i]` replaced by row i of `a`.

        The output has `height` rows, and `into` must have `height` rows, too. Without `into`, all
        rows of the output that are not in `rows` are zero.
        """
        graph_checks.row_numbers(rows, height)
        if len(rows) != a.rows:
            raise LowerError(f"scatter of {a.name}: {a.rows} rows go to as many different ones")
        places = np.asarray(rows, np.int64) * a.columns
        return self.spread(a, places, a.columns, (height, a.columns), name, into)

    def segments(
        self,
        a: Tensor,
        places: Sequence[int] | Places,
        width: int,
        shape: tuple[int, int],
        name: str = "",
    ) -> Tensor:
        """Add a gather of segments of `width` numbers of `a`; return its output, of shape `shape`.

        The segments begin at the indices `places` of `a`. Raises `LowerError` if `a` or `shape`
        does not fit them.
        """
        rows, columns = shape
        if rows * columns != len(places) * width:
            raise LowerError(f"{len(places)} segments of {width} numbers are no {rows} x {columns}")
        begins = self._validated(places, width, a)
        return self._task(GATHER, (a,), rows, columns, name, places=begins, width=width)

    def spread(
        self,
        a: Tensor,
        places: Sequence[int] | Places,
        width: int,
        shape: tuple[int, int],
        name: str = "",
        into: Tensor | None = None,
    ) -> Tensor:
        """Add a scatter of `a`, in segments of `width` numbers, to the indices `places` of `into`.

        Return its output, of shape `shape`, which `into` also has. Without `into`, the numbers
        outside of the segments are zero. Raises `LowerError` if segments overlap or exceed the
        output, if `a` does not have `width` numbers for each place, or if `into` has another shape.
        """
        rows, columns = shape
        target = Tensor("the result", rows, columns)
        if into is not None and (into.rows, into.columns) != shape:
            raise LowerError(f"scatter of {a.name} into {into.name}: another shape")
        if a.numbers != len(places) * width:
            raise LowerError(f"{a.name} has {a.numbers} numbers, not {len(places)} x {width}")
        begins = self._validated(places, width, target)
        if np.any(np.diff(np.sort(begins)) < width):
            raise LowerError(f"scatter of {a.name}: two rows go to one place")
        inputs = (a,) if into is None else (a, into)
        return self._task(SCATTER, inputs, rows, columns, name, places=begins, width=width)

    def transposed(self, a: Tensor, name: str = "") -> Tensor:
        """Return Aᵀ, the transposed matrix of `a`.

        It is a constant if A is a constant, and a view if A has a single row or column. Otherwise
        it is the output of a gather of single elements, which is added to the graph.
        """
        if a.data is not None:
            return self.constant(name or f"v{len(self.tensors)}", a.data.T)
        if 1 in (a.rows, a.columns):
            return self.view(a, a.columns, a.rows, name=name)
        places = np.arange(a.numbers).reshape(a.rows, a.columns).T.reshape(-1)
        return self.segments(a, places, 1, (a.columns, a.rows), name)

    def result(self, tensor: Tensor) -> None:
        """Mark a tensor, which tasks must have written, as a result of the graph.

        In a graph without marks, the tensors that no task reads are the results. Raises
        `LowerError` for a view, a constant and an input. The caller can instead mark the output of
        a gather that copies their numbers (`segments`).
        """
        self._own(tensor)
        shape = tensor.rows, tensor.columns
        hint = f"mark a copy: segments({tensor.name}, [0], {tensor.numbers}, {shape})"
        if tensor.base is not None:
            raise LowerError(f"a view of {tensor.base.name} cannot be a result", hint)
        if all(task.output.memory is not tensor for task in self.tasks):
            raise LowerError(f"no task writes {tensor.name}, so it cannot be a result", hint)
        if tensor not in self.read:
            self.read.append(tensor)

    @property
    def results(self) -> list[Tensor]:
        """The tensors that the host reads after the program."""
        if self.read:
            return self.read
        inputs = {tensor.memory.name for task in self.tasks for tensor in task.inputs}
        outputs = dict.fromkeys(task.output.memory for task in self.tasks)
        return [tensor for tensor in outputs if tensor.name not in inputs]

    @property
    def inputs(self) -> list[Tensor]:
        """The tensors that the host supplies, in the order of their creation."""
        outputs = {task.output.memory.name for task in self.tasks}
        return [
            tensor
            for tensor in self.tensors.values()
            if tensor.data is None and tensor.base is None and tensor.name not in outputs
        ]

    # --- layers ---

    def chain(self, *matrices: Tensor) -> Tensor:
        """Add the product of all `matrices`, A · B · C ..., multiplied from left to right."""
        product = matrices[0]
        for other in matrices[1:]:
            product = self.product(product, other)
        return product

    def perceptron(self, x: Tensor, layers: Sequence[Tensor], function: str = "relu") -> Tensor:
        """Add a multi-layer perceptron: `x` times each of `layers`, `function` between them."""
        for number, weights in enumerate(layers):
            x = self.product(x, weights)
            if number < len(layers) - 1:
                x = self.pointwise(function, x)
        return x

    def gru(self, x: Tensor, h: Tensor, w: Mapping[str, Tensor], one: Tensor) -> Tensor:
        """Add a GRU cell and return the next state.

        `w` has the weights by name: wr, wz, wn are for `x`, and ur, uz, un for the state `h`. `one`
        is a tensor of ones, of the shape of `h`.
        """
        gates = {}
        for gate in "rz":
            total = self.pointwise(
                "add", self.product(x, w["w" + gate]), self.product(h, w["u" + gate])
            )
            gates[gate] = self.pointwise("sigmoid", total)
        reset = self.pointwise("mul", gates["r"], self.product(h, w["un"]))
        new = self.pointwise("tanh", self.pointwise("add", self.product(x, w["wn"]), reset))
        old_part = self.pointwise("mul", gates["z"], h)
        left = self.pointwise("sub", one, gates["z"])
        return self.pointwise("add", self.pointwise("mul", left, new), old_part)

    # --- order ---

    def shape(self, tensor: Tensor) -> tuple[int, ...]:
        """Return the shape of an input or result on the host, where it need not be a matrix."""
        return self.shapes.get(tensor.name, (tensor.rows, tensor.columns))

    def before(self, task: Task) -> list[Task]:
        """Return the tasks that produce a task's inputs."""
        makers = self.makers()
        names = {name for tensor in task.inputs for name in makers.of(tensor)}
        return [other for other in self.tasks if other.output.name in names]

    def makers(self) -> Makers:
        """Return an object that says which tasks of the graph write the numbers of a tensor."""
        return Makers(self.tasks)

    def evaluate(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float64]]:
        """Return all tensors by name, computed in float64 without the rounding of the islands.

        `inputs` has the graph's inputs by name. Raises `LowerError` for a function of bits (`and`).
        """
        values: dict[str, NDArray[np.float64]] = {}  # by the name of a tensor with memory

        def numbers(tensor: Tensor) -> NDArray[np.float64]:
            if tensor.base is not None:
                flat = numbers(tensor.base).reshape(-1)[tensor.offset :][: tensor.numbers]
                return flat.reshape(tensor.rows, tensor.columns)
            if tensor.name not in values:
                data = inputs[tensor.name] if tensor.data is None else tensor.data
                values[tensor.name] = np.asarray(data, np.float64)
            return values[tensor.name]

        for task in self.tasks:
            made = _evaluate_task(task, [numbers(x) for x in task.inputs])
            whole = task.output.memory
            if whole is task.output:
                values[whole.name] = made
                continue
            memory = values.setdefault(whole.name, np.zeros((whole.rows, whole.columns)))
            memory.reshape(-1)[task.output.offset :][: made.size] = made.reshape(-1)
        return {name: numbers(tensor) for name, tensor in self.tensors.items()}

    def _task(
        self, kind: str, inputs: tuple[Tensor, ...], rows: int, columns: int, name: str, **more: Any
    ) -> Tensor:
        for tensor in inputs:
            self._own(tensor)
        output = self._new(Tensor(name or f"t{len(self.tasks)}", rows, columns))
        self.tasks.append(Task(kind, inputs, output, **more))
        return output

    def _new(self, tensor: Tensor) -> Tensor:
        if tensor.name in self.tensors:
            raise LowerError(f"two tensors are called {tensor.name}")
        self.tensors[tensor.name] = tensor
        return tensor

    def _own(self, tensor: Tensor) -> None:
        if self.tensors.get(tensor.name) is not tensor:
            raise LowerError(f"{tensor.name} is of another graph")

    @staticmethod
    def _validated(places: Sequence[int] | Places, width: int, target: Tensor) -> Places:
        """Return `places` as an array. Raises `LowerError` if a segment exceeds `target`."""
        begins = places if isinstance(places, np.ndarray) else np.asarray(places, np.int64)
        for place in (int(begins.min()), int(begins.max())) if len(begins) else ():
            if width < 1 or not 0 <= place <= target.numbers - width:
                raise LowerError(
                    f"{width} numbers from {place} on: {target.name} has {target.numbers}"
                )
        return begins


def _segments(task: Task) -> NDArray[np.int64]:
    """Return the indices of the numbers in a task's segments, in shape (segments, width)."""
    return np.asarray(task.places[:, None] + np.arange(task.width))


def _evaluate_task(task: Task, values: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    made = _evaluate_exactly(task, values)
    return made if task.shift is None else task_values.int8(made, task.shift)


def _evaluate_exactly(task: Task, values: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the result of a task without roundings.

    In int8 it is the sum before the division by 2 to the power of the task's `shift`.
    """
    shape = task.output.rows, task.output.columns
    if task.kind == PRODUCT:
        made = np.concatenate(np.split(values[0] @ values[1], task.joint, axis=1))
        return made if task.bias is None else made + np.asarray(task.bias.data, np.float64)
    if task.kind == GATHER:
        return task_values.gathered(values[0], _segments(task), shape)
    if task.kind == SCATTER:
        return task_values.scattered(values, _segments(task), shape)
    return task_values.pointwise(task.function, values)
