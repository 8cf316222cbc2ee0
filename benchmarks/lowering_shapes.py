"""The convolutions of ResNet-50 and MobileNet: plans, predicted cycles, and their bound.

    python -m benchmarks.lowering_shapes --device base
    python -m benchmarks.lowering_shapes --device base --only 4.3x3,m.dw28 --measure

A line a layer: its plan, predicted cycles, how many times the bound those are, and the seconds in
which the plan was chosen. The bound is the larger of the dense multiplications by the PEs and the
bytes of image, weights (3 each) and results by the width of external memory. With `--measure` the
program runs in the emulator; its results must equal NumPy's. The last lines are the sums of
ResNet-50, each layer as often as the network has it.
"""

from __future__ import annotations

import argparse
import time
from math import prod

import numpy as np

import macaw
from macaw.isa.config import Configuration, load
from macaw.layer_lowering import assemble_lowered
from macaw.lowering import reference
from macaw.lowering.choose import choose
from macaw.lowering.convolution import Convolution, convolution
from macaw.lowering.layer_source import layer_source

# Name: how often ResNet-50 has the layer, side of the image, channels, outputs, kernel, stride;
# a layer of MobileNet without outputs is depthwise.
LAYERS = {
    "conv1": (1, 224, 3, 64, 7, 2),
    "2.1x1a": (1, 56, 64, 64, 1, 1), "2.3x3": (3, 56, 64, 64, 3, 1),
    "2.1x1b": (4, 56, 64, 256, 1, 1), "2.1x1c": (2, 56, 256, 64, 1, 1),
    "3.1x1a": (1, 56, 256, 128, 1, 1), "3.3x3s2": (1, 56, 128, 128, 3, 2),
    "3.1x1b": (4, 28, 128, 512, 1, 1), "3.ds": (1, 56, 256, 512, 1, 2),
    "3.1x1c": (3, 28, 512, 128, 1, 1), "3.3x3": (3, 28, 128, 128, 3, 1),
    "4.1x1a": (1, 28, 512, 256, 1, 1), "4.3x3s2": (1, 28, 256, 256, 3, 2),
    "4.1x1b": (6, 14, 256, 1024, 1, 1), "4.ds": (1, 28, 512, 1024, 1, 2),
    "4.1x1c": (5, 14, 1024, 256, 1, 1), "4.3x3": (5, 14, 256, 256, 3, 1),
    "5.1x1a": (1, 14, 1024, 512, 1, 1), "5.3x3s2": (1, 14, 512, 512, 3, 2),
    "5.1x1b": (3, 7, 512, 2048, 1, 1), "5.ds": (1, 14, 1024, 2048, 1, 2),
    "5.1x1c": (2, 7, 2048, 512, 1, 1), "5.3x3": (2, 7, 512, 512, 3, 1),
    "m.conv1": (0, 224, 3, 32, 3, 2), "m.dw112": (0, 112, 32, 0, 3, 1),
    "m.pw112": (0, 112, 32, 64, 1, 1), "m.dw112s2": (0, 112, 64, 0, 3, 2),
    "m.pw56": (0, 56, 64, 128, 1, 1), "m.dw56": (0, 56, 128, 0, 3, 1),
    "m.pw28": (0, 28, 256, 256, 1, 1), "m.dw28": (0, 28, 256, 0, 3, 1),
    "m.dw14": (0, 14, 512, 0, 3, 1), "m.pw14": (0, 14, 512, 512, 1, 1),
    "m.dw7": (0, 7, 1024, 0, 3, 1), "m.pw7": (0, 7, 1024, 1024, 1, 1),
}  # fmt: skip


def layer(name: str, config: Configuration, zeros: float) -> Convolution:
    """A layer with random weights, of which a share is zero, a bias, relu and a shift."""
    _, side, channels, outputs, kernel, stride = LAYERS[name]
    rng = np.random.default_rng(0)
    shape = (outputs, kernel, kernel, channels) if outputs else (channels, kernel, kernel)
    weights = rng.integers(1, 8, shape) * rng.choice([-1, 1], shape) * (rng.random(shape) >= zeros)
    return convolution(
        weights,
        (side, side),
        stride=(stride, stride),
        padding=(kernel // 2, kernel // 2),
        depthwise=not outputs,
        bias=rng.integers(-9, 10, shape[0]),
        activation="relu",
        shift=6,
    ).validated(config)


def bound(product: Convolution, config: Configuration) -> float:
    """The least cycles in which the array multiplies, or external memory moves the bytes."""
    pes = config["pe.rows"] * config["pe.clusters"] * config["pe.pes"]
    moved = 3 * np.count_nonzero(product.weights) + sum(map(prod, product.shapes))
    return float(max(product.macs / pes, moved / config["mem.external_width"]))


def main() -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--device", default="base")
    parser.add_argument("--zeros", type=float, default=0.0, help="share of weights that are zero")
    parser.add_argument("--only", default=",".join(LAYERS), help="names, with commas")
    parser.add_argument("--measure", action="store_true")
    words = parser.parse_args()
    config = load(words.device)
    cycles, least, seconds = 0, 0.0, 0.0
    print(f"{'layer':<10} {'plan':<36} {'predicted':>10} {'bound':>6} {'s':>5}  measured")
    for name in words.only.split(","):
        product, count = layer(name, config, words.zeros), LAYERS[name][0]
        begin = time.perf_counter()
        choice = choose(product, config, operation="conv2d" if LAYERS[name][3] else "depthwise")
        taken = time.perf_counter() - begin
        plan, cost = choice.selection.plan, choice.selection.cost
        measured = ""
        if words.measure:
            program = assemble_lowered(layer_source(plan, "layer"), "layer")
            x = reference.random_activations(product, config, 0)
            run = macaw.run(program, x=x)
            assert np.array_equal(run.outputs["y"], reference.result(product, config, x)), name
            measured = f"{run.cycles:,} ({cost.cycles / run.cycles:.2f})"
        limit = bound(product, config)
        what = f"{plan.mapping.name} {plan.partition.split}{plan.variant}"
        print(f"{name:<10} {what:<36} {cost.cycles:>10,} {cost.cycles / limit:>6.2f} {taken:>5.2f}"
              f"  {measured}", flush=True)  # fmt: skip
        cycles, least = cycles + count * cost.cycles, least + count * limit
        seconds += count * taken
    if cycles:
        print(
            f"ResNet-50: {cycles:,} cycles, {cycles / least:.2f} times the bound; {seconds:.0f} s"
        )


if __name__ == "__main__":
    main()
