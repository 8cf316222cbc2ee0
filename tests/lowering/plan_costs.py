"""The plans that lowering compares for some layers, with the predictions for each plan.

No other test checks most of these predictions exactly; they only have to be near the emulator's
cycles. So tests/lowering/plan_costs.txt records them. `python -m tests.lowering.plan_costs --write`
writes that file again; examine the change first.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration, load
from macaw.lowering.candidates import array_partition, least_cycles, plans
from macaw.lowering.convolution import Convolution, convolution
from macaw.lowering.cost import Cost, cost
from macaw.lowering.image_estimate import estimates, tile_grid
from macaw.lowering.mapping import MAPPINGS, WEIGHT, Mapping
from macaw.lowering.operation import Product
from macaw.lowering.plan import ProductPlan
from macaw.lowering.stationary_estimate import row_estimates, row_grid

FILE = Path(__file__).with_suffix(".txt")
HEAD = (
    "# tile: variant, cycles (of rows, dma, cp), bytes (program copies activations weights"
    " sums-in sums-out results between)"
)


@dataclass(frozen=True)
class Layer:
    """An operation with the changed settings of its device, and pairs of mapping and split."""

    name: str
    product: Product
    maps: str  # pairs of mapping and split
    settings: dict[str, Any] = field(default_factory=dict)
    density: float = 1.0


def _weights(*shape: int, zeros: float = 0.3) -> NDArray[np.int8]:
    rng = np.random.default_rng(sum(shape))
    values = rng.integers(1, 100, shape)
    return np.where(rng.random(shape) < zeros, 0, values).astype(np.int8)


def _product(m: int, n: int, k: int, **words: Any) -> Product:
    if words.pop("bias", False):
        words["bias"] = np.arange(n)
    return Product(m, _weights(n, k), **words)


def _image(
    weights: tuple[int, ...], image: tuple[int, int], *, bias: bool = False, **words: Any
) -> Product:
    return convolution(
        _weights(*weights), image, bias=np.arange(weights[0]) if bias else None, **words
    )


# Buses and units so narrow that each has its time in the sums.
NARROW = {
    "dist.bus_bytes": 4, "mem.banks": 1, "mem.bank_width": 4, "mem.external_width": 8,
    "dma.divider": 2, "sfu.rate": 1, "pe.design": "5a",
}  # fmt: skip
SMALL = {"pe.input_buffer": 64, "pe.weight_queue": 16, "pe.output_queue": 64}
_SCALES = np.linspace(0.01, 0.1, 24, dtype=np.float32)
LAYERS = (
    Layer("product", _product(12, 20, 70), "input-a input-b input-h weight-d weight-c output-e"),
    Layer(
        "product with a bias and a shift, on narrow buses",
        _product(10, 9, 33, bias=True, shift=4, activation="relu"),
        "input-e input-c weight-a weight-f output-i",
        NARROW,
    ),
    Layer(
        "product of half precision, few activations, in a small array",
        _product(9, 11, 40, bias=True),
        "input-b input-d weight-d weight-g output-b output-f",
        {**SMALL, "pe.element": "fp16"},
        0.25,
    ),
    Layer(
        "product with a scale for each channel and a table",
        _product(10, 24, 70, scales=_SCALES, table=np.arange(-128, 128, dtype=np.int8)),
        "input-e input-h weight-a output-e",
    ),
    Layer(
        "convolution with padding and a bias",
        _image((6, 3, 3, 5), (9, 8), bias=True, padding=(1, 1), shift=3, activation="relu"),
        "input-b input-a input-c weight-a weight-h output-b output-g",
    ),
    Layer(
        "convolution with a stride, on narrow buses",
        _image((9, 3, 2, 4), (11, 9), stride=(2, 1), padding=(2, 0), after=(1, 1), images=2),
        "input-d input-i weight-e output-c",
        NARROW,
    ),
    Layer(
        "convolution with a large kernel in a small array",
        _image((5, 5, 4, 3), (8, 12), bias=True),
        "input-b weight-a output-b output-i",
        SMALL,
    ),
    Layer(
        "convolution 1 x 1 with a stride",
        _image((8, 1, 1, 10), (6, 6), bias=True, stride=(2, 2), shift=2),
        "input-b weight-a weight-d output-e",
        density=0.5,
    ),
    Layer(
        "depthwise convolution",
        _image((10, 3, 3), (8, 7), depthwise=True, bias=True, padding=(1, 1), shift=1),
        "input-b weight-b output-d",
    ),
    Layer(
        "depthwise convolution, column after column",
        _image((8, 3, 3), (10, 9), depthwise=True, stride=(1, 2), layout="cwh", out_layout="cwh"),
        "weight-b weight-d output-a",
        {"pe.design": "5a"},
    ),
)


def plan_lines(layer: Layer) -> Iterator[str]:
    """Yield lines for each mapping and split.

    They have a bound, the sums over all plans that fit, and the cheapest plans.
    """
    config = load("tiny").changed(layer.settings)
    product = layer.product.validated(config)
    size = int(config["pe.rows"]), int(config["pe.clusters"])
    for pair in layer.maps.split():
        mapping, split = pair.split("-")
        kind = MAPPINGS[mapping]
        least = least_cycles(product, config, split, size, layer.density)
        found = list(plans(product, config, kind, split, size, layer.density, inf, True))
        prices = [cost(plan, layer.density) for plan in found]
        total = sum(price.cycles for price in prices)
        moved = sum(price.traffic.total for price in prices)
        yield f"{pair}: at least {least:.2f} cycles; {len(found)} plans, {total} cycles, {moved} bytes"
        guesses = _guesses(product, config, kind, split, layer.density)
        if guesses is not None:
            fit = guesses[np.isfinite(guesses)]
            yield f"  estimates: {len(guesses)} tiles, {len(fit)} fit, {fit.sum():.2f} cycles"
        best = sorted(zip(prices, found, strict=True), key=lambda each: each[0].cycles)
        for price, plan in best[:3]:
            yield f"  {_line(plan, price)}"
        if found and layer.settings.get("pe.design") != "5a":
            plan = replace(best[0][1], balance=True)
            yield f"  {_line(plan, cost(plan, layer.density))}"


def _guesses(
    product: Product, config: Configuration, mapping: Mapping, split: str, density: float
) -> NDArray[np.float64] | None:
    """The estimates of all tiles that are tried; None if estimates are not used for the choice."""
    size = int(config["pe.rows"]), int(config["pe.clusters"])
    part = array_partition(product, split, size)
    if isinstance(product, Convolution) and product.layout == "hwc":
        tiles = tile_grid(product, config, mapping, part, taps=None)
        return estimates(product, config, mapping, part, tiles, density)
    if mapping is WEIGHT and not isinstance(product, Convolution):
        return row_estimates(product, config, part, row_grid(config, part), density)
    return None


def _line(plan: ProductPlan, price: Cost) -> str:
    tile = " ".join(map(str, astuple(plan.tile)))
    bytes_moved = " ".join(map(str, astuple(price.traffic)))
    return (
        f"{tile}:{plan.variant} {price.cycles} ({price.rows} {price.dma} {price.cp}), {bytes_moved}"
    )


def text(layers: tuple[Layer, ...] = LAYERS) -> str:
    """The text of the file."""
    lines = [HEAD]
    for layer in layers:
        lines += [f"== {layer.name}", *plan_lines(layer)]
    return "\n".join([*lines, ""])


def main() -> None:
    """Compare with the file, or write it."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.lowering.plan_costs", description=__doc__
    )
    parser.add_argument("--write", action="store_true", help="tests/lowering/plan_costs.txt")
    if parser.parse_args().write:
        FILE.write_text(text(), "utf-8")
    else:
        print(text(), end="")


if __name__ == "__main__":
    main()
