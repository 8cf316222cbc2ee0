"""Replaces layers by table lookups if their result at a position depends on one integer there.

An example is a product of a constant matrix and vectors with a single 1, which Equal makes by
comparing integers with 0, 1, 2 ... The table has one row for each integer from 0 to the largest
integer with which the layers compare, and one row for all other integers. The reference evaluator
computes these rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.onnx.network import (
    FloatLayer,
    Layer,
    LookupLayer,
    Network,
    ProductLayer,
    SumLayer,
    TableLayer,
    WeightLayer,
)
from macaw.lowering.onnx.reference import evaluate

INDEX = "int32"
_RESULTS = ("int8", "int16", "float32")
_MOST = 1 << 16  # the most rows of a table
_RENAMES = ("Reshape", "Squeeze", "Unsqueeze")  # the elements stay in their order
_MOVES = (*_RENAMES, "Expand")
_ELEMENTS = ("Cast", "QuantizeLinear", "Add", "Sub", "Mul")


def replace_one_hot(model: Network) -> Network:
    """Return the network with a `LookupLayer` for each result that depends on one integer."""
    for name in model.inputs:
        if model.tensors[name].dtype == INDEX and model.tensors[name].shape:
            model = _Region(model, name).replaced()
    return model


class _Region:
    """Layers whose result at a position depends only on tensor `index` at the same position."""

    def __init__(self, model: Network, index: str) -> None:
        self.model, self.index = model, index
        self.positions = model.tensors[index].shape
        self.known = {index}
        self.compared: list[NDArray[Any]] = []  # integers with which the index is compared
        self.layers = [layer for layer in model.layers if self._joins(layer)]

    def _joins(self, layer: Layer) -> bool:
        """Return whether a layer belongs to the region; if so, add its result to `known`.

        The layer belongs to it if its result at a position depends only on the tensor `index` at
        this position. So all its inputs must be constants or tensors in `known`, which are `index`
        and the results of the region's layers so far. And it must not mix positions.
        """
        rule = _RULES.get(type(layer))
        inputs = [name for name in layer.inputs if name in self.model.tensors]
        result = self.model.tensors.get(layer.outputs[0])
        if rule is None or not inputs or result is None or not self.known.issuperset(inputs):
            return False
        if result.shape[: len(self.positions)] != self.positions or not rule(self, layer):
            return False
        # Broadcasting adds axes in front. The positions would then be other axes than in the index.
        ranks = {len(self.model.tensors[name].shape) for name in inputs}
        if layer.operator not in _RENAMES and ranks != {len(result.shape)}:
            return False
        if layer.operator == "Equal":
            self.compared += [self.model.constants[x] for x in layer.inputs if x not in inputs]
        self.known.add(result.name)
        return True

    def real(self, layer: FloatLayer) -> bool:
        """Return whether a node's result at a position depends on no other position of its inputs.

        A node that reads integers may only move them, or be an Equal that compares them with a
        constant which is the same at all positions.
        """
        whole = any(
            x in self.model.tensors and self.model.tensors[x].dtype == INDEX for x in layer.inputs
        )
        if layer.operator in _MOVES:
            return True
        if layer.operator == "Equal":
            others = [x for x in layer.inputs if x not in self.model.tensors]
            return whole and len(others) == 1 and self._is_same_everywhere(layer, others[0])
        return not whole and layer.operator in _ELEMENTS and self.pair(layer)

    def pair(self, layer: Layer) -> bool:
        """Return whether each constant of an elementwise layer is the same at all positions."""
        constants = [x for x in layer.inputs if x and x not in self.model.tensors]
        return layer.operator != "MatMul" and all(
            self._is_same_everywhere(layer, name) for name in constants
        )

    def weights(self, layer: WeightLayer) -> bool:
        """Return whether a product sums over the last axis and not over positions."""
        rank = len(self.model.tensors[layer.inputs[0]].shape)
        return layer.window is None and rank > len(self.positions)

    def _is_same_everywhere(self, layer: Layer, name: str) -> bool:
        rank = len(self.model.tensors[layer.outputs[0]].shape)
        shape = self.model.constants[name].shape
        before = shape[: max(0, len(shape) - rank + len(self.positions))]
        return all(size == 1 for size in before)

    def replaced(self) -> Network:
        """Return the model with lookups in tables in place of the region's layers.

        The model is unchanged if no layer of the region compares integers, if a compared integer is
        not in the range 0 to `_MOST` - 1, or if a result has an element type that is not in
        `_RESULTS`.
        """
        model = self.model
        if not self.compared:
            return model
        own = {id(layer) for layer in self.layers}
        rest = [layer for layer in model.layers if id(layer) not in own]
        read = {name for layer in rest for name in layer.inputs} | set(model.outputs)
        results = [x for layer in self.layers for x in layer.outputs if x in read]
        numbers = np.concatenate([array.reshape(-1) for array in self.compared])
        if (
            not results
            or any(model.tensors[name].dtype not in _RESULTS for name in results)
            or not 0 <= numbers.min() <= numbers.max() < _MOST
        ):
            return model
        tables = self._tables(results, int(numbers.max()) + 1)
        parts = tuple(dict.fromkeys(part for layer in self.layers for part in layer.parts))
        lookups = [
            LookupLayer(name, "Lookup", (self.index,), (name,), parts, table)
            for name, table in tables.items()
        ]
        gone = self.known - {self.index} - set(results)
        tensors = {name: tensor for name, tensor in model.tensors.items() if name not in gone}
        return replace(model, layers=(*lookups, *rest), tensors=tensors)

    def _tables(self, results: list[str], count: int) -> dict[str, NDArray[Any]]:
        """Return the rows of each result for the integers 0 to `count`: (count + 1, elements)."""
        part = replace(
            self.model, layers=tuple(self.layers), inputs=(self.index,), outputs=tuple(results)
        )
        size = int(np.prod(self.positions))
        rows: dict[str, list[NDArray[Any]]] = {name: [] for name in results}
        for first in range(0, count + 1, size):
            integers = np.minimum(np.arange(first, first + size), count).astype(INDEX)
            arrays = evaluate(part, {self.index: integers.reshape(self.positions)})
            for name in results:
                rows[name].append(arrays[name].reshape(size, -1))
        return {name: np.concatenate(some)[: count + 1] for name, some in rows.items()}


_RULES: Mapping[type[Layer], Callable[[_Region, Any], bool]] = {
    FloatLayer: _Region.real,
    WeightLayer: _Region.weights,
    TableLayer: lambda _region, _layer: True,
    SumLayer: _Region.pair,
    ProductLayer: _Region.pair,
}
