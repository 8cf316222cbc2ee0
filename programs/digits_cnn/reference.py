"""The integer convolutional network in NumPy: what `digits_cnn` has to compute, bit for bit.

This module does not use Macaw. The parameters are the `.npy` files and `network.toml`
beside this file, all written by `train.py`. Images and feature maps are stored
channel last, (..., height, width, channels); convolutions are correlations with zero
padding, as in every framework.
"""

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Int8: TypeAlias = npt.NDArray[np.int8]
Int32: TypeAlias = npt.NDArray[np.int32]
UInt8: TypeAlias = npt.NDArray[np.uint8]

FOLDER = Path(__file__).resolve().parent
CONV, DEPTHWISE, DENSE = "conv", "depthwise", "dense"


@dataclass(frozen=True)
class Layer:
    """One layer; `weights` int8 and `bias` int32 (outputs,).

    conv:      weights (outputs, kernel rows, kernel columns, inputs).
    depthwise: weights (channels, kernel rows, kernel columns).
    dense:     weights (outputs, inputs), inputs as the map before is stored: row, column, channel.
    shift: of requantisation after ReLU, 0 to 31; None: raw sums leave the layer.
    """

    kind: str
    weights: Int8
    bias: Int32
    stride: int = 1
    padding: int = 0
    shift: int | None = None


def load(folder: Path = FOLDER) -> tuple[Layer, ...]:
    """Read the committed parameters."""
    record = tomllib.loads((folder / "network.toml").read_text(encoding="utf-8"))
    return tuple(
        Layer(
            kind=entry["kind"],
            weights=np.load(folder / f"{entry['name']}_w.npy", allow_pickle=False),
            bias=np.load(folder / f"{entry['name']}_b.npy", allow_pickle=False),
            stride=entry.get("stride", 1),
            padding=entry.get("padding", 0),
            shift=entry.get("shift"),
        )
        for entry in record["layer"]
    )


def load_test_set(folder: Path = FOLDER) -> tuple[Int8, UInt8]:
    """Read the test set: images int8 (400, 8, 8, 1), labels uint8 (400,)."""
    images: Int8 = np.load(folder / "images.npy", allow_pickle=False)
    labels: UInt8 = np.load(folder / "labels.npy", allow_pickle=False)
    return images, labels


def windows(
    x: npt.NDArray[np.int64], rows: int, columns: int, stride: int, padding: int
) -> npt.NDArray[np.int64]:
    """Return the windows of maps (n, h, w, c): (n, oh, ow, rows, columns, c)."""
    padded = np.pad(x, ((0, 0), (padding, padding), (padding, padding), (0, 0)))
    view = np.lib.stride_tricks.sliding_window_view(padded, (rows, columns), axis=(1, 2))
    return np.asarray(view[:, ::stride, ::stride].transpose(0, 1, 2, 4, 5, 3))


def accumulate(layer: Layer, x: Int8) -> Int32:
    """Return the sums of a layer for maps (n, h, w, c). Raises OverflowError beyond int32."""
    weights, wide = layer.weights.astype(np.int64), x.astype(np.int64)
    if layer.kind == DENSE:
        sums = wide.reshape(len(wide), -1) @ weights.T
    else:
        rows, columns = weights.shape[1:3]
        seen = windows(wide, rows, columns, layer.stride, layer.padding)
        if layer.kind == CONV:
            sums = np.einsum("nhwijc,oijc->nhwo", seen, weights)
        else:
            sums = np.einsum("nhwijc,cij->nhwc", seen, weights)
    sums = sums + layer.bias
    narrow: Int32 = sums.astype(np.int32)
    if (narrow != sums).any():
        raise OverflowError("an accumulator leaves int32")
    return narrow


def requantise(acc: Int32, shift: int) -> Int8:
    """Return max(acc, 0) / 2**shift, rounded half to even and saturated to int8."""
    rounded: npt.NDArray[np.float64] = np.rint(np.maximum(acc, 0) / 2.0**shift)
    return np.clip(rounded, -128, 127).astype(np.int8)


def outputs(images: Int8, network: tuple[Layer, ...] | None = None) -> list[Int8 | Int32]:
    """Return what each layer gives for images int8 (n, 8, 8, 1): maps int8, then logits int32."""
    x: Int8 | Int32 = images
    found: list[Int8 | Int32] = []
    for layer in network or load():
        acc = accumulate(layer, x.astype(np.int8, copy=False))
        x = acc if layer.shift is None else requantise(acc, layer.shift)
        found.append(x)
    return found


def forward(images: Int8, network: tuple[Layer, ...] | None = None) -> Int32:
    """Return the logits, int32 (n, 10)."""
    return outputs(images, network)[-1].astype(np.int32, copy=False)


def accuracy(images: Int8, labels: UInt8, network: tuple[Layer, ...] | None = None) -> float:
    """Return the share of images that get their label, 0 to 1; the lowest digit wins ties."""
    return float((np.argmax(forward(images, network), axis=-1) == labels).mean())


def dense_macs(network: tuple[Layer, ...], images: Int8) -> int:
    """Count the products of a dense computation of the images; the frame's zeros count as well."""
    total = 0
    for layer, found in zip(network, outputs(images, network), strict=True):
        total += found.size * (layer.weights.size // len(layer.weights))
    return total


def effectual_macs(network: tuple[Layer, ...], images: Int8) -> tuple[int, ...]:
    """Count, layer by layer, the products of which neither side is zero."""
    inputs = [found != 0 for found in (images, *outputs(images, network)[:-1])]
    counts = []
    for layer, x in zip(network, inputs, strict=True):
        ones = replace(
            layer, weights=(layer.weights != 0).astype(np.int8), bias=np.zeros_like(layer.bias)
        )
        counts.append(int(accumulate(ones, x.astype(np.int8)).sum()))
    return tuple(counts)


def largest_accumulator(network: tuple[Layer, ...], largest_input: int = 16) -> int:
    """Bound the magnitude of every running sum, whatever the image and the order of the MACs."""
    bound = 0
    for layer in network:
        sums = np.abs(layer.weights.astype(np.int64)).reshape(len(layer.weights), -1).sum(axis=1)
        bound = max(bound, int((sums * largest_input + np.abs(layer.bias.astype(np.int64))).max()))
        largest_input = 127
    return bound
