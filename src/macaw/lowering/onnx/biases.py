"""Corrects the biases of a quantised network by the mean errors of its layers.

Rounded weights and saturated inputs shift the mean of each channel. Layer by layer, in the order of
computation, the correction subtracts this shift from the bias, so that the next layer gets
corrected inputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.onnx.graph import Graph
from macaw.lowering.onnx.network import Network, WeightLayer
from macaw.lowering.onnx.operators.table import compute
from macaw.lowering.onnx.quantise import QuantisedGraph
from macaw.lowering.onnx.reference import evaluate, evaluate_layer, weight_sums

RUNS = 16  # the most samples that are used
INT32 = np.iinfo(np.int32)
Runs = Sequence[Mapping[str, NDArray[Any]]]


def correct_biases(
    made: QuantisedGraph, network: Network, graph: Graph, plain: Network, runs: Runs
) -> QuantisedGraph:
    """Return the quantised graph `made` with biases that reduce the mean errors of its layers.

    `network` is the network of `made`. `graph` and `plain` are the floating-point graph and its
    network, with whose results the layers are compared. `runs` has the inputs of each run.
    """
    some = runs[:RUNS]
    wanted = _means(graph, plain, made, some)
    arrays: list[dict[str, NDArray[Any]]] = [{**network.constants, **inputs} for inputs in some]
    left = Counter(name for layer in network.layers for name in layer.inputs)
    corrections: dict[str, NDArray[np.int64]] = {}
    for layer in network.layers:
        source = made.sources.get(layer.outputs[0], "")
        if isinstance(layer, WeightLayer) and source in made.biases:
            _, scales = made.biases[source]
            found = [
                _channel_means(*weight_sums(network, layer, x[layer.inputs[0]])) for x in arrays
            ]
            error = np.mean(found, axis=0) * scales - wanted[source]
            steps = np.rint(error / scales).astype(np.int64)
            corrections[source] = steps
            layer = replace(layer, bias=layer.bias - steps)
        for row in arrays:
            inputs = [row[name] if name else None for name in layer.inputs]
            row |= zip(layer.outputs, evaluate_layer(network, layer, inputs), strict=True)
        left.subtract(layer.inputs)
        for name in layer.inputs:
            if not left[name]:
                for row in arrays:
                    row.pop(name, None)
    return replace(made, graph=_with_biases(made, corrections))


def _channel_means(values: NDArray[Any], axis: int) -> NDArray[np.float64]:
    axes = tuple(number for number in range(values.ndim) if number != axis)
    return np.asarray(np.mean(values, axis=axes, dtype=np.float64))


def _means(
    graph: Graph, plain: Network, made: QuantisedGraph, runs: Runs
) -> dict[str, NDArray[np.float64]]:
    """Return the mean of each channel of each layer's results, before its activation.

    The results are those of the floating-point network `plain`, over all `runs`. The keys are the
    names of the results of layers with weights; the means of a layer have shape (channels,).
    """
    sums: dict[str, list[NDArray[np.float64]]] = {name: [] for name in made.biases}
    for inputs in runs:
        arrays = evaluate(plain, inputs)
        for node in graph.nodes:
            name = node.outputs[0]
            if name not in made.biases:
                continue
            values = arrays[name]
            if "activation_range" in node.attributes:
                rest = {k: v for k, v in node.attributes.items() if k != "activation_range"}
                operands = [_array(graph, arrays, key) for key in node.inputs]
                (values,) = compute(replace(node, attributes=rest), operands)
            axis = 1 if "Conv" in node.operator else values.ndim - 1
            sums[name].append(_channel_means(values, axis))
    return {name: np.mean(rows, axis=0) for name, rows in sums.items()}


def _array(graph: Graph, arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any] | None:
    constant = graph.constant(name)
    return arrays[name] if constant is None and name else constant


def _with_biases(made: QuantisedGraph, corrections: Mapping[str, NDArray[np.int64]]) -> Graph:
    """Return the graph of `made` with corrections subtracted from its biases.

    `corrections` has integers in units of each bias, by the name of the layer's result.
    """
    values = dict(made.graph.values)
    for source, steps in corrections.items():
        name, _ = made.biases[source]
        array = values[name].array
        assert array is not None
        whole = np.clip(array.astype(np.int64) - steps, INT32.min, INT32.max)
        values[name] = replace(values[name], array=whole.astype(np.int32))
    return replace(made.graph, values=values)
