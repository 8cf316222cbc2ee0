"""Random layers and devices for the array, and what lowering says about each layer.

    python -m tests.lowering.random_layers 17

prints the outcome of seed 17, with its whole source. Half of the devices have the usual sizes. The
others have sizes near their bounds, so that no tile fits, or only one.
"""

from __future__ import annotations

import sys
from dataclasses import astuple, dataclass, replace
from math import inf
from random import Random
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import ConfigError, Configuration, load
from macaw.lowering.candidates import array_partition, least_cycles, plans
from macaw.lowering.choose import Candidate, Choice, choose
from macaw.lowering.convolution import convolution
from macaw.lowering.cost import cost
from macaw.lowering.errors import LowerError
from macaw.lowering.layer_source import SourceFiles, layer_source
from macaw.lowering.mapping import MAPPINGS
from macaw.lowering.operation import Elements, Product
from macaw.lowering.partition import SPLITS
from tests.recorded import summary

OPERATIONS = ("spmv", "spmm", "spmm", "conv2d", "conv2d", "depthwise")
USUAL: dict[str, tuple[Any, ...]] = {
    "pe.rows": (1, 2, 3, 4), "pe.clusters": (1, 2, 4), "pe.pes": (2, 4, 8), "pe.design": ("5a", "5b"),
    "dist.bus_bytes": (4, 8, 32), "mem.external_width": (4, 8, 64), "mem.external_latency": (1, 100),
    "dma.divider": (1, 3), "dma.setup": (0, 20), "dma.width": (4, 16, 64), "sfu.rate": (1, 2),
    "sfu.latency": (1, 9), "pe.divider": (1, 2), "dist.dispatch_latency": (0, 30),
    "lower.preferred.conv2d": ("weight", "output"), "lower.preferred.spmm": ("weight", "output"),
    "lower.preferred.spmv": ("weight", "output"),
}  # fmt: skip
NARROW: dict[str, tuple[Any, ...]] = {
    "pe.weight_queue": (16, 17, 32, 64), "pe.input_buffer": (16, 32, 64, 256),
    "pe.output_queue": (64, 80, 128), "mem.unit_half_bytes": (1024, 2048, 4096),
    "pe.pes": (1, 3, 16), "pe.rows": (1, 5), "pe.clusters": (1, 3),
}  # fmt: skip
WHOLE, FLOATING = ("int8", "int16"), ("fp16", "fp32")


@dataclass(frozen=True)
class RandomLayer:
    """A layer with its changed settings, and the arguments of `choose`."""

    operation: str
    product: Product
    settings: dict[str, Any]
    words: dict[str, Any]

    @property
    def config(self) -> Configuration:
        return load("tiny").changed(self.settings)


class Maker:
    """Draws the parts of a layer."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.numbers = np.random.default_rng(seed)

    def pick(self, *choices: Any) -> Any:
        return self.rng.choice(choices)

    def some(self, share: float) -> bool:
        return self.rng.random() < share

    def settings(self) -> dict[str, Any]:
        """Draw settings that differ from those of the device tiny."""
        found = {
            name: self.pick(*values)
            for table, share in ((USUAL, 0.25), (NARROW, 0.0 if self.some(0.5) else 0.4))
            for name, values in table.items()
            if self.some(share)
        }
        element = self.pick("int8", "int8", "int8", "int16", "fp16", "fp32")
        if element != "int8":
            found["pe.element"] = element
        if self.some(0.2):
            found["pe.widest"] = self.pick("element", "int16") if element in WHOLE else "fp32"
        return found

    def weights(self, floating: bool, *shape: int) -> NDArray[Any]:
        """Draw weights, most of them dense, some with mostly zeros or with whole rows of zeros."""
        zeros = self.pick(0.0, 0.3, 0.8, 0.97)
        values = self.numbers.integers(1, 100, shape)
        values[self.numbers.random(shape) < zeros] = 0
        if self.some(0.15):
            values[: shape[0] // 2] = 0
        return values.astype(np.float32 if floating else np.int8)

    def pair(self, *choices: int) -> tuple[int, int]:
        first = self.pick(*choices)
        return (first, first) if self.some(0.6) else (first, self.pick(*choices))

    def product(self, operation: str, floating: bool) -> Product:
        """Draw a product or convolution without what turns sums into results."""
        if operation in ("spmv", "spmm"):
            vector = operation == "spmv"
            rows = 1 if vector else self.pick(1, 2, 5, 8, 13, 16, 17, 33)
            n, k = self.pick(1, 2, 5, 8, 13, 24, 33), self.pick(1, 3, 8, 16, 17, 40, 70)
            return Product(rows, self.weights(floating, n, k), vector=vector)
        depthwise = operation == "depthwise"
        kernel = self.pair(1, 2, 3, 3, 3, 3, 5)
        groups = 1 if depthwise else self.pick(1, 1, 1, 1, 2, 3)
        outputs = self.pick(1, 3, 4, 8, 10) * (groups if self.some(0.95) else 1)
        channels = () if depthwise else (self.pick(1, 2, 3, 8, 17),)
        padding = self.pair(0, 0, 1, 2)
        flat = not depthwise or self.some(0.6)
        return convolution(
            self.weights(floating, outputs, *kernel, *channels),
            self.pair(4, 5, 6, 7, 8, 9, 11) if self.some(0.9) else self.pair(1, 3, 14),
            stride=self.pair(1, 1, 2, 3),
            padding=padding,
            after=padding if self.some(0.7) else self.pair(0, 1, 2),
            dilation=self.pair(1, 1, 1, 1, 2),
            groups=groups,
            images=self.pick(0, 0, 0, 1, 2, 3),
            depthwise=depthwise,
            layout="hwc" if flat else "cwh",
            out_layout="hwc" if self.some(0.75) else "cwh",
        )

    def finished(self, product: Product, floating: bool, types: tuple[str, ...]) -> Product:
        """Draw what turns sums into results: a bias, an activation, a shift, scales, a table."""
        words: dict[str, Any] = {}
        if self.some(0.5):
            bias = self.numbers.integers(-500, 500, product.n)
            words["bias"] = bias.astype(np.float32) if floating else bias
        if self.some(0.5):
            words["activation"] = self.pick("relu", "relu", "relu", "sigmoid", "tanh")
        form = self.pick("", "shift", "shift", "scales")
        if form == "shift":
            words["shift"] = self.pick(0, 1, 5, 12)
        elif form == "scales" and not floating:
            words["scales"] = self.numbers.uniform(0.01, 0.1, product.n).astype(np.float32)
        if form and self.some(0.3 if words.get("activation", "none") == "none" else 0.05):
            words["table"] = np.arange(-128, 128).astype(np.int8)[::-1].copy()
        if self.some(0.2):
            words["elements"] = Elements(*(self.pick(*types) for _ in range(3)))
        if self.some(0.1):
            words["columns_of"] = (3, product.n + 7)
        return replace(product, **words)


def layer(seed: int) -> RandomLayer:
    """Draw a layer. Raises `LowerError` or `ConfigError` if parts do not fit each other."""
    maker = Maker(seed)
    operation = maker.pick(*OPERATIONS)
    settings = maker.settings()
    floating = settings.get("pe.element", "int8") in FLOATING
    types = ("float16", "float32") if floating else ("int8", "int8", "int16")
    product = maker.finished(maker.product(operation, floating), floating, types)
    words = {"density": maker.pick(1.0, 1.0, 1.0, 0.6, 0.1)}
    if maker.some(0.2):
        words["mapping"] = maker.pick(*MAPPINGS)
    if maker.some(0.2):
        words["split"] = maker.pick(*SPLITS)
    return RandomLayer(operation, product, settings, words)


def _numbers(plan: Any) -> str:
    tile = " ".join(map(str, astuple(plan.tile)))
    return f"{plan.mapping.name}-{plan.partition.split} {plan.partition.rows}×{plan.partition.clusters} {tile}{plan.variant}"


def _line(item: Candidate) -> str:
    """A candidate: mapping, split, rows × clusters, tile; steps, cycles of all, rows, dma, cp; bytes."""
    price = item.cost
    moved = " ".join(map(str, astuple(price.traffic)))
    return (
        f"{_numbers(item.plan)}: {item.plan.steps} steps,"
        f" {price.cycles} {price.rows} {price.dma} {price.cp}; {moved}"
    )


def _all_plans(made: RandomLayer, product: Product, maker: Maker) -> str:
    """The number of plans of a mapping and split, with their costs summed and their digest."""
    config, density = made.config, made.words["density"]
    mapping, split = maker.pick(*MAPPINGS.values()), maker.pick(*SPLITS)
    size = int(config["pe.rows"]), int(config["pe.clusters"])
    limit = maker.pick(inf, inf, 2000.0)
    found = list(plans(product, config, mapping, split, size, density, limit, maker.some(0.7)))
    prices = [cost(plan, density) for plan in found]
    lines = "\n".join(_line(Candidate(*each)) for each in zip(found, prices, strict=True))
    part = array_partition(product, split, size)
    least = least_cycles(product, config, split, size, density)
    return (
        f"{mapping.name}-{split}: {part.rows}×{part.clusters}, at least {least:.4g}, {len(found)}"
        f" plans of {sum(price.cycles for price in prices)} cycles, {crc32(lines.encode()):08x}"
    )


def _files(program: SourceFiles) -> str:
    arrays = (
        f"{name} {array.dtype}{array.shape} {crc32(np.ascontiguousarray(array).tobytes()):08x}"
        for name, array in program.files.items()
    )
    return ", ".join([*arrays, *program.texts])


def heading(made: RandomLayer) -> str:
    """The layer and its settings in one line."""
    product = made.product
    words = {
        "bias": product.bias is not None, "activation": product.activation, "shift": product.shift,
        "scales": product.scales is not None, "table": product.table is not None,
        "elements": product.elements and astuple(product.elements), "columns_of": product.columns_of,
    }  # fmt: skip
    given = [
        f"{name}={value}" for name, value in words.items() if value not in (None, False, "none")
    ]
    given += [f"{name}={value}" for name, value in (made.words | made.settings).items()]
    nonzero = int(np.count_nonzero(product.weights))
    return f"{made.operation}: {product.describe()}; {nonzero} weights; {' '.join(given)}"


def chosen(seed: int) -> tuple[RandomLayer, Product, Choice]:
    """The layer of a seed, its product with the device's types, and the choice of its plan."""
    made = layer(seed)
    product = made.product.validated(made.config)
    choice = choose(product, made.config, operation=made.operation, **made.words)
    return made, product, choice


def outcome(seed: int, source_lines: int = 0) -> str:
    """What lowering says about the layer of a seed: its candidates and source, or the refusal."""
    try:
        head = heading(layer(seed))
    except (LowerError, ConfigError) as error:
        return f"refused at once: {error} ({getattr(error, 'hint', '')})"
    try:
        made, product, choice = chosen(seed)
    except (LowerError, ConfigError) as error:
        return f"{head}\nrefused: {error} ({getattr(error, 'hint', '')})"
    program = layer_source(choice.selection.plan, "p", choice.reasons())
    others = [_line(item) for item in choice.others]
    return "\n".join(
        [
            head,
            *choice.reasons(),
            choice.prediction(),
            *others[:3],
            f"all candidates: {summary(chr(10).join(others))}",
            _all_plans(made, product, Maker(seed + 1)),
            _files(program),
            f"source: {summary(program.source, source_lines)}",
        ]
    )


def main() -> None:
    """Print the outcomes of the given seeds, with their sources."""
    for seed in sys.argv[1:]:
        print(f"==== {seed}\n{outcome(int(seed), 10**6)}")


if __name__ == "__main__":
    main()
