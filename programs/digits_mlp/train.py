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
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import reference
from sklearn.datasets import load_digits  # type: ignore[import-not-found]
from threadpoolctl import threadpool_limits  # type: ignore[import-not-found]

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

SIDE = 8
PIXEL_MAX = 16
CLASSES = 10
TEST_IMAGES = 400
GROUP = 80
"""Images of a group in images.npy: four at once in the accumulators, four times."""


@dataclass(frozen=True)
class Settings:
    """What was chosen by cross-validation, and the seed."""

    seed: int = 2024
    hidden: tuple[int, int] = (64, 64)
    density: float = 0.25
    """Share of weights that stay, in each layer; the project asks for at most 0.3."""
    epochs: int = 1000
    """Each sees every training image once, freshly distorted."""
    batch: int = 64
    learning_rate: float = 3e-3
    weight_decay: float = 1e-4
    smoothing: float = 0.05
    """Share of the target spread over all classes (label smoothing)."""
    prune_from: float = 0.2
    prune_to: float = 0.6
    """Pruning starts and ends at these shares of the epochs."""
    rotate: float = 12.0
    """Distortion: at most this many degrees ..."""
    stretch: float = 0.12
    """... this relative change of size and shear ..."""
    shift: float = 0.7
    """... and this many pixels."""


# --- data -------------------------------------------------------------------------------


def stratified_split(labels: Ints, size: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return (rest, chosen): indices, with exactly `size` chosen in proportion to the classes.

    Each class gives its share rounded down; the largest remainders give one more.
    """
    counts = np.bincount(labels, minlength=CLASSES)
    exact = counts * size / len(labels)
    shares = np.floor(exact).astype(np.int64)
    shares[np.argsort(shares - exact, kind="stable")[: size - shares.sum()]] += 1
    chosen = np.concatenate(
        [rng.permutation(np.flatnonzero(labels == c))[: shares[c]] for c in range(CLASSES)]
    )
    chosen = rng.permutation(chosen)
    return np.setdiff1d(np.arange(len(labels)), chosen), chosen


def distort(images: Floats, settings: Settings, rng: np.random.Generator) -> Floats:
    """Return each image turned, stretched, sheared and moved a little: (n, 64) to (n, 64).

    Bilinear sampling, zeros outside.
    """
    n = len(images)
    angle = np.deg2rad(rng.uniform(-settings.rotate, settings.rotate, n))
    turn = np.stack([np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)], axis=1)
    bend = np.eye(2) + rng.uniform(-settings.stretch, settings.stretch, (n, 2, 2))
    centre = (SIDE - 1) / 2
    grid = np.indices((SIDE, SIDE)).reshape(2, -1) - centre
    move = centre + rng.uniform(-settings.shift, settings.shift, (n, 2, 1))
    at = turn.reshape(n, 2, 2) @ bend @ grid + move

    # A border of zeros two pixels wide lets every corner be looked up without a test.
    border = 2
    padded = np.pad(images.reshape(n, SIDE, SIDE), ((0, 0), (border, border), (border, border)))
    at = np.clip(at + border, 0, SIDE + 2 * border - 1.001)
    low = at.astype(np.int64)
    y, x = low[:, 0], low[:, 1]
    fy, fx = (at - low)[:, 0], (at - low)[:, 1]
    k = np.arange(n)[:, None]
    top = padded[k, y, x] * (1 - fx) + padded[k, y, x + 1] * fx
    bottom = padded[k, y + 1, x] * (1 - fx) + padded[k, y + 1, x + 1] * fx
    return np.asarray(top * (1 - fy) + bottom * fy)


# --- training ---------------------------------------------------------------------------


class Adam:
    """Adam with decoupled weight decay, over a list of arrays changed in place."""

    def __init__(self, parameters: list[Floats], weight_decay: float) -> None:
        self.parameters = parameters
        self.weight_decay = weight_decay
        self.mean = [np.zeros_like(p) for p in parameters]
        self.square = [np.zeros_like(p) for p in parameters]
        self.steps = 0

    def step(self, gradients: list[Floats], rate: float) -> None:
        """Take one step against the gradients at this learning rate."""
        self.steps += 1
        for p, g, m, v in zip(self.parameters, gradients, self.mean, self.square, strict=True):
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            unbiased = m / (1 - 0.9**self.steps)
            spread = np.sqrt(v / (1 - 0.999**self.steps)) + 1e-8
            p -= rate * (unbiased / spread + self.weight_decay * p)


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
        target = np.full((len(x), CLASSES), smoothing / CLASSES)
        target[np.arange(len(x)), labels] += 1 - smoothing
        delta = (softmax(outputs[-1]) - target) / len(x)
        of_weights: list[Floats] = []
        of_biases: list[Floats] = []
        for k in reversed(range(len(self.weights))):
            of_weights.insert(0, delta.T @ outputs[k])
            of_biases.insert(0, delta.sum(axis=0))
            delta = (delta @ self.weights[k]) * (outputs[k] > 0)
        return of_weights + of_biases

    def prune(self, density: float) -> None:
        """Mask all but the largest weights: at most this share of each layer stays.

        A pruned weight is zero, so it never outranks one that is left: masks only shrink.
        """
        for weights, mask in zip(self.weights, self.masks, strict=True):
            keep = int(density * weights.size)
            order = np.argsort(-np.abs(weights), axis=None, kind="stable")
            mask.flat[order[keep:]] = False

    def apply_masks(self) -> None:
        """Set pruned weights back to zero."""
        for weights, mask in zip(self.weights, self.masks, strict=True):
            weights *= mask


def softmax(logits: Floats) -> Floats:
    """Return the class probabilities of logits (n, classes)."""
    power = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(power / power.sum(axis=1, keepdims=True))


def density_at(progress: float, settings: Settings) -> float:
    """Return the density wanted at this share of the epochs.

    The cubic schedule of Zhu and Gupta (2017): prune fast while there is plenty, slowly at the end.
    """
    span = settings.prune_to - settings.prune_from
    done = min(max((progress - settings.prune_from) / span, 0.0), 1.0)
    return settings.density + (1 - settings.density) * (1 - done) ** 3


def train(images: Floats, labels: Ints, settings: Settings) -> FloatNetwork:
    """Train and prune a network on images (n, 64), pixels 0 to 1, and labels (n,)."""
    rng = np.random.default_rng(settings.seed)
    network = FloatNetwork.random((images.shape[1], *settings.hidden, CLASSES), rng)
    adam = Adam(network.weights + network.biases, settings.weight_decay)
    for epoch in range(settings.epochs):
        progress = epoch / settings.epochs
        rate = settings.learning_rate * (1 + np.cos(np.pi * progress)) / 2
        network.prune(density_at(progress, settings))
        network.apply_masks()
        distorted = distort(images, settings, rng)
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
    parts = np.array_split(np.random.default_rng(settings.seed).permutation(len(labels)), folds)
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

    digits = load_digits()
    pixels, labels = digits.data.astype(np.int64), digits.target.astype(np.int64)
    kept, held = stratified_split(labels, TEST_IMAGES, np.random.default_rng(settings.seed))
    # One thread: a sum that is split differently rounds differently.
    with threadpool_limits(limits=1):
        if validate:
            cross_validate(pixels[kept], labels[kept], settings)
            return
        images = pixels[kept] / PIXEL_MAX
        network = quantise(train(images, labels[kept], settings), images)
    test_images = pixels[held].astype(np.int8).reshape(-1, GROUP, SIDE * SIDE)
    test_labels = labels[held].astype(np.uint8).reshape(-1, GROUP)
    print(write(network, test_images, test_labels, reference.FOLDER), end="")


if __name__ == "__main__":
    main()
