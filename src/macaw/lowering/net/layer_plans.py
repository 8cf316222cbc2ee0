"""Plans the layers of a network: the array's products get a mapping, a split and tiles."""

from __future__ import annotations

from dataclasses import dataclass

from macaw.isa.config import Configuration
from macaw.isa.pe import DATA_ALIGN
from macaw.lowering.choose import Choice, choose
from macaw.lowering.convolution import Convolution
from macaw.lowering.errors import LowerError
from macaw.lowering.net.network import Layer, Network, ProductLayer, VectorLayer
from macaw.lowering.net.symbols import layer_symbols
from macaw.lowering.operation import Product
from macaw.lowering.row_program import program_bytes, unit_bytes

_GRAIN = 1024  # the memory that layers may use is a multiple of so many bytes


@dataclass(frozen=True)
class LayerPlan:
    """A layer and its symbol in the sources; for the array also the choice of its plan."""

    layer: Layer
    symbol: str
    choice: Choice | None = None


def plan_layers(network: Network, config: Configuration) -> tuple[LayerPlan, ...]:
    """Return the plans of a network's layers. Raises `LowerError` that names the layer."""
    names = layer_symbols(layer.name for layer in network.layers)
    plans = []
    for layer in network.layers:
        try:
            plans.append(LayerPlan(layer, names[layer.name], _choice(layer, config)))
        except LowerError as error:
            raise LowerError(f"layer {layer.name}: {error}", error.hint) from None
    return tuple(plans)


def _choice(layer: Layer, config: Configuration) -> Choice | None:
    if isinstance(layer, ProductLayer):
        product = layer.product.validated(config)
        return choose(product, config, operation=_name(layer.product))
    if isinstance(layer, VectorLayer):
        layer.operation.check()
        return None
    raise LowerError(f"no core computes a {type(layer).__name__}")


def _name(product: Product) -> str:
    """Return the name of a product's operation in `macaw lower`."""
    if isinstance(product, Convolution):
        return "depthwise" if product.depthwise else "conv2d"
    return "spmv" if product.vector else "spmm"


def fitting_plans(network: Network, config: Configuration) -> tuple[tuple[LayerPlan, ...], int]:
    """Return plans whose packets and tiles fit into a unit, and the bytes of the largest tiles.

    The packets are those of all layers together. Raises `LowerError` if there are no such plans.
    """
    half = int(config["mem.unit_half_bytes"])
    packets = 0  # bytes of all layers' packets in the previous plans
    for _ in range(3):
        room = (half - packets) // _GRAIN * _GRAIN
        if room <= 0:
            break
        plans = plan_layers(network, config.changed({"mem.unit_half_bytes": room}))
        chosen = [item.choice.selection.plan for item in plans if item.choice is not None]
        tiles = max((unit_bytes(plan) - program_bytes(plan) for plan in chosen), default=0)
        packets = sum(program_bytes(plan) for plan in chosen) + DATA_ALIGN
        if packets + tiles <= half:
            return plans, max(tiles, DATA_ALIGN)
    raise LowerError(
        f"the packets of all layers, {packets:,} bytes, and the largest tile do not fit half of a"
        f" unit, {half:,} bytes",
        "a larger mem.unit_half_bytes",
    )
