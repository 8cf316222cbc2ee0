"""The matrices of programs/fim_*, by folder.

Matrices for single products have small whole numbers, whose fp16 products and sums are exact.
Matrices of networks have fractions, so that each rounding shows.

`python -m programs.fim_files` writes them again.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
# By folder: rows and columns of each matrix.
SHAPES = {
    "fim_dot": {"a": (4, 64), "b": (64, 4)},
    "fim_outer": {"a": (64, 4), "b": (4, 64)},
    "fim_tensor": {"a": (16, 16), "b": (16, 16)},
    "fim_elementwise": {"a": (4, 64), "b": (4, 64)},
    "fim_chain": {"a": (16, 16), "b": (16, 16), "c": (16, 16)},
    "fim_activation": {"x": (4, 64), "w": (64, 4)},
    "fim_host": {"a": (64, 16), "x": (1, 16)},
}
# Of fractions: gates of the GRU cell are r, z and n.
FRACTIONS: dict[str, dict[str, tuple[int, ...]]] = {
    "fim_gru": {"w": (3, 16, 16), "u": (3, 16, 16), "b": (3, 16), "x": (4, 16), "h0": (16,)},
    "fim_mlp": {"x": (8, 16), "w1": (32, 16), "b1": (32,), "w2": (10, 32), "b2": (10,)},
    "fim_conv": {"x": (10, 18), "k": (3, 3, 3)},
    "fim_gather": {"table": (64, 16), "y0": (32, 16)},
}


def matrices(folder: str) -> dict[str, np.ndarray]:
    """The matrices of a program, by the names of their files."""
    random = np.random.default_rng(sum(folder.encode()))
    if folder in FRACTIONS:
        found = {
            name: random.uniform(-1, 1, shape).astype(np.float16)
            for name, shape in FRACTIONS[folder].items()
        }
        if folder == "fim_gather":  # some rows of the table twice, some sums of three
            found["source"] = random.integers(0, 64, 24).astype(np.int32)
            found["target"] = random.integers(0, 32, 24).astype(np.int32)
        return found
    return {
        name: random.integers(-3, 4, shape).astype(np.float16)
        for name, shape in SHAPES[folder].items()
    }


def main() -> None:
    """Write the matrices of all programs."""
    for folder in (*SHAPES, *FRACTIONS):
        (HERE / folder).mkdir(exist_ok=True)
        for name, matrix in matrices(folder).items():
            np.save(HERE / folder / f"{name}.npy", matrix)


if __name__ == "__main__":
    main()
