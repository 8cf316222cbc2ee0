"""Replaces a layer that no core computes by several layers that cores compute.

The result is a network with the same inputs, outputs and tensors, and with new tensors between
them. The reference evaluator can compute the new network, too. Each tensor of the model keeps its
exact value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from macaw.isa.config import Configuration
from macaw.lowering.errors import LowerError
from macaw.lowering.net.island_layers import check_names, with_shared_instructions
from macaw.lowering.net.layouts import device_order
from macaw.lowering.net.local_normalization import rewrite_lrn
from macaw.lowering.net.one_hot import replace_one_hot
from macaw.lowering.net.real_rewriting import (
    rewrite_integer_product,
    rewrite_normalization,
    rewrite_product,
    rewrite_reduction,
    rewrite_softmax,
)
from macaw.lowering.net.recurrent_layers import (
    RECURRENT,
    gather_movement,
    rewrite_recurrent,
)
from macaw.lowering.net.rewriting import Rewriting
from macaw.lowering.net.row_convolution import (
    rewrite_convolution,
    rewrite_integers,
    rewrite_power,
)
from macaw.lowering.net.vector.reduction import KINDS
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.integer_layers import KEEPING, interpolates
from macaw.lowering.onnx.network import (
    FloatLayer,
    Layer,
    MoveLayer,
    Network,
    PoolLayer,
    ProductLayer,
    Requantisation,
    SignLayer,
    SumLayer,
    Tensor,
    WeightLayer,
)
from macaw.lowering.onnx.read import node_error
from macaw.lowering.onnx.reference import without_constant_layers
from macaw.lowering.onnx.requantise import dequantisation
from macaw.lowering.onnx.views import offset_of

_MOVES = (*(name for name in KEEPING if not name.endswith("MaxPool")), "Concat")
_PAIRS = ("Add", "Sub", "Sum", "Mul", "Div", "Max", "Min")
_REAL_RULES: Mapping[str, Callable[[Rewriting, FloatLayer], bool]] = {
    "Conv": rewrite_convolution,
    "MatMul": rewrite_product,
    "Pow": rewrite_power,
    "LRN": rewrite_lrn,
    "Softmax": rewrite_softmax,
    "LayerNormalization": rewrite_normalization,
    **dict.fromkeys(KINDS, rewrite_reduction),
}


def rewrite(
    model: Network,
    config: Configuration,
    refused: dict[str, LowerError] | None = None,
    islands: Iterable[str] = (),
) -> Network:
    """Return the network in which rules have replaced layers.

    `islands` has names of layers and operators. Islands compute each product of two tensors whose
    name or operator is in `islands`. A layer that only reads constants becomes a constant.

    Raises `LowerError`, which names the node, if a rule refuses a layer. If `refused` is a
    dictionary, this function does not raise the error: it keeps the refused layer, and adds the
    error to `refused` under the layer's name.
    """
    model, names = replace_one_hot(without_constant_layers(model)), frozenset(islands)
    check_names(model, names)
    return _Rewriter(model, config, names).rewrite(refused)


class _Rewriter(Rewriting):
    """Rewrites the layers of a model in their order, each by the rule for its class (`_RULES`)."""

    def rewrite(self, refused: dict[str, LowerError] | None) -> Network:
        for layer in self.model.layers:
            rule = _RULES.get(type(layer))
            before = len(self.layers)
            try:
                if gather_movement(self, layer):
                    continue
                if rule is None or not rule(self, layer):
                    self.add(layer)
            except LowerError as error:
                if refused is None:
                    operator = self.model.operators.get(layer.name, layer.operator)
                    raise node_error(layer.name, operator, error) from None
                del self.layers[before:]
                self.add(layer)
                refused[self.layers[-1].name] = error
        layers = with_shared_instructions(self.layers)
        return replace(self.model, layers=layers, tensors=self.tensors, constants=self.constants)

    # --- operands ---

    def operands(self, layer: Layer, expands: bool) -> tuple[str, ...]:
        """Return the names of tensors for all inputs of a layer; make tensors of the constants.

        With `expands`, the tensors have the shape of the result. There is one exception: the second
        factor of a Mul is not expanded if it has one number for each channel, or for each channel
        of each image.
        """
        result = self.tensors[layer.outputs[0]].shape
        return tuple(self._operand(layer, name, result, expands) for name in layer.inputs)

    def _operand(self, layer: Layer, name: str, result: tuple[int, ...], expands: bool) -> str:
        array = None if name in self.tensors else self.constants[name]
        before = array.shape if array is not None else self.tensors[name].shape
        shape = (*(1,) * (len(result) - len(before)), *before) if expands else before
        by_channel = (
            len(shape) == 4 and shape[0] in (1, result[0]) and shape[1:] == (result[1], 1, 1)
        )
        if expands and not (by_channel and layer.operator == "Mul" and layer.inputs[0] != name):
            shape = result
        if array is not None:
            like = Tensor(name, shape, array.dtype.name)
            unique = self.tensor(f"{name}_tensor", like)
            self.constants[unique] = np.broadcast_to(array, shape).copy()
            return unique
        if shape == before:
            return name
        unique = self.tensor(f"{name}_expanded", self.tensors[name], shape=shape)
        sizes = self.constant(f"{unique}_shape", np.asarray(shape, np.int64))
        inputs = (name, sizes)
        node = Node(f"{layer.name}_expand", "Expand", inputs, (unique,))
        self.add(MoveLayer(node.name, "Expand", inputs, (unique,), layer.parts, node, (None, None)))
        return unique

    def elementwise(self, layer: SumLayer | ProductLayer) -> bool:
        """Append a sum or product, in int16 if it has zero points or several types; return True."""
        if layer.operator == "MatMul":
            assert isinstance(layer, ProductLayer)
            rewrite_integer_product(self, layer)
            return True
        layer = replace(layer, inputs=self.operands(layer, expands=True))
        if not self._in_int16(layer):
            self.add(layer)
        return True

    def _in_int16(self, layer: SumLayer | ProductLayer) -> bool:
        output = layer.output
        if not isinstance(output, Requantisation):
            return False
        if self.is_plain((*layer.inputs, *layer.outputs), layer.zeros, output):
            return False
        inputs = tuple(
            self.centred(layer, name, zero)
            for name, zero in zip(layer.inputs, layer.zeros, strict=True)
        )
        wide, middle = self.finished(layer, output)
        zeros: Any = (0,) * len(inputs)
        self.add(replace(layer, inputs=inputs, outputs=(wide,), zeros=zeros, output=middle))
        self.finish(layer, wide, output)
        return True

    def pool(self, layer: PoolLayer) -> bool:
        """Rewrite a pool; return False if it can stay as it is.

        A mean with zero points, or with a result of another type, is computed in int16. A maximum
        that also changes the scale becomes a maximum and a layer that rescales it. A pool over axes
        that vc cannot reduce gets transposes around it.
        """
        if layer.window is None and self._turned(layer):
            return True
        output, (name,) = layer.output, layer.inputs
        if output is None:
            return False
        source, result = self.tensors[name], self.tensors[layer.outputs[0]]
        if "Max" in layer.operator:
            same = self.tensor(f"{result.name}_max", source, shape=result.shape)
            self.add(replace(layer, outputs=(same,), output=None))
            self.rescale(layer, same, result.name, output, zero=layer.input_zero)
            return True
        if self.is_plain((name, result.name), (layer.input_zero,), output):
            return False
        wide, middle = self.finished(layer, output)
        centred = self.centred(layer, name, layer.input_zero)
        self.add(replace(layer, inputs=(centred,), outputs=(wide,), output=middle, input_zero=0))
        self.finish(layer, wide, output)
        return True

    def _turned(self, layer: PoolLayer) -> bool:
        """Append a pool between transposes, so that the pool reduces the device's first axes.

        The core vc can reduce no other axes. A pool that reduces the batch gets no transposes.
        Return False if the pool can stay as it is.
        """
        x, result = (self.tensors[name] for name in (*layer.inputs, *layer.outputs))
        rank = len(x.shape)
        if not rank > 1:
            return False
        there = [axis for axis in device_order(rank) if x.shape[axis] > 1]
        chosen = [axis for axis in there if axis in layer.axes]
        of_batch = x.shape[0] != 1 and 0 in layer.axes
        turns = not of_batch and there[: len(chosen)] != chosen
        if not turns and (layer.keep or rank != 4):
            return False
        turn = list(range(rank))  # for each axis of the transposed tensor, the axis of the input
        if turns:
            ones = [axis for axis in range(1, rank) if x.shape[axis] == 1]
            order = [*chosen, *(axis for axis in there if axis not in chosen), *ones]
            for place, axis in zip(device_order(rank), order, strict=True):
                turn[place] = axis
        turned = self.moved(layer, x.name, f"{x.name}_turned", turn)
        axes = tuple(sorted(turn.index(axis) for axis in layer.axes))
        shape = tuple(
            1 if axis in axes else size for axis, size in enumerate(self.tensors[turned].shape)
        )
        name = self.tensor(f"{result.name}_turned", result, shape=shape)
        pooled = replace(layer, inputs=(turned,), outputs=(name,), axes=axes, keep=True)
        if not self.pool(pooled):
            self.add(pooled)
        whole = self.moved(
            layer, name, f"{result.name}_whole", [turn.index(axis) for axis in range(rank)]
        )
        sizes = self.constant(f"{result.name}_shape", np.asarray(result.shape, np.int64))
        inputs = (whole, sizes)
        node = Node(f"{layer.name}_reshape", "Reshape", inputs, (result.name,))
        rescales = (None, None)
        self.add(MoveLayer(node.name, "Reshape", inputs, node.outputs, layer.parts, node, rescales))
        return True

    def move(self, layer: MoveLayer) -> bool:
        """Append a layer that moves elements; return True.

        Inputs with another scale, type or zero point than the result get a layer that rescales
        them. There are two exceptions: an Identity becomes such a layer itself, and a Concat itself
        changes the scale of inputs that have the result's type and no zero point.
        """
        if layer.operator == "Concat":
            names = self.operands(layer, expands=False)
            layer = replace(layer, inputs=names, node=replace(layer.node, inputs=names))
        if not any(layer.rescales):
            self.add(layer)
            return True
        result = self.tensors[layer.outputs[0]]
        joins = layer.operator == "Concat"
        inputs, rescales = list(layer.inputs), list(layer.rescales)
        for place, rescale in enumerate(layer.rescales):
            if rescale is None:
                continue
            zero = layer.zeros[place] if layer.zeros else 0
            source = self.tensors[inputs[place]]
            if joins and self.is_plain((source.name, result.name), (zero,), rescale):
                continue
            if layer.operator == "Identity":
                self.rescale(layer, source.name, result.name, rescale, zero=zero)
                return True
            name = self.tensor(
                f"{result.name}_{source.name}_rescaled", source, dtype=result.dtype,
                quantisation=result.quantisation,
            )  # fmt: skip
            self.rescale(layer, source.name, name, rescale, zero=zero)
            inputs[place], rescales[place] = name, None
        node = replace(layer.node, inputs=tuple(inputs))
        self.add(replace(layer, inputs=node.inputs, node=node, rescales=tuple(rescales)))
        return True

    def real(self, layer: FloatLayer) -> bool:
        """Rewrite a layer of real numbers; return False if it stays as it is.

        A DequantizeLinear of a tensor by one constant scale becomes a layer that rescales, unless
        its result is an output of the network that no layer reads.
        """
        if layer.operator in RECURRENT:
            return rewrite_recurrent(self, layer)
        name = layer.outputs[0]
        is_move = layer.operator in _MOVES and not interpolates(layer.node)
        if is_move and self.tensors[name].dtype == "float32":
            rescales = (None,) * len(layer.inputs)
            parts = layer.inputs, layer.outputs, layer.parts, layer.node, rescales
            return self.move(MoveLayer(layer.name, layer.operator, *parts))
        if layer.operator in _PAIRS and self.tensors[name].dtype == "float32":
            return self._pair(layer)
        rule = _REAL_RULES.get(layer.operator)
        single = len(layer.outputs) == 1
        if rule and single and self.tensors[name].dtype == "float32":
            return rule(self, layer)
        if layer.operator == "QuantizeLinear":
            return self._signed_integers(layer)
        if layer.operator != "DequantizeLinear" or layer.inputs[0] not in self.tensors:
            return False
        if name in self.model.outputs and name not in self.reads:
            return False
        scale, zero = (self.model.constants.get(x) for x in (*layer.inputs[1:], "")[:2])
        if scale is None or scale.size != 1:
            return False
        point = 0 if zero is None else int(zero.reshape(-1)[0])
        self.rescale(
            layer, layer.inputs[0], name, dequantisation(float(scale.reshape(-1)[0])), zero=point
        )
        return True

    def _pair(self, layer: FloatLayer) -> bool:
        """Append a function of two tensors, both expanded to the result's shape.

        Return False, without new layers, if each tensor already has this shape and each constant is
        a single number.
        """
        shape = self.tensors[layer.outputs[0]].shape
        known = [self.tensors.get(name) for name in layer.inputs]
        alone = [tensor for tensor in known if tensor is not None]
        sizes = [self.constants[x].size for x in layer.inputs if x not in self.tensors]
        if all(size == 1 for size in sizes) and all(tensor.shape == shape for tensor in alone):
            return False
        names = self.operands(replace(layer, operator=""), expands=True)
        node = replace(layer.node, inputs=names)
        self.add(replace(layer, inputs=names, node=node))
        return True

    def _signed_integers(self, layer: FloatLayer) -> bool:
        """Replace a QuantizeLinear that makes unsigned integers by one that makes signed integers.

        The new layer makes the result of the layers that convert the unsigned integers to signed
        ones (`SignLayer`). If the unsigned integers have any other reader or none, or are an output
        of the network, return False without a new layer.
        """
        (name,) = layer.outputs
        tensor = self.tensors[name]
        offset = offset_of(tensor.dtype)
        point = self.constants.get(layer.inputs[2]) if len(layer.inputs) > 2 else np.asarray(0)
        readers = [other for other in self.model.layers if name in other.inputs]
        if not offset or point is None or name in self.model.outputs:
            return False
        if not readers or not all(isinstance(other, SignLayer) for other in readers):
            return False
        (result,) = readers[0].outputs  # each unsigned tensor has one signed tensor
        signed = self.tensors[result]
        number = (point.astype(np.int64) + offset).astype(signed.dtype)
        zero = self.constant(f"{layer.name}_zero", number)
        inputs = (*layer.inputs[:2], zero)
        node = replace(layer.node, inputs=inputs, outputs=(result,))
        self.add(replace(layer, inputs=inputs, outputs=(result,), node=node))
        self.signed.add(result)
        del self.tensors[name]
        return True

    def sign(self, layer: SignLayer) -> bool:
        """Return whether a SignLayer can be left out, because an earlier layer makes its result.

        `_signed_integers` has appended this earlier layer.
        """
        return layer.outputs[0] in self.signed


_RULES: Mapping[type[Layer], Callable[[_Rewriter, Any], bool]] = {
    WeightLayer: rewrite_integers,
    SumLayer: _Rewriter.elementwise,
    ProductLayer: _Rewriter.elementwise,
    PoolLayer: _Rewriter.pool,
    MoveLayer: _Rewriter.move,
    FloatLayer: _Rewriter.real,
    SignLayer: _Rewriter.sign,
}
