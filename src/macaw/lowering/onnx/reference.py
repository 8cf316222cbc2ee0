"""The reference evaluator: it computes a network in NumPy, tensor by tensor.

The evaluator defines the results: the results of a device equal them bit for bit in each tensor of
integers. Parts that stay floating-point are computed as `macaw.lowering.onnx.operators` says,
operation by operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.model_file import message_name
from macaw.lowering.onnx.network import (
    FloatLayer,
    FrameLayer,
    Layer,
    LookupLayer,
    MoveLayer,
    Network,
    PoolLayer,
    ProductLayer,
    Quantisation,
    Requantisation,
    RescaleLayer,
    SignLayer,
    SumLayer,
    TableLayer,
    Tensor,
    WeightLayer,
)
from macaw.lowering.onnx.operators.images import maxima, total
from macaw.lowering.onnx.operators.sums import (
    convolution,
    matrix_product,
    transposed_convolution,
)
from macaw.lowering.onnx.operators.table import compute
from macaw.lowering.onnx.read import node_error
from macaw.lowering.onnx.requantise import dequantise_array, finish, quantise_array
from macaw.lowering.onnx.window import output_sizes

Array = NDArray[Any]
Arrays = Mapping[str, Array]
Definition = Callable[[list[Array]], list[Array]]  # the results of a layer, from its inputs

NO_DEFINITIONS: Mapping[str, Definition] = MappingProxyType({})


def evaluate(
    network: Network, inputs: Arrays, definitions: Mapping[str, Definition] = NO_DEFINITIONS
) -> dict[str, Array]:
    """Return all tensors of a network by name, computed from the arrays of its inputs.

    `definitions` has, by the layer's name, functions for those layers whose results the arithmetic
    of a core defines, not ONNX.

    Raises `LowerError` for arrays that do not fit, and for a layer that cannot be computed.
    """
    arrays: dict[str, Array] = dict(network.constants)
    for name in network.inputs:
        tensor = network.tensors[name]
        array = inputs.get(name)
        if array is None:
            raise LowerError(f"there is no array for the input {message_name(name)}")
        if array.shape != tensor.shape or array.dtype != np.dtype(tensor.dtype):
            raise LowerError(
                f"the input {message_name(name)} is of {tensor.dtype} {tensor.shape}, the array of"
                f" {array.dtype} {array.shape}"
            )
        arrays[name] = array
    for layer in network.layers:
        own = [arrays[name] if name else None for name in layer.inputs]
        if layer.name in definitions:
            results = definitions[layer.name]([array for array in own if array is not None])
        else:
            results = evaluate_layer(network, layer, own)
        arrays |= zip(layer.outputs, results, strict=True)
    return arrays


def without_constant_layers(network: Network) -> Network:
    """Return the network with constants in place of layers that only read constants.

    Raises `LowerError` for such a layer that cannot be computed.
    """
    constants, layers = dict(network.constants), []
    for layer in network.layers:
        own = [constants.get(name) for name in layer.inputs]
        if any(name and name not in constants for name in layer.inputs):
            layers.append(layer)
        else:
            constants |= zip(layer.outputs, evaluate_layer(network, layer, own), strict=True)
    return replace(network, layers=tuple(layers), constants=constants)


def evaluate_layer(network: Network, layer: Layer, arrays: list[Array | None]) -> list[Array]:
    """Return the outputs of one layer for the arrays of its inputs.

    Raises `LowerError`, which names the layer, if it cannot be computed, or if a result does not
    have the type and shape that the network gives it.
    """
    try:
        results = _RULES[type(layer)](network, layer, arrays)
    except LowerError as error:
        raise node_error(layer.name, layer.operator, error) from None
    for name, array in zip(layer.outputs, results, strict=True):
        tensor = network.tensors.get(name)
        if tensor and (array.shape != tensor.shape or array.dtype != np.dtype(tensor.dtype)):
            kinds = f"{array.dtype} {array.shape}, not {tensor.dtype} {tensor.shape}"
            wrong = LowerError(f"its result {message_name(name)} is {kinds}")
            raise node_error(layer.name, layer.operator, wrong)
    return results


def _dtype(network: Network, layer: Layer) -> str:
    return network.tensors[layer.outputs[0]].dtype


def weight_sums(network: Network, layer: WeightLayer, x: Array) -> tuple[Array, int]:
    """Return the integer sums of a layer with its bias, as int64, and the axis of its channels."""
    if layer.window is None:
        sums = matrix_product(x, layer.weights.T)
        axis = sums.ndim - 1
    elif layer.operator == "Conv":
        sums = convolution(x, layer.weights, layer.window, layer.groups, layer.input_zero)
        axis = 1
    else:
        sizes = network.tensors[layer.outputs[0]].shape[2:]
        sums = transposed_convolution(
            x, layer.weights, layer.window, sizes, layer.groups, layer.input_zero
        )
        axis = 1
    shape = [1] * sums.ndim
    shape[axis] = -1
    return sums + layer.bias.reshape(shape), axis


def _weights(network: Network, layer: WeightLayer, arrays: list[Array | None]) -> list[Array]:
    sums, axis = weight_sums(network, layer, _first(arrays))
    dtype = _dtype(network, layer)
    if layer.output is None:
        return [sums.astype(dtype)]
    return [finish(sums, layer.output, axis, dtype)]


def _products(network: Network, layer: ProductLayer, arrays: list[Array | None]) -> list[Array]:
    a, b = (
        array.astype(np.int64) - zero
        for array, zero in zip(arrays, layer.zeros, strict=True)
        if array is not None
    )
    sums = matrix_product(a, b) if layer.operator == "MatMul" else a * b
    return [finish(sums, layer.output, sums.ndim - 1, _dtype(network, layer))]


def _pools(network: Network, layer: PoolLayer, arrays: list[Array | None]) -> list[Array]:
    x, window = _first(arrays), layer.window
    wide = x.astype(np.int64) - layer.input_zero
    if "Max" in layer.operator:
        if window is not None:
            wide = maxima(wide, window)
        else:
            wide = np.max(wide, layer.axes, keepdims=layer.keep)
    elif window is not None:
        wide = total(wide, window, output_sizes(window, x.shape[2:]))
    else:
        wide = np.sum(wide, layer.axes, keepdims=layer.keep)
    dtype = _dtype(network, layer)
    if layer.output is None:
        return [(wide + layer.input_zero).astype(dtype)]
    return [finish(wide, layer.output, 1, dtype)]


def _sums(network: Network, layer: SumLayer, arrays: list[Array | None]) -> list[Array]:
    total: Array | None = None
    for array, zero, multiplier in zip(arrays, layer.zeros, layer.multipliers, strict=True):
        assert array is not None
        part = (array.astype(np.int64) - zero).astype(np.float32) * np.float32(multiplier)
        total = part if total is None else total + part
    assert total is not None
    return [finish(total, layer.output, 1, _dtype(network, layer))]


def _tables(network: Network, layer: TableLayer, arrays: list[Array | None]) -> list[Array]:
    x = _first(arrays)
    if layer.table is not None:
        return [layer.table[x.astype(np.int64) + 128]]
    source, result = network.tensors[layer.inputs[0]], network.tensors[layer.outputs[0]]
    assert source.quantisation is not None
    return [function_results(source.quantisation, result, layer, x)]


def function_results(source: Quantisation, result: Tensor, layer: TableLayer, q: Array) -> Array:
    """Return the integers of a function's result for the integers `q` of its input.

    `source` and `result` say which real numbers the integers stand for.
    """
    assert result.quantisation is not None
    real = dequantise_array(q, source)
    for node in layer.nodes:
        # The one input that is not constant is the tensor, or the result of the previous node.
        operands = [layer.constants.get(name, real) if name else None for name in node.inputs]
        (real,) = compute(node, operands)
    # A constant of one element may have more dimensions than `q`.
    return quantise_array(real.reshape(q.shape), result.quantisation, result.dtype)


def _moves(network: Network, layer: MoveLayer, arrays: list[Array | None]) -> list[Array]:
    dtype = _dtype(network, layer)
    zeros = layer.zeros or (0,) * len(arrays)
    operands = [
        array if array is None else _rescaled(array, rescale, zero, dtype)
        for array, rescale, zero in zip(arrays, layer.rescales, zeros, strict=True)
    ]
    return compute(layer.node, operands)


def _rescaled(q: Array, rescale: Requantisation | None, zero: int, dtype: str) -> Array:
    return q if rescale is None else finish(q.astype(np.int64) - zero, rescale, 0, dtype)


def _new_scales(network: Network, layer: RescaleLayer, arrays: list[Array | None]) -> list[Array]:
    centred = _first(arrays).astype(np.int64) - layer.zero
    return [finish(centred, layer.output, layer.axis, _dtype(network, layer))]


def _frames(network: Network, layer: FrameLayer, arrays: list[Array | None]) -> list[Array]:
    x = _first(arrays)
    result = np.full(network.tensors[layer.outputs[0]].shape, layer.value, x.dtype)
    rows, columns = (
        slice(first, first + (size - 1) * step + 1, step)
        for first, size, step in zip(layer.before, x.shape[2:], layer.steps, strict=True)
    )
    result[:, :, rows, columns] = x
    return [result]


def _lookups(network: Network, layer: LookupLayer, arrays: list[Array | None]) -> list[Array]:
    x, last = _first(arrays), len(layer.rows) - 1
    rows = layer.rows[np.where((x < 0) | (x > last), last, x)]
    return [rows.reshape(network.tensors[layer.outputs[0]].shape)]


def _signs(network: Network, layer: SignLayer, arrays: list[Array | None]) -> list[Array]:
    return [(_first(arrays).astype(np.int64) + layer.offset).astype(_dtype(network, layer))]


def _floats(network: Network, layer: FloatLayer, arrays: list[Array | None]) -> list[Array]:
    return compute(layer.node, arrays)


def _first(arrays: list[Array | None]) -> Array:
    array = arrays[0]
    assert array is not None
    return array


_RULES: dict[type[Layer], Callable[[Network, Any, list[Array | None]], list[Array]]] = {
    WeightLayer: _weights,
    ProductLayer: _products,
    PoolLayer: _pools,
    SumLayer: _sums,
    TableLayer: _tables,
    MoveLayer: _moves,
    RescaleLayer: _new_scales,
    FrameLayer: _frames,
    LookupLayer: _lookups,
    SignLayer: _signs,
    FloatLayer: _floats,
}
