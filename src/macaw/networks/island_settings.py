"""The layers of a network that islands compute: their names, and the parts of their products."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from macaw.isa.config import Configuration
from macaw.lowering.fim.product_parts import ProductPart
from macaw.lowering.net.island_layers import Parts, island_definitions, island_parts
from macaw.lowering.onnx.network import Network
from macaw.lowering.onnx.reference import Definition
from macaw.networks.native_definitions import native_definitions


@dataclass(frozen=True)
class IslandSettings:
    """The names of layers and operators for islands, and the parts of each layer by its name.

    The parts say in which order an island adds, so they belong to the program.
    """

    names: tuple[str, ...] = ()
    parts: Parts = field(default_factory=dict)

    def description(self) -> dict[str, Any]:
        """Return the settings as plain values for net.json."""
        parts = {name: [dataclasses.astuple(x) for x in row] for name, row in self.parts.items()}
        return {"names": list(self.names), "parts": parts}


def read_settings(description: Mapping[str, Any]) -> IslandSettings:
    """Return the settings that net.json has.

    Raises `TypeError`, `ValueError` or `KeyError` if it has something else.
    """
    given = description.get("islands", {"names": [], "parts": {}})
    parts = {
        name: tuple(ProductPart(*map(int, row)) for row in rows)
        for name, rows in given["parts"].items()
    }
    return IslandSettings(tuple(map(str, given["names"])), parts)


def core_definitions(
    network: Network, config: Configuration, parts: Parts | None = None
) -> dict[str, Definition]:
    """Return functions that compute the layers of nnp and of islands, by the layer's name.

    Without `parts`, the function plans the layers of islands. Raises `LowerError` if islands cannot
    compute a layer.
    """
    own = island_parts(network) if parts is None else parts
    return {**native_definitions(network, config), **island_definitions(network, own)}
