"""Computes the products of a plan in NumPy, rounded as the islands of the plan round them.

The bits of a sum depend on the layout in which an island multiplies, and thus on the plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.fim_circuit import DOT, FORMATS
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.fim.graph import PRODUCT, Graph
from macaw.lowering.fim.plan import GraphPlan
from macaw.lowering.fim.shape import Region, tile_sides


@dataclass(frozen=True)
class ProductPart:
    """Some rows and columns of a product, which one island computes in the layout `layout`.

    The operands are stacks of matrices, one below the other. The part multiplies `rows` rows of the
    left stack, starting at `left_row`, by `columns` columns of matrix number `matrix` of the right
    stack, starting at `column`. Its first row is the row `result_row` of the result.
    """

    layout: int  # the number of an arrangement
    left_row: int
    rows: int
    matrix: int
    column: int
    columns: int
    result_row: int


def product_parts(plan: GraphPlan) -> tuple[ProductPart, ...]:
    """Return, for each step of a plan, which rows and columns of which product it computes.

    Each step must do one product, or the part of a product that one of several islands computes.
    """
    parts = []
    for step in plan.steps:
        (task,) = step.tasks
        assert task.kind == PRODUCT
        assert task.joint == 1
        left, right = task.inputs
        rows, columns = task.output.rows, task.output.columns
        region = step.option.job.region or Region(0, rows, 0, columns, columns)
        parts.append(
            ProductPart(
                step.option.layout,
                left.offset // left.columns + region.row,
                region.rows,
                right.offset // right.numbers,
                region.column,
                region.columns,
                task.output.offset // columns + region.row,
            )
        )
    return tuple(parts)


def whole_products(graph: Graph) -> tuple[ProductPart, ...]:
    """Return each product of a graph as a single part, in the layout `dot`.

    All tasks of the graph must be products. Unlike `product_parts`, this needs no plan.
    """
    parts = []
    for task in graph.tasks:
        left, right = task.inputs
        rows, columns = task.output.rows, task.output.columns
        places = left.offset // left.columns, rows, right.offset // right.numbers
        parts.append(ProductPart(DOT, *places, 0, columns, task.output.offset // columns))
    return tuple(parts)


def sum_products(a: NDArray[Any], b: NDArray[Any], layout: int) -> NDArray[Any]:
    """Return the product of two matrices (m, k) and (k, n), rounded as an island rounds it.

    A number of the result is a sum of k terms. The island takes as many terms at once as a tile
    has along k. It adds neighbouring terms, then neighbouring sums, and so on, and adds the tile's
    sum to the sum of the earlier tiles. The last tile is padded with zero terms. Each term and each
    sum is rounded to the type of the operands: float16 (fp16) or float32 (fp32). The
    function does not compute in bf16, although arrays with bf16 numbers are float32, too.
    """
    (lanes,) = (row.lanes for row in FORMATS if row.dtype == a.dtype.name)
    _, deep, _ = tile_sides(layout, lanes)
    total: NDArray[Any] | None = None
    with np.errstate(all="ignore"):
        for first in range(0, a.shape[1], deep):
            terms = a[:, first : first + deep, None] * b[None, first : first + deep, :]
            terms = np.pad(terms, ((0, 0), (0, deep - terms.shape[1]), (0, 0)))
            while terms.shape[1] > 1:
                terms = terms[:, ::2] + terms[:, 1::2]
            total = terms[:, 0] if total is None else total + terms[:, 0]
    assert total is not None
    return total


def stacked_products(
    a: NDArray[Any], b: NDArray[Any], rows: int, parts: Sequence[ProductPart]
) -> NDArray[Any]:
    """Return the products of stacked matrices, rounded as a plan's islands round them.

    `a` has the shape (rows of all left matrices, k), `b` the shape (right matrices, k, n), and the
    result the shape (`rows`, n). `parts` has all parts of these products, each with the layout in
    which an island computes it.
    """
    result = np.zeros((rows, b.shape[2]), a.dtype)
    for part in parts:
        columns = slice(part.column, part.column + part.columns)
        left = a[part.left_row : part.left_row + part.rows]
        result[part.result_row : part.result_row + part.rows, columns] = sum_products(
            left, b[part.matrix][:, columns], part.layout
        )
    return result
