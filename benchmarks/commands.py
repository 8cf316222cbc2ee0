"""The times of `macaw run` and `macaw asm`, and of a Python that imports numpy and click."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import LOWER, Effort, Figure, ratio
from benchmarks.measure import side_by_side

ROUNDS = 11
LAYER = Path(__file__).parents[1] / "programs" / "layer"
PEER = "python, import numpy and click"


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the CPU milliseconds of each command, and their ratios to the peer."""
    source, x = str(LAYER / "layer.s"), f"x={LAYER / 'x.npy'}"
    macaw = [sys.executable, "-m", "macaw"]
    commands = {
        "macaw run layer.s": [*macaw, "run", source, "-i", x],
        "macaw asm layer.s": [*macaw, "asm", source, "-o", os.devnull],
        PEER: [sys.executable, "-c", "import numpy, click"],
    }
    costs = side_by_side(commands, effort.rounds(ROUNDS))
    found = {name: tuple(1000 * x.seconds for x in taken) for name, taken in costs.items()}
    for name, values in found.items():
        yield Figure(name, "ms", values, LOWER)
        if name != PEER:
            yield ratio(name, "times its peer", values, found[PEER], LOWER, PEER)
