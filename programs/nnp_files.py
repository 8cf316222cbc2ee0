"""Make the files of the nnp programs: weights as native tiles, vectors filled up with zeros.

python programs/nnp_files.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
Array = NDArray[Any]


def tiles(matrix: Array, native: int) -> Array:
    """A matrix (rows, cols) as native tiles, row by row: (tiles, native, native)."""
    rows, cols = (-(-size // native) for size in matrix.shape)
    whole = np.zeros((rows * native, cols * native), matrix.dtype)
    whole[: matrix.shape[0], : matrix.shape[1]] = matrix
    cut = whole.reshape(rows, native, cols, native).swapaxes(1, 2)
    return np.asarray(cut.reshape(-1, native, native))


def vectors(array: Array, native: int) -> Array:
    """Vectors (count, elements) as native vectors: (count * vectors, native)."""
    count, elements = array.shape
    whole = np.zeros((count, -(-elements // native) * native), array.dtype)
    whole[:, :elements] = array
    return np.asarray(whole.reshape(-1, native))


def normal(chance: np.random.Generator, *shape: int) -> Array:
    """Random fp16 numbers; sums over the last axis have a size of about 1."""
    found: Array = (chance.normal(size=shape) / shape[-1] ** 0.5).astype(np.float16)
    return found


def tensors() -> dict[str, dict[str, Array]]:
    """The tensors of every program, by the names of its hints."""
    chance = np.random.default_rng(3)

    def gates(names: str, weights: dict[str, tuple[int, int]], outputs: int) -> dict[str, Array]:
        found: dict[str, Array] = {}
        for first, shape in weights.items():
            found |= {first + name: normal(chance, *shape) for name in names}
        return found | {"b" + name: normal(chance, 1, outputs) for name in names}

    lstm = gates("ifco", {"Wx": (6, 5), "Wh": (6, 6), "Wc": (6, 6)}, 6)
    del lstm["Wcc"]
    return {
        "nnp_lstm": lstm | {"x": 2 * normal(chance, 5, 5)},
        "nnp_gru": gates("rzn", {"W": (7, 8), "U": (7, 7)}, 7) | {"x": 2 * normal(chance, 4, 8)},
        "nnp_conv1x1": {
            "W": normal(chance, 10, 6), "b": normal(chance, 1, 10), "x": normal(chance, 12, 6),
        },
        "nnp_conv3x3": {
            "W": normal(chance, 7, 36), "x": 4 * normal(chance, 30, 4),
            "other": normal(chance, 30, 7),
        },
        "nnp_maxpool": {"x": normal(chance, 24, 3)},
        "nnp_mlp": {
            "W1": normal(chance, 40, 48), "W2": normal(chance, 32, 40),
            "W3": normal(chance, 10, 32),
            "b1": normal(chance, 1, 40), "b2": normal(chance, 1, 32), "b3": normal(chance, 1, 10),
            "x": 4 * normal(chance, 8, 48),
        },
        "nnp_softmax": {
            "W": 2 * normal(chance, 5, 6), "b": normal(chance, 1, 5), "x": 2 * normal(chance, 4, 6),
        },
    }  # fmt: skip


# A program's files, each the tensors that it holds one behind the other.
FILES: dict[str, dict[str, tuple[str, ...]]] = {
    "nnp_lstm": {
        "matrices": (
            *("Wxi", "Wxf", "Wxc", "Wxo", "Whi", "Whf", "Whc", "Who"), *("Wci", "Wcf", "Wco"),
        ),
        "biases": ("bi", "bf", "bc", "bo"), "x": ("x",),
    },
    "nnp_gru": {
        "matrices": ("Wr", "Wz", "Wn", "Ur", "Uz", "Un"), "biases": ("br", "bz", "bn"), "x": ("x",),
    },
    "nnp_conv1x1": {"matrix": ("W",), "bias": ("b",), "image": ("x",)},
    "nnp_conv3x3": {"matrix": ("W",), "image": ("x",), "shortcut": ("other",)},
    "nnp_maxpool": {"image": ("x",)},
    "nnp_mlp": {"matrices": ("W1", "W2", "W3"), "biases": ("b1", "b2", "b3"), "x": ("x",)},
    "nnp_softmax": {"matrix": ("W",), "bias": ("b",), "x": ("x",)},
}  # fmt: skip


def native_of(name: str) -> int:
    """The native dimension of a program's device."""
    return 32 if name == "nnp_mlp" else 4


def main() -> None:
    """Write the files of all programs."""
    for name, given in tensors().items():
        native = native_of(name)
        for file, members in FILES[name].items():
            shaped = tiles if file.startswith("matri") else vectors
            whole = np.concatenate([shaped(given[member], native) for member in members])
            np.save(HERE / name / f"{file}.npy", whole)


if __name__ == "__main__":
    main()
