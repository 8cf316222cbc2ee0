"""Make the files of vector_dot, matvec and conv1d: inputs, weights, and shuffled weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import macaw

HERE = Path(__file__).parent


def make(folder: str, scope: str, lanes: int, **arrays: np.ndarray) -> None:
    """Write the arrays, and the weights `w` shuffled."""
    found = macaw.protect(arrays["w"], scope=scope, lanes=lanes, seed=1)
    arrays |= {"shuffled": found.weights[0], "order": found.order}
    for name, array in arrays.items():
        np.save(HERE / folder / f"{name}.npy", array)


def main() -> None:
    """Write the files of the three programs."""
    chance = np.random.default_rng(2)

    def numbers(low: int, high: int, *shape: int) -> np.ndarray:
        return chance.integers(low, high + 1, shape)

    make("vector_dot", "net", 16, w=numbers(-128, 127, 1, 256).astype(np.int8),
         x=numbers(-128, 127, 256).astype(np.int8))  # fmt: skip
    make("matvec", "node", 16, w=numbers(-128, 127, 10, 64).astype(np.int8),
         x=numbers(-128, 127, 64).astype(np.int8),
         b=numbers(-9999, 9999, 10).astype(np.int32))  # fmt: skip
    make("conv1d", "net", 8, w=numbers(-600, 600, 1, 8).astype(np.int16),
         x=numbers(-8000, 8000, 64).astype(np.int16))  # fmt: skip


if __name__ == "__main__":
    main()
