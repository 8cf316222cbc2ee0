"""Inserts QuantizeLinear and DequantizeLinear into a fused float graph, with observed scales.

All integers are symmetric: the zero point is 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.onnx.assign import (
    JOINED,
    SAME_SCALE,
    Assignment,
    data_inputs,
    has_weights,
    is_function,
)
from macaw.lowering.onnx.draft import Draft, producers
from macaw.lowering.onnx.graph import Graph, Node
from macaw.lowering.onnx.observe import Observation
from macaw.lowering.onnx.operators.table import compute
from macaw.lowering.onnx.scales import Function, ScaleRule, choose_scales, weight_scales, widened
from macaw.lowering.onnx.values import by_channel

ELEMENTS = {"int8": TensorProto.INT8, "int16": TensorProto.INT16, "int32": TensorProto.INT32}


@dataclass(frozen=True)
class Stored:
    """How a value is stored: its integer type and its scale."""

    dtype: str
    scale: float


@dataclass(frozen=True)
class QuantisedGraph:
    """A graph with QuantizeLinear and DequantizeLinear.

    `stored` has the values of the float graph that are integers. `sources` maps the name of a value
    to the value of the float graph that it represents. `biases` maps the result of a layer with
    weights to its bias: the name of the int32 constant, and its scales.
    """

    graph: Graph
    stored: Mapping[str, Stored]
    sources: Mapping[str, str]
    biases: Mapping[str, tuple[str, NDArray[np.float32]]]


def stored_values(graph: Graph, assignment: Assignment) -> dict[str, str]:
    """Return the values that an assignment stores as integers, with their types.

    These are the values that nodes on integers make or read, without constants, and without the
    values between functions that become one table.
    """
    made, types = producers(graph.nodes), assignment.types
    found: dict[str, str] = {}
    for node in graph.nodes:
        if node.key not in types:
            continue
        for name in data_inputs(graph, node):
            before = made.get(name)
            if name in assignment.chained or (before and before.key in types):
                continue
            wide = found.get(name) == "int16"
            found[name] = "int16" if wide else types[node.key]
        result = node.outputs[0]
        if result not in assignment.chained:
            found[result] = types[node.key]
    return found


def observed_values(graph: Graph, assignment: Assignment) -> list[str]:
    """Return the names of the values that have to be observed to choose their scales."""
    return list(stored_values(graph, assignment))


def quantise_graph(
    graph: Graph,
    assignment: Assignment,
    observations: Mapping[str, Observation],
    rule: ScaleRule,
    per_channel: bool,
) -> QuantisedGraph:
    """Return the graph with integers between its nodes, as `assignment` says.

    `rule` chooses the scales from the observations of values. With `per_channel`, weights have a
    scale for each channel. Raises `LowerError` if a function that becomes a table cannot be
    computed.
    """
    return _Quantiser(graph, assignment, observations, rule, per_channel).quantise()


class _Quantiser:
    def __init__(
        self,
        graph: Graph,
        assignment: Assignment,
        observations: Mapping[str, Observation],
        rule: ScaleRule,
        per_channel: bool,
    ) -> None:
        self.graph, self.assignment, self.rule = graph, assignment, rule
        self.per_channel = per_channel
        self.draft = Draft(graph)
        self.made = producers(graph.nodes)
        self.stored = self._scales(observations)
        self.nodes: list[Node] = []
        self.real: dict[str, str] = {}  # by value: its dequantised copy
        self.sources: dict[str, str] = {name: name for name in graph.values}
        self.biases: dict[str, tuple[str, NDArray[np.float32]]] = {}

    def _scales(self, observations: Mapping[str, Observation]) -> dict[str, Stored]:
        """Return how each value is stored, with scales that follow from the observations.

        Integers that are only moved keep their scale.
        """
        stored: dict[str, Stored] = {}
        for name, dtype in stored_values(self.graph, self.assignment).items():
            node = self.made.get(name)
            before = stored.get(node.inputs[0]) if node and node.operator in SAME_SCALE else None
            if before and before.dtype == dtype:
                stored[name] = before
                continue
            seen = observations[name]
            rows, largest = seen.numbers.reshape(1, -1), np.array([seen.largest])
            after = self._function(name)
            scale = choose_scales(rows, largest, dtype, self.rule, after)[0]
            stored[name] = Stored(dtype, float(scale))
        self._join_scales(stored)
        return stored

    def _join_scales(self, stored: dict[str, Stored]) -> None:
        """Change `stored`: values that only a Concat reads get the scale of its result.

        The values are then rounded once, and the device copies them instead of rescaling them.
        """
        readers = Counter(name for node in self.graph.nodes for name in node.inputs)
        for node in reversed(self.graph.nodes):
            result = stored.get(node.outputs[0])
            if node.operator != "Concat" or result is None:
                continue
            for name in node.inputs:
                own, before = stored.get(name), self.made.get(name)
                if own is None or before is None or before.operator in SAME_SCALE:
                    continue
                alone = readers[name] == 1 and name not in self.graph.outputs
                if alone and own.dtype == result.dtype:
                    stored[name] = result

    def _function(self, name: str) -> Function | None:
        """Return the function of the value `name` that one table computes on integers.

        It applies one node, or several nodes that become one table. Return None if the value has
        several readers, or if its reader does not become a table.
        """
        chain: list[Node] = []
        while True:
            nodes = [node for node in self.graph.nodes if name in node.inputs]
            if len(nodes) != 1 or name in self.graph.outputs:
                break
            if nodes[0].key not in self.assignment.types or not is_function(self.graph, nodes[0]):
                break
            chain.append(nodes[0])
            name = nodes[0].outputs[0]
            if name not in self.assignment.chained:
                break
        return (lambda x: self._apply(chain, x)) if chain else None

    def _apply(self, chain: list[Node], x: NDArray[Any]) -> NDArray[Any]:
        for node in chain:
            operands = []
            for name in node.inputs:
                array = self.graph.constant(name)
                operands.append(x if array is None and name else array)
            (x,) = compute(node, operands)
        return x

    def quantise(self) -> QuantisedGraph:
        for name in self.graph.inputs:
            if name in self.stored:
                self._quantise(name, name)
        for node in self.graph.nodes:
            self._node(node)
        graph = self.draft.finished(self.nodes)
        return QuantisedGraph(graph, self.stored, self.sources, self.biases)

    def _node(self, node: Node) -> None:
        integers = self.assignment.types.get(node.key)
        inputs = [self.real.get(name, name) for name in node.inputs]
        if integers and has_weights(self.graph, node):
            inputs[1:] = self._weights(node, integers)
        elif integers and node.operator in JOINED and not is_function(self.graph, node):
            inputs = [self._operand(name, integers) for name in inputs]
        results = []
        for name in node.outputs:
            split = name in self.stored and name in self.graph.outputs
            results.append(self._value(f"{name}_real", name) if split else name)
        self.nodes.append(replace(node, inputs=tuple(inputs), outputs=tuple(results), proto=None))
        for name, result in zip(node.outputs, results, strict=True):
            if name in self.stored:
                self._quantise(name, result)

    def _value(self, name: str, source: str, element: int | None = None) -> str:
        """Add a value to the graph that represents the value `source`, and return its name.

        It has the shape of `source`, and the same element type unless `element` is another one.
        """
        value = self.graph.values[source]
        unique = self.draft.value(name, value.shape, value.element if element is None else element)
        self.sources[unique] = source
        return unique

    def _quantise(self, name: str, computed: str) -> None:
        """Append a QuantizeLinear and a DequantizeLinear, which store the value `name` as integers.

        `computed` is the name under which a node computes the value. If it is `name`, the
        dequantised value gets another name, which the readers then use.
        """
        stored = self.stored[name]
        scale = self.draft.constant(f"{name}_scale", np.asarray(stored.scale, np.float32))
        zero = self.draft.constant(f"{name}_zero_point", np.zeros((), stored.dtype))
        integers = self._value(f"{name}_quantized", name, ELEMENTS[stored.dtype])
        real = name if computed != name else self._value(f"{name}_dequantized", name)
        self.nodes += [
            Node(f"{name}_quantize", "QuantizeLinear", (computed, scale, zero), (integers,)),
            Node(f"{name}_dequantize", "DequantizeLinear", (integers, scale, zero), (real,)),
        ]
        self.real[name] = real

    def _operand(self, name: str, dtype: str) -> str:
        """Return the name under which a sum or product reads its operand `name`.

        It is `name` itself, except for a constant: the method adds a copy that is quantised to
        `dtype` with one scale, and returns the name of the copy's real numbers.
        """
        array = self.graph.constant(name) if name in self.graph.values else None
        if array is None:
            return name
        return self._constant(
            name, array, weight_scales(array, None, dtype, self.rule), dtype, None
        )

    def _weights(self, node: Node, dtype: str) -> list[str]:
        """Quantise the weights of a node to `dtype`, and the bias of the node to int32.

        Return the names of the dequantised weights and bias.
        """
        w = self.graph.constant(node.inputs[1])
        assert w is not None
        bias_name = node.inputs[2] if len(node.inputs) > 2 else ""
        channels = self.graph.values[node.outputs[0]].shape[1 if "Conv" in node.operator else -1]
        constant = self.graph.constant(bias_name)
        if constant is None:  # zeros, which `correct_biases` may change
            bias_name, constant = f"{node.label}_bias", np.zeros((), np.float32)
        bias = by_channel(constant, channels)
        assert bias is not None
        axis = output_axis(node) if self.per_channel else None
        scales = weight_scales(w, axis, dtype, self.rule)
        input_scale = np.float32(self.stored[node.inputs[0]].scale)
        groups = int(node.attributes.get("group", 1))
        grouped = scales.ndim and node.operator == "ConvTranspose"  # each scale is for all groups
        by_scale = bias.reshape(groups, -1).T if grouped else bias.reshape(-1)
        power = self.rule.kind == "power-of-two"
        scales = widened(scales, float(input_scale), by_scale, power)
        each = np.tile(scales, groups) if grouped else scales
        product = np.asarray(input_scale * each, np.float32)
        rank = len(self.graph.values[node.outputs[0]].shape) if node.operator == "MatMul" else 1
        # As many dimensions as the product has; otherwise onnxruntime 1.32 makes a Gemm and refuses
        # it.
        shape = (1,) * (rank - 1) + (-1,)
        names = [
            self._constant(node.inputs[1], w, scales, dtype, axis),
            self._constant(bias_name, bias.reshape(shape), product, "int32", len(shape) - 1),
        ]
        integers = self.nodes[-1].inputs[0]
        self.biases[node.outputs[0]] = integers, product
        return names

    def _constant(
        self,
        name: str,
        array: NDArray[Any],
        scales: NDArray[np.float32],
        dtype: str,
        axis: int | None,
    ) -> str:
        """Add `array` as a quantised constant, and the DequantizeLinear that reads it.

        There is one scale, or one for each index on `axis`. Return the name of the result.
        """
        info = np.iinfo(dtype)
        shape = [1] * array.ndim
        if axis is not None and scales.ndim:
            shape[axis] = -1
        steps = np.rint(
            array.astype(np.float64)
            / scales.astype(np.float64).reshape(shape if scales.ndim else ())
        )
        integers = np.clip(steps, info.min, info.max).astype(dtype)
        numbers = self.draft.constant(f"{name}_quantized", integers)
        scale = self.draft.constant(f"{name}_scale", scales)
        zero = self.draft.constant(f"{name}_zero_point", np.zeros(scales.shape, dtype))
        real = self.draft.value(f"{name}_dequantized", array.shape, TensorProto.FLOAT)
        attributes = {"axis": axis} if axis is not None and scales.ndim else {}
        inputs = (numbers, scale, zero)
        label = f"{real}_node"
        self.nodes.append(Node(label, "DequantizeLinear", inputs, (real,), attributes))
        return real


def output_axis(node: Node) -> int:
    """Return the axis of a node's weights along which the channels of its result are."""
    if node.operator == "Conv":
        return 0
    if node.operator == "Gemm":
        return 0 if node.attributes.get("transB", 0) else 1
    return 1
