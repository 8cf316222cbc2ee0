"""The benchmark of layers measures each layer and compares its results with NumPy."""

from __future__ import annotations

from benchmarks import network_layers
from benchmarks.figures import Effort


def test_a_small_layer() -> None:
    figures = {x.name: x for x in network_layers.measure(Effort(small=True))}
    row = "1×1, 32 → 8 at 6²"
    assert figures[f"{row}: MACs"].samples == (9216,)
    assert figures[f"{row}: without bias"].median > 0
    assert figures[f"{row}: bias, ratio"].peer == "without bias"
