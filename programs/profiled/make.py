"""Make the files of the profiled layer: weights of unequal density, images with zeros.

python -m programs.profiled.make
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
IMAGES, INPUTS, NEURONS = 32, 128, 32
SHIFT = 6


def weights() -> NDArray[np.int8]:
    """Pruned weights (neurons, inputs); a fifth to two fifths of each neuron's weights are left."""
    chance = np.random.default_rng(1)
    kept = chance.random((NEURONS, INPUTS)) < chance.uniform(0.2, 0.4, (NEURONS, 1))
    return (chance.integers(-9, 10, (NEURONS, INPUTS)) * kept).astype(np.int8)


def images() -> NDArray[np.int8]:
    """Activations (images, inputs) as after a ReLU: half of them are zero."""
    chance = np.random.default_rng(2)
    return chance.integers(-20, 21, (IMAGES, INPUTS)).clip(0).astype(np.int8)


def main() -> None:
    """Write w.npy and x.npy."""
    np.save(HERE / "w.npy", weights())
    np.save(HERE / "x.npy", images())


if __name__ == "__main__":
    main()
