"""Fuses tasks that an island does in one start: up to four products with functions of their
results, or a sum of products with functions of it.

The second operand of a function has to be a constant whose rows are all equal. The banks store one
such row beside the tiles. The products of a sum are one product for the island, whose dimension k
joins the dimensions k of these products: A1 · B1 + A2 · B2 = [A1 A2] · [B1; B2].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from macaw.isa.config import Configuration
from macaw.isa.fim_circuit import ELEMENTWISE, FORMATS, FUNCTION_NAMES, FUNCTIONS
from macaw.isa.fim_islands import abilities
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.fim.graph import GATHER, MANY_STEPS, MUL_ADD, POINTWISE, PRODUCT, Task, Tensor
from macaw.lowering.fim.integer_steps import NO_STEPS, IntegerSteps, bias_rows
from macaw.lowering.fim.shape import Region, Shape, lacks, part, tile_sides
from macaw.lowering.fim.windows import Windows, windows_of

MOST_CHAINED = 4  # products that one start does one after the other, with buffers between them
_EITHER = ("add", "mul")  # functions whose operands may be exchanged
# Copies take the same cycles if their operands begin this count of numbers later in memory, because
# the beats of the widest external memory are 1024 bytes. (If the width is no power of two, the
# cycles of some options are estimates. The times of the chosen plan are exact for each width.)
_PERIOD = 512


class CannotError(Exception):
    """Raised if an island cannot do tasks in one start; the message gives the reason."""


class MemoryExceededError(CannotError):
    """Raised if tasks need more banks, rows or instruction words than an island has for them."""


class Traits(NamedTuple):
    """The properties on which the cycles of a fused task depend.

    `after` has the indices of the functions in `FUNCTIONS`. `constants` says whether A and B are
    constants. `offsets` says for each product where the numbers of A and B begin in their memory,
    modulo a period after which the cycles repeat. `depths` has the k of each product. `region` is
    the part of the result that an island computes; None stands for all of it. `windows` has the
    rows of A if they are windows of an image. `integers` has the steps of a product in int8.
    """

    shape: Shape
    after: tuple[int, ...]  # the indices of the functions in `FUNCTIONS`
    constants: tuple[bool, bool]  # whether A and B are constants
    # by product: the indices of the first numbers of A and B in their memory, modulo `_PERIOD`; if
    # A consists of windows, the index of the first number of the image, modulo a column's numbers
    offsets: tuple[tuple[int, int], ...]
    depths: tuple[int, ...]  # by product: its k
    region: Region | None = None  # the part of the result that an island computes; None: all
    windows: Windows | None = None  # the rows of A, if they are windows of an image
    integers: IntegerSteps = NO_STEPS

    def of_region(self, region: Region) -> Traits:
        """Return the traits of the task that computes only `region` of the result."""
        return self._replace(
            shape=replace(self.shape, m=region.rows, n=region.columns),
            offsets=tuple(
                ((a + region.row * depth) % _PERIOD, (b + region.column) % _PERIOD)
                for (a, b), depth in zip(self.offsets, self.depths, strict=True)
            ),
            region=region,
            windows=self.windows and self.windows.of_rows(region.row, region.rows),
        )


@dataclass(frozen=True)
class FusedTask:
    """A product or a sum of products, and the functions that are applied to its result.

    `after` has the indices of the functions in `FUNCTIONS`. `rows` has the rows of the bias in int8
    (`bias_rows`), then the second operand of each function that takes two operands. If `gather` is
    not None, it makes A, whose rows are windows of the gather's input. `integers` says how the sums
    of an int8 product become int8.
    """

    products: tuple[Task, ...]
    after: tuple[int, ...]
    rows: tuple[Tensor, ...]
    output: Tensor  # the result, after the functions
    gather: Task | None = None
    integers: IntegerSteps = NO_STEPS

    def traits(self, form: int, layout: int) -> Traits:
        """Return the properties on which the task's cycles depend, in a number format and layout.

        For a sum of several products, the k of the returned shape is the sum of the products' k,
        each padded to whole tiles.
        """
        pairs = [product.inputs for product in self.products]
        (a, b), depths = pairs[0], tuple(a.columns for a, _ in pairs)
        k = a.columns
        if len(pairs) > 1:
            deep = tile_sides(layout, FORMATS[form].lanes)[1]
            k = sum(part(depth, deep) * deep for depth in depths)
        constant = a.data is not None, b.data is not None
        offsets = tuple((a.offset % _PERIOD, b.offset % _PERIOD) for a, b in pairs)
        joint = self.products[0].joint
        shape = Shape(a.rows, k, b.columns, form, b.columns // joint if joint > 1 else 0)
        if self.gather is None:
            return Traits(shape, self.after, constant, offsets, depths, integers=self.integers)
        first = (self.gather.inputs[0].offset + int(self.gather.places.min())) % shape.numbers.lanes
        windows = windows_of(self.gather)
        offsets = ((first, offsets[0][1]),)
        return Traits(
            shape, self.after, constant, offsets, depths, windows=windows, integers=self.integers
        )


def fuse(tasks: Sequence[Task]) -> list[FusedTask]:
    """Fuse tasks into up to four fused tasks; each takes the result of the previous one.

    Raises `CannotError` if one start cannot do the tasks.
    """
    ended: list[FusedTask] = []
    gather = tasks[0] if tasks[0].kind == GATHER else None
    if gather is not None:
        _check_gather(gather, tasks[1])
    open_parts: dict[str, FusedTask] = {}  # by the name of their output
    for task in tasks[gather is not None :]:
        names = [tensor.name for tensor in task.inputs]
        sources = [name for name in dict.fromkeys(names) if name in open_parts]
        if task.kind == PRODUCT:
            if names[1] in sources:
                raise CannotError(f"{task.output.name} takes {sources[-1]} as its right side")
            ended += [open_parts.pop(name) for name in sources]
            windows = gather if not ended and not open_parts else None
            part = _first(task, windows)
        elif task.kind != POINTWISE or not sources:
            raise CannotError(f"at one start a product comes first, not a {task.kind}")
        elif len(sources) == 2:
            part = _sum(open_parts.pop(sources[0]), open_parts.pop(sources[1]), task)
        else:
            part = _append(open_parts.pop(sources[0]), task)
        open_parts[task.output.name] = part
    parts = [*ended, *open_parts.values()]
    if len(parts) > MOST_CHAINED:
        raise CannotError("one start can do four products, not five")
    if len(open_parts) > 1:
        raise CannotError("two products of one start are a sum or a chain")
    if len(parts) > 1 and any(len(part.products) > 1 for part in parts):
        raise CannotError("a sum of products is no part of a chain of products")
    if len(parts) > 1 and gather is not None:
        raise CannotError("a product of windows is no part of a chain of products")
    if len(parts) > 1 and any(part.products[0].joint > 1 for part in parts):
        raise CannotError("a joint product is no part of a chain of products")
    return parts


def _first(task: Task, gather: Task | None) -> FusedTask:
    """Return a product, with its bias in int8, as a fused task without functions."""
    rows = bias_rows(task)
    steps = IntegerSteps(len(rows), () if task.shift is None else (task.shift,))
    return FusedTask((task,), (), rows, task.output, gather, steps)


def _check_gather(gather: Task, product: Task) -> None:
    """Raise `CannotError` unless `product` multiplies the windows that `gather` makes.

    The output of `gather` has to be the left side of the product, and not also its right side. Each
    row of this output must consist of whole segments: a segment is the run of `gather.width`
    numbers that the gather moves at once. The input of the gather must not be a constant.
    """
    output, image = gather.output, gather.inputs[0]
    if product.kind != PRODUCT or product.inputs[0].place != output.place:
        raise CannotError(f"{output.name} is no left side of a product")
    if product.inputs[0].columns != output.columns:
        raise CannotError(f"the product reads {output.name} as rows of another length")
    if product.inputs[1].place == output.place:
        raise CannotError(f"{output.name} is both sides of a product")
    if image.data is not None or output.columns % gather.width:
        raise CannotError(f"the rows of {output.name} are no windows of another tensor")


def _sum(first: FusedTask, second: FusedTask, task: Task) -> FusedTask:
    """Return one fused task for `task`, the sum of the fused tasks `first` and `second`.

    Raises `CannotError` if an island cannot compute the sum as one product. This is so in each of
    these cases:

    - The numbers are int8.
    - `task` is no addition, or a function or a gather belongs to `first` or `second`.
    - A left side is a constant, or only some right sides are constants.
    - The products have different numbers of right sides (`Task.joint`).
    """
    parts = first, second
    if task.shift is not None:
        raise CannotError("in int8 each product of a sum is rounded before the addition")
    if task.function != "add" or any(part.after or part.gather for part in parts):
        raise CannotError(f"{task.output.name} is no sum of products alone")
    products = (*first.products, *second.products)
    if any(product.inputs[0].data is not None for product in products):
        raise CannotError("a product of a sum has a constant as its left side")
    if len({product.joint for product in products}) > 1:
        raise CannotError("the products of a sum have different numbers of results")
    if len({product.inputs[1].data is None for product in products}) > 1:
        raise CannotError("the right sides of a sum's products are not all constants")
    return FusedTask(products, (), (), task.output)


def _append(part: FusedTask, task: Task) -> FusedTask:
    if task.shift is not None:
        steps = part.integers
        part = replace(part, integers=steps._replace(shifts=(*steps.shifts, task.shift)))
    if task.function in (*MANY_STEPS, MUL_ADD):
        raise CannotError(f"{task.function} is no function of the ALU")
    number = FUNCTION_NAMES.index(task.function)
    if FUNCTIONS[number].operands == 1:
        return replace(part, after=(*part.after, number), output=task.output)
    first, other = task.inputs
    if first is not part.output and task.function in _EITHER:
        first, other = other, first
    if first is not part.output:
        raise CannotError(f"{task.function} takes {part.output.name} as its right operand")
    if other.data is None or np.any(other.data != other.data[:1]):
        raise CannotError(
            f"{other.name} is no constant row that is the same for all rows of {first.name}"
        )
    if part.products[0].joint > 1:
        raise CannotError(f"{other.name} has no row for each result of {first.name}")
    right = part.products[0].inputs[1]
    if right.data is None:
        raise CannotError(f"{right.name} is no constant, but {other.name} is one")
    rows = (*part.rows, other)
    return replace(part, after=(*part.after, number), rows=rows, output=task.output)


def check(part: FusedTask, config: Configuration, island: int, layout: int, form: int) -> None:
    """Raise `CannotError` if an island cannot do a fused task in a layout and number format."""
    why = lacks(part.traits(form, layout).shape, config, island, layout)
    able = abilities(config, island)
    deep = tile_sides(layout, FORMATS[form].lanes)[1]
    if part.gather is not None and part.gather.width % deep:
        width = part.gather.width
        why = why or f"segments of {width} numbers are no whole tiles of {deep} numbers"
    whys = (why, *(able.lacks(function, ELEMENTWISE, form) for function in part.after))
    for why in whys:
        if why:
            raise CannotError(why)
