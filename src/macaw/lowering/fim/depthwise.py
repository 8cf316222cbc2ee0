"""Finds depthwise convolutions: sums of image segments, each multiplied by a row of weights.

A depthwise convolution consists of gathers, products of elements and additions. For each tap of the
kernel, a gather takes the pixels of an image that the tap multiplies. A constant with equal rows
has the tap's weight of each channel. Additions sum the products in the order of the taps. Functions
of the sum may follow, as after a product (`macaw.lowering.fim.fused_task`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from macaw.isa.fim_circuit import FORMATS, FUNCTION_NAMES, FUNCTIONS
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.fim.fused_task import CannotError
from macaw.lowering.fim.graph import GATHER, MANY_STEPS, POINTWISE, Graph, Places, Task, Tensor

# A row of a bank has the weights of all taps and some pixels, or the second operands of functions
# and some results.
MOST_TAPS, MOST_OPERANDS = 28, 16
_EITHER = ("add", "mul")  # functions whose operands may be exchanged


@dataclass(frozen=True)
class Tap:
    """A position in the kernel: the gather of its pixels, and its weights, one for each channel."""

    gather: Task
    weights: Tensor


@dataclass(frozen=True)
class Depthwise:
    """A depthwise convolution and the functions of its result.

    `after` has the indices of the functions in `FUNCTIONS`. `rows` has the second operand of each
    function that takes two operands: a constant with equal rows.
    """

    taps: tuple[Tap, ...]
    output: Tensor  # the result, after the functions
    after: tuple[int, ...] = ()
    rows: tuple[Tensor, ...] = ()

    @property
    def image(self) -> Tensor:
        """The tensor whose memory holds the image from which all taps take pixels."""
        return self.taps[0].gather.inputs[0].memory

    def places(self) -> Places:
        """Return where the pixel begins that each row of the result needs for each tap.

        The array has shape (rows of the result, taps), and indices in the memory of the image.
        """
        every = [tap.gather.places + tap.gather.inputs[0].offset for tap in self.taps]
        return np.stack([np.asarray(row, np.int64) for row in every], axis=1)


def depthwise_of(tasks: Sequence[Task], form: int) -> Depthwise:
    """Return the depthwise convolution that `tasks` compute, with the functions that follow it.

    Raises `CannotError` if the tasks compute none, or if its channels are not whole columns of
    memory. `form` is the index of the number format.
    """
    parts: dict[str, Depthwise] = {}
    gathers = {task.output.name: task for task in tasks if task.kind == GATHER}
    for task in tasks:
        if task.kind == GATHER:
            continue
        if task.kind != POINTWISE:
            raise CannotError(f"{task.output.name} is no part of a depthwise convolution")
        name = task.output.name
        names = dict.fromkeys(tensor.name for tensor in task.inputs)
        sources = [source for source in names if source in parts]
        if any(tensor.name in gathers for tensor in task.inputs):
            part = _tap(task, gathers)
        elif len(sources) == 2 and task.function == "add":
            part = _sum(parts.pop(sources[0]), parts.pop(sources[1]), task)
        elif len(sources) == 1:
            part = _append(parts.pop(sources[0]), task)
        else:
            part = None
        if part is None:
            raise CannotError(f"{name} is no part of a depthwise convolution")
        parts[name] = part
    if len(parts) != 1 or sum(len(part.taps) for part in parts.values()) != len(gathers):
        raise CannotError("the tasks are no depthwise convolution")
    (found,) = parts.values()
    _check_columns(found, FORMATS[form].lanes)
    return found


def _check_columns(found: Depthwise, lanes: int) -> None:
    """Raise `CannotError` unless pixels, channels and results begin at columns of memory.

    A column of memory has `lanes` numbers.
    """
    sizes = found.output.columns, found.output.offset
    if any(size % lanes for size in sizes) or np.any(found.places() % lanes):
        raise CannotError(f"the channels of {found.output.name} are no whole columns of memory")


def _tap(task: Task, gathers: dict[str, Task]) -> Depthwise | None:
    """Return the convolution with one tap that `task` computes; None for any other task.

    The task must multiply the output of a gather by weights. `gathers` has gathers by the names of
    their outputs. At least one of the task's two inputs is such an output.
    """
    if task.function != "mul":
        return None
    first, other = task.inputs
    if first.name not in gathers:
        first, other = other, first
    gather = gathers[first.name]
    if other.data is None or np.any(other.data != other.data[:1]):
        return None
    whole = gather.width == gather.output.columns == task.output.columns
    if not whole or gather.output.rows != task.output.rows or gather.inputs[0].data is not None:
        return None
    return Depthwise((Tap(gather, other),), task.output)


def _sum(first: Depthwise, second: Depthwise, task: Task) -> Depthwise | None:
    """Return one convolution for the sum of `first` and `second` that `task` computes, or None.

    One of the two must have a single tap, which becomes the last tap of the result. The result is
    None if both have several taps, if one has functions, if their images differ, or if there would
    be more than `MOST_TAPS` taps.
    """
    if len(second.taps) > 1:
        first, second = second, first
    same = first.image.name == second.image.name
    if len(second.taps) > 1 or first.after or second.after or not same:
        return None
    if len(first.taps) >= MOST_TAPS:
        return None
    return Depthwise((*first.taps, *second.taps), task.output)


def _append(part: Depthwise, task: Task) -> Depthwise | None:
    """Return `part` with the function of `task` at its end; None if an island cannot apply it."""
    if task.function in MANY_STEPS:
        return None
    number = FUNCTION_NAMES.index(task.function)
    longer = replace(part, after=(*part.after, number), output=task.output)
    if FUNCTIONS[number].operands == 1:
        return longer
    first, other = task.inputs
    if first.name != part.output.name and task.function in _EITHER:
        first, other = other, first
    if first.name != part.output.name or other.data is None or np.any(other.data != other.data[:1]):
        return None
    if len(part.rows) == MOST_OPERANDS:
        return None
    return replace(longer, rows=(*part.rows, other))


def depthwise_units(graph: Graph) -> Iterator[tuple[Task, ...]]:
    """Yield the tasks of each depthwise convolution of at least two taps, in the graph's order.

    The tasks are its gathers, multiplications and additions, without functions of the sum that
    follow. Each intermediate result is read by one of these tasks only, and the host does not read
    it. If a convolution is part of one with more taps, only the longer one is yielded.
    """
    makers = graph.makers()
    reads = Counter(
        name for task in graph.tasks for tensor in task.inputs for name in makers.of(tensor)
    )
    results = {tensor.memory.name for tensor in graph.results}
    order = {task.output.name: number for number, task in enumerate(graph.tasks)}
    gathers: dict[str, Task] = {}
    sums: dict[str, tuple[Depthwise, tuple[Task, ...]]] = {}
    for task in graph.tasks:
        name, inner = task.output.name, [x.name for x in task.inputs]
        found: tuple[Depthwise, tuple[Task, ...]] | None = None
        if task.kind == GATHER:
            gathers[name] = task
        elif task.kind == POINTWISE and task.function == "mul" and set(inner) & set(gathers):
            gather = next(gathers[x] for x in inner if x in gathers)
            moved = gather.output.name
            only = reads[moved] == 1 and moved not in results
            tap = _tap(task, gathers) if only else None
            found = None if tap is None else (tap, (gather, task))
        elif task.kind == POINTWISE and task.function == "add" and set(inner) <= set(sums):
            (first, tasks), (second, others) = (sums[x] for x in inner)
            total = _sum(first, second, task) if inner[0] != inner[1] else None
            if total is not None:
                found = total, (*tasks, *others, task)
                for x in inner:
                    del sums[x]
        if found is not None and reads[name] == 1 and task.output.memory.name not in results:
            sums[name] = found
        elif found is not None and len(found[0].taps) > 1:
            yield _sorted(found[1], order)
    for found in sums.values():
        if len(found[0].taps) > 1:
            yield _sorted(found[1], order)


def _sorted(tasks: Sequence[Task], order: dict[str, int]) -> tuple[Task, ...]:
    return tuple(sorted(tasks, key=lambda task: order[task.output.name]))
