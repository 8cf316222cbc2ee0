"""Fuses tasks that an island does in one start: one or two products with functions of their
results.

The second operand of a function has to be a constant whose rows are all equal. The banks store one
such row beside the tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from macaw.isa.config import Configuration
from macaw.isa.fim_circuit import ELEMENTWISE, FUNCTION_NAMES, FUNCTIONS
from macaw.isa.fim_islands import abilities
from macaw.lowering.fim.graph import POINTWISE, PRODUCT, Task, Tensor
from macaw.lowering.fim.shape import Region, Shape, lacks

_EITHER = ("add", "mul")  # functions whose operands may be exchanged


class CannotError(Exception):
    """Raised if an island cannot do tasks in one start; the message gives the reason."""


class MemoryExceededError(CannotError):
    """Raised if tasks need more rows or instruction words than an island has."""


class Traits(NamedTuple):
    """The properties on which the cycles of a fused task depend."""

    shape: Shape
    after: tuple[int, ...]
    constants: tuple[bool, bool]  # whether A and B are constants
    offsets: tuple[int, int]  # index of the first number in their memory
    region: Region | None = None  # the part of the result that an island computes; None: all


@dataclass(frozen=True)
class FusedTask:
    """A product and the functions that are applied to its result.

    `after` has the numbers of the functions. `rows` has the second operand of each function that
    takes two operands.
    """

    product: Task
    after: tuple[int, ...]
    rows: tuple[Tensor, ...]
    output: Tensor

    def traits(self, form: int) -> Traits:
        """Return the properties on which the task's cycles depend, for number format `form`."""
        a, b = self.product.inputs
        shape = Shape(a.rows, a.columns, b.columns, form)
        constant = a.data is not None, b.data is not None
        return Traits(shape, self.after, constant, (a.offset, b.offset))


def fuse(tasks: Sequence[Task]) -> list[FusedTask]:
    """Fuse a chain of tasks into one or two fused tasks.

    Each task of the chain takes the result of the previous task. Raises `CannotError`.
    """
    parts: list[FusedTask] = []
    for task in tasks:
        last = parts[-1].output if parts else None
        if task.kind == PRODUCT:
            if last is not None and task.inputs[0] is not last:
                raise CannotError(f"{task.output.name} takes {last.name} as its right side")
            parts.append(FusedTask(task, (), (), task.output))
        elif task.kind == POINTWISE and last is not None:
            parts[-1] = _append(parts[-1], task)
        else:
            raise CannotError(f"at one start a product comes first, not a {task.kind}")
    if len(parts) > 2:
        raise CannotError("one start can do two products, not three")
    return parts


def _append(part: FusedTask, task: Task) -> FusedTask:
    number = FUNCTION_NAMES.index(task.function)
    if FUNCTIONS[number].operands == 1:
        return FusedTask(part.product, (*part.after, number), part.rows, task.output)
    first, other = task.inputs
    if first is not part.output and task.function in _EITHER:
        first, other = other, first
    if first is not part.output:
        raise CannotError(f"{task.function} takes {part.output.name} as its right operand")
    if other.data is None or np.any(other.data != other.data[:1]):
        raise CannotError(
            f"{other.name} is no constant row that is the same for all rows of {first.name}"
        )
    if part.product.inputs[1].data is None:
        raise CannotError(f"{part.product.inputs[1].name} is no constant, but {other.name} is one")
    return FusedTask(part.product, (*part.after, number), (*part.rows, other), task.output)


def check(part: FusedTask, config: Configuration, island: int, layout: int, form: int) -> None:
    """Raise `CannotError` if an island cannot do a fused task in a layout and number format."""
    why = lacks(part.traits(form).shape, config, island, layout)
    able = abilities(config, island)
    whys = (why, *(able.lacks(function, ELEMENTWISE, form) for function in part.after))
    for why in whys:
        if why:
            raise CannotError(why)
