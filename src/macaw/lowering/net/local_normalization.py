"""Rewrites LRN of real numbers as movements and functions of elements for the SIMD core vc."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from macaw.lowering.errors import LowerError
from macaw.lowering.net.real_rewriting import append_real
from macaw.lowering.net.rewriting import Rewriting
from macaw.lowering.onnx.formulas import constants_of_lrn, roots_of_power
from macaw.lowering.onnx.network import FloatLayer


def rewrite_lrn(rewriting: Rewriting, layer: FloatLayer) -> bool:
    """Append layers for x / (bias + factor · sum of squares of neighbouring channels) ^ beta.

    The squares get zero channels before the first and after the last one. A slice for each
    neighbour shifts them, and the slices are added in the order in which ONNX's definition adds.
    The last layer is an LRN that gets the sums as its second input. Return False, without new
    layers, if the input is no tensor of the network. Raises `LowerError` if square roots cannot
    make the power with exponent beta, for a size below 1, and for a tensor without channels.
    """
    (source,), (result,) = layer.inputs, layer.outputs
    if source not in rewriting.tensors:
        return False
    roots_of_power(constants_of_lrn(layer.node)[2])
    shape = rewriting.tensors[source].shape
    if len(shape) < 2:
        raise LowerError(f"an image of the shape {shape}")
    squares = rewriting.tensor(f"{result}_squares", rewriting.tensors[source])
    append_real(rewriting, layer, f"{layer.name}_squares", "Mul", (source, source), squares)
    inputs = source, _sums(rewriting, layer, squares)
    node = replace(layer.node, inputs=inputs)
    rewriting.add(replace(layer, inputs=inputs, node=node))
    return True


def _sums(rewriting: Rewriting, layer: FloatLayer, squares: str) -> str:
    """Append the sums of the squares of `size` neighbouring channels; return their name."""
    size = int(layer.node.attributes["size"])
    x = rewriting.tensors[squares]
    if size == 1:
        return squares
    before, after = (size - 1) // 2, size // 2
    channels = x.shape[1]
    shape = (x.shape[0], channels + size - 1, *x.shape[2:])
    framed = rewriting.tensor(f"{squares}_framed", x, shape=shape)
    pads = np.zeros((2, len(shape)), np.int64)
    pads[:, 1] = before, after
    inputs = (squares, rewriting.constant(f"{framed}_pads", pads.reshape(-1)))
    rewriting.append_movement(layer, "Pad", inputs, framed)
    total = ""
    for start in range(size):
        part = rewriting.tensor(f"{squares}_{start}", x)
        bounds = [
            rewriting.constant(f"{part}_{word}", np.asarray([value]))
            for word, value in (("start", start), ("end", start + channels), ("axis", 1))
        ]
        rewriting.append_movement(layer, "Slice", (framed, *bounds), part)
        if total:
            name = rewriting.tensor(f"{squares}_sum", x)
            append_real(rewriting, layer, f"{layer.name}_sum", "Add", (total, part), name)
            part = name
        total = part
    return total
