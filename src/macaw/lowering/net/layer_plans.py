"""Plans the layers of a network: says how the array divides each product, and in which tiles."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

import numpy as np

from macaw.isa.config import Configuration
from macaw.isa.pe import DATA_ALIGN
from macaw.lowering.choose import Candidate, Choice
from macaw.lowering.convolution import Convolution
from macaw.lowering.cost import cost
from macaw.lowering.errors import LowerError
from macaw.lowering.net.alternatives import array_product
from macaw.lowering.net.island_room import check_room
from macaw.lowering.net.layer_plan import LayerPlan
from macaw.lowering.net.network import (
    IslandLayer,
    Layer,
    NativeLayer,
    Network,
    ProductLayer,
    VectorLayer,
)
from macaw.lowering.net.overlap import overlapped
from macaw.lowering.net.plan_choice import PlanTask, choose_plan
from macaw.lowering.net.symbols import layer_symbols
from macaw.lowering.net.vector.source import cycles
from macaw.lowering.operation import Product
from macaw.lowering.plan import ProductPlan
from macaw.lowering.row_program import program_bytes, tile_bytes, unit_bytes

# Applies a function to each element of a sequence and returns the results in order, as `map` does.
MapAll = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
# Choices by the shape of products: those that plans already use, and those (or errors) that were
# made before for the first layer of each shape.
Known = tuple[dict[Hashable, Choice], dict[Hashable, Choice | LowerError]]
_GRAIN = 1024  # bytes; the memory that layers may use is a multiple of this


def plan_layers(
    network: Network, config: Configuration, map_all: MapAll | None = None
) -> tuple[LayerPlan, ...]:
    """Return the plans of a network's layers.

    A choice of a plan can take long. `map_all` applies a function to the elements of a sequence,
    perhaps in several processes. With it, the choices for products of different shapes are made at
    the same time. Raises `LowerError` if a layer cannot be planned; the message names the layer.
    """
    names = layer_symbols((layer.name for layer in network.layers), _native_symbols(network))
    plans: dict[int, LayerPlan] = {}
    chosen: dict[Hashable, Choice] = {}  # by the shape of products
    ordered = sorted(enumerate(network.layers), key=_most_weights_first)
    first = _first_choices([layer for _, layer in ordered], network, config, map_all)
    for number, layer in ordered:
        try:
            density = network.densities.get(layer.inputs[0], 1.0)
            plans[number] = _plan(layer, names[layer.name], config, (chosen, first), density)
        except LowerError as error:
            raise LowerError(f"layer {layer.name}: {error}", error.hint) from None
    return tuple(plan for _, plan in sorted(plans.items()))


def _first_choices(
    layers: Sequence[Layer], network: Network, config: Configuration, map_all: MapAll | None
) -> dict[Hashable, Choice | LowerError]:
    """Return the choice of a plan, or the error, for the first product of each shape in `layers`.

    Products of one shape have equal keys (`_shape`). Without `map_all` the result is empty, and
    each choice is made when it is needed.
    """
    tasks: dict[Hashable, PlanTask] = {}
    for layer in layers if map_all is not None else ():
        with suppress(LowerError):  # the error is raised again where the layer is planned
            product = _array_layer(layer, config)
            if product is not None:
                shape = _shape(product.product.validated(config))
                density = network.densities.get(layer.inputs[0], 1.0)
                tasks.setdefault(shape, PlanTask(product.product, config, density))
    if map_all is None or not tasks:
        return {}
    # More plans of small products fit, so their search takes longer. It comes first: no process
    # works alone for long at the end.
    shapes = sorted(tasks, key=lambda shape: tasks[shape].product.weights.size)
    choices = map_all(choose_plan, [tasks[shape] for shape in shapes])
    return dict(zip(shapes, choices, strict=True))


def _array_layer(layer: Layer, config: Configuration) -> ProductLayer | None:
    """Return a layer as a product of the array; None if the array cannot compute it.

    Raises `LowerError` for an operation that no core can compute.
    """
    if isinstance(layer, ProductLayer):
        return layer
    if not isinstance(layer, VectorLayer):
        return None
    layer.operation.check()
    product = array_product(layer.operation, config)
    if product is None:
        return None
    return ProductLayer(layer.name, layer.inputs, layer.output, product)


def _native_symbols(network: Network) -> set[str]:
    """Return the symbols of tensors and matrices in the sources of nnp's layers."""
    models = [layer.native for layer in network.layers if isinstance(layer, NativeLayer)]
    return {name for model in models for name in (*model.tensors, *model.matrices)}


def _most_weights_first(item: tuple[int, Layer]) -> tuple[int, int]:
    """Return a key for sorting layers by their weights that are not zero, the most first."""
    number, layer = item
    if not isinstance(layer, ProductLayer):
        return 0, number
    return -int(np.count_nonzero(layer.product.weights)), number


def _plan(
    layer: Layer,
    symbol: str,
    config: Configuration,
    known: Known,
    density: float,
) -> LayerPlan:
    """Return the plan of a layer. If vc and the array can both compute it, the faster core does.

    `symbol` is the symbol of the layer's subroutine. `known` has the choices for earlier layers and
    those made in advance. `density` is the share of nonzero elements of the layer's first input.
    """
    if isinstance(layer, ProductLayer):
        return LayerPlan(layer, symbol, _choice(layer, config, known, density))
    if isinstance(layer, NativeLayer):
        return LayerPlan(layer, symbol)
    if isinstance(layer, IslandLayer):
        assert layer.product.plan  # or it raises LowerError
        return LayerPlan(layer, symbol)
    if not isinstance(layer, VectorLayer):
        raise LowerError(f"no core computes a {type(layer).__name__}")
    other = _array_layer(layer, config)
    if other is not None:
        try:
            choice = _choice(other, config, known, density)
        except LowerError:
            return LayerPlan(layer, symbol)
        if choice.selection.cost.cycles < cycles(layer.operation, config):
            return LayerPlan(other, symbol, choice, layer.operation)
    return LayerPlan(layer, symbol)


def _choice(layer: ProductLayer, config: Configuration, known: Known, density: float) -> Choice:
    """Return the choice of a layer's plan, for the `density` of its first input.

    If the plan of an earlier layer of the same shape fits, that plan is chosen. `known` has the
    choices for earlier layers, and those made in advance for the first layer of each shape.
    """
    product = layer.product.validated(config)
    shape = _shape(product)
    chosen, first = known
    if shape in chosen:
        plan = _plan_of_other(product, chosen[shape].selection.plan)
        if plan is not None:
            candidate = Candidate(plan, cost(plan, density))
            return Choice(candidate, (candidate,), chosen[shape].setting)
    choice = first.pop(shape, None) or choose_plan(PlanTask(layer.product, config, density))
    if isinstance(choice, LowerError):
        raise choice
    chosen.setdefault(shape, choice)
    return choice


def _shape(product: Product) -> Hashable:
    """Return a key of a product: products with equal keys may share a plan.

    The key has the fields of the product: of an array only type and shape, not the numbers, and of
    `shift` only whether it is None.
    """
    values = ((field.name, getattr(product, field.name)) for field in fields(product))
    return type(product), tuple(
        (name, (value.dtype.str, value.shape) if isinstance(value, np.ndarray) else value)
        for name, value in values
        if name != "shift" or value is None
    )


def _plan_of_other(product: Product, plan: ProductPlan) -> ProductPlan | None:
    """Return the plan of another product of the same shape, changed to be a plan of `product`.

    The result is None if the device cannot hold it.
    """
    if isinstance(product, Convolution) and not isinstance(plan.product, Convolution):
        assert product.matrix is not None
        product = product.matrix
    plan = replace(plan, product=product)
    try:
        plan.check()
    except LowerError:
        return None
    return plan if unit_bytes(plan) <= plan.config["mem.unit_half_bytes"] else None


def fitting_plans(
    network: Network, config: Configuration, map_all: MapAll | None = None
) -> tuple[tuple[LayerPlan, ...], int]:
    """Return plans that fit the memory units together, and the bytes for the largest tile.

    A unit is one of the device's on-chip memories. The packets of all layers and the largest tile
    have to fit half of a unit. Raises `LowerError` if there are no such plans, or if the layers on
    islands do not fit the islands or cp's memory together. `map_all` may run choices of plans in
    several processes (`plan_layers`).
    """
    half = int(config["mem.unit_half_bytes"])
    packets = 0  # bytes of all layers' packets in the previous plans
    for _ in range(3):
        room = (half - packets) // _GRAIN * _GRAIN
        if room <= 0:
            break
        smaller = config.changed({"mem.unit_half_bytes": room})
        plans = overlapped(plan_layers(network, smaller, map_all), network, smaller)
        chosen = [item.choice.selection.plan for item in plans if item.choice is not None]
        tiles = max((tile_bytes(plan) for plan in chosen), default=0)
        packets = sum(program_bytes(plan) for plan in chosen) + DATA_ALIGN
        if packets + tiles <= half:
            check_room(network, config)
            return plans, max(tiles, DATA_ALIGN)
    raise LowerError(
        f"the packets of all layers, {packets:,} bytes, and the largest tile do not fit half of a"
        f" unit, {half:,} bytes",
        "a larger mem.unit_half_bytes",
    )
