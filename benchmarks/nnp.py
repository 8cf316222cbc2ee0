"""The arithmetic of nnp beside the same layers in plain NumPy float32, in one process.

An LSTM step with 2048 hidden units and a 1×1 convolution, every product exact in block floating
point and rounded once, every activation correctly rounded: what an emulator pays for bits.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import ROUNDS, table, target
from emu.nnp import numbers
from emu.nnp.numbers import Quantiser, Tiles

LEAST_SECONDS = 0.1  # CPU time of one measurement: a call is far shorter than the clock's tick
MOST = 5.0  # times plain NumPy, which the project holds itself to
WIDTHS = (16, 8, 5)
GATES = "ifco"

Floats = NDArray[np.float32]
Halves = NDArray[np.float16]


def seconds(action: Callable[[], object]) -> float:
    """CPU seconds of a call, the median of some measurements of many calls each."""
    action()
    found = []
    for _ in range(ROUNDS):
        calls, start = 0, time.process_time()
        while (spent := time.process_time() - start) < LEAST_SECONDS:
            action()
            calls += 1
        found.append(spent / calls)
    return median(found)


def prepared(matrix: Floats, native: int, quantiser: Quantiser) -> Tiles:
    """A matrix as quantised native tiles, as MatrixRf holds it."""
    rows, cols = matrix.shape[0] // native, matrix.shape[1] // native
    tiles = matrix.reshape(rows, native, cols, native).transpose(0, 2, 1, 3)
    quantised = numbers.quantise(tiles.astype(np.float16), quantiser)
    return Tiles(quantised, quantiser, quantiser)


def product(tiles: Tiles, x: Halves, quantiser: Quantiser) -> Halves:
    """Vectors (iterations, elements) through quantiser and multiplier."""
    vectors = numbers.quantise(x.reshape(len(x), tiles.cols, tiles.native), quantiser)
    return np.asarray(tiles.times(vectors, np.float16)).reshape(len(x), -1)


@dataclass(frozen=True)
class Lstm:
    """One step of a cell: weights of input and state, and biases, by gate."""

    weights: dict[str, Floats]
    biases: dict[str, Floats]
    x: Floats
    h: Floats
    c: Floats

    @classmethod
    def random(cls, hidden: int) -> Lstm:
        random = np.random.default_rng(1)
        names = [gate + source for gate in GATES for source in "xh"]
        scale = np.float32(hidden**-0.5)
        return cls(
            {name: random.standard_normal((hidden, hidden), np.float32) * scale for name in names},
            {gate: random.standard_normal((1, hidden), np.float32) for gate in GATES},
            *(np.tanh(random.standard_normal((1, hidden), np.float32)) for _ in range(3)),
        )

    def plain(self) -> Floats:
        """In float32, as one writes it."""

        def gate(name: str) -> Floats:
            weights = self.weights
            return (
                self.x @ weights[name + "x"].T + self.h @ weights[name + "h"].T + self.biases[name]
            )

        i, f, o = (1 / (1 + np.exp(-gate(name))) for name in "ifo")
        c = f * self.c + i * np.tanh(gate("c"))
        return np.asarray(o * np.tanh(c))

    def exact(self, native: int, quantiser: Quantiser) -> Callable[[], Halves]:
        """The step in nnp's numbers, its weights prepared."""
        tiles = {name: prepared(w, native, quantiser) for name, w in self.weights.items()}
        biases = {name: b.astype(np.float16) for name, b in self.biases.items()}
        x, h, c = (v.astype(np.float16) for v in (self.x, self.h, self.c))
        add, multiply = numbers.add, numbers.multiply

        def gate(name: str) -> Halves:
            both = (product(tiles[name + s], v, quantiser) for s, v in (("x", x), ("h", h)))
            return np.asarray(add(add(*both), biases[name]))

        def step() -> Halves:
            i, f, o = (numbers.sigmoid(gate(name)) for name in "ifo")
            state = add(multiply(f, c), multiply(i, numbers.tanh(gate("c"))))
            return np.asarray(multiply(o, numbers.tanh(state)))

        return step


def lstm(native: int, quantiser: Quantiser) -> tuple[float, float]:
    """Seconds of a step in nnp's numbers and in plain NumPy."""
    cell = Lstm.random(2048)
    step = cell.exact(native, quantiser)
    error = np.abs(step() - cell.plain()).max()
    if error > 0.25:  # five bits are not many
        raise SystemExit(f"the LSTM step is off by {error}")
    return seconds(step), seconds(cell.plain)


def convolution(native: int, quantiser: Quantiser) -> tuple[float, float]:
    """Seconds of a 1×1 convolution, 28 × 28 positions of 512 channels to 512, and relu."""
    random = np.random.default_rng(2)
    weights = random.standard_normal((512, 512), np.float32) * np.float32(512**-0.5)
    image = np.maximum(random.standard_normal((28 * 28, 512), np.float32), 0)
    tiles, halves = prepared(weights, native, quantiser), image.astype(np.float16)

    def exact() -> Halves:
        return np.asarray(numbers.relu(product(tiles, halves, quantiser)))

    def plain() -> Floats:
        return np.asarray(np.maximum(image @ weights.T, 0))

    error = np.abs(exact() - plain()).max()
    if error > 1:
        raise SystemExit(f"the convolution is off by {error}")
    return seconds(exact), seconds(plain)


def main() -> None:
    """Print the table."""
    rows, worst = [], 0.0
    for name, layer in (("LSTM step, 2048", lstm), ("1×1 convolution", convolution)):
        for bits in WIDTHS:
            ours, plain = layer(128, Quantiser("bfp", bits))
            worst = max(worst, ours / plain)
            times = (f"{ours * 1000:.2f}", f"{plain * 1000:.2f}", f"{ours / plain:.1f}")
            rows.append([name, f"{bits}", *times])
    print("## Exact products of nnp\n")
    print("Block floating point, N 128, results rounded once to fp16, beside NumPy float32.\n")
    print(table(["layer", "mantissa bits", "ms", "NumPy, ms", "times"], rows))
    print(target(f"at most {MOST:g} times plain NumPy: {worst:.1f}", worst <= MOST))


if __name__ == "__main__":
    main()
