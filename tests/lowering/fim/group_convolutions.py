"""Measures the figures of docs/scheduling-fim.md about convolutions with groups.

    python -m tests.lowering.fim.group_convolutions

Each row has emulated cycles on `base`: of the dense form, and of the form that the scheduler
chooses. The results of both are compared with a model of the islands, bit for bit.
"""

from __future__ import annotations

from unittest import mock

import numpy as np

import macaw
from macaw.fim_lowering import GraphLowering
from macaw.lowering.fim import group_products
from macaw.lowering.fim.graph import PRODUCT
from tests.lowering.fim.onnx_models import model_of_node
from tests.lowering.fim.running import modelled

# by name: channels, outputs, groups, side of the kernel, side of the image
CONVOLUTIONS = {
    "ShuffleNet, 3 groups": (48, 48, 3, 1, 14),
    "ShuffleNet, 4 groups": (64, 64, 4, 1, 14),
    "AlexNet, 2 groups": (32, 64, 2, 5, 8),
    "ResNeXt, 32 groups": (64, 64, 32, 3, 4),
    "depthwise": (32, 32, 32, 3, 8),
}


def convolution(channels: int, outputs: int, groups: int, kernel: int, side: int):
    """An ONNX model of one convolution with groups, padding, and a bias; weights are random."""
    random = np.random.default_rng(channels)
    own = channels // groups
    weights = random.standard_normal((outputs, own, kernel, kernel)) / kernel / own**0.5
    constants = {"w": weights.astype(np.float32), "b": random.standard_normal(outputs) / 8}
    constants["b"] = constants["b"].astype(np.float32)
    shape = (1, channels, side, side)
    pads = [kernel // 2] * 4
    return model_of_node("Conv", ("x", "w", "b"), shape, constants, group=groups, pads=pads)


def dense(made, **options):
    """Lower a model with one product for all groups of each convolution."""
    with mock.patch.object(group_products, "divided", return_value=()):
        return macaw.lower_graph(made, **options)


def cycles(found: GraphLowering) -> int:
    """The emulated cycles of a program; fails if a bit of its results is wrong."""
    inputs = found.random_inputs(0)
    run = macaw.run(found.assemble(), inputs)
    for name, wanted in modelled(found.plan, found.graph, inputs).items():
        np.testing.assert_array_equal(run.outputs[name], wanted)
    return run.cycles


def main() -> None:
    """Print a row for each convolution."""
    print("| convolution | dense | chosen | products | predictions off |")
    for name, sizes in CONVOLUTIONS.items():
        made = convolution(*sizes)
        before, after = dense(made), macaw.lower_graph(made)
        runs = [(found.cycles, cycles(found)) for found in (before, after)]
        products = sum(task.kind == PRODUCT for task in after.graph.tasks)
        off = max(abs(predicted / run - 1) for predicted, run in runs)
        (_, old), (_, new) = runs
        print(f"| {name} {sizes} | {old:,} | {new:,} | {products} | {off:.2%} |", flush=True)


if __name__ == "__main__":
    main()
