"""Reads convolutions and pools from ONNX nodes.

On the device, an image has one row for each position (y, x). The row has all channels of the image
at this position, in one or more native vectors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.nnp import operations as ops
from macaw.lowering.nnp.dense_layers import Rule, add_constant, scaled
from macaw.lowering.nnp.layouts import PADDING, Indices, Value, pattern, reshaped
from macaw.lowering.nnp.operations import Operation, Place, Window
from macaw.lowering.nnp.reading import Array, Builder, rows_of_groups
from macaw.lowering.onnx.graph import Node


@dataclass(frozen=True)
class Geometry:
    """The windows of a node: sizes of the image and of the result, and how the kernel moves.

    All are pairs (vertical, horizontal), except `pads`: (top, left, bottom, right). An image of one
    dimension has height 1.
    """

    size: tuple[int, int]  # height and width of the image
    result: tuple[int, int]  # height and width of the result
    kernel: tuple[int, int]
    strides: tuple[int, int]
    pads: tuple[int, int, int, int]  # top, left, bottom, right
    dilations: tuple[int, int]


@dataclass(frozen=True)
class Image:
    """An image on the device, with one row (of `value`) for each position of the image.

    `keys` has the index of the channel in each place of a row, or -1 for padding. It is the same
    for all rows.
    """

    value: Value
    keys: Indices  # the channel of each number of a row, or -1 for padding; equal in all rows


def _geometry(builder: Builder, node: Node, kernel: Sequence[int]) -> Geometry:
    """Return the windows of a node whose kernel has the sizes `kernel`.

    Raises `LowerError` if nnp does not support them.
    """
    attributes = node.attributes
    shape, result = builder.shape(node.inputs[0]), builder.shape(node.outputs[0])
    if len(shape) not in (3, 4) or shape[0] != 1:
        raise LowerError(f"its input is of {shape}; nnp takes one image, (1, channels, ...)")
    rank = len(shape) - 2
    pads = list(attributes.get("pads", [0] * (2 * rank)))
    strides = list(attributes.get("strides", [1] * rank))
    dilations = list(attributes.get("dilations", [1] * rank))
    auto = attributes.get("auto_pad", "NOTSET")
    auto = auto.decode() if isinstance(auto, bytes) else str(auto)
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        total = [
            max(0, (out - 1) * s + (k - 1) * d + 1 - n)
            for out, s, k, d, n in zip(
                result[2:], strides, kernel, dilations, shape[2:], strict=True
            )
        ]
        low = [(n + (auto == "SAME_LOWER")) // 2 for n in total]
        pads = [*low, *(n - m for n, m in zip(total, low, strict=True))]
    if auto == "VALID":
        pads = [0] * (2 * rank)

    def two(numbers: Sequence[int], fill: int) -> tuple[int, int]:
        return (int(numbers[-2]) if len(numbers) > 1 else fill, int(numbers[-1]))

    top, left = two(pads[:rank], 0)
    bottom, right = two(pads[rank:], 0)
    geometry = Geometry(
        two(shape[2:], 1), two(result[2:], 1), two(kernel, 1), two(strides, 1),
        (top, left, bottom, right), two(dilations, 1),
    )  # fmt: skip
    _check_windows(geometry)
    return geometry


def _check_windows(geometry: Geometry) -> None:
    """Raise `LowerError` if no whole window fits into the padded image.

    ONNX's shape inference does not find all of these nodes: it rounds towards zero, and may infer
    that there is a result although no window fits.
    """
    pads = geometry.pads
    sizes = [n + pads[axis] + pads[axis + 2] for axis, n in enumerate(geometry.size)]
    spans = [(k - 1) * d + 1 for k, d in zip(geometry.kernel, geometry.dilations, strict=True)]
    if any(span > size for span, size in zip(spans, sizes, strict=True)):
        window, image = (" × ".join(map(str, numbers)) for numbers in (spans, sizes))
        raise LowerError(f"its window of {window} is larger than its image with padding, {image}")


def _image(builder: Builder, node: Node) -> Image:
    """Return the node's input as an image.

    Raises `LowerError` if its positions are not in the order of an image on the device.
    """
    value = builder.value(node.inputs[0])
    channels, positions = value.shape[1], math.prod(value.shape[2:])
    flat = np.arange(channels * positions, dtype=np.int64)
    rows = rows_of_groups(builder, node.label, value, flat % positions, flat // positions)
    if not np.array_equal(rows.leads, np.arange(positions)):
        raise LowerError("its positions are in another order on the device")
    return Image(builder.contiguous(node.label, rows.value), rows.keys)


def _result(builder: Builder, node: Node, keys: Indices, zeros: bool, suffix: str = "") -> Value:
    """Add the result of a node as an image, and return it.

    `keys` has the channel in each place of a row, or -1 for padding; `zeros` says whether padding
    is zero. `suffix` ends the name of the result.
    """
    shape = builder.shape(node.outputs[0])
    positions = math.prod(shape[2:])
    table = np.where(keys >= 0, keys * positions + np.arange(positions)[:, None], PADDING)
    return builder.result(node.outputs[0] + suffix, shape, table, zeros)


@dataclass(frozen=True)
class _Line:
    """A node's windows along one dimension, with the same padding at both ends.

    `taps` has the index in the window of each position of the node's kernel. The weights at other
    indices of the window are zeros.
    """

    kernel: int
    pad: int
    dilation: int
    taps: Indices


def _line(geometry: Geometry, axis: int) -> _Line:
    """Return the windows along dimension `axis`, 0 for vertical.

    nnp pads both ends alike. If the node's padding differs between the ends, the window gets
    longer, by at most this difference. If no window with the node's dilation gives the right
    positions, the window has dilation 1, and zeros between the taps.
    """
    size, result = geometry.size[axis], geometry.result[axis]
    kernel, stride = geometry.kernel[axis], geometry.strides[axis]
    before, after = geometry.pads[axis], geometry.pads[axis + 2]
    own = geometry.dilations[axis] if kernel > 1 else 1
    for dilation, taps in ((own, np.arange(kernel)), (1, own * np.arange(kernel))):
        for more in range(abs(after - before) + 1):
            for left in range(more + 1):
                length, pad = int(taps[-1]) + 1 + more, before + left * dilation
                room = size + 2 * pad - (length - 1) * dilation - 1
                if room >= 0 and room // stride + 1 == result:
                    return _Line(length, pad, dilation, left + taps)
    raise AssertionError(f"no window for {geometry}")


def _dense_weights(weights: Array, groups_: int, channels: int) -> Array:
    """Return weights (outputs, channels, height, width) with zeros for channels of other groups."""
    outputs, each = weights.shape[:2]
    whole = np.zeros((outputs, channels, *weights.shape[2:]), weights.dtype)
    for group in range(groups_):
        rows = slice(group * outputs // groups_, (group + 1) * outputs // groups_)
        whole[rows, group * each : (group + 1) * each] = weights[rows]
    return whole


def convolution(
    builder: Builder, node: Node, weights: Array, bias: Array | None, divide: int
) -> Value:
    """Append a convolution with `weights` (outputs, channels / groups, ...). Return its result.

    `divide` is the number of groups.
    """
    geometry = _geometry(builder, node, weights.shape[2:])
    image = _image(builder, node)
    channels = builder.shape(node.inputs[0])[1]
    if weights.ndim == 3:
        weights = weights[:, :, None]
    whole = _dense_weights(weights, divide, channels)
    lines = _line(geometry, 0), _line(geometry, 1)
    kernel, depth = (lines[0].kernel, lines[1].kernel), image.value.vectors
    count, vectors = math.prod(geometry.result), math.prod(kernel) * depth
    source = Place(image.value.tensor, count, vectors, image.value.first)
    window = None
    unpadded = not any(line.pad for line in lines)
    if unpadded and geometry.size[0] == kernel[0] == lines[1].dilation == 1:
        # the windows of a line without padding are overlapping rows
        source = replace(source, stride=geometry.strides[1] * depth)
    else:
        window = Window(
            geometry.size, kernel, geometry.strides, (lines[0].pad, lines[1].pad),
            (lines[0].dilation, lines[1].dilation), depth,
        )  # fmt: skip
    square = np.zeros((*whole.shape[:2], *kernel), np.float64)
    square[:, :, lines[0].taps[:, None], lines[1].taps] = whole
    taps_ = np.arange(math.prod(kernel))[:, None]
    columns = np.where(image.keys >= 0, image.keys * math.prod(kernel) + taps_, PADDING).reshape(-1)
    keys = pattern(len(whole), len(whole), builder.native)
    matrix = builder.matrix(f"{node.label}_W", square.reshape(len(whole), -1), keys, columns)
    result = _result(builder, node, keys, zeros=True)
    builder.emit(
        Operation(node.label, ops.PRODUCT, (source,), result.place, matrix=matrix, window=window)
    )
    if bias is None:
        return result
    wide = np.broadcast_to(bias.reshape(-1, *[1] * (len(result.shape) - 2)), result.shape)
    return add_constant(builder, node, result, wide, "b")


def _conv(builder: Builder, node: Node) -> list[Value]:
    weights = builder.array(node.inputs[1])
    named = len(node.inputs) > 2 and node.inputs[2]
    bias = builder.array(node.inputs[2]) if named else None
    if weights is None or (named and bias is None):
        raise LowerError("its weights are no constants")
    divide = int(node.attributes.get("group", 1))
    return [convolution(builder, node, weights, bias, divide)]


def _average_pool(builder: Builder, node: Node) -> list[Value]:
    """Append an average pool: the sum of each window times a constant.

    A pool with padding is appended as a convolution instead, whose weights are this constant.
    """
    if node.attributes.get("ceil_mode", 0):
        raise LowerError("ceil_mode is not supported")
    geometry = _geometry(builder, node, node.attributes["kernel_shape"])
    if not any(geometry.pads):
        return [
            scaled(builder, node, _pool(builder, node, ops.ADD), 1 / math.prod(geometry.kernel))
        ]
    if not node.attributes.get("count_include_pad", 0):
        raise LowerError("means without the padding are not supported", "count_include_pad=1")
    channels, kernel = builder.shape(node.inputs[0])[1], node.attributes["kernel_shape"]
    weights = np.full((channels, 1, *kernel), 1 / math.prod(kernel))
    return [convolution(builder, node, weights, None, channels)]


def _global_average_pool(builder: Builder, node: Node) -> list[Value]:
    """Append a global average.

    The second half of the positions is added to the first half, and so on until one position is
    left. If a number of positions is odd, its last position is added at the end. The sum is
    multiplied by a constant.
    """
    shape = builder.shape(node.inputs[0])
    if shape[0] != 1:
        raise LowerError(f"its input is of {shape}; nnp takes one image")
    image = _image(builder, node)
    depth, left = image.value.vectors, image.value.place
    positions, odd = left.count, []
    while left.count > 1:
        half = left.count // 2
        if left.count % 2:
            odd.append(replace(left, count=1, first=left.first + 2 * half * depth))
        upper = replace(left, count=half, first=left.first + half * depth)
        left = _sum(builder, node, replace(left, count=half), upper)
    for place in odd:
        left = _sum(builder, node, left, place)
    table = image.keys[None]
    total = Value(
        (shape[1],), left.tensor, table, builder.native, left.first, depth, image.value.zeros
    )
    mean = scaled(builder, node, total, 1 / positions)
    return [reshaped(mean, builder.shape(node.outputs[0]))]


def _sum(builder: Builder, node: Node, one: Place, other: Place) -> Place:
    """Append the sum of two places, and return the sum's place, in which rows have no gaps."""
    name = builder.tensor(f"{node.label}_sum", one.count * one.vectors)
    result = Place(name, one.count, one.vectors, 0, one.vectors)
    builder.emit(Operation(node.label, ops.ADD, (one, other), result))
    return result


def _max_pool(builder: Builder, node: Node) -> list[Value]:
    geometry = _geometry(builder, node, node.attributes["kernel_shape"])
    if any(node.outputs[1:]):
        raise LowerError("indices are not supported")
    if any(geometry.pads) or node.attributes.get("ceil_mode", 0):
        raise LowerError("padding and ceil_mode are not supported", "an image of whole windows")
    return [_pool(builder, node, ops.MAXIMUM)]


def _pool(builder: Builder, node: Node, kind: str) -> Value:
    """Append the sums or the maxima of windows, as `kind` says, and return them.

    Groups of three positions of each window are combined first, then the results of these groups. A
    chain can combine three positions, because each of the two multi-function units has one block
    for sums and maxima.
    """
    geometry = _geometry(builder, node, node.attributes["kernel_shape"])
    image = _image(builder, node)
    several = math.prod(geometry.result) > 1
    window = _pool_window(geometry, image.value.vectors) if several else None
    taps = [
        (y * geometry.dilations[0] * geometry.size[1] + x * geometry.dilations[1])
        for y in range(geometry.kernel[0])
        for x in range(geometry.kernel[1])
    ]
    count, depth = math.prod(geometry.result), image.value.vectors
    stride = depth * (1 if window else geometry.strides[1])
    places = [
        Place(image.value.tensor, count, depth, image.value.first + tap * depth, stride)
        for tap in taps
    ]
    parts = []
    for start in range(0, len(places), 3):
        one, *others = places[start : start + 3]
        steps: list[tuple[str, tuple[Place, ...]]] = [(kind, (other,)) for other in others]
        steps = steps or [(ops.COPY, ())]
        for own, operands in steps:
            part = _result(builder, node, image.keys, image.value.zeros, "_part")
            inputs = (one, *operands)
            builder.emit(Operation(node.label, own, inputs, part.place, window=window))
            one = part.place
        parts.append(part)
    result = parts[0]
    for part in parts[1:]:
        result = builder.pointwise(node, kind, result, part.place)
    return result


def _pool_window(geometry: Geometry, depth: int) -> Window | None:
    """Return the window that slides over an image in a pooling operation.

    It says how the addresses of the operation move from one result to the next. None stands for an
    image of height 1, whose addresses move in equal steps. `depth` is the number of native vectors
    of a position of the image.
    """
    if geometry.size[0] == 1:
        return None
    return Window(
        geometry.size, geometry.kernel, geometry.strides, (0, 0), geometry.dilations, depth,
        reads=False,
    )  # fmt: skip


RULES: Mapping[str, Rule] = {
    "AveragePool": _average_pool,
    "Conv": _conv,
    "GlobalAveragePool": _global_average_pool,
    "MaxPool": _max_pool,
}
