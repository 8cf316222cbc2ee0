"""Train the sparse int8 multilayer perceptron and write the files committed beside this script.

    python programs/digits_mlp/train.py             # train on all 1397 training images, write
    python programs/digits_mlp/train.py --validate  # five-fold cross-validation, write nothing

Needs NumPy and scikit-learn, the latter for the data only. The settings were
chosen with --validate, which never looks at the test images; the writing run
trains once with them, selects nothing, and reads the test set only to record
its accuracy. The same machine and versions give the same bytes each time.

Float units while training: pixels are divided by 16. Rescaling a layer by a
positive factor passes through ReLU, so any weight scale can be folded into the
activations of the next layer, and a power of two (the shift) is enough to requantise.
"""

import argparse
import sys
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import reference
from threadpoolctl import threadpool_limits  # type: ignore[import-not-found]

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from digits_data import (
    CLASSES,
    PIXEL_MAX,
    SEED,
    SIDE,
    Adam,
    Distortion,
    Floats,
    Ints,
    Pruning,
    cross_entropy_gradient,
    density_at,
    distort,
    load_split,
    prune,
)

GROUP = 80
"""Images of a group in images.npy: four at once in the accumulators, four times."""


@dataclass(frozen=True)
class Settings:
    """The settings of the training, which cross-validation chose."""

    hidden: tuple[int, int] = (64, 64)
    epochs: int = 1000
    """Each sees every training image once, freshly distorted."""
    batch: int = 64
    learning_rate: float = 3e-3
    weight_decay: float = 1e-4
    smoothing: float = 0.05
    """Share of the target spread over all classes (label smoothing)."""
    pruning: Pruning = field(default_factory=Pruning)
    distortion: Distortion = field(default_factory=Distortion)


# --- training ---------------------------------------------------------------------------


@dataclass
class FloatNetwork:
    """Weights (outputs, inputs), biases (outputs,) and pruning masks, layer by layer."""

    weights: list[Floats]
    biases: list[Floats]
    masks: list[npt.NDArray[np.bool_]]

    @classmethod
    def random(cls, sizes: tuple[int, ...], rng: np.random.Generator) -> "FloatNetwork":
        """Return a dense network of these layer sizes, initialised for ReLU (He)."""
        shapes = [(out, into) for into, out in pairwise(sizes)]
        return cls(
            weights=[rng.normal(0, np.sqrt(2 / into), (out, into)) for out, into in shapes],
            biases=[np.zeros(out) for out, _ in shapes],
            masks=[np.ones(shape, dtype=np.bool_) for shape in shapes],
        )

    def forward(self, x: Floats) -> list[Floats]:
        """Return the input and the output of each layer, logits last, for images (n, 64)."""
        outputs = [x]
        for k, (weights, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = x @ weights.T + bias
            if k < len(self.weights) - 1:
                x = np.maximum(x, 0)
            outputs.append(x)
        return outputs

    def gradients(self, x: Floats, labels: Ints, smoothing: float) -> list[Floats]:
        """Return the gradients of the mean cross-entropy: all weights, then all biases."""
        outputs = self.forward(x)
        delta = cross_entropy_gradient(outputs[-1], labels, smoothing)
        of_weights: list[Floats] = []
        of_biases: list[Floats] = []
        for k in reversed(range(len(self.weights))):
            of_weights.insert(0, delta.T @ outputs[k])
            of_biases.insert(0, delta.sum(axis=0))
            delta = (delta @ self.weights[k]) * (outputs[k] > 0)
        return of_weights + of_biases

    def prune(self, density: float) -> None:
        """Mask all but the largest weights: at most this share of each layer stays."""
        for weights, mask in zip(self.weights, self.masks, strict=True):
            prune(weights, mask, density)

    def apply_masks(self) -> None:
        """Set pruned weights back to zero."""
        for weights, mask in zip(self.weights, self.masks, strict=True):
            weights *= mask


def train(images: Floats, labels: Ints, settings: Settings) -> FloatNetwork:
    """Train and prune a network on images (n, 64), pixels 0 to 1, and labels (n,)."""
    rng = np.random.default_rng(SEED)
    network = FloatNetwork.random((images.shape[1], *settings.hidden, CLASSES), rng)
    adam = Adam(network.weights + network.biases, settings.weight_decay)
    for epoch in range(settings.epochs):
        progress = epoch / settings.epochs
        rate = settings.learning_rate * (1 + np.cos(np.pi * progress)) / 2
        network.prune(density_at(progress, settings.pruning))
        network.apply_masks()
        distorted = distort(images, settings.distortion, rng)
        order = rng.permutation(len(labels))
        for start in range(0, len(order), settings.batch):
            pick = order[start : start + settings.batch]
            adam.step(network.gradients(distorted[pick], labels[pick], settings.smoothing), rate)
            network.apply_masks()
    return network


# --- quantisation -----------------------------------------------------------------------


def quantise(network: FloatNetwork, images: Floats) -> reference.Network:
    """Return the integer network; the shifts are calibrated on images (n, 64), pixels 0 to 1.

    Each weight matrix is scaled so that its largest weight is 127, each shift
    is the smallest that brings 99.9% of the calibration activations into int8.
    """
    activations = network.forward(images)
    weights: list[reference.Int8] = []
    biases: list[reference.Int32] = []
    shifts: list[int] = []
    step = 1 / PIXEL_MAX  # what an input of 1 stands for
    for k, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        weight_step = np.abs(weight).max() / 127
        weights.append(np.rint(weight / weight_step).astype(np.int8))
        step *= weight_step  # now of the accumulator
        biases.append(np.rint(bias / step).astype(np.int32))
        if k < len(network.weights) - 1:
            high = np.quantile(activations[k + 1], 0.999) / step
            shifts.append(max(0, int(np.ceil(np.log2(high / 127)))))
            step *= 2 ** shifts[-1]
    return reference.Network(tuple(weights), tuple(biases), tuple(shifts))


# --- the two runs -----------------------------------------------------------------------


def cross_validate(pixels: Ints, labels: Ints, settings: Settings, folds: int = 5) -> None:
    """Print the accuracy on each held-out fold of the training set: float, then integer."""
    parts = np.array_split(np.random.default_rng(SEED).permutation(len(labels)), folds)
    results = []
    for k, held in enumerate(parts):
        kept = np.setdiff1d(np.arange(len(labels)), held)
        network = train(pixels[kept] / PIXEL_MAX, labels[kept], settings)
        integer = quantise(network, pixels[kept] / PIXEL_MAX)
        guesses = network.forward(pixels[held] / PIXEL_MAX)[-1].argmax(axis=1)
        exact = float((guesses == labels[held]).mean())
        rounded = reference.accuracy(
            pixels[held].astype(np.int8), labels[held].astype(np.uint8), integer
        )
        results.append((exact, rounded))
        print(f"fold {k + 1}: float {exact:.4f}, integer {rounded:.4f}")
    exact, rounded = np.mean(results, axis=0)
    print(f"mean:   float {exact:.4f}, integer {rounded:.4f}")


def write(
    network: reference.Network, images: reference.Int8, labels: reference.UInt8, folder: Path
) -> str:
    """Write the parameters, the test set and the record; return the text of the record.

    images: int8 (groups, 80, 64); labels: uint8 (groups, 80).
    """
    for k, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True), 1):
        np.save(folder / f"w{k}.npy", weight, allow_pickle=False)
        # A PE loads a bias into each of its accumulators: one a concurrent image.
        padded = np.pad(bias, (0, -len(bias) % reference.PES))
        copies = np.repeat(padded[:, None], reference.ACCUMULATORS, axis=1)
        np.save(folder / f"b{k}.npy", copies, allow_pickle=False)
    np.save(folder / "images.npy", images, allow_pickle=False)
    np.save(folder / "labels.npy", labels, allow_pickle=False)

    counts = reference.macs(images, network)
    lines = ["# Written by train.py. reference.py reads the shifts, people the rest."]
    lines += [f"shift{k} = {shift}" for k, shift in enumerate(network.shifts, 1)]
    lines += ["", "# Test set, integer network."]
    lines += [f"images = {labels.size}"]
    lines += [f"accuracy = {reference.accuracy(images, labels, network):.4f}"]
    lines += ["", "# Non-zero weights of each layer, and their share."]
    nonzero = [np.count_nonzero(w) for w in network.weights]
    lines += [f"nonzero{k} = {count}" for k, count in enumerate(nonzero, 1)]
    densities = reference.densities(network)
    lines += [f"density{k} = {density:.4f}" for k, density in enumerate(densities, 1)]
    lines += ["", "# MACs over the whole test set: all; weight and activation non-zero."]
    lines += [f"macs_dense = {sum(counts.dense)}", f"macs_effectual = {sum(counts.effectual)}"]
    lines += ["", "# No running sum of any image can be larger than this."]
    lines += [f"accumulator_bound = {reference.largest_accumulator(network)}"]
    record = "\n".join(lines) + "\n"
    (folder / "shifts.toml").write_text(record, encoding="utf-8")
    return record


def main() -> None:
    """Split the digits, then train and write, or cross-validate."""
    parser = argparse.ArgumentParser(description="Train the sparse int8 digits network.")
    parser.add_argument(
        "--validate", action="store_true", help="cross-validate on the training set, write nothing"
    )
    validate: bool = parser.parse_args().validate
    settings = Settings()

    split = load_split()
    # One thread: a sum that is split differently rounds differently.
    with threadpool_limits(limits=1):
        if validate:
            cross_validate(split.pixels, split.labels, settings)
            return
        images = split.pixels / PIXEL_MAX
        network = quantise(train(images, split.labels, settings), images)
    test_images = split.test_pixels.astype(np.int8).reshape(-1, GROUP, SIDE * SIDE)
    test_labels = split.test_labels.astype(np.uint8).reshape(-1, GROUP)
    print(write(network, test_images, test_labels, reference.FOLDER), end="")


if __name__ == "__main__":
    main()
