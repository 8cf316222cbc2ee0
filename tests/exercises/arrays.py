"""Writes the arrays of the exercises: `python -m tests.exercises.arrays FOLDER [SEED]`.

The arrays of an exercise go to the folder FOLDER/EXERCISE, which is made if it is missing. Another
seed gives other numbers, for another class of students.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import macaw
from macaw.samples import EXERCISES

SEED = 24  # of the arrays that Macaw has
Arrays = dict[str, NDArray[Any]]


def small(random: np.random.Generator, *shape: int) -> NDArray[np.int8]:
    """Random numbers from -9 to 9, as int8 of this shape."""
    return random.integers(-9, 10, shape).astype(np.int8)


def sparsity(random: np.random.Generator) -> Arrays:
    """Weights of which nine tenths are 0, activations of which half are 0, and their product."""
    weights, x = small(random, 16, 128), small(random, 3, 128)
    weights[random.random(weights.shape) < 0.9] = 0
    x[random.random(x.shape) < 0.5] = 0
    return {"weights": weights, "x": x, "numpy": x.astype(np.int32) @ weights.T}


def dataflow(random: np.random.Generator) -> Arrays:
    weights, x = small(random, 16, 64), small(random, 8, 64)
    return {"weights": weights, "x": x, "numpy": x.astype(np.int32) @ weights.T}


def block_floating_point(random: np.random.Generator) -> Arrays:
    """Weights as native tiles, their error with 4-bit mantissas, inputs, and the exact product.

    Each row of a tile has one exponent.
    """
    weights = (random.integers(-64, 65, (4, 8)) / 64).astype(np.float16)
    x = (random.integers(-32, 33, (2, 4)) / 16).astype(np.float16)
    tiles = macaw.native_tiles(weights, 4)
    greatest = np.abs(tiles.astype(np.float64)).max(-1, keepdims=True)
    step = np.exp2(np.floor(np.log2(np.maximum(greatest, 2**-14))) + 1 - 3)
    kept = np.clip(np.round(tiles / step), -8, 7) * step
    product = weights.astype(np.float64) @ x.reshape(-1).astype(np.float64)
    return {
        "matrix": tiles,
        "rest": (tiles - kept).astype(np.float16),
        "x": x,
        "numpy": product.reshape(1, 4),
    }


def in_memory(random: np.random.Generator) -> Arrays:
    arrays = {name: random.integers(-32, 33, 128).astype(np.float16) / 8 for name in "abc"}
    result = np.maximum(arrays["a"] * arrays["b"] + arrays["c"], np.float16(0))
    return {**arrays, "numpy": result}


def tracing(random: np.random.Generator) -> Arrays:
    """Weights and inputs of sixteen rounds, their product, and measured counts.

    The counts do not depend on the numbers, so they are constants.
    """
    weights, x = (random.integers(-128, 128, 256).astype(np.int8) for _ in range(2))
    return {
        "weights": weights,
        "x": x,
        "numpy": np.array([weights.astype(np.int32) @ x], np.int32),
        "measured": np.array([447, 256, 32], np.uint32),
    }


def protection(random: np.random.Generator) -> Arrays:
    """Weights shuffled in blocks of 16 (weight i moves to place `order[i]`), inputs and product."""
    weights, x = (random.integers(-128, 128, 256).astype(np.int8) for _ in range(2))
    order = np.array([random.permutation(16) for _ in range(16)], np.uint8)
    shuffled = np.empty((16, 16), np.int8)
    np.put_along_axis(shuffled, order.astype(np.int64), weights.reshape(16, 16), axis=1)
    total = np.array([weights.astype(np.int32) @ x], np.int32)
    return {"weights": shuffled.reshape(-1), "x": x, "order": order, "numpy": total}


def arrays(exercise: str, seed: int = SEED) -> Arrays:
    """The arrays of an exercise, by the names of their files without `.npy`."""
    functions = (sparsity, dataflow, block_floating_point, in_memory, tracing, protection)
    by_name = {function.__name__.replace("_", "-"): function for function in functions}
    return by_name[exercise](np.random.default_rng(seed))


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m tests.exercises.arrays")
    parser.add_argument("folder", type=Path)
    parser.add_argument("seed", type=int, nargs="?", default=SEED)
    given = parser.parse_args(words)
    if given.seed < 0:
        parser.error("the seed is a number from 0")
    for exercise in EXERCISES:
        folder = given.folder / exercise
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in arrays(exercise, given.seed).items():
            np.save(folder / f"{name}.npy", array)


if __name__ == "__main__":
    main()
