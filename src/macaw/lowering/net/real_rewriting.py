"""Rewrites real products of two tensors, and functions over any axis, for the SIMD core vc."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite, prod

import numpy as np

from macaw.lowering.errors import LowerError
from macaw.lowering.net.island_layers import append_island_product, is_on_islands
from macaw.lowering.net.layouts import device_order
from macaw.lowering.net.rewriting import Rewriting
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.network import (
    Dequantisation,
    FloatLayer,
    Layer,
    ProductLayer,
    Tensor,
)

Shape = tuple[int, ...]
_LARGEST_SUM = 1 << 24  # binary32 has all integers up to this one
_ALL = (float("-inf"), float("inf"))


def rewrite_product(rewriting: Rewriting, layer: FloatLayer) -> bool:
    """Append a product of two real tensors for vc, or for islands if the user named it.

    Return True. The bias and the activation of the product become further layers. Constant operands
    become tensors. If several products share an operand and vc cannot read it several times, a
    layer repeats the operand. Raises `LowerError` for an operand with fewer than two dimensions,
    and for a product that islands should compute but cannot.
    """
    _append_product(rewriting, layer, is_on_islands(rewriting, layer))
    return True


def _append_product(rewriting: Rewriting, layer: FloatLayer, on_islands: bool) -> None:
    """Append a product of two real tensors for vc, or for islands if `on_islands`."""
    (name,) = layer.outputs
    result = rewriting.tensors[name]
    first, second, *bias = layer.inputs
    limits = layer.node.attributes.get("activation_range", _ALL)
    clips = any(isfinite(limit) for limit in limits)
    left, right = (_tensor(rewriting, x) for x in (first, second))
    shapes = [rewriting.tensors[x].shape for x in (left, right)]
    if min(len(shape) for shape in shapes) < 2:
        raise LowerError(f"a product of {shapes[0]} and {shapes[1]}", "two dimensions or more")
    product = name if not bias and not clips else rewriting.tensor(f"{name}_product", result)
    if on_islands:
        append_island_product(rewriting, layer, left, right, product)
    else:
        batch = np.broadcast_shapes(shapes[0][:-2], shapes[1][:-2])
        left = _repeated(rewriting, layer, left, batch, True)
        right = _repeated(rewriting, layer, right, batch, len(batch) != 2)
        append_real(rewriting, layer, layer.name, "MatMul", (left, right), product)
    if bias:
        total = name if not clips else rewriting.tensor(f"{name}_sum", result)
        other = _repeated_to(rewriting, layer, _tensor(rewriting, bias[0]), result.shape)
        append_real(rewriting, layer, f"{layer.name}_bias", "Add", (product, other), total)
        product = total
    if clips:
        bounds = [
            rewriting.constant(f"{layer.name}_{word}", np.asarray(limit, np.float32))
            for word, limit in zip(("least", "greatest"), limits, strict=True)
        ]
        append_real(rewriting, layer, f"{layer.name}_clip", "Clip", (product, *bounds), name)


def rewrite_integer_product(rewriting: Rewriting, layer: ProductLayer) -> None:
    """Append a product of two tensors of integers as a product of real numbers.

    The integers minus their zero points become binary32. All sums of their products are exact in
    binary32. Raises `LowerError` if a sum might not be exact.
    """
    real = []
    largest = 1
    for name, zero in zip(layer.inputs, layer.zeros, strict=True):
        tensor = rewriting.tensors[_tensor(rewriting, name)]
        info = np.iinfo(tensor.dtype)
        largest *= max(int(info.max) - zero, zero - int(info.min))
        same = Dequantisation(np.asarray(1.0, np.float32), *_ALL)
        real.append(rewriting.tensor(f"{name}_real", tensor, dtype="float32", quantisation=None))
        rewriting.rescale(layer, tensor.name, real[-1], same, zero=zero)
    inner = rewriting.tensors[real[0]].shape[-1]
    if inner * largest > _LARGEST_SUM:
        raise LowerError(
            f"its sums may reach {inner * largest:,}",
            f"at most {_LARGEST_SUM:,}, so that binary32 holds them exactly",
        )
    result = rewriting.tensors[layer.outputs[0]]
    sums = rewriting.tensor(f"{result.name}_sums", result, dtype="float32", quantisation=None)
    node = Node(f"{layer.name}_product", "MatMul", tuple(real), (sums,))
    product = FloatLayer(node.name, "MatMul", node.inputs, (sums,), layer.parts, node)
    _append_product(rewriting, product, is_on_islands(rewriting, layer))
    rewriting.rescale(layer, sums, result.name, layer.output)


def rewrite_softmax(rewriting: Rewriting, layer: FloatLayer) -> bool:
    """Append a Softmax, with transposes before and after it that make its axis the last axis.

    Return False if the layer stays as it is, for example if its axis is already the last axis on
    the device.
    """
    (source,), (result,) = layer.inputs, layer.outputs
    if source not in rewriting.tensors:
        return False
    x = rewriting.tensors[source]
    rank = len(x.shape)
    axis = int(layer.node.attributes.get("axis", -1)) % rank
    last = 1 if rank == 4 else rank - 1
    if axis == last or (rank == 4 and axis == 0):
        return False
    # the other axes keep their order on the device
    others = [other for other in (0, *device_order(rank)) if other != axis]
    turn = [0, axis, *others[1:]] if rank == 4 else [*others, axis]
    turned = rewriting.moved(layer, source, f"{source}_turned", turn)
    soft = rewriting.tensor(f"{result}_turned", rewriting.tensors[turned])
    node = Node(layer.node.label, "Softmax", (turned,), (soft,), {"axis": last})
    rewriting.add(replace(layer, inputs=node.inputs, outputs=node.outputs, node=node))
    back = [turn.index(number) for number in range(rank)]
    rewriting.append_movement(layer, "Transpose", (soft,), result, {"perm": back})
    return True


def rewrite_normalization(rewriting: Rewriting, layer: FloatLayer) -> bool:
    """Append a LayerNormalization whose factors have one number for each place of a row.

    A row has the elements that are normalised together. An image becomes a matrix of rows: Reshapes
    before and after the layer make the matrix from the image, and the image from the result. Return
    False if the input is no tensor. Raises `LowerError` if factors or offsets are not constant, or
    differ between rows.
    """
    (result,), source = layer.outputs, layer.inputs[0]
    if source not in rewriting.tensors:
        return False
    x = rewriting.tensors[source]
    rank = len(x.shape)
    row = x.shape[int(layer.node.attributes.get("axis", -1)) % rank :]
    shape = (1, prod(x.shape) // prod(row), prod(row))
    last = shape[2:] if rank == 4 else row
    names = [_row(rewriting, name, row, last) for name in layer.inputs[1:] if name]
    rows, norm, attributes = source, result, dict(layer.node.attributes)
    if rank == 4:
        rows = rewriting.tensor(f"{source}_rows", x, shape=shape)
        rewriting.reshape_to(layer, source, rows)
        norm = rewriting.tensor(f"{result}_rows", x, shape=shape)
        attributes["axis"] = -1
    inputs = (rows, *names)
    node = replace(layer.node, inputs=inputs, outputs=(norm,), attributes=attributes)
    rewriting.add(replace(layer, inputs=inputs, outputs=(norm,), node=node))
    if rank == 4:
        rewriting.reshape_to(layer, norm, result)
    return True


def _row(rewriting: Rewriting, name: str, row: Shape, shape: Shape) -> str:
    """Return the name of a constant of this shape with the numbers of `name` for a row.

    `row` is the shape of a row in the model. Raises `LowerError` if `name` is not constant, or has
    other numbers for other rows.
    """
    array = None if name in rewriting.tensors else rewriting.constants[name]
    own = () if array is None else array.shape[-len(row) :]
    if array is None or array.size > prod(own):
        raise LowerError("its factors are not constant, or differ between rows")
    numbers = np.broadcast_to(array.reshape(own), row).reshape(shape)
    return name if array.shape == shape else rewriting.constant(f"{name}_row", numbers)


def rewrite_reduction(rewriting: Rewriting, layer: FloatLayer) -> bool:
    """Append a sum, mean, maximum or minimum over axes. Move the elements first if necessary.

    vc can reduce only axes that are adjacent on the device, in the order of the model. For other
    axes, a movement comes first. Return False, without new layers, if the axes are not constant or
    the input is no tensor.
    """
    (result,), source = layer.outputs, layer.inputs[0]
    named = layer.inputs[1] if len(layer.inputs) > 1 else ""
    given = rewriting.constants.get(named) if named else np.zeros(0, np.int64)
    no_axes = given is not None and not given.size
    skips = no_axes and bool(layer.node.attributes.get("noop_with_empty_axes", 0))
    if source not in rewriting.tensors or given is None:
        return False
    x = rewriting.tensors[source]
    rank = len(x.shape)
    if skips or not rank:
        rewriting.append_movement(layer, "Identity", (source,), result)
        return True
    axes = list(range(rank))
    if not no_axes:
        axes = sorted({int(axis) % rank for axis in given.reshape(-1)})
    there = [axis for axis in (0, *device_order(rank)) if x.shape[axis] > 1]
    chosen = [axis for axis in there if axis in axes]
    begin = there.index(chosen[0]) if chosen else 0
    if chosen == sorted(chosen) == there[begin : begin + len(chosen)]:
        shape = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
        reduced = axes
    else:
        others = [axis for axis in range(rank) if axis not in axes]
        turned = rewriting.moved(layer, source, f"{source}_turned", [*others, *axes])
        shape = (prod(x.shape[axis] for axis in others), 1)
        length = prod(x.shape[axis] for axis in axes)
        source = rewriting.tensor(f"{source}_rows", x, shape=(shape[0], length))
        rewriting.reshape_to(layer, turned, source)
        reduced = [1]
    name = result
    if shape != rewriting.tensors[result].shape:
        name = rewriting.tensor(f"{result}_reduced", x, shape=shape)
    inputs = (source, rewriting.constant(f"{layer.name}_axes", np.asarray(reduced, np.int64)))
    attributes = {**layer.node.attributes, "keepdims": 1}
    node = replace(layer.node, inputs=inputs, outputs=(name,), attributes=attributes)
    rewriting.add(replace(layer, inputs=inputs, outputs=(name,), node=node))
    if name != result:
        rewriting.reshape_to(layer, name, result)
    return True


# --- steps ---


def _tensor(rewriting: Rewriting, name: str) -> str:
    """Return the name of a tensor. If `name` is a constant, make a tensor with its numbers."""
    if name in rewriting.tensors:
        return name
    array = rewriting.constants[name]
    unique = rewriting.tensor(f"{name}_tensor", Tensor(name, array.shape, array.dtype.name))
    rewriting.constants[unique] = array
    return unique


def _repeated(rewriting: Rewriting, layer: Layer, name: str, batch: Shape, is_shared: bool) -> str:
    """Return the name of an operand of products, repeated to the shape (*batch, rows, columns).

    `name` is the operand, a matrix or a stack of matrices. If necessary, a new layer repeats it.
    With `is_shared`, a single matrix is not repeated, because all products may read it.
    """
    shape = rewriting.tensors[name].shape
    if shape[:-2] == batch or (prod(shape[:-2]) == 1 and (is_shared or prod(batch) == 1)):
        return name
    return _repeated_to(rewriting, layer, name, (*batch, *shape[-2:]))


def _repeated_to(rewriting: Rewriting, layer: Layer, name: str, shape: Shape) -> str:
    """Return the name of a tensor that has the elements of `name`, repeated to another shape.

    If `name` has this shape, it is the result. Otherwise a constant becomes a larger constant, and
    any other tensor is repeated by a new layer.
    """
    x = rewriting.tensors[name]
    if x.shape == shape:
        return name
    unique = rewriting.tensor(f"{name}_expanded", x, shape=shape)
    if name in rewriting.constants:
        rewriting.constants[unique] = np.broadcast_to(rewriting.constants[name], shape).copy()
        return unique
    sizes = rewriting.constant(f"{unique}_shape", np.asarray(shape, np.int64))
    rewriting.append_movement(layer, "Expand", (name, sizes), unique)
    return unique


def append_real(
    rewriting: Rewriting,
    layer: Layer,
    name: str,
    operator: str,
    inputs: tuple[str, ...],
    result: str,
) -> None:
    """Append a layer `name` that applies an ONNX operator to real tensors and makes `result`."""
    node = Node(name, operator, inputs, (result,))
    rewriting.add(FloatLayer(name, operator, inputs, (result,), layer.parts, node))
