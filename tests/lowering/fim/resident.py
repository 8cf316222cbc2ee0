"""Measures the figures of docs/scheduling-fim.md about constants that stay in the banks.

python -m tests.lowering.fim.resident
python -m tests.lowering.fim.resident 4096
"""

from __future__ import annotations

import argparse

import numpy as np

import macaw
from macaw.lowering.fim.graph import Graph


def main() -> None:
    """Print cycles of matrix-vector products: weights copied, weights resident, blocks only."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sides", type=int, nargs="*", default=[256, 1024])
    random = np.random.default_rng(0)
    for side in parser.parse_args().sides:
        graph = Graph()
        weights = (random.standard_normal((side, side)) / 32).astype(np.float16)
        graph.product(graph.tensor("x", 1, side), graph.constant("w", weights), name="y")
        for several in (False, True):
            copied, stays = (
                macaw.lower_graph(graph, resident=x, together=several).measure() for x in (0, 0.5)
            )
            begin, end = (min(s.begin for s in stays.steps), max(s.end for s in stays.steps))
            islands = "several islands" if several else "one island"
            print(f"{side} x {side}, {islands}: {copied.cycles:,} {stays.cycles:,} {end - begin:,}")


if __name__ == "__main__":
    main()
