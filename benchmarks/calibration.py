"""Measures how fast this machine is, so that figures of two machines can be compared.

    python -m benchmarks calibration
    python -m benchmarks.calibration

The figure is the time of a fixed mix of work of the interpreter and of NumPy. A speed of 1.0 is that
of the machine of docs/benchmarks.md. The second command runs the mix and the peers here. From the
peers' figures on that page it computes `SECONDS`, the time that the mix takes on that machine.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import matmul
from pathlib import Path
from statistics import geometric_mean, median

import numpy as np

from benchmarks.figures import HIGHER, LOWER, Effort, Figure
from benchmarks.measure import middle, side_by_side, table, timed

ROUNDS = 9
# Seconds of the mix on the machine of docs/benchmarks.md; `main` derives them. See that page.
SECONDS = {"interpreter": 0.073, "NumPy": 0.101}
# The peers' lines of docs/benchmarks.md: bronzebeard, thousand lines a second of 10,000; tinyrv,
# thousand instructions a second; SciPy, milliseconds of the products with 50%, 80% and 90% zeros.
BRONZEBEARD, TINYRV, SCIPY = 21.6, 447.0, (4.27, 1.62, 1.13)


class _Counter:
    """An object with an attribute and a method, like the objects of an interpreter in Python."""

    def __init__(self) -> None:
        self.value = 0

    def add(self, step: int) -> None:
        self.value = (self.value * 5 + step) & 0xFFFF_FFFF


def interpret() -> int:
    """Do work of the interpreter: integers, attributes, calls, dictionaries, lists and strings."""
    counter, places = _Counter(), {}
    words = [f"r{number % 32}, {number}" for number in range(2_000)]
    for turn in range(150):
        for word in words:
            register, _, number = word.partition(", ")
            places[register] = int(number) + turn
            counter.add(places[register])
    return counter.value


def calculate() -> int:
    """Do work of NumPy: arithmetic, sorting, indices and sums of 64 to a million elements."""
    rng = np.random.default_rng(1)
    large = rng.integers(-128, 128, 1_000_000, dtype=np.int32)
    matrix = rng.integers(0, 9, (200, 200)).astype(np.int64)
    small = rng.random(64)
    total = 0
    for _ in range(4):
        order = np.argsort(large[:200_000], kind="stable")
        total += int(np.cumsum(large)[order].sum()) + int((matrix @ matrix)[7, 7])
        total += int(np.count_nonzero(np.where(large > 3, large * 5, large >> 1) & 1))
    for _ in range(4_000):
        total += int(np.rint(small * 3.5 + 0.25).sum())
    return total


def mix(rounds: int = ROUNDS) -> dict[str, list[float]]:
    """Return the CPU seconds in each round by kind of work; a round does all kinds in turn."""
    work: dict[str, Callable[[], int]] = {"interpreter": interpret, "NumPy": calculate}
    taken: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, action in work.items():
            taken[name].append(timed(action))
    return taken


def speeds(taken: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the speed of this machine by kind of work, from the seconds of the mix."""
    return {kind: round(SECONDS[kind] / median(times), 3) for kind, times in taken.items()}


def anchors() -> dict[str, dict[str, float]]:
    """Return, by peer, its speed on this machine divided by its speed in docs/benchmarks.md.

    The peers must be installed.
    """
    from scipy.sparse import csr_array

    from benchmarks import assembling, sparse
    from benchmarks.scalar import tinyrv_rate
    from benchmarks.sources import assembly

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = assembling.write(folder, "lines", assembly(10_000, core=""))
        command = {"": assembling.commands(folder, "lines")["bronzebeard"]}
        seconds = middle(side_by_side(command, ROUNDS)[""]).seconds
    rate = tinyrv_rate()
    assert rate is not None
    interpreter = {
        "bronzebeard": lines / seconds / 1000 / BRONZEBEARD,
        "tinyrv": median(rate) / 1000 / TINYRV,
    }
    arrays = {}
    for zero, recorded in zip(sparse.ZERO, SCIPY, strict=True):
        left, right = (csr_array(sparse.values(seed, zero).astype(np.int32)) for seed in (2, 1))
        product = partial(matmul, left, right)
        product()
        taken = median(timed(product) for _ in range(51))
        arrays[f"SciPy, {zero:.0%} zero"] = recorded / 1000 / taken
    return {"interpreter": interpreter, "NumPy": arrays}


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the seconds of the mix and the speed of this machine."""
    taken = mix(effort.rounds(ROUNDS))
    for kind, times in taken.items():
        yield Figure(kind, "s", tuple(times), LOWER)
        yield Figure(kind, "speed", tuple(SECONDS[kind] / x for x in times), HIGHER)


def main() -> None:
    """Print the seconds of the mix on the machine of docs/benchmarks.md, from the peers' speeds."""
    seconds, rows = {kind: median(times) for kind, times in mix().items()}, []
    for kind, peers in anchors().items():
        speed = geometric_mean(peers.values())
        rows += [[kind, peer, f"{factor:.2f}", "", ""] for peer, factor in peers.items()]
        derived = seconds[kind] * speed
        rows.append([kind, "mean", f"{speed:.2f}", f"{seconds[kind]:.3f}", f"{derived:.3f}"])
    print(table(["kind", "peer", "speed", "mix here, s", "mix at 1.0, s"], rows))


if __name__ == "__main__":
    main()
