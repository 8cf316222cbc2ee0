"""The figures of docs/scheduling-fim.md about constants that stay in the banks.

python -m tests.lowering.fim.resident
"""

from __future__ import annotations

import numpy as np

import macaw
from macaw.lowering.fim.graph import Graph


def main() -> None:
    """Print emulated cycles of matrix-vector products: copied, staying, and those of the blocks."""
    random = np.random.default_rng(0)
    for side in (256, 1024):
        graph = Graph()
        weights = (random.standard_normal((side, side)) / 32).astype(np.float16)
        graph.product(graph.tensor("x", 1, side), graph.constant("w", weights), name="y")
        copied, stays = (macaw.lower_graph(graph, resident=x).measure() for x in (0, 0.5))
        compute = max(step.end for step in stays.steps) - min(step.begin for step in stays.steps)
        print(f"{side} x {side}: {copied.cycles:,} {stays.cycles:,} {compute:,}", flush=True)


if __name__ == "__main__":
    main()
