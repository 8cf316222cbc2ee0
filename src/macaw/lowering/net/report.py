"""Reports of networks: a row a layer with its predicted cost and the least that it could cost."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from macaw.isa.config import Configuration
from macaw.isa.pe import ENTRY
from macaw.lowering.convolution import Convolution
from macaw.lowering.cost import Cost
from macaw.lowering.net.program import LayerPlan
from macaw.lowering.operation import Product, Types


@dataclass(frozen=True)
class LayerReport:
    """One layer of a compiled network: what computes it, how much work it is, and its cost.

    `name` is that of the node in the model, `tensor` that of its result; `symbol` is the name of
    the layer's subroutine in the program. `macs` are the products of weights that are not zero.
    `bound` is the least number of cycles on the device: that of `macs` on all PEs, or of the bytes
    that must be moved. `limiter` names what takes the most cycles in the prediction.
    """

    name: str
    symbol: str
    tensor: str
    operator: str
    core: str
    shape: tuple[int, ...]  # of the output
    macs: int
    predicted: int  # cycles
    bound: int  # cycles
    limiter: str
    external_bytes: int


def array_layer(item: LayerPlan, config: Configuration) -> LayerReport:
    """Return the report of a layer that the array computes."""
    product, cost = item.choice.selection.plan.product, item.choice.selection.cost
    macs = nonzero_macs(product)
    pes = int(config["pe.rows"]) * int(config["pe.clusters"]) * int(config["pe.pes"])
    width = int(config["mem.external_width"])
    bound = max(ceil(macs / pes), ceil(least_bytes(product, config) / width))
    return LayerReport(
        item.layer.name,
        item.symbol,
        item.layer.output,
        operator(product),
        "pe",
        product.shapes[1],
        macs,
        cost.cycles,
        bound,
        _limiter(cost),
        cost.traffic.external,
    )


def _limiter(cost: Cost) -> str:
    """Return the name of what takes the most cycles: the array, the dma or cp."""
    times = {"array": cost.rows, "dma": cost.dma, "cp": cost.cp}
    return max(times, key=times.__getitem__)


def operator(product: Product) -> str:
    """Return a short name of a product's operation, with the size of a kernel."""
    if not isinstance(product, Convolution):
        return "product"
    kind = "depthwise" if product.depthwise else "conv"
    size = "×".join(map(str, product.kernel))
    stride = "" if product.stride == (1, 1) else f"/{'×'.join(map(str, product.stride))}"
    return f"{kind} {size}{stride}"


def nonzero_macs(product: Product) -> int:
    """Return the number of products of weights that are not zero, with all activations."""
    positions = product.m * product.columns if isinstance(product, Convolution) else product.m
    return positions * int(np.count_nonzero(product.weights))


def least_bytes(product: Product, config: Configuration) -> int:
    """Return the bytes of activations, weights that are not zero with indices, and results."""
    entry = ENTRY.size + Types.size(product.types(config).operand)
    return product.tensor_bytes(config) + entry * int(np.count_nonzero(product.weights))
