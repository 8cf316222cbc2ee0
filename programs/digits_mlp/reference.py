"""The integer multilayer perceptron in NumPy: what `digits_mlp.s` has to compute, bit for bit.

This module does not use Macaw. The parameters are the `.npy` files and `shifts.toml`
beside this file, all written by `train.py`. Shapes below write `...` for any
number of leading image axes.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Int8: TypeAlias = npt.NDArray[np.int8]
Int32: TypeAlias = npt.NDArray[np.int32]
UInt8: TypeAlias = npt.NDArray[np.uint8]

FOLDER = Path(__file__).resolve().parent
LAYERS = 3
ACCUMULATORS = 4
"""Accumulators of a PE: the committed biases hold a copy for each."""
PES = 16
"""PEs of a cluster: the committed biases hold zeros for those without a neuron."""


@dataclass(frozen=True)
class Network:
    """The parameters of the network; layer k is entry k of each tuple.

    weights: int8, (outputs, inputs), zeros where pruned.
    biases:  int32, (outputs,).
    shifts:  the requantising shift of each hidden layer, 0 to 31; the last layer has none.
    """

    weights: tuple[Int8, ...]
    biases: tuple[Int32, ...]
    shifts: tuple[int, ...]


@dataclass(frozen=True)
class Macs:
    """Multiply-accumulates of some images, one entry a layer.

    dense:     every weight times every activation, zeros included.
    weights:   those with a non-zero weight: the entries a PE's index comparator examines.
    effectual: those with a non-zero weight and a non-zero activation: the work a PE's MAC does.
    """

    dense: tuple[int, ...]
    weights: tuple[int, ...]
    effectual: tuple[int, ...]


def load(folder: Path = FOLDER) -> Network:
    """Read the committed parameters.

    Raises ValueError if the four copies of a bias are not equal, or a PE without a neuron has one.
    """
    numbers = range(1, LAYERS + 1)
    weights = tuple(np.load(folder / f"w{k}.npy", allow_pickle=False) for k in numbers)
    copies = [np.load(folder / f"b{k}.npy", allow_pickle=False) for k in numbers]
    for k, bias in zip(numbers, copies, strict=True):
        if bias.shape[1:] != (ACCUMULATORS,) or (bias != bias[:, :1]).any():
            raise ValueError(f"b{k}.npy: expected {ACCUMULATORS} equal copies of the bias")
        if len(bias) % PES or bias[len(weights[k - 1]) :].any():
            raise ValueError(f"b{k}.npy: expected zeros up to a multiple of {PES} neurons")
    record = tomllib.loads((folder / "shifts.toml").read_text(encoding="utf-8"))
    return Network(
        weights=weights,
        biases=tuple(bias[: len(w), 0] for w, bias in zip(weights, copies, strict=True)),
        shifts=tuple(int(record[f"shift{k}"]) for k in numbers[:-1]),
    )


def load_test_set(folder: Path = FOLDER) -> tuple[Int8, UInt8]:
    """Read the test set: images int8 (5, 80, 64), labels uint8 (5, 80)."""
    images: Int8 = np.load(folder / "images.npy", allow_pickle=False)
    labels: UInt8 = np.load(folder / "labels.npy", allow_pickle=False)
    return images, labels


def accumulate(weights: Int8, bias: Int32, x: Int8) -> Int32:
    """Return weights @ x + bias for each image: (..., inputs) to (..., outputs).

    Raises OverflowError if a sum leaves int32. (Sums are taken in 64 bits; the
    device would also notice a running sum that leaves int32, which
    `largest_accumulator` rules out.)
    """
    wide = x.astype(np.int64) @ weights.T.astype(np.int64) + bias
    narrow: Int32 = wide.astype(np.int32)
    if (narrow != wide).any():
        raise OverflowError("an accumulator leaves int32")
    return narrow


def requantise(acc: Int32, shift: int) -> Int8:
    """Return acc / 2**shift, rounded half to even and saturated to int8.

    float64 holds an int32 divided by a power of two exactly, so rint rounds
    the true quotient.
    """
    rounded: npt.NDArray[np.float64] = np.rint(acc / 2.0**shift)
    return np.clip(rounded, -128, 127).astype(np.int8)


def layers(images: Int8, network: Network | None = None) -> tuple[Int8 | Int32, ...]:
    """Return the output of each layer: hidden activations int8, then logits int32.

    images: int8 (..., 64); output k is (..., outputs of layer k).
    network: the committed one if left out.
    """
    network = network or load()
    x = images
    outputs: list[Int8 | Int32] = []
    hidden = zip(network.weights[:-1], network.biases[:-1], network.shifts, strict=True)
    for weights, bias, shift in hidden:
        x = requantise(np.maximum(accumulate(weights, bias, x), 0), shift)
        outputs.append(x)
    outputs.append(accumulate(network.weights[-1], network.biases[-1], x))
    return tuple(outputs)


def forward(images: Int8, network: Network | None = None) -> Int32:
    """Return the logits: images int8 (..., 64) to int32 (..., 10)."""
    return layers(images, network)[-1].astype(np.int32, copy=False)


def classify(images: Int8, network: Network | None = None) -> UInt8:
    """Return the digit with the largest logit, the lowest on ties: uint8 (...)."""
    digits: UInt8 = np.argmax(forward(images, network), axis=-1).astype(np.uint8)
    return digits


def accuracy(images: Int8, labels: UInt8, network: Network | None = None) -> float:
    """Return the share of images that get their label, 0 to 1."""
    return float((classify(images, network) == labels).mean())


def macs(images: Int8, network: Network | None = None) -> Macs:
    """Count the multiply-accumulates of the images, int8 (..., 64), layer by layer."""
    network = network or load()
    inputs = (images, *layers(images, network)[:-1])
    dense, nonzero, effectual = [], [], []
    for weights, x in zip(network.weights, inputs, strict=True):
        count = x.size // weights.shape[1]
        per_input = np.count_nonzero(weights, axis=0)
        dense.append(count * weights.size)
        nonzero.append(count * int(per_input.sum()))
        effectual.append(int(((x != 0) @ per_input).sum()))
    return Macs(tuple(dense), tuple(nonzero), tuple(effectual))


def densities(network: Network) -> tuple[float, ...]:
    """Return the share of non-zero weights of each layer, 0 to 1."""
    return tuple(np.count_nonzero(w) / w.size for w in network.weights)


def largest_accumulator(network: Network, largest_input: int = 16) -> int:
    """Bound the magnitude of every running sum, whatever the image and the order of the MACs.

    largest_input: the largest magnitude of a pixel; hidden activations may reach 127.
    """
    bound = 0
    for k, (weights, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        x = largest_input if k == 0 else 127
        sums = np.abs(weights.astype(np.int64)).sum(axis=1) * x + np.abs(bias.astype(np.int64))
        bound = max(bound, int(sums.max()))
    return bound
