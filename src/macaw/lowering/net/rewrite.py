"""Replaces a layer that no core computes by several layers that cores compute.

The result is a network with the same inputs, outputs and tensors, and with new tensors between
them. The reference evaluator also computes it. Each tensor of the model keeps its exact value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.isa.pe import OPERAND_DTYPES, SUM_DTYPES
from macaw.lowering.errors import LowerError
from macaw.lowering.net.layouts import device_order
from macaw.lowering.onnx.accumulators import check_accumulators
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.integer_layers import KEEPING
from macaw.lowering.onnx.network import (
    Dequantisation,
    FloatLayer,
    FrameLayer,
    Layer,
    MoveLayer,
    Network,
    Output,
    PoolLayer,
    ProductLayer,
    Quantisation,
    Requantisation,
    RescaleLayer,
    SignLayer,
    SumLayer,
    Tensor,
    WeightLayer,
)
from macaw.lowering.onnx.requantise import dequantisation, requantisation
from macaw.lowering.onnx.views import offset_of
from macaw.lowering.onnx.window import Window

_MOVES = (*(name for name in KEEPING if not name.endswith("MaxPool")), "Concat")
_PAIRS = ("Add", "Sub", "Mul", "Div", "Max", "Min")
_WIDE = "int16"  # has any int8 minus any zero point of int8
# By the type of the result: the largest right shift that equals a product in binary32 for every
# sum. Each sum that binary32 cannot represent then saturates.
EXACT_SHIFTS = {"int8": 16, "int16": 9}


def rewrite(
    model: Network, config: Configuration, refused: dict[str, LowerError] | None = None
) -> Network:
    """Return the network with each layer replaced for which there is a rule.

    Raises `LowerError` that names the node. If `refused` is a dictionary, this function does not
    raise: it keeps such a layer, and adds the error to `refused` under the layer's name.
    """
    return _Rewriter(model, config).rewrite(refused)


def single_shift(output: Requantisation, dtype: str) -> int | None:
    """Return the right shift that does the same to every sum as the multipliers, or None."""
    shifts = output.shifts
    if shifts is None or np.ptp(shifts) or not 0 <= shifts.flat[0] <= EXACT_SHIFTS[dtype]:
        return None
    return int(shifts.flat[0])


class _Rewriter:
    """Goes through the layers once; `tensors` has those of the model and the new ones."""

    def __init__(self, model: Network, config: Configuration) -> None:
        self.model = model
        self.element = OPERAND_DTYPES[config["pe.element"]]
        self.sums = SUM_DTYPES[config["pe.element"]]
        self.tensors = dict(model.tensors)
        self.constants = dict(model.constants)
        # signed tensors that a QuantizeLinear makes itself, so their SignLayer is left out
        self.signed: set[str] = set()
        self.layers: list[Layer] = []
        self.names: set[str] = set()  # names of layers
        self.reads: dict[str, int] = {}
        for layer in model.layers:
            for name in layer.inputs:
                self.reads[name] = self.reads.get(name, 0) + 1

    def rewrite(self, refused: dict[str, LowerError] | None) -> Network:
        for layer in self.model.layers:
            rule = _RULES.get(type(layer))
            before = len(self.layers)
            try:
                if rule is None or not rule(self, layer):
                    self.add(layer)
            except LowerError as error:
                if refused is None:
                    message = f"node {layer.name} ({layer.operator}): {error}"
                    raise LowerError(message, error.hint) from None
                del self.layers[before:]
                self.add(layer)
                refused[self.layers[-1].name] = error
        return replace(
            self.model, layers=tuple(self.layers), tensors=self.tensors, constants=self.constants
        )

    def add(self, layer: Layer) -> None:
        """Append a layer; change its name if another layer has it."""
        name, number = layer.name, 2
        while name in self.names:
            name, number = f"{layer.name}_{number}", number + 1
        self.names.add(name)
        self.layers.append(replace(layer, name=name))

    def tensor(self, name: str, like: Tensor, **changes: Any) -> str:
        """Add a copy of tensor `like`, with changes and a new name like `name`; return the name."""
        unique, number = name, 2
        while unique in self.tensors or unique in self.constants:
            unique, number = f"{name}_{number}", number + 1
        self.tensors[unique] = replace(like, name=unique, **changes)
        return unique

    # --- new types, zero points and scales ---

    def rescale(
        self,
        layer: Layer,
        source: str,
        result: str,
        output: Output,
        *,
        zero: int = 0,
        axis: int = 1,
    ) -> None:
        """Append the layer that makes tensor `result` from tensor `source`."""
        last = result in layer.outputs and layer.name not in self.names
        name = layer.name if last else f"{layer.name}_rescale"
        self.add(
            RescaleLayer(name, "Rescale", (source,), (result,), layer.parts, output, zero, axis)
        )

    def centred(self, layer: Layer, name: str, zero: int) -> str:
        """Return a new int16 tensor with a tensor's integers minus a zero point; append a layer."""
        tensor = self.tensors[name]
        if tensor.dtype == _WIDE and not zero:
            return name
        if tensor.dtype != "int8":
            raise LowerError(
                f"its input is {tensor.dtype} with the zero point {zero}", "int8, or 0"
            )
        scale = tensor.quantisation.scale if tensor.quantisation else 1.0
        wide = self.tensor(f"{name}_wide", tensor, dtype=_WIDE, quantisation=Quantisation(scale))
        same = requantisation(1.0, Quantisation(scale), _WIDE)
        self.rescale(layer, name, wide, same, zero=zero)
        return wide

    def finished(self, layer: Layer, output: Requantisation) -> tuple[str, Requantisation]:
        """Return a new int16 tensor for the result of a layer, and the requantisation to it.

        The caller then calls `finish`, which converts this tensor to the layer's own result.
        """
        tensor = self.tensors[layer.outputs[0]]
        scale = tensor.quantisation.scale if tensor.quantisation else 1.0
        if tensor.dtype == _WIDE and output.zero_point:
            raise LowerError(f"its result is int16 with the zero point {output.zero_point}", "0")
        wide = self.tensor(
            f"{tensor.name}_wide", tensor, dtype=_WIDE, quantisation=Quantisation(scale)
        )
        return wide, requantisation(output.multipliers, Quantisation(scale), _WIDE)

    def finish(self, layer: Layer, source: str, output: Requantisation) -> None:
        """Append the layer that adds the zero point and limits the result to its type and range."""
        last = replace(output, multipliers=np.asarray(1.0, np.float32))
        self.rescale(layer, source, layer.outputs[0], last)

    def is_plain(self, names: Iterable[str], zeros: Iterable[int], output: Requantisation) -> bool:
        """Return whether all tensors have one type and there is no zero point."""
        types = {self.tensors[name].dtype for name in names}
        return len(types) == 1 and not any(zeros) and not output.zero_point

    # --- operands ---

    def operands(self, layer: Layer, expands: bool = True) -> tuple[str, ...]:
        """Return tensors for all inputs of a layer; make tensors of the constants.

        With `expands`, they have the shape of the result. The exception is the second factor of a
        Mul if it has one number for each channel of an image: it keeps one number for each.
        """
        result = self.tensors[layer.outputs[0]].shape
        return tuple(self._operand(layer, name, result, expands) for name in layer.inputs)

    def _operand(self, layer: Layer, name: str, result: tuple[int, ...], expands: bool) -> str:
        array = None if name in self.tensors else self.constants[name]
        before = array.shape if array is not None else self.tensors[name].shape
        shape = (*(1,) * (len(result) - len(before)), *before) if expands else before
        by_channel = len(shape) == 4 and shape[1] == result[1] and prod(shape) == shape[1]
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
        sizes = self._constant(f"{unique}_shape", np.asarray(shape, np.int64))
        inputs = (name, sizes)
        node = Node(f"{layer.name}_expand", "Expand", inputs, (unique,))
        self.add(MoveLayer(node.name, "Expand", inputs, (unique,), layer.parts, node, (None, None)))
        return unique

    def elementwise(self, layer: SumLayer | ProductLayer) -> bool:
        """Rewrite a sum or product that has zero points or several types to int16."""
        if layer.operator == "MatMul":
            return False
        layer = replace(layer, inputs=self.operands(layer))
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
        """Rewrite a mean with zero points to int16, and a maximum that also changes the scale."""
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
        """Transpose so that a pool reduces the first axes, because vc can reduce no others."""
        x, result = (self.tensors[name] for name in (*layer.inputs, *layer.outputs))
        rank = len(x.shape)
        if not rank > 1 or x.shape[0] != 1:
            return False
        there = [axis for axis in device_order(rank) if x.shape[axis] > 1]
        chosen = [axis for axis in there if axis in layer.axes]
        turns = there[: len(chosen)] != chosen
        if not turns and (layer.keep or rank != 4):
            return False
        turn = list(range(rank))  # for each axis of the transposed tensor, the axis of the input
        if turns:
            ones = [axis for axis in range(1, rank) if x.shape[axis] == 1]
            order = [*chosen, *(axis for axis in there if axis not in chosen), *ones]
            for place, axis in zip(device_order(rank), order, strict=True):
                turn[place] = axis
        turned = self._moved(layer, x.name, f"{x.name}_turned", turn)
        axes = tuple(sorted(turn.index(axis) for axis in layer.axes))
        shape = tuple(
            1 if axis in axes else size for axis, size in enumerate(self.tensors[turned].shape)
        )
        name = self.tensor(f"{result.name}_turned", result, shape=shape)
        pooled = replace(layer, inputs=(turned,), outputs=(name,), axes=axes, keep=True)
        if not self.pool(pooled):
            self.add(pooled)
        whole = self._moved(
            layer, name, f"{result.name}_whole", [turn.index(axis) for axis in range(rank)]
        )
        sizes = self._constant(f"{result.name}_shape", np.asarray(result.shape, np.int64))
        inputs = (whole, sizes)
        node = Node(f"{layer.name}_reshape", "Reshape", inputs, (result.name,))
        rescales = (None, None)
        self.add(MoveLayer(node.name, "Reshape", inputs, node.outputs, layer.parts, node, rescales))
        return True

    def _moved(self, layer: Layer, name: str, result: str, turn: list[int]) -> str:
        """Append a Transpose if it changes anything; return the name of its result."""
        if turn == sorted(turn):
            return name
        x = self.tensors[name]
        unique = self.tensor(result, x, shape=tuple(x.shape[axis] for axis in turn))
        node = Node(f"{layer.name}_turn", "Transpose", (name,), (unique,), {"perm": turn})
        self.add(MoveLayer(node.name, "Transpose", (name,), (unique,), layer.parts, node, (None,)))
        return unique

    def _constant(self, name: str, array: NDArray[Any]) -> str:
        """Add a constant that is no tensor of the device; return its name."""
        unique, number = name, 2
        while unique in self.tensors or unique in self.constants:
            unique, number = f"{name}_{number}", number + 1
        self.constants[unique] = array
        return unique

    def move(self, layer: MoveLayer) -> bool:
        """Append rescaling layers before a movement. A Concat itself can multiply by a factor."""
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
        """Let vc dequantise a tensor, unless it is an output that no layer reads."""
        name = layer.outputs[0]
        if layer.operator in _MOVES and self.tensors[name].dtype == "float32":
            rescales = (None,) * len(layer.inputs)
            parts = layer.inputs, layer.outputs, layer.parts, layer.node, rescales
            return self.move(MoveLayer(layer.name, layer.operator, *parts))
        if layer.operator in _PAIRS and self.tensors[name].dtype == "float32":
            return self._pair(layer)
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
        """Expand both operands of a function of two tensors to the shape of the result."""
        shape = self.tensors[layer.outputs[0]].shape
        known = [self.tensors.get(name) for name in layer.inputs]
        alone = [tensor for tensor in known if tensor is not None]
        sizes = [self.constants[x].size for x in layer.inputs if x not in self.tensors]
        if all(size == 1 for size in sizes) and all(tensor.shape == shape for tensor in alone):
            return False
        names = self.operands(replace(layer, operator=""))
        node = replace(layer.node, inputs=names)
        self.add(replace(layer, inputs=names, node=node))
        return True

    def _signed_integers(self, layer: FloatLayer) -> bool:
        """Let a QuantizeLinear make signed integers at once, if only those are needed."""
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
        zero = self._constant(f"{layer.name}_zero", number)
        inputs = (*layer.inputs[:2], zero)
        node = replace(layer.node, inputs=inputs, outputs=(result,))
        self.add(replace(layer, inputs=inputs, outputs=(result,), node=node))
        self.signed.add(result)
        del self.tensors[name]
        return True

    def sign(self, layer: SignLayer) -> bool:
        """Leave out a SignLayer if the quantisation already makes signed integers."""
        return layer.outputs[0] in self.signed

    # --- convolutions and products ---

    def weights(self, layer: WeightLayer) -> bool:
        """Rewrite what the array cannot do: padding with zero points, transposed convolutions."""
        first, x = layer, self.tensors[layer.inputs[0]]
        if x.dtype == "int8" and self.element == _WIDE:
            first = replace(layer, inputs=(self.centred(layer, x.name, 0),))
        first = self._framed(first)
        self._results(layer, first)
        return True

    def _framed(self, layer: WeightLayer) -> WeightLayer:
        """Return a convolution that reads its padding from a new image, or the same layer."""
        window, (name,) = layer.window, layer.inputs
        x = self.tensors[name]
        if window is None or len(window.kernel) != 2 or len(x.shape) != 4:
            return layer
        if layer.operator == "ConvTranspose":
            return self._transposed(layer, window, x)
        if not layer.input_zero or not any((*window.before, *window.after)):
            return replace(layer, input_zero=0) if layer.input_zero else layer
        framed = self._frame(layer, x, (1, 1), window.before, window.after)
        inner = replace(window, before=(0, 0), after=(0, 0))
        return replace(layer, inputs=(framed,), window=inner, input_zero=0)

    def _frame(
        self, layer: WeightLayer, x: Tensor, steps: tuple[int, ...], before: tuple[int, ...],
        after: tuple[int, ...],
    ) -> str:  # fmt: skip
        """Append a layer that puts zero points around and between pixels; return its result."""
        sizes = (
            (size - 1) * step + 1 + first + last
            for size, step, first, last in zip(x.shape[2:], steps, before, after, strict=True)
        )
        framed = self.tensor(f"{layer.outputs[0]}_frame", x, shape=(*x.shape[:2], *sizes))
        self.add(
            FrameLayer(
                f"{layer.name}_frame", "Pad", (x.name,), (framed,), layer.parts,
                (steps[0], steps[1]), (before[0], before[1]), (after[0], after[1]),
                layer.input_zero,
            )
        )  # fmt: skip
        return framed

    def _transposed(self, layer: WeightLayer, window: Window, x: Tensor) -> WeightLayer:
        """Return a convolution of the framed image that equals a transposed convolution."""
        reach, sizes = window.reach, self.tensors[layer.outputs[0]].shape[2:]
        before = tuple(size - 1 - cut for size, cut in zip(reach, window.before, strict=True))
        spans = (
            (size - 1) * step + 1 + first
            for size, step, first in zip(x.shape[2:], window.strides, before, strict=True)
        )
        after = tuple(
            size + far - 1 - span for size, far, span in zip(sizes, reach, spans, strict=True)
        )
        if min((*before, *after)) < 0:
            raise LowerError("it leaves out more of its result than its kernel", "smaller pads")
        framed = self._frame(layer, x, window.strides, before, after)
        groups, w = layer.groups, layer.weights  # (channels, outputs / groups, rows, columns)
        each = w.reshape(groups, -1, *w.shape[1:]).swapaxes(1, 2)
        turned = each.reshape(-1, *each.shape[2:])[..., ::-1, ::-1]
        bias = layer.bias - layer.input_zero * turned.astype(np.int64).sum((1, 2, 3))
        inner = Window(window.kernel, (1, 1), window.dilations, (0, 0), (0, 0))
        return self._checked(
            replace(
                layer, operator="Conv", inputs=(framed,), weights=np.ascontiguousarray(turned),
                bias=bias, window=inner, input_zero=0,
            )
        )  # fmt: skip

    def _checked(self, layer: WeightLayer) -> WeightLayer:
        """Return the layer. Raises `LowerError` if its new bias could make sums overflow."""
        rows = layer.weights.reshape(len(layer.weights), -1)
        check_accumulators(rows, layer.bias, self.tensors[layer.inputs[0]].dtype, layer.accumulator)
        return layer

    def _results(self, layer: WeightLayer, first: WeightLayer) -> None:
        """Append a product, and layers for its results if the array cannot make them itself."""
        output, name = layer.output, layer.outputs[0]
        assert output is not None
        tensor = self.tensors[name]
        axis = 1 if layer.window is not None else len(tensor.shape) - 1
        if isinstance(output, Dequantisation):
            plain = (output.low, output.high) == (-np.inf, np.inf)
            if plain and name in self.model.outputs and name not in self.reads:
                self.add(first)
            else:
                self._sums(layer, first, output, axis)
            return
        if self._is_direct(tensor, output):
            self.add(self._with_zero(first, output))
        elif self.element == _WIDE and (tensor.dtype == "int8" or not output.zero_point):
            wide, middle = self.finished(first, output)
            self.add(replace(first, outputs=(wide,), output=middle))
            self.finish(layer, wide, output)
        else:
            self._sums(layer, first, output, axis)

    def _is_direct(self, tensor: Tensor, output: Requantisation) -> bool:
        """Return whether the array makes the results itself; for int8 a table can limit them."""
        info = np.iinfo(self.element)
        ranges = (info.min, info.max), (0, info.max)
        if tensor.dtype != self.element or (output.zero_point and not self._shifted(output)):
            return False
        return self.element == "int8" or (output.low, output.high) in ranges

    def _shifted(self, output: Requantisation) -> bool:
        """Return whether a change of the bias can replace the zero point.

        Only an even zero point keeps the rounding, because ties go to even numbers.
        """
        even = not output.zero_point % 2
        return even and self.element == "int8" and single_shift(output, "int8") is not None

    def _with_zero(self, layer: WeightLayer, output: Requantisation) -> WeightLayer:
        """Return a layer with the zero point added to the bias."""
        if not output.zero_point:
            return layer
        shift = single_shift(output, "int8") or 0
        bias = layer.bias + (output.zero_point << shift)
        plain = replace(output, zero_point=0)
        return self._checked(replace(layer, bias=bias, output=plain))

    def _sums(self, layer: Layer, first: WeightLayer, output: Output, axis: int) -> None:
        """Append a product whose results are its sums, and a layer that rescales them."""
        if self.sums != "int32":
            raise LowerError(
                f"the array's sums have {self.sums}, which vc does not read", "zero points 0"
            )
        tensor = self.tensors[layer.outputs[0]]
        sums = self.tensor(f"{tensor.name}_sums", tensor, dtype=self.sums, quantisation=None)
        self.add(replace(first, outputs=(sums,), output=None))
        self.rescale(layer, sums, tensor.name, output, axis=axis)


_RULES: Mapping[type[Layer], Callable[[_Rewriter, Any], bool]] = {
    WeightLayer: _Rewriter.weights,
    SumLayer: _Rewriter.elementwise,
    ProductLayer: _Rewriter.elementwise,
    PoolLayer: _Rewriter.pool,
    MoveLayer: _Rewriter.move,
    FloatLayer: _Rewriter.real,
    SignLayer: _Rewriter.sign,
}
