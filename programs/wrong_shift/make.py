"""Make the files of two layers, and their expected results, computed by NumPy without Macaw.

python -m programs.wrong_shift.make
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
IMAGES, INPUTS, HIDDEN, OUTPUTS = 4, 16, 8, 4
SHIFT = 8  # of the hidden layer. It was 5 while pixels were 0 to 15


def tensors() -> dict[str, NDArray[np.int8]]:
    """Pixels 0 to 127 (images, inputs), the first image black; weights (outputs, inputs)."""
    chance = np.random.default_rng(1)

    def some(shape: tuple[int, int], low: int, high: int) -> NDArray[np.int8]:
        kept = chance.random(shape) < 0.5
        return (chance.integers(low, high + 1, shape) * kept).astype(np.int8)

    found = {
        "x": some((IMAGES, INPUTS), 0, 127),
        "w1": some((HIDDEN, INPUTS), -40, 90),
        "w2": some((OUTPUTS, HIDDEN), -90, 90),
    }
    found["x"][0] = 0
    return found


def layers(given: dict[str, NDArray[np.int8]]) -> tuple[NDArray[np.int8], NDArray[np.int32]]:
    """The hidden activations (images, hidden), and the second layer's sums (images, outputs)."""
    sums = given["x"].astype(np.int64) @ given["w1"].T
    scaled = np.rint(np.maximum(sums, 0) / 2.0**SHIFT)  # halves to even
    hidden = np.clip(scaled, -128, 127).astype(np.int8)
    return hidden, (hidden.astype(np.int64) @ given["w2"].T).astype(np.int32)


def main() -> None:
    """Write the inputs, the weights and the expected results."""
    given = tensors()
    hidden, golden = layers(given)
    golden_files: dict[str, NDArray[Any]] = {"golden_hidden": hidden, "golden": golden}
    for name, array in (*given.items(), *golden_files.items()):
        np.save(HERE / f"{name}.npy", array)


if __name__ == "__main__":
    main()
