"""Train the digits network without pruning and write its weights as fp16, in native tiles.

    python programs/digits_nnp/make.py

The training is that of programs/digits_mlp (`train.py` there chose its settings), the images are
the test set of that folder. Needs NumPy and scikit-learn, the latter for the data only. The same
machine and versions give the same bytes each time.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "digits_mlp")]
import train  # noqa: E402
from digits_data import PIXEL_MAX, Pruning, load_split  # noqa: E402
from nnp_files import tiles, vectors  # noqa: E402
from threadpoolctl import threadpool_limits  # type: ignore[import-not-found]  # noqa: E402

NATIVE = 32


def main() -> None:
    """Train, and write w.npy and b.npy."""
    split = load_split()
    settings = replace(train.Settings(), pruning=Pruning(density=1.0))
    with threadpool_limits(1):
        network = train.train(split.pixels / PIXEL_MAX, split.labels, settings)
    weights = [tiles(weight.astype(np.float16), NATIVE) for weight in network.weights]
    biases = [vectors(bias.astype(np.float16)[None], NATIVE) for bias in network.biases]
    np.save(HERE / "w.npy", np.concatenate(weights))
    np.save(HERE / "b.npy", np.concatenate(biases))
    guesses = network.forward(split.test_pixels / PIXEL_MAX)[-1].argmax(axis=1)
    print(f"binary64: {(guesses == split.test_labels).mean():.2%} of the test images")


if __name__ == "__main__":
    main()
