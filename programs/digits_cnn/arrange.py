"""Bring the committed parameters into the order in which digits_cnn.s takes them.

    python programs/digits_cnn/arrange.py     # writes arranged/*.npy

A cluster computes two images at once: PE i·8 + c has channel c of image i. Needs NumPy alone.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import reference

FOLDER = Path(__file__).resolve().parent / "arranged"
PES, IMAGES = 16, 2  # PEs of a cluster; images that it computes at once
SLAB = 100  # a framed image, 10 × 10
POSITIONS = 16  # of a map behind the depthwise convolution, 4 × 4
PITCH = 128  # activations of a channel in front of the dense layer: eight images' positions
ACCUMULATORS = 4
RUN = 80  # images

Arrays = dict[str, npt.NDArray[Any]]


def arranged(network: tuple[reference.Layer, ...]) -> Arrays:
    """Return the arrays of digits_cnn.s, and the images of a run, by name.

    The first axis of weights and biases is the PE.
    """
    conv, depthwise, pointwise, dense = network
    found: Arrays = {}

    channels = len(conv.weights)
    slabs = np.zeros((IMAGES, channels, IMAGES, 10, 10), np.int8)
    for image in range(IMAGES):
        slabs[image, :, image, :3, :3] = conv.weights[..., 0]
    found["conv_w"] = slabs.reshape(PES, IMAGES * SLAB)
    found["conv_b"] = each_accumulator(np.tile(conv.bias, IMAGES))

    columns_first = depthwise.weights.transpose(0, 2, 1).reshape(channels, -1)
    found["depthwise_w"] = np.tile(columns_first, (IMAGES, 1))
    found["depthwise_b"] = np.tile(depthwise.bias, IMAGES)[:, None]

    spread = np.zeros((PES, channels, POSITIONS), np.int8)
    spread[:, :, 0] = pointwise.weights[:, 0, 0, :]
    found["pointwise_w"] = spread.reshape(PES, -1)
    found["pointwise_b"] = each_accumulator(pointwise.bias)

    digits = len(dense.weights)
    neurons = np.zeros((PES, PES, PITCH), np.int8)
    by_channel = dense.weights.reshape(digits, POSITIONS, PES).transpose(0, 2, 1)
    neurons[:digits, :, :POSITIONS] = by_channel
    found["dense_w"] = neurons.reshape(PES, -1)
    found["dense_b"] = np.pad(dense.bias, (0, PES - digits))[:, None]
    found["images"] = reference.load_test_set()[0][:RUN, ..., 0]
    return found


def each_accumulator(bias: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return a PE's bias once for each of its accumulators, (PEs, 4)."""
    return np.repeat(bias[:, None], ACCUMULATORS, axis=1)


def main() -> None:
    """Write arranged/*.npy."""
    FOLDER.mkdir(exist_ok=True)
    for name, array in arranged(reference.load()).items():
        np.save(FOLDER / f"{name}.npy", array, allow_pickle=False)


if __name__ == "__main__":
    main()
