"""Makes operations of the SIMD core vc from the layers of a quantised model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.errors import LowerError
from macaw.lowering.net.layouts import device_order, images_of
from macaw.lowering.net.movement_layers import frame
from macaw.lowering.net.network import NetTensor
from macaw.lowering.net.one_hot import INDEX
from macaw.lowering.net.vector.conversion import Convert
from macaw.lowering.net.vector.each_image import each_image
from macaw.lowering.net.vector.matrix_product import MatrixProduct
from macaw.lowering.net.vector.operations import (
    AveragePool,
    Concat,
    ElementwiseProduct,
    GlobalAveragePool,
    MaxPool,
    Rescale,
    Sum,
    Table,
    VectorOperation,
)
from macaw.lowering.net.vector.real_function import LayerNormalization, RealFunction, Softmax
from macaw.lowering.net.vector.reduction import KINDS, Reduction
from macaw.lowering.net.vector.row_lookup import RowLookup
from macaw.lowering.onnx.formulas import Steps, formula
from macaw.lowering.onnx.network import (
    Dequantisation,
    FloatLayer,
    FrameLayer,
    Layer,
    LookupLayer,
    MoveLayer,
    Network,
    PoolLayer,
    ProductLayer,
    Requantisation,
    RescaleLayer,
    SumLayer,
    TableLayer,
)
from macaw.lowering.onnx.requantise import quotient_of_scales
from macaw.lowering.onnx.window import Window

NO_CORE = "no core of the device computes it yet"
REAL_HINT = (
    "`macaw quantise` gives the model integers; "
    "`macaw compile --core nnp` and `--core fim` compute real numbers"
)
_REAL = "it computes real numbers"
Tensors = Sequence[NetTensor]
Sides = tuple[tuple[int, int], tuple[int, int], tuple[int, int, int, int], tuple[int, int]]


def vector_operation(
    model: Network, layer: Layer, tensors: Tensors
) -> tuple[VectorOperation, tuple[int, ...]]:
    """Return the operation that computes a layer, and the indices of the inputs that it takes.

    The indices count the inputs of the layer. They are in the order in which the operation takes
    them. `tensors` are the layer's inputs on the device. Raises `LowerError` if vc cannot compute
    the layer.
    """
    rule = _RULES.get(type(layer))
    if rule is None:
        raise LowerError(NO_CORE)
    order = tuple(range(len(tensors)))
    if isinstance(layer, ProductLayer) and _is_smaller(model, tensors[0], tensors[1]):
        order = order[::-1]
    operation: VectorOperation = rule(model, layer, [tensors[number] for number in order])
    return operation, order


def _is_smaller(model: Network, one: NetTensor, other: NetTensor) -> bool:
    """Return whether `one` has a single position in each image, and `other` has several."""
    images = images_of(model.tensors[other.name].shape)
    return prod(one.shape[:-1]) in (1, images) and prod(other.shape[:-1]) > max(images, 1)


def _image(x: NetTensor) -> NetTensor:
    """Return tensor `x` of a batch with the shape of a single image."""
    return replace(x, shape=x.shape[1:])


def _clip(output: Requantisation, dtype: str) -> tuple[int, int] | None:
    """Return the range to which `output` limits results; None if it is the range of `dtype`.

    Raises `LowerError` if the zero point of the results is not 0.
    """
    if output.zero_point:
        raise LowerError(f"its results have the zero point {output.zero_point}", "0")
    info = np.iinfo(dtype)
    limits = output.low, output.high
    return None if limits == (info.min, info.max) else limits


def _check_types(model: Network, layer: Layer, tensors: Tensors) -> None:
    result = model.tensors[layer.outputs[0]].dtype
    types = {result, *(tensor.dtype for tensor in tensors)}
    if len(types) > 1:
        raise LowerError("its tensors have the types " + ", ".join(sorted(types)))


def _sum(model: Network, layer: SumLayer, tensors: Tensors) -> VectorOperation:
    _check_types(model, layer, tensors)
    shapes = {tensor.shape for tensor in tensors}
    if len(tensors) != 2 or len(shapes) != 1 or any(layer.zeros):
        raise LowerError(
            f"a sum of {len(tensors)} tensors, zero points {layer.zeros}",
            "two tensors of one shape, zero points 0",
        )
    first, second = layer.multipliers
    dtype = tensors[0].dtype
    return Sum(dtype, tensors[0].shape, (first, second), _clip(layer.output, dtype))


def _product(model: Network, layer: ProductLayer, tensors: Tensors) -> VectorOperation:
    a, b = tensors
    if layer.operator != "Mul" or any(layer.zeros):
        raise LowerError(NO_CORE)
    _check_types(model, layer, tensors)
    by_channel, images = b.shape != a.shape, images_of(model.tensors[b.name].shape)
    if by_channel and images:  # each image has its own factors
        a, b = _image(a), _image(b)
    if by_channel and not prod(b.shape) == a.shape[-1] == b.shape[-1]:
        raise LowerError(f"a product of {a.shape} and {b.shape}")
    if not isinstance(layer.output, Requantisation):
        raise LowerError(f"its products become real numbers; {NO_CORE}", REAL_HINT)
    if layer.output.multipliers.size != 1 or _clip(layer.output, a.dtype) is not None:
        raise LowerError("its results have a range or scales by channel")
    scale = float(layer.output.multipliers.reshape(-1)[0])
    operation = ElementwiseProduct(a.dtype, a.shape, scale, by_channel)
    return each_image(operation, images if by_channel else 0)


def _pool(model: Network, layer: PoolLayer, tensors: Tensors) -> VectorOperation:
    (x,) = tensors
    _check_types(model, layer, tensors)
    size = (*model.tensors[layer.inputs[0]].shape, 1)[0]
    images = size if size > 1 and 0 not in layer.axes else 0
    return each_image(_pool_of_image(model, layer, _image(x) if images else x), images)


def _pool_of_image(model: Network, layer: PoolLayer, x: NetTensor) -> VectorOperation:
    """Return the operation that computes a pool of one image, whose tensor is `x`."""
    if "Max" not in layer.operator:
        return _mean(model, layer, x)
    if layer.window is None:
        image = _reduced(model, layer, x)
        return MaxPool(x.dtype, image, (image[0], image[1]))
    return MaxPool(x.dtype, x.shape, *_sides(model, layer, layer.window))


def _mean(model: Network, layer: PoolLayer, x: NetTensor) -> VectorOperation:
    output = layer.output
    if output is None or _clip(output, x.dtype) is not None:
        raise LowerError("its results have a range")
    source, result = (
        model.tensors[name].quantisation for name in (layer.inputs[0], layer.outputs[0])
    )
    if source is None or result is None:
        raise LowerError("its scales are not known")
    scale = float(quotient_of_scales(source.scale, result.scale))
    if layer.window is None:
        return GlobalAveragePool(x.dtype, _reduced(model, layer, x), scale)
    sides = _sides(model, layer, layer.window)
    for counts_pads in (False, True):
        operation = AveragePool(x.dtype, x.shape, *sides, scale, counts_pads)
        if _has_multipliers(operation, output.multipliers):
            return operation
    raise LowerError("its windows have other numbers of elements")


def _reduced(model: Network, layer: PoolLayer, x: NetTensor) -> tuple[int, int, int]:
    """Return the shape of a pool's input as (rows, columns, rest): the pool reduces the first two.

    If the pool keeps the batch axis, `x` is the tensor of one image. Raises `LowerError` unless the
    reduced axes are the first ones on the device.
    """
    shape = model.tensors[layer.inputs[0]].shape
    if 0 not in layer.axes:
        shape = (1, *shape[1:])
    chosen = np.isin(np.arange(len(shape)), layer.axes)
    order = (0, *device_order(len(shape)))
    flags = [chosen[axis] for axis in order if shape[axis] > 1]
    if flags != sorted(flags, reverse=True):
        raise LowerError(f"it reduces the axes {layer.axes} of {shape}")
    if len(shape) == 4 and layer.axes == (2, 3):
        return x.shape[0], x.shape[1], x.shape[2]
    rows = prod(size for axis, size in enumerate(shape) if chosen[axis])
    return rows, 1, prod(x.shape) // rows


def _sides(model: Network, layer: Layer, window: Window) -> Sides:
    """Return a window's kernel, strides and pads, and the rows and columns of the result.

    Raises `LowerError` unless the window has two dimensions and no dilations.
    """
    if len(window.kernel) != 2 or window.dilations != (1, 1):
        raise LowerError(
            f"a window {window.kernel} with the dilations {window.dilations}",
            "two dimensions without dilations",
        )
    height, width = model.tensors[layer.outputs[0]].shape[2:]
    (rows, columns), (down, across) = window.kernel, window.strides
    (top, left), (bottom, right) = window.before, window.after
    return (rows, columns), (down, across), (top, left, bottom, right), (height, width)


def _has_multipliers(operation: AveragePool, multipliers: NDArray[np.float32]) -> bool:
    """Return whether the factors by which the operation multiplies its sums equal `multipliers`."""
    rows, columns = (
        np.asarray(
            [operation.counted(axis, place) for place in range(operation.result[axis])], np.float32
        )
        for axis in (0, 1)
    )
    expected = np.float32(operation.scale) / (rows[:, None] * columns)
    return bool(np.all(np.broadcast_to(multipliers, (1, 1, *expected.shape)) == expected))


def _table(model: Network, layer: TableLayer, tensors: Tensors) -> VectorOperation:
    (x,) = tensors
    if layer.table is None or layer.table.dtype != np.int8:
        return _function(model, layer, x)
    return Table(x.dtype, x.shape, tuple(int(entry) for entry in layer.table))


def _function(model: Network, layer: TableLayer, x: NetTensor) -> VectorOperation:
    """Return the operation that computes a function of `x` in binary32.

    Raises `LowerError` if a node of the layer has no steps in `macaw.lowering.onnx.formulas`.
    """
    source, result = (model.tensors[name] for name in (*layer.inputs, *layer.outputs))
    assert source.quantisation is not None
    assert result.quantisation is not None
    steps: Steps = ()
    for node in layer.nodes:
        some = formula(node, {name: layer.constants.get(name) for name in node.inputs})
        if some is None:
            raise LowerError(
                f"a function of {x.dtype} with results of {result.dtype}: {node.operator}",
                "int8 with results of int8, which has tables",
            )
        steps += some
    return RealFunction(
        x.dtype, (prod(x.shape),), steps, layer.operator, result.dtype,
        zero=source.quantisation.zero_point, scale=source.quantisation.scale,
        divisor=result.quantisation.scale, result_zero=result.quantisation.zero_point,
    )  # fmt: skip


def _move(model: Network, layer: MoveLayer, tensors: Tensors) -> VectorOperation:
    _check_types(model, layer, tensors)
    rank = len(model.tensors[layer.inputs[0]].shape)
    axis = int(layer.node.attributes["axis"]) % rank
    sizes = [model.tensors[name].shape for name in layer.inputs]
    order = (0, *device_order(rank))
    scales = []
    for rescale in layer.rescales:
        if rescale is None:
            scales.append(1.0)
            continue
        scales.append(float(rescale.multipliers.reshape(-1)[0]))
    # with the first dimension, which the device leaves out if it is 1
    shapes = tuple(tuple(size[number] for number in order) for size in sizes)
    return Concat(tensors[0].dtype, shapes, order.index(axis), tuple(scales))


def _rescale(model: Network, layer: RescaleLayer, tensors: Tensors) -> VectorOperation:
    (x,), output = tensors, layer.output
    multipliers = tuple(float(number) for number in output.multipliers.reshape(-1))
    shape = x.shape
    if len(multipliers) == 1:
        shape = (prod(shape),)
    to = model.tensors[layer.outputs[0]].dtype
    if isinstance(output, Dequantisation):
        clip = (output.low, output.high)
        return Convert(x.dtype, shape, to, multipliers, zero=layer.zero, clip=clip)
    if x.dtype == to and not layer.zero and not output.zero_point and len(multipliers) == 1:
        return Rescale(to, shape, multipliers[0], _clip(output, to))
    return Convert(
        x.dtype, shape, to, multipliers, zero=layer.zero, result_zero=output.zero_point,
        clip=(output.low, output.high),
    )  # fmt: skip


def _frame(_model: Network, layer: FrameLayer, tensors: Tensors) -> VectorOperation:
    return frame(layer, tensors[0])


def _real(model: Network, layer: FloatLayer, tensors: Tensors) -> VectorOperation:
    """Return the operation of a node that computes real numbers.

    Raises `LowerError` unless all numbers are binary32 and vc has such an operation.
    """
    if not layer.outputs[0] or len(layer.outputs) > 1:
        raise LowerError(f"{_REAL}; {NO_CORE}")
    dtype = model.tensors[layer.outputs[0]].dtype
    types = {tensor.dtype for tensor in tensors}
    if types == {"float32"} and layer.operator == "QuantizeLinear":
        return _quantised(model, layer, tensors[0], dtype)
    if types != {"float32"} or dtype != "float32":
        kinds = sorted({*types, dtype})
        what = _REAL if any("float" in kind for kind in kinds) else "it computes integers"
        raise LowerError(f"{what} of " + ", ".join(kinds), "float32")
    if layer.operator in ("Softmax", "LayerNormalization"):
        return _rows(model, layer, tensors[0])
    if layer.operator == "MatMul":
        return _matrices(model, layer)
    if layer.operator in KINDS:
        return _reduction(model, layer)
    constants = {
        name: None if name in model.tensors else model.constants.get(name) for name in layer.inputs
    }
    steps = formula(layer.node, constants)
    if steps is None:
        quantised = any(tensor.quantisation for tensor in model.tensors.values())
        raise LowerError(f"{_REAL}; {NO_CORE}", "" if quantised else REAL_HINT)
    shape = (prod(tensors[0].shape),)
    return RealFunction(dtype, shape, steps, layer.operator, count=len(tensors))


def _quantised(model: Network, layer: FloatLayer, x: NetTensor, dtype: str) -> VectorOperation:
    constants = [model.constants.get(name) for name in layer.inputs[1:] if name]
    scale = constants[0]
    zero = constants[1] if len(constants) > 1 else np.zeros((), np.int64)
    if scale is None or zero is None or scale.size != 1 or zero.size != 1:
        raise LowerError("its scale is no single constant")
    divisor, point = float(scale.reshape(-1)[0]), int(zero.reshape(-1)[0])
    shape = (prod(x.shape),)
    return Convert(x.dtype, shape, dtype, (divisor,), divides=True, result_zero=point)


def _rows(model: Network, layer: FloatLayer, x: NetTensor) -> VectorOperation:
    """Return the operation for a Softmax or LayerNormalization over the last axis on the device.

    Raises `LowerError` if the node is over another axis.
    """
    shape = model.tensors[layer.inputs[0]].shape
    rank, attributes = len(shape), layer.node.attributes
    axis = int(attributes.get("axis", -1)) % rank
    if layer.operator == "Softmax":
        last = axis == (1 if rank == 4 else rank - 1)
        length = shape[axis]
    else:
        last, length = rank != 4, prod(shape[axis:])
    if not last:
        raise LowerError(f"it is over axis {axis} of {shape}", "the channels, or the last axis")
    rows = (prod(x.shape) // length, length)
    if layer.operator == "Softmax":
        return Softmax(x.dtype, rows)
    tables = [model.constants.get(name) for name in layer.inputs[1:] if name]
    if any(table is None or table.size != length for table in tables):
        raise LowerError("its factors are no constants for each place")
    factors, *offsets = [
        tuple(np.asarray(table, np.float64).reshape(-1).tolist()) for table in tables
    ]
    epsilon = float(attributes.get("epsilon", 1e-5))
    return LayerNormalization(x.dtype, rows, factors, offsets[0] if offsets else (), epsilon)


def _lookup(model: Network, layer: LookupLayer, tensors: Tensors) -> VectorOperation:
    count, dtype = prod(tensors[0].shape), model.tensors[layer.outputs[0]].dtype
    return RowLookup(INDEX, count, layer.rows.tobytes(), layer.rows.shape[1], dtype)


def _reduction(model: Network, layer: FloatLayer) -> VectorOperation:
    """Return the operation for a sum, mean, maximum or minimum over adjacent axes on the device."""
    shape = model.tensors[layer.inputs[0]].shape
    axes = model.constants.get(layer.inputs[1]) if len(layer.inputs) > 1 else None
    if axes is None:
        raise LowerError(f"{_REAL}; {NO_CORE}")
    chosen = {int(axis) % len(shape) for axis in axes.reshape(-1)}
    there = [axis for axis in (0, *device_order(len(shape))) if shape[axis] > 1]
    places = [place for place, axis in enumerate(there) if axis in chosen]
    first, end = (places[0], places[-1] + 1) if places else (0, 0)
    before, reduced, after = (
        prod(shape[axis] for axis in some)
        for some in (there[:first], there[first:end], there[end:])
    )
    return Reduction("float32", (before, reduced, after), layer.operator)


def _matrices(model: Network, layer: FloatLayer) -> VectorOperation:
    """Return the operation for a product of matrices.

    If the tensors are images, each channel has a product of its own: the channels become the heads
    of the operation.
    """
    a, b = (model.tensors[name].shape for name in layer.inputs)
    batch = [prod(shape[:-2]) for shape in (a, b)]
    rows, inner, columns = *a[-2:], b[-1]
    heads = 1
    if len(model.tensors[layer.outputs[0]].shape) == 4:
        (images, one), (others, other) = ((1, 1, *shape)[-4:-2] for shape in (a, b))
        # with one matrix on the left, the columns of all heads are those of one matrix
        columns *= other if one == 1 else 1
        heads = one if one == other else 1
        batch = [images, others]
    return MatrixProduct(
        "float32", (batch[0], rows, inner, heads), (batch[1], inner, columns, heads)
    )


_RULES: Mapping[type[Layer], Callable[[Network, Any, Tensors], VectorOperation]] = {
    SumLayer: _sum,
    ProductLayer: _product,
    PoolLayer: _pool,
    TableLayer: _table,
    MoveLayer: _move,
    RescaleLayer: _rescale,
    FrameLayer: _frame,
    FloatLayer: _real,
    LookupLayer: _lookup,
}
