"""Train the sparse int8 convolutional network and write the files committed beside this script.

    python programs/digits_cnn/train.py             # train on all 1397 training images, write
    python programs/digits_cnn/train.py --validate  # five-fold cross-validation, write nothing

Needs NumPy and scikit-learn, the latter for the data only. As in digits_mlp the settings were
chosen with --validate, which never looks at the test images.
"""

import argparse
import sys
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Shape:
    """The kind and the sizes of a layer: `size` of its kernel, `outputs` of its channels."""

    name: str
    kind: str
    outputs: int
    size: int = 1
    stride: int = 1
    padding: int = 0
    pruned: bool = True


SHAPES = (
    Shape("conv", reference.CONV, 8, size=3, padding=1, pruned=False),
    Shape("depthwise", reference.DEPTHWISE, 8, size=3, stride=2, padding=1, pruned=False),
    Shape("pointwise", reference.CONV, 16),
    Shape("dense", reference.DENSE, CLASSES),
)


@dataclass(frozen=True)
class Settings:
    """The settings of the training, which cross-validation chose."""

    epochs: int = 300
    batch: int = 64
    learning_rate: float = 5e-3
    weight_decay: float = 1e-4
    smoothing: float = 0.05
    pruning: Pruning = field(default_factory=lambda: Pruning(density=0.4))
    distortion: Distortion = field(default_factory=Distortion)


@dataclass
class FloatLayer:
    """A layer in floating point: weights as in `reference.Layer`, but depthwise (1, k, k, c)."""

    shape: Shape
    weights: Floats
    bias: Floats
    mask: npt.NDArray[np.bool_]
    seen: Floats = field(default_factory=lambda: np.zeros(0))
    given: Floats = field(default_factory=lambda: np.zeros(0))

    def forward(self, x: Floats, relu: bool) -> Floats:
        """Return the output for maps (n, h, w, c), and keep the values that `backward` needs."""
        shape = self.shape
        if shape.kind == reference.DENSE:
            self.seen = x.reshape(len(x), -1)
            out = self.seen @ self.weights.T
        else:
            self.seen = np.ascontiguousarray(
                reference.windows(x, shape.size, shape.size, shape.stride, shape.padding)
            )
            if shape.kind == reference.CONV:
                flat = self.seen.reshape(*self.seen.shape[:3], -1)
                out = flat @ self.weights.reshape(len(self.weights), -1).T
            else:
                out = (self.seen * self.weights[0]).sum(axis=(3, 4))
        out = out + self.bias
        self.given = np.maximum(out, 0) if relu else out
        return self.given

    def backward(self, delta: Floats, into: tuple[int, ...]) -> tuple[Floats, Floats, Floats]:
        """Return the gradients of weights, bias and input (shape `into`).

        `delta` is the gradient of the output.
        """
        shape = self.shape
        if shape.kind == reference.DENSE:
            return delta.T @ self.seen, delta.sum(axis=0), (delta @ self.weights).reshape(into)
        bias = delta.sum(axis=(0, 1, 2))
        if shape.kind == reference.CONV:
            flat = self.seen.reshape(-1, self.weights[0].size)
            of_weights = (delta.reshape(-1, len(self.weights)).T @ flat).reshape(self.weights.shape)
            spread = (delta @ self.weights.reshape(len(self.weights), -1)).reshape(self.seen.shape)
        else:
            of_weights = (self.seen * delta[:, :, :, None, None, :]).sum(axis=(0, 1, 2))[None]
            spread = delta[:, :, :, None, None, :] * self.weights[0]
        p, s = shape.padding, shape.stride
        padded = np.zeros((into[0], into[1] + 2 * p, into[2] + 2 * p, into[3]))
        rows, columns = delta.shape[1:3]
        for i in range(shape.size):
            for j in range(shape.size):
                padded[:, i : i + s * rows : s, j : j + s * columns : s] += spread[:, :, :, i, j]
        inner = padded[:, p : p + into[1], p : p + into[2]]
        return of_weights, bias, inner


def random_network(rng: np.random.Generator) -> list[FloatLayer]:
    """Return a dense network of `SHAPES`, initialised for ReLU (He)."""
    side, channels = SIDE, 1
    layers = []
    for shape in SHAPES:
        if shape.kind == reference.DENSE:
            size: tuple[int, ...] = (shape.outputs, side * side * channels)
        elif shape.kind == reference.CONV:
            size = (shape.outputs, shape.size, shape.size, channels)
        else:
            size = (1, shape.size, shape.size, channels)
        fan = shape.size**2 if shape.kind == reference.DEPTHWISE else int(np.prod(size[1:]))
        weights = rng.normal(0, np.sqrt(2 / fan), size)
        layers.append(FloatLayer(shape, weights, np.zeros(shape.outputs), np.ones(size, np.bool_)))
        side = (side + 2 * shape.padding - shape.size) // shape.stride + 1
        channels = shape.outputs
    return layers


def forward(network: list[FloatLayer], images: Floats) -> list[Floats]:
    """Return the input (n, 8, 8, 1) and the output of each layer, logits last."""
    found = [images]
    for layer in network:
        found.append(layer.forward(found[-1], relu=layer is not network[-1]))
    return found


def gradients(network: list[FloatLayer], x: Floats, labels: Ints, smoothing: float) -> list[Floats]:
    """Return the gradients of the mean cross-entropy: all weights, then all biases."""
    found = forward(network, x)
    delta = cross_entropy_gradient(found[-1], labels, smoothing)
    of_weights: list[Floats] = []
    of_biases: list[Floats] = []
    for k in reversed(range(len(network))):
        weights, bias, delta = network[k].backward(delta, found[k].shape)
        of_weights.insert(0, weights)
        of_biases.insert(0, bias)
        delta = delta * (found[k] > 0)
    return of_weights + of_biases


def train(images: Floats, labels: Ints, settings: Settings) -> list[FloatLayer]:
    """Train and prune a network on images (n, 64), pixels 0 to 1, and labels (n,)."""
    rng = np.random.default_rng(SEED)
    network = random_network(rng)
    adam = Adam([x.weights for x in network] + [x.bias for x in network], settings.weight_decay)
    for epoch in range(settings.epochs):
        progress = epoch / settings.epochs
        rate = settings.learning_rate * (1 + np.cos(np.pi * progress)) / 2
        for layer in network:
            if layer.shape.pruned:
                prune(layer.weights, layer.mask, density_at(progress, settings.pruning))
                layer.weights *= layer.mask
        distorted = distort(images, settings.distortion, rng).reshape(-1, SIDE, SIDE, 1)
        order = rng.permutation(len(labels))
        for start in range(0, len(order), settings.batch):
            pick = order[start : start + settings.batch]
            adam.step(gradients(network, distorted[pick], labels[pick], settings.smoothing), rate)
            for layer in network:
                layer.weights *= layer.mask
    return network


def quantise(network: list[FloatLayer], images: Floats) -> tuple[reference.Layer, ...]:
    """Return the integer network; shifts are calibrated on images (n, 64), pixels 0 to 1.

    As in digits_mlp: the largest weight of a layer becomes 127, a shift is the
    smallest that brings 99.9% of the calibration activations into int8.
    """
    found = forward(network, images.reshape(-1, SIDE, SIDE, 1))
    step = 1 / PIXEL_MAX  # what an input of 1 stands for
    layers = []
    for layer, given in zip(network, found[1:], strict=True):
        shape, weights = layer.shape, layer.weights
        if shape.kind == reference.DEPTHWISE:
            weights = weights[0].transpose(2, 0, 1)
        weight_step = np.abs(weights).max() / 127
        step *= weight_step  # now of the accumulator
        bias = np.rint(layer.bias / step).astype(np.int32)
        shift = None
        if layer is not network[-1]:
            high = np.quantile(given, 0.999) / step
            shift = max(0, int(np.ceil(np.log2(high / 127))))
            step *= 2**shift
        small = np.rint(weights / weight_step).astype(np.int8)
        layers.append(reference.Layer(shape.kind, small, bias, shape.stride, shape.padding, shift))
    return tuple(layers)


def cross_validate(pixels: Ints, labels: Ints, settings: Settings, folds: int = 5) -> None:
    """Print the accuracy of the integer network on each held-out fold of the training set."""
    parts = np.array_split(np.random.default_rng(SEED).permutation(len(labels)), folds)
    results = []
    for k, held in enumerate(parts):
        kept = np.setdiff1d(np.arange(len(labels)), held)
        images = pixels[kept] / PIXEL_MAX
        network = quantise(train(images, labels[kept], settings), images)
        inputs = pixels[held].astype(np.int8).reshape(-1, SIDE, SIDE, 1)
        results.append(reference.accuracy(inputs, labels[held].astype(np.uint8), network))
        print(f"fold {k + 1}: {results[-1]:.4f}", flush=True)
    print(f"mean:   {np.mean(results):.4f}")


def write(
    network: tuple[reference.Layer, ...],
    images: reference.Int8,
    labels: reference.UInt8,
    folder: Path,
) -> str:
    """Write the parameters, the test set and the record; return the text of the record."""
    lines = ["# Written by train.py: the layers, in their order, and what was measured."]
    for shape, layer in zip(SHAPES, network, strict=True):
        np.save(folder / f"{shape.name}_w.npy", layer.weights, allow_pickle=False)
        np.save(folder / f"{shape.name}_b.npy", layer.bias, allow_pickle=False)
        lines += ["", "[[layer]]", f'name = "{shape.name}"', f'kind = "{layer.kind}"']
        if layer.kind != reference.DENSE:
            lines += [f"stride = {layer.stride}", f"padding = {layer.padding}"]
        if layer.shift is not None:
            lines += [f"shift = {layer.shift}"]
        nonzero = np.count_nonzero(layer.weights)
        lines += [f"nonzero = {nonzero}  # of {layer.weights.size} weights"]
    np.save(folder / "images.npy", images, allow_pickle=False)
    np.save(folder / "labels.npy", labels, allow_pickle=False)
    lines += ["", "[test]", f"images = {labels.size}"]
    lines += [f"accuracy = {reference.accuracy(images, labels, network):.4f}"]
    lines += ["# No running sum of any image can be larger than this."]
    lines += [f"accumulator_bound = {reference.largest_accumulator(network)}"]
    record = "\n".join(lines) + "\n"
    (folder / "network.toml").write_text(record, encoding="utf-8")
    return record


def main() -> None:
    """Train and write, or cross-validate."""
    parser = argparse.ArgumentParser(description="Train the sparse int8 digits CNN.")
    parser.add_argument(
        "--validate", action="store_true", help="cross-validate on the training set, write nothing"
    )
    validate: bool = parser.parse_args().validate
    settings, split = Settings(), load_split()
    # One thread: a sum that is split differently rounds differently.
    with threadpool_limits(limits=1):
        if validate:
            cross_validate(split.pixels, split.labels, settings)
            return
        images = split.pixels / PIXEL_MAX
        network = quantise(train(images, split.labels, settings), images)
    test_images = split.test_pixels.astype(np.int8).reshape(-1, SIDE, SIDE, 1)
    test_labels = split.test_labels.astype(np.uint8)
    print(write(network, test_images, test_labels, reference.FOLDER), end="")


if __name__ == "__main__":
    main()
