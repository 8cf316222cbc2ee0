"""Rewrites convolutions and products that the array cannot compute: padding with zero points,
transposed convolutions, and results that need more than a shift or scales.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from macaw.lowering.errors import LowerError
from macaw.lowering.net.rewriting import WIDE, Rewriting, single_shift
from macaw.lowering.onnx.accumulators import check_accumulators
from macaw.lowering.onnx.network import (
    Dequantisation,
    FrameLayer,
    Layer,
    Output,
    Requantisation,
    Tensor,
    WeightLayer,
)
from macaw.lowering.onnx.window import Window


def rewrite_weights(state: Rewriting, layer: WeightLayer) -> bool:
    """Append layers that the array can compute in place of a layer with weights; return True.

    The new layers replace padding that consists of zero points, transposed convolutions, products
    of images, and results that the array cannot make from its sums.
    """
    (name,), (result,) = layer.inputs, layer.outputs
    x, y = state.tensors[name], state.tensors[result]
    if layer.operator != "MatMul" or len(x.shape) != 4:
        _results(state, layer, _framed(state, layer))
        return True
    # The rows of an image are not its rows on the device, so it becomes a matrix first.
    rows = state.reshaped(layer, name, (prod(x.shape[:-1]), x.shape[-1]), f"{name}_rows")
    product = state.tensor(f"{result}_rows", y, shape=(prod(y.shape[:-1]), y.shape[-1]))
    own = replace(layer, inputs=(rows,), outputs=(product,))
    _results(state, own, own)
    state.reshape_to(layer, product, result)
    return True


def _framed(state: Rewriting, layer: WeightLayer) -> WeightLayer:
    """Return a layer with the same sums whose padding, if there is any, consists of zeros.

    If a convolution pads with other numbers, a new layer makes an image that contains them. A
    transposed convolution is replaced by a convolution of such an image. Other layers stay the
    same.
    """
    window, (name,) = layer.window, layer.inputs
    x = state.tensors[name]
    if layer.operator == "ConvTranspose" and window is not None and len(window.kernel) != 2:
        raise LowerError(f"a transposed kernel {window.kernel}", "two dimensions")
    if window is None or len(window.kernel) != 2 or len(x.shape) != 4:
        return layer
    if layer.operator == "ConvTranspose":
        return _transposed(state, layer, window, x)
    if not layer.input_zero or not any((*window.before, *window.after)):
        return replace(layer, input_zero=0) if layer.input_zero else layer
    framed = _frame(state, layer, x, (1, 1), window.before, window.after)
    inner = replace(window, before=(0, 0), after=(0, 0))
    return replace(layer, inputs=(framed,), window=inner, input_zero=0)


def _frame(
    state: Rewriting,
    layer: WeightLayer,
    x: Tensor,
    steps: tuple[int, ...],
    before: tuple[int, ...],
    after: tuple[int, ...],
) -> str:
    """Append a layer that puts zero points around and between the pixels of `x`.

    Return the name of the layer's result. `steps`, `before` and `after` are (rows, columns):
    `steps` is the distance from a pixel to the next in the result, `before` and `after` are the
    numbers of new rows and columns before and after the image.
    """
    sizes = (
        (size - 1) * step + 1 + first + last
        for size, step, first, last in zip(x.shape[2:], steps, before, after, strict=True)
    )
    framed = state.tensor(f"{layer.outputs[0]}_frame", x, shape=(*x.shape[:2], *sizes))
    state.add(
        FrameLayer(
            f"{layer.name}_frame", "Pad", (x.name,), (framed,), layer.parts,
            (steps[0], steps[1]), (before[0], before[1]), (after[0], after[1]),
            layer.input_zero,
        )
    )  # fmt: skip
    return framed


def _transposed(state: Rewriting, layer: WeightLayer, window: Window, x: Tensor) -> WeightLayer:
    """Return a convolution that equals a transposed convolution of image `x`.

    It reads `x` in a frame, with zero points between the pixels, and has the mirrored kernel.
    """
    reach, sizes = window.reach, state.tensors[layer.outputs[0]].shape[2:]
    before = tuple(size - 1 - cut for size, cut in zip(reach, window.before, strict=True))
    spans = (
        (size - 1) * step + 1 + first
        for size, step, first in zip(x.shape[2:], window.strides, before, strict=True)
    )
    after = tuple(
        size + far - 1 - span for size, far, span in zip(sizes, reach, spans, strict=True)
    )
    if min((*before, *after)) < 0:
        raise LowerError("it leaves out more of its result than its kernel", "smaller pads")
    framed = _frame(state, layer, x, window.strides, before, after)
    groups, w = layer.groups, layer.weights  # (channels, outputs / groups, rows, columns)
    each = w.reshape(groups, -1, *w.shape[1:]).swapaxes(1, 2)
    turned = each.reshape(-1, *each.shape[2:])[..., ::-1, ::-1]
    bias = layer.bias - layer.input_zero * turned.astype(np.int64).sum((1, 2, 3))
    inner = Window(window.kernel, (1, 1), window.dilations, (0, 0), (0, 0))
    return _checked(state, replace(
            layer, operator="Conv", inputs=(framed,), weights=np.ascontiguousarray(turned),
            bias=bias, window=inner, input_zero=0,
        )
    )  # fmt: skip


def _checked(state: Rewriting, layer: WeightLayer) -> WeightLayer:
    """Return `layer`. Raises `LowerError` if sums could overflow with the bias of `layer`."""
    rows = layer.weights.reshape(len(layer.weights), -1)
    check_accumulators(rows, layer.bias, state.tensors[layer.inputs[0]].dtype, layer.accumulator)
    return layer


def _results(state: Rewriting, layer: WeightLayer, first: WeightLayer) -> None:
    """Append a product `first`, and layers for its results if the array cannot make them itself.

    `layer` is the layer of the model from which `first` was made.
    """
    output, name = layer.output, layer.outputs[0]
    assert output is not None
    tensor = state.tensors[name]
    axis = 1 if layer.window is not None else len(tensor.shape) - 1
    if isinstance(output, Dequantisation):
        plain = (output.low, output.high) == (-np.inf, np.inf)
        if plain and name in state.model.outputs and name not in state.reads:
            state.add(first)
        else:
            _sums(state, layer, first, output, axis)
        return
    if _is_direct(state, tensor, output):
        state.add(_with_zero(state, first, output))
    elif WIDE in state.elements and (tensor.dtype == "int8" or not output.zero_point):
        wide, middle = state.finished(first, output)
        state.add(replace(first, outputs=(wide,), output=middle))
        state.finish(layer, wide, output)
    else:
        _sums(state, layer, first, output, axis)


def _is_direct(state: Rewriting, tensor: Tensor, output: Requantisation) -> bool:
    """Return whether the array itself makes the results in `tensor`, as `output` says.

    For int8 a table can limit the results to any range.
    """
    if tensor.dtype not in state.elements:
        return False
    if output.zero_point and not _shifted(tensor, output):
        return False
    info = np.iinfo(tensor.dtype)
    ranges = (info.min, info.max), (0, info.max)
    return tensor.dtype == "int8" or (output.low, output.high) in ranges


def _shifted(tensor: Tensor, output: Requantisation) -> bool:
    """Return whether a change of the bias can replace the zero point of the results in `tensor`.

    Only an even zero point keeps the rounding, because ties go to even numbers.
    """
    even = not output.zero_point % 2
    return even and tensor.dtype == "int8" and single_shift(output, "int8") is not None


def _with_zero(state: Rewriting, layer: WeightLayer, output: Requantisation) -> WeightLayer:
    """Return a layer with the zero point of `output` added to the bias."""
    if not output.zero_point:
        return layer
    shift = single_shift(output, "int8") or 0
    bias = layer.bias + (output.zero_point << shift)
    plain = replace(output, zero_point=0)
    return _checked(state, replace(layer, bias=bias, output=plain))


def _sums(state: Rewriting, layer: Layer, first: WeightLayer, output: Output, axis: int) -> None:
    """Append a product that stores its sums, and a layer that rescales them to `layer`'s result.

    `first` is the product, `output` says how its sums become the result, and `axis` is the
    dimension of the result's channels.
    """
    if state.sums != "int32":
        raise LowerError(
            f"the array's sums have {state.sums}, which vc does not read", "zero points 0"
        )
    tensor = state.tensors[layer.outputs[0]]
    sums = state.tensor(f"{tensor.name}_sums", tensor, dtype=state.sums, quantisation=None)
    state.add(replace(first, outputs=(sums,), output=None))
    state.rescale(layer, sums, tensor.name, output, axis=axis)
