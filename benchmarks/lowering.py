"""The cost model's choice of a plan compared with the other plans, for random layers.

    python -m benchmarks.lowering --layers 100 --macs 200000
    python -m benchmarks.lowering --layers 40 --device base --density 0.4

For each layer, the emulator runs the best plan of every mapping and split. It leaves out plans that
are predicted to take more than `--prune` times the cycles of the chosen plan. Each layer has a
line: the chosen plan, its predicted and measured cycles, those of the fastest plan, and their
ratio.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np

import macaw
from macaw.isa import config
from macaw.isa.config import Configuration
from macaw.layer_lowering import assemble_lowered
from macaw.lowering import reference
from macaw.lowering.choose import Candidate, Choice, choose
from macaw.lowering.convolution import convolution
from macaw.lowering.layer_source import layer_source
from macaw.lowering.operation import Product

WITHIN = 1.10  # of the best measured


def layers(
    count: int, macs: int, seed: int, device: Configuration
) -> Iterator[tuple[str, Product]]:
    """Yield `count` random operations of at most `macs` dense products, each with its name.

    The names are those of the settings `lower.preferred`.
    """
    rng = np.random.default_rng(seed)
    found = 0
    while found < count:
        operation = str(rng.choice(["spmv", "spmm", "spmm", "conv2d", "conv2d", "depthwise"]))
        product = _layer(operation, rng)
        if macs // 20 <= product.macs <= macs:
            found += 1
            yield operation, product.validated(device)


def _layer(operation: str, rng: np.random.Generator) -> Product:
    density = rng.choice([0.1, 0.3, 0.5, 1.0])
    shift = int(rng.integers(4, 9)) if rng.random() < 0.5 else None

    def weights(*shape: int) -> Any:
        kept = rng.random(shape) < density
        return (rng.integers(-9, 10, shape) * kept).astype(np.int8)

    if operation in ("spmv", "spmm"):
        n, k = (int(size) for size in 2 ** rng.uniform(2, 8, 2))
        m = 1 if operation == "spmv" else int(2 ** rng.uniform(1, 7))
        bias = rng.integers(-99, 100, n) if rng.random() < 0.5 else None
        return Product(m, weights(n, k), bias, "relu", shift, operation == "spmv")
    side, kernel = int(rng.integers(6, 25)), int(rng.choice([1, 3, 5]))
    channels, outputs = (int(size) for size in rng.integers(1, 17, 2))
    shape = (outputs, kernel, kernel) + ((channels,) if operation == "conv2d" else ())
    return convolution(
        weights(*shape),
        (side, side),
        stride=(1, 1) if rng.random() < 0.7 else (2, 2),
        padding=(kernel // 2, kernel // 2),
        depthwise=operation == "depthwise",
        activation="relu",
        shift=shift,
    )


def measured(item: Candidate, x: Any) -> int:
    """Return the cycles of the program of a plan with the activations `x`.

    The function asserts that the outputs equal NumPy's.
    """
    run = macaw.run(assemble_lowered(layer_source(item.plan, "layer", reasons=()), "layer"), x=x)
    wanted = reference.result(item.plan.product, item.plan.config, x)
    assert np.array_equal(run.outputs["y"], wanted), item.plan.product.describe()
    return run.cycles


def alternatives(
    choice: Choice, product: Product, device: Configuration, density: float, prune: float
) -> dict[Candidate, int]:
    """Return the measured cycles of the chosen plan and of the other plans that are worth a run.

    These are predicted to take at most `prune` times the cycles of the chosen plan.
    """
    x = reference.random_activations(product, device, 0)
    if density < 1:
        x[np.random.default_rng(0).random(x.shape) >= density] = 0
    limit = prune * choice.selection.cost.cycles
    return {
        item: measured(item, x)
        for item in choice.others
        if item is choice.selection or item.cost.cycles <= limit
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--layers", type=int, default=100)
    parser.add_argument("--macs", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--prune", type=float, default=1.5)
    parser.add_argument("--device", default="tiny")
    parser.add_argument("--density", type=float, default=1.0, help="of activations, not zero")
    words = parser.parse_args()
    device, predicted = config.load(words.device), []
    good, worst = 0, 0.0
    print("| layer | taken | predicted | measured | best | its cycles | times |")
    print("|---|---|---|---|---|---|---|")
    for operation, product in layers(words.layers, words.macs, words.seed, device):
        choice = choose(product, device, operation=operation, density=words.density)
        found = alternatives(choice, product, device, words.density, words.prune)
        best = min(found, key=found.__getitem__)
        times = found[choice.selection] / found[best]
        good += times <= WITHIN
        worst = max(worst, times)
        predicted.append(choice.selection.cost.cycles / found[choice.selection])
        names = [
            f"{p.mapping.name} {p.partition.split}" for p in (choice.selection.plan, best.plan)
        ]
        print(
            f"| {product.describe()} | {names[0]} | {choice.selection.cost.cycles:,}"
            f" | {found[choice.selection]:,} | {names[1]} | {found[best]:,} | {times:.2f} |",
            flush=True,
        )
    print(
        f"\nwithin {WITHIN:.2f} of the best measured: {good} of {words.layers}, at most {worst:.2f}"
    )
    low, middle, high = np.quantile(predicted, (0, 0.5, 1))
    print(
        f"predicted: {low:.2f} to {high:.2f} times the measured cycles, in the middle {middle:.2f}"
    )


if __name__ == "__main__":
    main()
