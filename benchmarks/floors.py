"""What NumPy or the interpreter takes at least, in the units of the goals that they limit.

Each floor does the part of the work that cannot be left out: it counts no cycles and reports no
errors. A goal that a floor does not reach cannot be reached either.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks import fim, nnp
from benchmarks.figures import HIGHER, LOWER, Effort, Figure, Skipped, ratio
from benchmarks.measure import ROUNDS, timed
from benchmarks.scalar import PASSES, unicorn_rate

COLUMN = "floor"
CALLS = 20_000


def _reverse(memory: bytearray, passes: int) -> int:
    """The loop of benchmarks.scalar as a Python function: sums wrap, bytes are swapped."""
    total = 0
    for _ in range(passes):
        low, high = 0, 255
        while low < high:
            one = memory[low]
            other = memory[high]
            total = (total + one) & 0xFFFF_FFFF
            total = (total + other) & 0xFFFF_FFFF
            memory[low] = other
            memory[high] = one ^ 0x55
            low += 1
            high -= 1
    return total


def _cp(effort: Effort) -> Iterator[Figure | Skipped]:
    """The loop in plain Python beside Unicorn."""
    rounds = effort.rounds(ROUNDS)
    peer = unicorn_rate(rounds)
    if peer is None:
        yield Skipped("the loop of cp in plain Python", "unicorn is not installed")
        return
    passes = 4 if effort.small else PASSES
    instructions = passes * 10 * 128
    memory = bytearray(256)
    ours = [instructions / timed(lambda: _reverse(memory, passes)) for _ in range(rounds)]
    yield ratio("the loop of cp in plain Python", COLUMN, ours, peer, HIGHER, "Unicorn")


def _calls(effort: Effort) -> Iterator[Figure]:
    """NumPy calls on sixteen lanes."""
    rounds, calls = effort.rounds(ROUNDS), 10 if effort.small else CALLS
    one, other, out = np.ones(16, np.uint32), np.ones(16, np.uint32), np.empty(16, np.uint32)

    def multiply() -> None:
        product = np.multiply
        for _ in range(calls):
            product(one, other, out)

    rates = tuple(16 * calls / timed(multiply) / 1000 for _ in range(rounds))
    yield Figure("one NumPy call for each pmac", COLUMN, rates, HIGHER)


def _layers(effort: Effort) -> Iterator[Figure]:
    """A convolution with its conversions, and the products of an island one by one."""
    rounds = effort.rounds(ROUNDS)
    random = np.random.default_rng(1)
    positions, channels = (16, nnp.NATIVE) if effort.small else (nnp.POSITIONS, nnp.CHANNELS)
    weights = random.standard_normal((channels, channels), np.float32)
    image = random.standard_normal((positions, channels), np.float32)
    halves = image.astype(np.float16)

    def plain() -> object:
        return np.maximum(image @ weights.T, 0)

    def converted() -> object:
        return np.maximum(halves.astype(np.float32) @ weights.T, 0).astype(np.float16)

    ours, theirs = nnp.seconds(converted, rounds), nnp.seconds(plain, rounds)
    row = "convolution with fp16 in and out"
    yield ratio(row, COLUMN, ours, theirs, LOWER, "NumPy float32")
    rows, columns = (16, 64) if effort.small else (fim.ROWS, fim.COLUMNS)
    matrix = random.standard_normal((rows, columns)).astype(np.float16)
    vector = random.standard_normal(columns).astype(np.float16)
    wide, factor = matrix.astype(np.float32), vector.astype(np.float32)
    ours = nnp.seconds(lambda: (wide * factor).astype(np.float16).astype(np.float32), rounds)
    theirs = nnp.seconds(lambda: matrix @ vector, rounds)
    row = "each product of the island rounded to fp16"
    yield ratio(row, COLUMN, ours, theirs, LOWER, "NumPy fp16")


def measure(effort: Effort) -> Iterator[Figure | Skipped]:
    """Yield the floors."""
    yield from _cp(effort)
    yield from _calls(effort)
    yield from _layers(effort)
