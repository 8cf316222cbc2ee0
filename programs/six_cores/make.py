"""Make the files of the six-core program: three towers of a recommender, in small numbers.

python -m programs.six_cores.make
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
ROUNDS, ITEMS, VECTORS = 8, 4, 16  # items of x and e a round, vectors of d a round
SHIFT = 5


def tensors() -> dict[str, NDArray[Any]]:
    """Inputs and weights by the names of their files.

    Fractions are such that no sum is rounded.
    """
    chance = np.random.default_rng(8)
    items = ROUNDS * ITEMS
    kept = chance.random((16, 256)) < 0.6
    return {
        "x": chance.integers(-8, 9, (items, 256)).clip(0).astype(np.int8),
        "d": (chance.integers(-16, 17, (ROUNDS * VECTORS, 8)) / 16).astype(np.float16),
        "e": (chance.integers(-8, 9, (items, 16)) / 8).astype(np.float16),
        "w1": (chance.integers(-7, 8, (16, 256)) * kept).astype(np.int8),
        "w2": chance.integers(-9, 10, (4, 16)).astype(np.int8),
        "wd": (chance.integers(-16, 17, (8, 8)) / 16).astype(np.float16),
        "table": (chance.integers(-8, 9, (16, 16)) / 8).astype(np.float16),
    }


def tiles(matrix: NDArray[Any], native: int) -> NDArray[Any]:
    """A matrix as native tiles, row by row: (rows, cols, native, native)."""
    rows, cols = (size // native for size in matrix.shape)
    return np.asarray(matrix.reshape(rows, native, cols, native).swapaxes(1, 2)).copy()


def reference(t: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The outputs of the program, by name, computed with NumPy."""
    sums = t["x"].astype(np.int64) @ t["w1"].T.astype(np.int64)
    hidden = np.clip(np.rint(sums / 2**SHIFT), -128, 127).clip(0).astype(np.int64)
    logits = hidden @ t["w2"].T.astype(np.int64)
    return {
        "y": logits.astype(np.int32),
        "best": logits.argmax(axis=1).astype(np.int32),
        "n": (t["d"].astype(np.float64) @ t["wd"].T.astype(np.float64)).clip(0).astype(np.float16),
        "f": (t["e"].astype(np.float64) @ t["table"].T.astype(np.float64)).astype(np.float16),
    }


def main() -> None:
    """Write the files of all tensors."""
    made = tensors()
    made["wd"] = tiles(made["wd"], 4)
    for name, array in made.items():
        np.save(HERE / f"{name}.npy", array)


if __name__ == "__main__":
    main()
