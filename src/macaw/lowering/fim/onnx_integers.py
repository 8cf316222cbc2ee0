"""Reads quantised ONNX models (QDQ) as graphs of int8 tasks that compute the same integers.

`macaw.lowering.onnx.network` describes the layers of a quantised network as integer arithmetic.
Islands compute the same integers: a layer's scales must be such that its sums are divided by one
power of two. Inputs and outputs of the graph are int8: the numbers of the model's first
QuantizeLinear and last DequantizeLinear.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from macaw.isa.fim_circuit import FORMAT_NAMES
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import Graph, Tensor
from macaw.lowering.fim.integer_scales import (
    checked,
    factors_of,
    limits_of,
    line_of,
    range_limits,
    shift_of,
)
from macaw.lowering.fim.integer_values import ZERO, IntegerValue, Order, in_order, segments_of
from macaw.lowering.fim.labels import symbol
from macaw.lowering.onnx import pipeline
from macaw.lowering.onnx.network import (
    FloatLayer,
    Layer,
    MoveLayer,
    Network,
    PoolLayer,
    ProductLayer,
    Requantisation,
    SumLayer,
    TableLayer,
    WeightLayer,
)
from macaw.lowering.onnx.operators.table import compute
from macaw.lowering.onnx.read import Wishes, node_error
from macaw.lowering.onnx.window import Window, output_sizes

_MOVES = frozenset(
    ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Identity", "Expand")
)


def read(model: onnx.ModelProto, dims: Mapping[str, int] | None = None) -> Graph:
    """Return the graph of int8 tasks of a checked quantised model.

    `dims` has sizes for dimensions that the model only names. Raises `LowerError` for a model that
    is not quantised, and for a layer whose integers the islands cannot compute exactly.
    """
    if not pipeline.is_quantised(model):
        raise LowerError("a floating-point model in int8", "macaw quantise makes a quantised one")
    network = pipeline.network_of(model, Wishes(dims=dims or {}))
    return _Reader(network).read()


class _Reader:
    """Translates the layers of a network to tasks."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.graph = Graph(FORMAT_NAMES.index("int8"))
        self.values: dict[str, IntegerValue] = {
            name: IntegerValue(np.arange(array.size).reshape(array.shape), array=array)
            for name, array in network.constants.items()
        }
        # by the name of an output of the network: the tensor of int8 that has its numbers
        self.outputs: dict[str, str] = {}
        self.symbols: dict[str, str] = {}

    def read(self) -> Graph:
        """Return the graph with the tasks of all layers."""
        network = self.network
        for name in (*network.inputs, *network.outputs):
            self.name(name)
        inner = [layer for layer in network.layers if not self._is_end(layer)]
        for name in network.inputs:
            if network.tensors[name].dtype == "int8":
                self._input(name, name)
        self.outputs |= {
            name: name for name in network.outputs if network.tensors[name].dtype == "int8"
        }
        for layer in inner:
            try:
                self._layer(layer)
            except LowerError as error:
                raise node_error(layer.name, layer.operator, error) from None
        for name in network.outputs:
            if name not in self.outputs:
                raise LowerError(f"the output {name} is no tensor of int8")
            self._result(name, self.outputs[name])
        return self.graph

    def _is_end(self, layer: Layer) -> bool:
        """Return whether a layer only converts an input to int8, or int8 to an output.

        Such a layer gets no task, because the inputs and outputs of the graph are int8: the method
        records that the layer's int8 tensor is the input or output of the graph.
        """
        if not isinstance(layer, FloatLayer):
            return False
        network, (result,) = self.network, layer.outputs
        source = layer.inputs[0]
        tensors, operator = network.tensors, layer.operator
        begins = operator == "QuantizeLinear" and source in network.inputs
        ends = operator == "DequantizeLinear" and result in network.outputs
        if begins and tensors[result].dtype == "int8":
            self._input(source, result)
            return True
        if ends and tensors[source].dtype == "int8":
            self.outputs[result] = source
            return True
        return False

    def _input(self, name: str, tensor: str) -> None:
        """Add the input `name`, which supplies the numbers of the tensor `tensor`."""
        shape = self.network.tensors[tensor].shape
        if self.name(name) in self.graph.tensors:
            raise LowerError(f"the input {name} is quantised twice")
        made = self.graph.tensor(self.name(name), *_matrix(shape))
        self.graph.shapes[made.name] = shape or (1,)
        self.values[tensor] = in_order(shape, made)

    def _result(self, name: str, source: str) -> None:
        """Mark tensor `source`, with its numbers in the network's order, as the output `name`."""
        value, made_name, graph = self._value(source), self.name(name), self.graph
        shape = self.network.tensors[source].shape
        order, (rows, columns) = value.order.reshape(-1), _matrix(shape)
        tensor = value.tensor
        if tensor is None:
            tensor = value.matrix(graph, order.reshape(rows, columns), f"{made_name}_numbers")
            order = np.arange(order.size)
        if tensor.name != made_name:
            places, width = segments_of(order, columns)
            tensor = graph.segments(tensor, places, width, (rows, columns), made_name)
        graph.result(tensor)
        graph.shapes[tensor.name] = shape or (1,)

    def name(self, text: str) -> str:
        """Return the symbol of the program for a tensor of the network."""
        if text not in self.symbols:
            self.symbols[text] = symbol(text, {*self.symbols.values(), *self.graph.tensors})
        return self.symbols[text]

    def _made(self, layer: Layer, suffix: str) -> str:
        """Return a new name for an intermediate tensor of a layer; it ends with `suffix`."""
        return symbol(
            f"{self.name(layer.outputs[0])}{suffix}",
            {*self.symbols.values(), *self.graph.tensors},
        )

    def _last(self, layer: Layer, order: Order) -> str:
        """Return the name for the tensor with the result of a layer.

        Element i of the result is number `order[i]` of the tensor. If the result is an output of
        the network and the tensor has its numbers in the same order, the tensor gets the
        name of the output.
        """
        result = layer.outputs[0]
        outputs = [name for name, source in self.outputs.items() if source == result]
        if not outputs:
            return self.name(result)
        if np.array_equal(order.reshape(-1), np.arange(order.size)):
            return self.name(outputs[0])
        return self._made(layer, "_unordered")

    def _layer(self, layer: Layer) -> None:
        if isinstance(layer, FloatLayer) and layer.operator == "DequantizeLinear":
            return  # the layer that reads the real numbers is refused, or the output
        rule = _RULES.get(type(layer))
        types = {self.network.tensors[x].dtype for x in layer.outputs if x}
        if layer.operator == "QuantizeLinear" and types != {"int8"}:
            raise LowerError(f"numbers of {', '.join(types)}, and the circuits have int8")
        if rule is None or types != {"int8"}:
            raise LowerError(
                "no task in int8 does it",
                "there are layers with weights, sums, products, pools and moved numbers",
            )
        rule(self, layer)

    def _value(self, name: str) -> IntegerValue:
        if name not in self.values:
            raise LowerError(f"{name} is no tensor of int8")
        return self.values[name]

    # --- layers with weights ---

    def weights(self, layer: WeightLayer) -> None:
        """Add the tasks of a convolution, or of a product with constant weights."""
        if layer.weights.dtype != np.int8:
            raise LowerError(f"weights of {layer.weights.dtype}, and the circuits have int8")
        if layer.input_zero:
            raise LowerError("its input has a zero point", "macaw quantise makes symmetric models")
        value = self._value(layer.inputs[0])
        shape = self.network.tensors[layer.outputs[0]].shape
        if layer.window is None:
            order = value.order.reshape(-1, value.order.shape[-1])
            matrix, outer = layer.weights.T, shape[:-1]
        elif layer.operator == "Conv":
            order, matrix = _windows(value.order, layer)
            outer = shape[0], *shape[2:]
        else:
            raise LowerError("no task in int8 does it", "Conv is computed")
        most = int((np.abs(matrix.astype(np.int64)).sum(axis=0) * 128 + np.abs(layer.bias)).max())
        shift = shift_of(layer.output, most)
        left = value.matrix(self.graph, order, self._made(layer, "_in"))
        right = self.graph.constant(self._made(layer, "_weights"), np.ascontiguousarray(matrix))
        bias = layer.bias if np.any(layer.bias) else None
        found = np.arange(left.rows * right.columns).reshape(*outer, right.columns)
        if layer.window is not None:
            found = np.moveaxis(found, -1, 1)
        limits = limits_of(layer.output)
        name = self._made(layer, "_sum") if limits else self._last(layer, found)
        tensor = self.graph.product(left, right, name, shift=shift, bias=bias)
        self._limited(layer, limits, tensor, found)

    def _limited(
        self, layer: Layer, limits: list[tuple[str, int]], tensor: Tensor, order: Order
    ) -> None:
        """Limit a tensor to a range, and record the limited tensor as the result of a layer.

        `limits` has the functions with their bounds, as `range_limits` returns them; without any,
        the tensor itself is the result. Element i of the result is number `order[i]` of the tensor.
        """
        graph = self.graph
        for number, (function, bound) in enumerate(limits):
            last = number == len(limits) - 1
            name = self._last(layer, order) if last else self._made(layer, f"_{function}")
            if function == "relu":
                tensor = graph.pointwise("relu", tensor, name=name)
            else:
                numbers = np.full((tensor.rows, tensor.columns), bound, np.int8)
                other = graph.constant(self._made(layer, f"_{function}_bound"), numbers)
                tensor = graph.pointwise(function, tensor, other, name=name)
        self.values[layer.outputs[0]] = IntegerValue(order, tensor)

    # --- sums and products of tensors ---

    def sums(self, layer: SumLayer) -> None:
        """Add the tasks of a sum of two tensors, each times a power of two or a small integer."""
        if len(layer.inputs) != 2 or any(layer.zeros):
            raise LowerError("it is no sum of two tensors without zero points")
        shift, factors = factors_of(layer.multipliers)
        checked(layer.output)
        (first, second), order = self._operands(layer, 2)
        limits = limits_of(layer.output)
        name = self._made(layer, "_sum") if limits else self._last(layer, order)
        if factors in ((1, 1), (1, -1)):
            function = "add" if factors[1] == 1 else "sub"
            tensor = self.graph.pointwise(function, first, second, name=name, shift=shift)
        else:
            constants = [
                self.graph.constant(
                    self._made(layer, f"_factor{number}"),
                    np.full((first.rows, first.columns), factor, np.int8),
                )
                for number, factor in enumerate(factors)
            ]
            tensor = self.graph.pointwise(
                "mul_add", first, constants[0], second, constants[1], name=name, shift=shift
            )
        self._limited(layer, limits, tensor, order)

    def _operands(self, layer: Layer, count: int) -> tuple[list[Tensor], Order]:
        """Return `count` operands of a layer as matrices in one order, and the result's order.

        Element i of the layer's result is number `order[i]` of the matrices. If the first operand
        has each number of its tensor exactly once, the matrices have the order of this tensor, so
        that this operand needs no gather. Otherwise they have the order of the result.
        """
        shape = self.network.tensors[layer.outputs[0]].shape
        values = [self._value(name) for name in layer.inputs[:count]]
        orders = [np.broadcast_to(value.order, shape).reshape(-1) for value in values]
        places = np.argsort(orders[0], kind="stable")
        tensor = values[0].tensor
        if tensor is None or not np.array_equal(orders[0][places], np.arange(tensor.numbers)):
            places, rows = np.arange(orders[0].size), _matrix(shape)
        else:
            rows = tensor.rows, tensor.columns
        operands = [
            value.matrix(self.graph, order[places].reshape(rows), self._made(layer, f"_in{side}"))
            for side, (value, order) in enumerate(zip(values, orders, strict=True))
        ]
        found = np.empty(places.size, np.int64)
        found[places] = np.arange(places.size)
        return operands, found.reshape(shape)

    def products(self, layer: ProductLayer) -> None:
        """Add the tasks of a product of two tensors: of matrices, or element by element."""
        if any(layer.zeros):
            raise LowerError("it has zero points", "macaw quantise makes symmetric models")
        limits = limits_of(layer.output)
        if layer.operator != "MatMul":
            shift = shift_of(layer.output, 1 << 14)
            (first, second), order = self._operands(layer, 2)
            name = self._made(layer, "_product") if limits else self._last(layer, order)
            tensor = self.graph.pointwise("mul", first, second, name=name, shift=shift)
            self._limited(layer, limits, tensor, order)
            return
        left, right = (self._value(x).order for x in layer.inputs)
        right = right.reshape(-1, 1) if right.ndim == 1 else right
        if right.ndim > 2 and right.size != right.shape[-1] * right.shape[-2]:
            raise LowerError("a product of several pairs of matrices", "one pair is computed")
        shift = shift_of(layer.output, left.shape[-1] << 14)
        a = self._value(layer.inputs[0]).matrix(
            self.graph, left.reshape(-1, left.shape[-1]), self._made(layer, "_in0")
        )
        b = self._value(layer.inputs[1]).matrix(
            self.graph, right.reshape(right.shape[-2:]), self._made(layer, "_in1")
        )
        shape = self.network.tensors[layer.outputs[0]].shape
        order = np.arange(a.rows * b.columns).reshape(shape)
        name = self._made(layer, "_product") if limits else self._last(layer, order)
        self._limited(layer, limits, self.graph.product(a, b, name, shift=shift), order)

    def tables(self, layer: TableLayer) -> None:
        """Add the tasks of a layer that looks up each element in a table.

        Raises `LowerError` unless the table is a product with a factor, limited to a range.
        """
        found = None if layer.table is None else line_of(layer.table)
        if layer.table is None or found is None:
            raise LowerError(
                "its table is no product with a factor, limited to a range",
                "circuits have no tables: Relu, Clip and products with constants are possible",
            )
        factor, shift = found
        limits = range_limits(int(layer.table.min()), int(layer.table.max()))
        if factor == 1 and not shift and not limits:
            self.values[layer.outputs[0]] = self._value(layer.inputs[0])
            return
        (first,), order = self._operands(layer, 1)
        if factor != 1 or shift:
            name = self._made(layer, "_product") if limits else self._last(layer, order)
            first = self._multiplied(layer, first, factor, shift, name)
        self._limited(layer, limits, first, order)

    def _multiplied(
        self, layer: Layer, tensor: Tensor, factor: int, shift: int, name: str
    ) -> Tensor:
        """Add the product of a tensor and an integer, divided by 2 ** `shift`."""
        numbers = np.full((tensor.rows, tensor.columns), factor, np.int8)
        other = self.graph.constant(self._made(layer, "_factor"), numbers)
        return self.graph.pointwise("mul", tensor, other, name=name, shift=shift)

    # --- pools and moved numbers ---

    def pools(self, layer: PoolLayer) -> None:
        """Add the tasks of a pool: gathers and their maxima, or for means a product with ones."""
        if layer.input_zero:
            raise LowerError("its input has a zero point", "macaw quantise makes symmetric models")
        value = self._value(layer.inputs[0])
        shape = self.network.tensors[layer.outputs[0]].shape
        windows, order = _pooled(value.order, layer, shape)
        if "Max" not in layer.operator:
            self._mean(layer, value, windows, order)
            return
        if layer.output is not None:
            raise LowerError("a maximum in another scale")
        windows = np.where(windows == ZERO, np.max(windows, axis=1, keepdims=True), windows)
        columns = shape[1] if layer.window is not None else shape[-1]
        rows = windows.shape[0] // columns, columns
        tensor = value.matrix(self.graph, windows[:, 0].reshape(rows), self._made(layer, "_in0"))
        for number in range(1, windows.shape[1]):
            other = value.matrix(
                self.graph, windows[:, number].reshape(rows), self._made(layer, f"_in{number}")
            )
            last = number == windows.shape[1] - 1
            name = self._last(layer, order) if last else self._made(layer, f"_max{number}")
            tensor = self.graph.pointwise("max", tensor, other, name=name)
        self.values[layer.outputs[0]] = IntegerValue(order, tensor)

    def _mean(self, layer: PoolLayer, value: IntegerValue, windows: Order, order: Order) -> None:
        """Add the means of windows, as a product with ones; the result has the order `order`."""
        hint = "means of 2, 4, 8, ... numbers are possible, if all have the same count"
        shift = shift_of(layer.output, windows.shape[1] << 7, hint)
        left = value.matrix(self.graph, windows, self._made(layer, "_in"))
        ones = np.ones((windows.shape[1], 1), np.int8)
        right = self.graph.constant(self._made(layer, "_ones"), ones)
        limits = limits_of(layer.output)
        name = self._made(layer, "_sum") if limits else self._last(layer, order)
        self._limited(layer, limits, self.graph.product(left, right, name, shift=shift), order)

    def moves(self, layer: MoveLayer) -> None:
        """Record the result of a node that moves elements: its operand in another order."""
        if layer.node.operator not in _MOVES:
            raise LowerError("no task in int8 does it", f"moved by {', '.join(sorted(_MOVES))}")
        value = self._rescaled(layer, layer.rescales[0])
        more = [self.network.constants.get(name) if name else None for name in layer.inputs[1:]]
        if any(name and array is None for name, array in zip(layer.inputs[1:], more, strict=True)):
            raise LowerError("its shape or indices depend on an input")
        (order,) = compute(layer.node, [value.order, *more])
        moved = IntegerValue(order.astype(np.int64), value.tensor, value.array)
        self.values[layer.outputs[0]] = moved

    def _rescaled(self, layer: MoveLayer, rescale: Requantisation | None) -> IntegerValue:
        """Return the operand of a layer that moves numbers, after `rescale` if it is not None."""
        value, shape = self._value(layer.inputs[0]), self.network.tensors[layer.inputs[0]].shape
        if rescale is None:
            return value
        if any(layer.zeros):
            raise LowerError("its input has a zero point", "macaw quantise makes symmetric models")
        multipliers = np.unique(checked(rescale).multipliers).tolist()
        if len(multipliers) != 1:
            raise LowerError("its input has several scales")
        shift, (factor,) = factors_of(tuple(multipliers))
        order = value.order.reshape(_matrix(shape))
        source = value.matrix(self.graph, order, self._made(layer, "_in"))
        name = self._made(layer, "_rescaled")
        tensor = self._multiplied(layer, source, factor, shift, name)
        return in_order(shape, tensor)


def _matrix(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return (rows, columns) of a tensor as a matrix, whose columns are the last dimension."""
    columns = shape[-1] if shape else 1
    return int(np.prod(shape[:-1], dtype=np.int64)), columns


def _windows(order: Order, layer: WeightLayer) -> tuple[Order, NDArray[np.int8]]:
    """Return the windows of a convolution as rows of indices, and its weights as a matrix.

    The numbers of a row have the order (position in the kernel, channel).
    """
    assert layer.window is not None
    weights, groups = layer.weights, layer.groups
    outputs, inner = weights.shape[:2]
    taps = _taps(order, layer.window)  # (batch, channels, positions, taps)
    rows = taps.transpose(0, 2, 3, 1).reshape(-1, taps.shape[3] * taps.shape[1])
    matrix = np.zeros((taps.shape[3], taps.shape[1], outputs), np.int8)
    each = weights.reshape(outputs, inner, -1)
    for output in range(outputs):
        first = output // (outputs // groups) * inner
        matrix[:, first : first + inner, output] = each[output].T
    return rows, matrix.reshape(-1, outputs)


def _taps(order: Order, window: Window) -> Order:
    """Return the indices of a window's taps, of shape (batch, channels, positions, taps).

    A tap in the padding has the index `ZERO`.
    """
    sizes = output_sizes(window, order.shape[2:])
    pads = zip(window.before, window.after, strict=True)
    room = [
        (before, after + stride)
        for (before, after), stride in zip(pads, window.strides, strict=True)
    ]
    framed = np.pad(order, [(0, 0), (0, 0), *room], constant_values=ZERO)
    found = []
    for tap in np.ndindex(*window.kernel):
        places = [
            at * dilation + np.arange(size) * stride
            for at, dilation, size, stride in zip(
                tap, window.dilations, sizes, window.strides, strict=True
            )
        ]
        part = framed[(slice(None), slice(None), *np.ix_(*places))]
        found.append(part.reshape(*order.shape[:2], -1))
    return np.stack(found, axis=-1)


def _pooled(order: Order, layer: PoolLayer, shape: tuple[int, ...]) -> tuple[Order, Order]:
    """Return the indices of each window's elements, and where each result of a pool is.

    The first array has shape (results, elements): a row for each result. The rows are pixel by
    pixel, with all channels of a pixel one after the other. The second array has shape `shape`, the
    shape of the pool's result, and contains the row number of each result.
    """
    results = np.arange(np.prod(shape, dtype=np.int64))
    if layer.window is not None:
        taps = _taps(order, layer.window).transpose(0, 2, 1, 3)
        pixels = results.reshape(shape[0], *shape[2:], shape[1])
        return taps.reshape(-1, taps.shape[-1]), np.moveaxis(pixels, -1, 1)
    axes = [axis % order.ndim for axis in layer.axes]
    moved = np.moveaxis(order, axes, range(order.ndim - len(axes), order.ndim))
    count = int(np.prod([order.shape[axis] for axis in axes], dtype=np.int64))
    return moved.reshape(-1, count), results.reshape(shape)


_RULES: Mapping[type[Layer], Callable[[_Reader, Any], None]] = {
    WeightLayer: _Reader.weights,
    SumLayer: _Reader.sums,
    ProductLayer: _Reader.products,
    TableLayer: _Reader.tables,
    PoolLayer: _Reader.pools,
    MoveLayer: _Reader.moves,
}
