"""The definition of the digits network in block floating point, in NumPy alone.

Mantissas have at most 16 bits. Sums in binary64 are exact: 64 products of 15-bit mantissas, with
exponents that differ by less than 8. The program's sums in BFP long are exact, too: a test checks
that.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
MLP = HERE.parent / "digits_mlp"
NATIVE, SHAPES = 32, ((2, 2), (2, 2), (1, 2))  # rows and columns of tiles
CLASSES = 10
Floats = NDArray[np.float64]


def quantise(x: NDArray[Any], width: int) -> Floats:
    """Numbers rounded in blocks of NATIVE with one exponent and mantissas of `width` bits."""
    blocks = x.astype(np.float64).reshape(*x.shape[:-1], -1, NATIVE)
    exponent = np.clip(np.frexp(np.abs(blocks).max(axis=-1, keepdims=True))[1], -15, 16)
    unit = 2.0 ** (exponent - (width - 1))
    end = 2 ** (width - 1)
    return np.asarray((np.clip(np.rint(blocks / unit), -end, end - 1) * unit).reshape(x.shape))


def load() -> tuple[list[NDArray[np.float16]], list[NDArray[np.float16]]]:
    """Weights (outputs, inputs) and biases (outputs,), filled up to whole tiles."""
    tiles, bias = np.load(HERE / "w.npy"), np.load(HERE / "b.npy").reshape(-1)
    weights, biases = [], []
    for rows, cols in SHAPES:
        mine, tiles = tiles[: rows * cols], tiles[rows * cols :]
        cut = mine.reshape(rows, cols, NATIVE, NATIVE).swapaxes(1, 2)
        weights.append(cut.reshape(rows * NATIVE, cols * NATIVE))
        biases.append(bias[: rows * NATIVE])
        bias = bias[rows * NATIVE :]
    return weights, biases


def test_set() -> tuple[NDArray[np.float16], NDArray[np.uint8]]:
    """Images (400, 64) with pixels 0 to 1, and labels (400,)."""
    images = np.load(MLP / "images.npy").reshape(-1, 64)
    return (images / 16).astype(np.float16), np.load(MLP / "labels.npy").reshape(-1)


def logits(images: NDArray[np.float16], width: int) -> NDArray[np.float16]:
    """The logits that the program gives for images (n, 64): (n, 10)."""
    x = images
    for k, (weight, bias) in enumerate(zip(*load(), strict=True)):
        product = (quantise(x, width) @ quantise(weight, width).T).astype(np.float16)
        x = product + bias
        if k < len(SHAPES) - 1:
            x = np.maximum(x, np.float16(0))
    return x[:, :CLASSES]
