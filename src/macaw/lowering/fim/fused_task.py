"""Tasks that an island does at one start: a product and functions of it, or two such parts.

A function's second operand has to be a constant whose rows are all alike: such a row lies in the
banks beside the tiles.
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
from macaw.lowering.fim.shape import Shape, lacks

_EITHER = ("add", "mul")  # whose operands may change places


class CannotError(Exception):
    """Tasks cannot be done so; the message says why."""


class Traits(NamedTuple):
    """What the cycles of a part depend on."""

    shape: Shape
    after: tuple[int, ...]
    known: tuple[bool, bool]  # A and B
    offsets: tuple[int, int]  # where they begin in their memory, in numbers


@dataclass(frozen=True)
class Part:
    """A product, the functions behind it by their numbers, and their second operands."""

    product: Task
    after: tuple[int, ...]
    rows: tuple[Tensor, ...]
    output: Tensor

    def traits(self, form: int) -> Traits:
        """What its cycles depend on, in a number format."""
        a, b = self.product.inputs
        shape = Shape(a.rows, a.columns, b.columns, form)
        constant = a.data is not None, b.data is not None
        return Traits(shape, self.after, constant, (a.offset, b.offset))


def parted(tasks: Sequence[Task]) -> list[Part]:
    """The parts of tasks of which each is done with the result of the one before.

    Raises `CannotError`.
    """
    parts: list[Part] = []
    for task in tasks:
        last = parts[-1].output if parts else None
        if task.kind == PRODUCT:
            if last is not None and task.inputs[0] is not last:
                raise CannotError(f"{task.output.name} takes {last.name} as its right side")
            parts.append(Part(task, (), (), task.output))
        elif task.kind == POINTWISE and last is not None:
            parts[-1] = _further(parts[-1], task)
        else:
            raise CannotError(f"at one start a product comes first, not a {task.kind}")
    if len(parts) > 2:
        raise CannotError("three products at one start")
    return parts


def _further(part: Part, task: Task) -> Part:
    number = FUNCTION_NAMES.index(task.function)
    if FUNCTIONS[number].operands == 1:
        return Part(part.product, (*part.after, number), part.rows, task.output)
    first, other = task.inputs
    if first is not part.output and task.function in _EITHER:
        first, other = other, first
    if first is not part.output:
        raise CannotError(f"{task.function} takes {part.output.name} as its right operand")
    if other.data is None or np.any(other.data != other.data[:1]):
        raise CannotError(f"{other.name} is no row that all of {first.name} share, and known")
    if part.product.inputs[1].data is None:
        raise CannotError(f"{part.product.inputs[1].name} is not known, {other.name} goes with it")
    return Part(part.product, (*part.after, number), (*part.rows, other), task.output)


def check(part: Part, config: Configuration, island: int, layout: int, form: int) -> None:
    """Raise `CannotError` if an island lacks something for a part."""
    why = lacks(part.traits(form).shape, config, island, layout)
    able = abilities(config, island)
    whys = (why, *(able.lacks(function, ELEMENTWISE, form) for function in part.after))
    for why in whys:
        if why:
            raise CannotError(why)
