"""The matrices of programs/fim_*: small whole numbers, whose fp16 products and sums are exact.

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
}


def matrices(folder: str) -> dict[str, np.ndarray]:
    """The matrices of a program, by name."""
    random = np.random.default_rng(sum(folder.encode()))
    return {
        name: random.integers(-3, 4, shape).astype(np.float16)
        for name, shape in SHAPES[folder].items()
    }


def main() -> None:
    """Write the files."""
    for folder in SHAPES:
        (HERE / folder).mkdir(exist_ok=True)
        for name, matrix in matrices(folder).items():
            np.save(HERE / folder / f"{name}.npy", matrix)


if __name__ == "__main__":
    main()
