"""Makes a network of layers from a graph: integers where it quantises, floating point elsewhere.

A node whose inputs are dequantised and whose result is quantised becomes a layer on integers, if
there is a formula for it. Every other node stays as ONNX defines it. Unsigned integers become
signed integers by the subtraction of 128 or 32768; the real numbers stay the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx import integer_layers as make
from macaw.lowering.onnx.graph import Graph, Node
from macaw.lowering.onnx.integer_layers import Operand
from macaw.lowering.onnx.network import (
    FloatLayer,
    Layer,
    MoveLayer,
    Network,
    Quantisation,
    SignLayer,
    TableLayer,
    Tensor,
)
from macaw.lowering.onnx.operators.table import check_operator, dtype_of
from macaw.lowering.onnx.patterns import parts
from macaw.lowering.onnx.read import node_error
from macaw.lowering.onnx.reference import function_results
from macaw.lowering.onnx.views import (
    SIGNED,
    STORED,
    QuantisedConstant,
    Target,
    View,
    dtype_name,
    offset_of,
    quantised_constant,
    single_quantisation,
    target_of,
    unary_input,
)


def layers(graph: Graph) -> Network:
    """Return the network of a fused graph of operator set 21.

    Raises `LowerError`, which names the node, for a node that has no layer.
    """
    return _Builder(graph).build()


class _Builder:
    """Makes layers from the nodes, one after the other, and records which values are integers."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.layers: list[Layer] = []
        self.tensors: dict[str, Tensor] = {}
        self.constants: dict[str, NDArray[Any]] = {}
        self.views: dict[str, View] = {}
        self.weights: dict[str, QuantisedConstant] = {}
        self.signed: dict[str, str] = {}  # by tensor of the model: its signed tensor
        self.done: set[int] = set()  # nodes that are already part of a layer
        self.real: set[str] = set()  # values that are available in the model's type
        self.new: dict[str, str] = {}  # names of tensors and constants that are not in the model
        self.readers: dict[str, list[Node]] = defaultdict(list)
        for node in graph.nodes:
            for name in dict.fromkeys(node.inputs):
                if name:
                    self.readers[name].append(node)

    def build(self) -> Network:
        for name in self.graph.inputs:
            self._tensor(name)
        for node in self.graph.nodes:
            if id(node) in self.done:
                continue
            try:
                self._node(node)
            except LowerError as error:
                operator = self.graph.operators.get(node.label, node.operator)
                raise node_error(node.label, operator, error) from None
        for name in self.graph.outputs:
            self._as_model(name)
        return Network(
            tuple(self.layers), self.tensors, self.constants, self.graph.inputs,
            self.graph.outputs, self.graph.operators,
        )  # fmt: skip

    # --- tensors ---

    def _new(self, name: str) -> str:
        """Return the name of a new tensor or constant: `name`, or with a number if it is not free.

        Calls with the same `name` return the same result.
        """
        unique, number = name, 2
        while name not in self.new and (unique in self.graph.values or unique in self.new.values()):
            unique, number = f"{name}_{number}", number + 1
        return self.new.setdefault(name, unique)

    def _tensor(self, name: str) -> None:
        """Add the value `name` of the graph as a tensor with the element type that it has there."""
        value = self.graph.values[name]
        dtype = dtype_of(value.element).name
        self.tensors[name] = Tensor(name, value.shape, dtype)
        self.real.add(name)

    def _as_model(self, name: str) -> None:
        """Make a value available to layers that compute as ONNX defines it, in the model's type.

        If the value so far exists only as integers that stand for real numbers, add the layer or
        the constant that gives the real numbers.
        """
        if not name or name in self.real:
            return
        array = self.graph.constant(name)
        if array is not None:
            dtype_of(self.graph.values[name].element)
            self.constants[name] = array
            self.real.add(name)
        elif name in self.views:
            self._dequantise(name, self.views[name])
        elif name in self.weights:
            constant = self.weights[name]
            shape = [1] * constant.numbers.ndim
            if constant.scales.ndim:
                shape[constant.axis] = -1
            scales = constant.scales.reshape(shape) if constant.scales.ndim else constant.scales
            self.constants[name] = constant.numbers.astype(np.float32) * scales
            self.real.add(name)
        else:  # integers of the model that a layer made as signed ones, under another name
            source = self.signed[name]
            self._tensor(name)
            self.layers.append(self._copy(source, name))

    def _copy(self, source: str, name: str) -> Layer:
        """Return the layer that makes tensor `name`, of the model's type, from signed integers."""
        offset = -offset_of(self.tensors[name].dtype)
        if offset:
            return SignLayer(name, "Sign", (source,), (name,), (), offset)
        node = Node(name, "Identity", (source,), (name,))
        return MoveLayer(name, "Identity", (source,), (name,), (), node, (None,))

    def _dequantise(self, name: str, view: View) -> None:
        self._tensor(name)
        point = np.asarray(view.quantisation.zero_point, view.dtype)
        scale, zero = self._new(f"{name}_scale"), self._new(f"{name}_zero")
        self.constants[scale] = np.asarray(view.quantisation.scale, np.float32)
        self.constants[zero] = point
        inputs = (view.tensor, scale, zero)
        node = Node(name, "DequantizeLinear", inputs, (name,))
        self.layers.append(FloatLayer(name, node.operator, inputs, (name,), (), node))

    def _integers(self, name: str) -> str:
        """Return the signed tensor of an integer value; if necessary, add a layer that makes it."""
        if name in self.signed:
            return self.signed[name]
        self._as_model(name)
        dtype = dtype_name(self.graph.values[name])
        if not offset_of(dtype):
            return name
        signed = self._new(f"{name}_signed")
        self.tensors[signed] = Tensor(signed, self.graph.values[name].shape, SIGNED[dtype])
        self.layers.append(SignLayer(name, "Sign", (name,), (signed,), (), offset_of(dtype)))
        self.signed[name] = signed
        return signed

    # --- nodes ---

    def _node(self, node: Node) -> None:
        if node.operator == "DequantizeLinear" and self._view(node):
            return
        if node.operator == "QuantizeLinear" and self._rescale(node):
            return
        if self._integer_layer(node):
            return
        check_operator(node)
        for name in node.inputs:
            self._as_model(name)
        for name in node.outputs:
            if name:
                self._tensor(name)
        self.layers.append(
            FloatLayer(node.label, node.operator, node.inputs, node.outputs, parts(node), node)
        )

    def _view(self, node: Node) -> bool:
        """Record the integers that a DequantizeLinear reads; readers of its result then use them.

        Return False if its scale or type is not supported.
        """
        source = node.inputs[0]
        if self.graph.constant(source) is not None:
            constant = quantised_constant(self.graph, node)
            if constant is not None:
                self.weights[node.outputs[0]] = constant
            return constant is not None
        dtype = dtype_name(self.graph.values[source])
        quantisation = single_quantisation(self.graph, node, dtype)
        if quantisation is None:
            return False
        tensor = self._integers(source)
        known = self.tensors[tensor]
        if known.quantisation is None:
            self.tensors[tensor] = replace(known, quantisation=quantisation)
        self.views[node.outputs[0]] = View(tensor, SIGNED[dtype], quantisation)
        return True

    def _target(self, name: str) -> Target | None:
        """Return the type and scale of the integers to which all readers quantise a value.

        Return None for an output of the graph, and if `target_of` returns None, for example because
        two readers make different integers.
        """
        if name in self.graph.outputs:
            return None
        nodes = self.readers[name]
        quantisers = [
            node for node in nodes if node.operator == "QuantizeLinear" and node.inputs[0] == name
        ]
        return target_of(self.graph, quantisers, len(nodes))

    def _claim(self, tensor: Tensor, target: Target) -> None:
        """Add the tensor of integers that a layer makes, and mark the nodes of `target` as done.

        These are the QuantizeLinear nodes whose integers the layer makes.
        """
        self.tensors[tensor.name] = tensor
        for node in target.nodes:
            self.done.add(id(node))
            result = node.outputs[0]
            self.signed[result] = tensor.name
            if result == tensor.name:
                self.real.add(result)

    def _rescale(self, node: Node) -> bool:
        """Add a layer for a QuantizeLinear whose input is already stored as integers.

        The layer turns these integers into those of the QuantizeLinear. Return False, without a new
        layer, if the input is not stored as integers, or if the QuantizeLinear has a scale or type
        that is not supported.
        """
        source, result = node.inputs[0], node.outputs[0]
        view, target = self.views.get(source), target_of(self.graph, [node], 1)
        if view is None or target is None:
            return False
        name = self._new(f"{result}_signed") if offset_of(target.dtype) else result
        shape = self.graph.values[result].shape
        tensor = Tensor(name, shape, SIGNED[target.dtype], target.quantisation)
        identity = Node(node.label, "Identity", (view.tensor,), (name,))
        self.layers.append(make.movement(identity, [Operand(source, shape, view)], tensor))
        self._claim(tensor, target)
        return True

    def _integer_layer(self, node: Node) -> bool:
        """Add the layer on integers that a node becomes; return False if it stays real-valued."""
        if self._table(node):
            return True
        rule = make.RULES.get(node.operator)
        operands = [self._operand(name) for name in node.inputs]
        if rule is None or not any(operand and operand.view for operand in operands):
            return False
        name = node.outputs[0]
        shape, target = self.graph.values[name].shape, self._target(name)
        if target:
            result = Tensor(name, shape, SIGNED[target.dtype], target.quantisation)
        elif node.operator in make.KEEPING and operands[0] and operands[0].view:
            view = operands[0].view
            result = Tensor(name, shape, view.dtype, view.quantisation)
        elif node.operator in make.FLOAT_RESULT:
            result = Tensor(name, shape, "float32")
        else:
            return False
        layer = rule(node, operands, result)
        if layer is None:
            return False
        if isinstance(layer, MoveLayer) and layer.operator == "Pad":
            layer = self._with_fill(layer, operands)
        self._add_constants(layer, operands)
        self.layers.append(layer)
        if target:
            self._claim(result, target)
        elif result.quantisation:
            stored = replace(result, name=self._new(f"{name}{STORED}"))
            self.layers[-1] = _with_output(layer, stored.name)
            self.tensors[stored.name] = stored
            self.views[name] = View(stored.name, stored.dtype, result.quantisation)
        else:
            self.tensors[name] = result
            self.real.add(name)
        return True

    def _operand(self, name: str) -> Operand | None:
        if not name:
            return None
        shape = self.graph.values[name].shape
        constant, view = self.weights.get(name), self.views.get(name)
        if constant is not None and not constant.scales.ndim:
            most = int(np.abs(constant.numbers).max(initial=0))
            dtype = "int8" if most < 128 else "int16" if most < 32768 else "int32"
            scale = Quantisation(float(constant.scales))
            view = View(self._new(f"{name}{STORED}"), dtype, scale)
        return Operand(name, shape, view, constant, self.graph.constant(name))

    def _add_constants(self, layer: Layer, operands: Sequence[Operand | None]) -> None:
        """Add to the network the constants among `operands` whose names are inputs of `layer`."""
        for operand in operands:
            if operand is None:
                continue
            if operand.constant is not None and operand.view is not None:
                if operand.view.tensor in layer.inputs:
                    numbers = operand.constant.numbers.astype(operand.view.dtype)
                    self.constants[operand.view.tensor] = numbers
            elif operand.name in layer.inputs:
                self._as_model(operand.name)

    def _with_fill(self, layer: MoveLayer, operands: Sequence[Operand | None]) -> MoveLayer:
        """Return a Pad of integers that adds their zero point, which becomes a constant."""
        source, rescale = operands[0], layer.rescales[0]
        assert source is not None
        assert source.view is not None
        point = rescale.zero_point if rescale else source.view.quantisation.zero_point
        name = self._new(layer.inputs[2])
        self.constants[name] = np.asarray(point)
        inputs = (*layer.inputs[:2], name, *layer.inputs[3:])
        return replace(layer, inputs=inputs, node=replace(layer.node, inputs=inputs))

    # --- functions of elements ---

    def _table(self, node: Node) -> bool:
        """Add a table for a chain of functions between two quantisations; return False if there is
        none.
        """
        chain: list[Node] = []
        arrays: dict[str, NDArray[Any]] = {}
        now: Node | None = node
        source = ""
        target: Target | None = None
        while now is not None and target is None:
            constants = {name: self._float_constant(name) for name in now.inputs if name}
            name = unary_input(now, constants)
            if not name or (chain and name != chain[-1].outputs[0]):
                return False
            source = source or name
            if source not in self.views:
                return False
            chain.append(now)
            arrays |= {key: array for key, array in constants.items() if array is not None}
            result = now.outputs[0]
            target = self._target(result)
            after = self.readers[result]
            single = len(after) == 1 and result not in self.graph.outputs
            now = after[0] if single else None
        if target is None:
            return False
        view = self.views[source]
        shape = self.graph.values[result].shape
        tensor = Tensor(result, shape, SIGNED[target.dtype], target.quantisation)
        names = tuple(dict.fromkeys(name for one in chain for name in parts(one)))
        layer = TableLayer(
            chain[0].label, "+".join(one.operator for one in chain), (view.tensor,), (result,),
            names, tuple(chain), arrays, None,
        )  # fmt: skip
        if shape != self.graph.values[source].shape or any(
            self.graph.values[one.outputs[0]].shape != shape for one in chain
        ):
            return False
        self._claim(tensor, target)
        if view.dtype == "int8":
            every = np.arange(-128, 128).astype(np.int8)
            table = function_results(view.quantisation, tensor, layer, every)
            layer = replace(layer, table=table)
        self.layers.append(layer)
        self.done |= {id(one) for one in chain}
        return True

    def _float_constant(self, name: str) -> NDArray[Any] | None:
        """Return the real numbers of a constant, even if the constant is quantised.

        Return None for another value, and for a constant with several scales.
        """
        if name in self.weights:
            constant = self.weights[name]
            if constant.scales.ndim:
                return None
            return constant.numbers.astype(np.float32) * constant.scales
        return self.graph.constant(name)


def _with_output(layer: Layer, name: str) -> Layer:
    """Return a copy of `layer` whose result is called `name`."""
    if isinstance(layer, MoveLayer):
        return replace(layer, outputs=(name,), node=replace(layer.node, outputs=(name,)))
    return replace(layer, outputs=(name,))
