"""What the training scripts of the digits networks share: the images, distortion, Adam, pruning.

Needs NumPy and scikit-learn, the latter for the data only.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

SIDE = 8
PIXEL_MAX = 16
CLASSES = 10
TEST_IMAGES = 400
SEED = 2024


@dataclass(frozen=True)
class Distortion:
    """The largest changes of a distorted image."""

    rotate: float = 12.0
    """Degrees."""
    stretch: float = 0.12
    """Relative change of size, and shear."""
    shift: float = 0.7
    """Pixels."""


@dataclass(frozen=True)
class Pruning:
    """The share of weights that stay; pruning begins and ends at these shares of the epochs."""

    density: float = 0.25
    begin: float = 0.2
    end: float = 0.6


@dataclass(frozen=True)
class Split:
    """Pixels 0 to 16, int64 (n, 64), and labels (n,), for training and for the test."""

    pixels: Ints
    labels: Ints
    test_pixels: Ints
    test_labels: Ints


def load_split() -> Split:
    """Read the digits; the test set holds `TEST_IMAGES`, in proportion to the classes."""
    digits = load_digits()
    pixels, labels = digits.data.astype(np.int64), digits.target.astype(np.int64)
    kept, held = stratified_split(labels, TEST_IMAGES, np.random.default_rng(SEED))
    return Split(pixels[kept], labels[kept], pixels[held], labels[held])


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


def distort(images: Floats, limits: Distortion, rng: np.random.Generator) -> Floats:
    """Return each image turned, stretched, sheared and moved a little: (n, 64) to (n, 64).

    Bilinear sampling, zeros outside.
    """
    n = len(images)
    angle = np.deg2rad(rng.uniform(-limits.rotate, limits.rotate, n))
    turn = np.stack([np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)], axis=1)
    bend = np.eye(2) + rng.uniform(-limits.stretch, limits.stretch, (n, 2, 2))
    centre = (SIDE - 1) / 2
    grid = np.indices((SIDE, SIDE)).reshape(2, -1) - centre
    move = centre + rng.uniform(-limits.shift, limits.shift, (n, 2, 1))
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


def softmax(logits: Floats) -> Floats:
    """Return the class probabilities of logits (n, classes)."""
    power = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(power / power.sum(axis=1, keepdims=True))


def cross_entropy_gradient(logits: Floats, labels: Ints, smoothing: float) -> Floats:
    """Return the gradient of the mean cross-entropy by the logits (n, classes).

    smoothing: share of the target spread over all classes.
    """
    target = np.full(logits.shape, smoothing / CLASSES)
    target[np.arange(len(labels)), labels] += 1 - smoothing
    return np.asarray((softmax(logits) - target) / len(labels))


def density_at(progress: float, pruning: Pruning) -> float:
    """Return the density wanted at this share of the epochs.

    The cubic schedule of Zhu and Gupta (2017): many weights are pruned at first, few at the end.
    """
    span = pruning.end - pruning.begin
    done = min(max((progress - pruning.begin) / span, 0.0), 1.0)
    return pruning.density + (1 - pruning.density) * (1 - done) ** 3


def prune(weights: Floats, mask: npt.NDArray[np.bool_], density: float) -> None:
    """Mask all but the largest weights in place, so that at most the share `density` stays.

    A pruned weight is zero, so it is never larger than one that is left. So masks only shrink.
    """
    keep = int(density * weights.size)
    order = np.argsort(-np.abs(weights), axis=None, kind="stable")
    mask.flat[order[keep:]] = False
