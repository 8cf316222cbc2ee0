"""The layers of a network that islands compute, and how their products are divided into parts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from macaw.isa.config import Configuration
from macaw.isa.fim_circuit import ARRANGEMENT_NAMES
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.product_parts import ProductPart, whole_products
from macaw.lowering.net.island_layers import Parts, StackedProduct, island_definitions
from macaw.lowering.onnx.network import Network
from macaw.lowering.onnx.reference import Definition
from macaw.networks.native_definitions import native_definitions


@dataclass(frozen=True)
class IslandSettings:
    """The layers of a network that islands compute, and the parts of the layers' products.

    `names` are the layers and operators that the user chose. `parts` has the parts of each layer's
    products (`ProductPart`) by the layer's name. The layout of a part decides in which order the
    island adds, and so the bits of the result. Therefore the parts are stored in net.json.
    """

    names: tuple[str, ...] = ()
    parts: Parts = field(default_factory=dict)

    def description(self) -> dict[str, Any]:
        """Return the settings as plain values for net.json."""
        parts = {name: [dataclasses.astuple(x) for x in row] for name, row in self.parts.items()}
        return {"names": list(self.names), "parts": parts}


def read_settings(description: Mapping[str, Any]) -> IslandSettings:
    """Return the settings in `description`, the contents of net.json.

    Raises `TypeError`, `ValueError` or `KeyError` if the settings have a wrong form.
    """
    given = description.get("islands", {"names": [], "parts": {}})
    names, parts = given["names"], given["parts"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("the names of layers on islands are no list of names")
    if not isinstance(parts, dict):
        raise ValueError("the parts of layers on islands are no object")
    return IslandSettings(tuple(names), {name: _rows(name, rows) for name, rows in parts.items()})


def _rows(layer: str, rows: Any) -> tuple[ProductPart, ...]:
    """Return the parts of a layer from `rows`, lists of integers of net.json.

    Raises `ValueError` if the rows have a wrong form.
    """
    count = len(dataclasses.fields(ProductPart))
    if not isinstance(rows, list) or not all(
        isinstance(row, list) and len(row) == count and all(type(x) is int for x in row)
        for row in rows
    ):
        raise ValueError(f"the parts of layer {layer} on islands are no lists of {count} integers")
    return tuple(ProductPart(*row) for row in rows)


def check_parts(network: Network, parts: Parts) -> None:
    """Raise `ValueError` if `parts` do not fit the layers of `network` that islands compute.

    The keys of `parts` must be the names of these layers, and each part must be inside its layer's
    product.
    """
    layers = {layer.name: layer for layer in network.layers if isinstance(layer, StackedProduct)}
    if layers.keys() != parts.keys():
        expected, found = (", ".join(sorted(names)) or "none" for names in (layers, parts))
        raise ValueError(f"the layers on islands are {expected}, but there are parts of {found}")
    for name, layer in layers.items():
        shapes = (network.tensors[x].shape for x in (*layer.inputs, *layer.outputs))
        (_, rows, depth), (_, height, columns), (_, results, _) = shapes
        for part in parts[name]:
            ranges = (
                (part.layout, 1, len(ARRANGEMENT_NAMES)),
                (part.left_row, part.rows, rows),
                (part.matrix, 1, height // depth),
                (part.column, part.columns, columns),
                (part.result_row, part.rows, results),
            )
            if any(first < 0 or size < 1 or first + size > end for first, size, end in ranges):
                numbers = list(dataclasses.astuple(part))
                raise ValueError(f"the part {numbers} is not in the product of layer {name}")


def parts_for_samples(network: Network) -> Parts:
    """Return the parts of all layers on islands by layer name, to evaluate samples before planning.

    The evaluation counts the zeros of each tensor. If the planner of the islands refuses a layer,
    each of the layer's products is one part. Its sums may then be rounded differently than in a
    plan, but almost the same results are zero.
    """
    parts = {}
    for layer in network.layers:
        if isinstance(layer, StackedProduct):
            try:
                parts[layer.name] = layer.product.parts
            except LowerError:
                parts[layer.name] = whole_products(layer.product.graph)
    return parts


def core_definitions(
    network: Network, config: Configuration, parts: Parts
) -> dict[str, Definition]:
    """Return NumPy functions that compute the layers of nnp and of islands, by the layer's name.

    `parts` says into which parts the products of each layer on islands are divided.
    """
    return {**native_definitions(network, config), **island_definitions(network, parts)}
