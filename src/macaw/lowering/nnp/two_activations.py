"""Reads MatMul nodes whose matrix is a constant, or computed by the program.

The rows of a computed matrix go to Dram in the order of tiles, and from there to MatrixRf. If the
rows of the matrix are columns of a value, the value is transposed first: its product with a unit
vector is a column.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from macaw.lowering.errors import LowerError
from macaw.lowering.nnp import operations as ops
from macaw.lowering.nnp.dense_layers import Rule, constant_matmul
from macaw.lowering.nnp.layouts import PADDING, Groups, Indices, Value, groups, pattern
from macaw.lowering.nnp.operations import Matrix, Operation, Place
from macaw.lowering.nnp.reading import Builder, rows_of_groups
from macaw.lowering.onnx.graph import Node


def _matmul(builder: Builder, node: Node) -> list[Value]:
    if any(builder.array(name) is not None for name in node.inputs):
        return [constant_matmul(builder, node)]
    return [_product(builder, node)]


def _product(builder: Builder, node: Node) -> Value:
    """Append a MatMul of which the program computes both inputs, and return its result.

    The inputs are stacks of equally many matrices; each pair of matrices needs a product.
    """
    a, b = (builder.value(name) for name in node.inputs)
    if min(len(a.shape), len(b.shape)) < 2 or a.shape[:-2] != b.shape[:-2]:
        raise LowerError(f"its inputs of {a.shape} and {b.shape} are no stacks of equal length")
    stack = math.prod(a.shape[:-2])
    rows, inner, outputs = a.shape[-2], a.shape[-1], b.shape[-1]
    flat = np.arange(math.prod(a.shape), dtype=np.int64)
    left = rows_of_groups(builder, node.label, a, flat // inner, flat % inner)
    keys = pattern(outputs, outputs, builder.native)
    elements, places = [], []
    for number in range(stack):
        own = np.flatnonzero(left.leads // rows == number)
        place = _rows_of(left.value, own)
        name = _matrix_of(builder, node, b, number, left.keys)
        starts = left.leads[own][:, None] * outputs
        elements.append(np.where(keys >= 0, starts + keys, PADDING))
        places.append((place, name))
    result = builder.result(
        node.outputs[0], builder.shape(node.outputs[0]), np.concatenate(elements), zeros=True
    )
    for number, (place, name) in enumerate(places):
        first = number * rows * result.vectors
        target = Place(result.tensor, rows, result.vectors, first, result.vectors)
        builder.emit(Operation(node.label, ops.PRODUCT, (place,), target, matrix=name))
    return result


def _rows_of(value: Value, rows: Indices) -> Place:
    """Return the place of those rows of a value whose indices are in `rows`.

    Raises `LowerError` if these rows are not evenly spaced.
    """
    gaps = np.diff(rows)
    if len(gaps) and np.any(gaps != gaps[0]):
        raise LowerError("its rows are not evenly spaced on the device")
    step = int(gaps[0]) if len(gaps) else 1
    first = value.first + int(rows[0]) * value.stride
    return Place(value.tensor, len(rows), value.vectors, first, step * value.stride)


def _matrix_of(builder: Builder, node: Node, b: Value, number: int, keys: Indices) -> str:
    """Append operations that load matrix `number` of the stack `b`, transposed, to MatrixRf.

    Return the name of the matrix. `keys` says with which row of the matrix each element of the left
    vectors is multiplied.
    """
    inner, outputs = b.shape[-2:]
    flat = np.arange(math.prod(b.shape), dtype=np.int64)
    stack, row, column = flat // (inner * outputs), flat // outputs % inner, flat % outputs
    across = groups(b, stack * outputs + column, row)  # rows of b transposed, or None
    if across is not None and np.array_equal(across.keys, keys):
        own = np.flatnonzero(across.leads // outputs == number)
        order = across.leads[own] % outputs
        return _load(builder, node, across, own, order, outputs)
    down = rows_of_groups(builder, node.label, b, stack * inner + row, column)
    if not np.array_equal(keys, pattern(inner, inner, builder.native)):
        raise LowerError("the rows of its second input lie in other vectors than the first's")
    return _transposed(builder, node, down, number, inner, outputs)


def _load(
    builder: Builder, node: Node, rows: Groups, own: Indices, order: Indices, count: int
) -> str:
    """Append copies that load a matrix into MatrixRf, as tiles, through Dram; return its name.

    The matrix consists of `count` rows of the value `rows`. `own` has the indices of these rows in
    the value, `order` their row numbers in the matrix. Raises `LowerError` unless `order` is 0, 1,
    2, ..., the indices in `own` are evenly spaced, and all padding of the value is zero.
    """
    value, native = rows.value, builder.native
    if not np.array_equal(order, np.arange(count)):
        raise LowerError("the rows of its second input are in another order on the device")
    if not value.zeros:
        raise LowerError(
            "the padding of its second input is not zero",
            f"rows of a multiple of N = {native} elements have none",
        )
    high, wide = -(-count // native), value.vectors
    tiles = builder.tensor(f"{node.label}_tiles", high * wide * native, memory=ops.DRAM)
    place = _rows_of(value, own)
    for block in range(high):
        for column in range(wide):
            lines = min(native, count - block * native)
            first = place.first + block * native * place.stride + column
            source = Place(place.tensor, lines, 1, first, place.stride)
            target = Place(tiles, lines, 1, (block * wide + column) * native, 1)
            builder.emit(Operation(node.label, ops.COPY, (source,), target))
    name = builder.name(f"{node.label}_M")
    builder.matrices[name] = Matrix(name, high, wide, (count, int((rows.keys >= 0).sum())))
    whole = Place(tiles, high * wide, native, 0, native)
    builder.emit(Operation(node.label, ops.TILES, (whole,), None, matrix=name))
    return name


def _transposed(
    builder: Builder, node: Node, down: Groups, number: int, inner: int, outputs: int
) -> str:
    """Append operations that transpose a matrix and load the result to MatrixRf.

    The rows of `down` are the rows of a stack of matrices. The matrix is number `number` of this
    stack; it has `inner` rows and `outputs` columns. Its products with unit vectors are its
    columns. Return the name of the transposed matrix.
    """
    own = np.flatnonzero(down.leads // inner == number)
    straight = _load(builder, node, down, own, down.leads[own] % inner, inner)
    lanes = down.value.elements.shape[1]
    units = np.zeros((outputs, lanes))
    units[down.keys[down.keys >= 0], np.flatnonzero(down.keys >= 0)] = 1
    place = builder.constant(f"{node.label}_units", units)
    keys = pattern(inner, inner, builder.native)
    table = np.where(keys >= 0, np.arange(outputs)[:, None] * inner + keys, PADDING)
    columns = builder.result(f"{node.label}_transposed", (outputs, inner), table, zeros=True)
    builder.emit(Operation(node.label, ops.PRODUCT, (place,), columns.place, matrix=straight))
    rows = Groups(columns, np.arange(outputs), keys)
    return _load(builder, node, rows, np.arange(outputs), np.arange(outputs), outputs)


RULES: Mapping[str, Rule] = {"MatMul": _matmul}
