"""Losses: how much each layer of a quantised network differs from the floating-point network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.onnx.network import Layer, Network, Tensor
from macaw.lowering.onnx.reference import evaluate, evaluate_layer
from macaw.lowering.onnx.requantise import dequantise_array, quantise_array
from macaw.lowering.onnx.scales import decibels
from macaw.lowering.onnx.views import STORED

RUNS = 32  # number of samples that are compared


@dataclass(frozen=True)
class LayerLoss:
    """The loss of one layer: name, operator, types of input and result, scale of the result.

    `own` is the signal-to-noise ratio in decibels if only this layer is quantised; `whole` is the
    ratio of the quantised network up to this layer. `error` is the mean difference from the
    floating-point result, in units of that result's root mean square.
    """

    name: str
    operator: str
    input: str  # the element type of the first input that is no constant
    output: str  # the element type of the result
    scale: float | None  # None: the result has no scale
    own: float
    whole: float
    error: float


@dataclass
class _Sums:
    signal: float = 0.0
    own: float = 0.0
    whole: float = 0.0
    difference: float = 0.0
    count: int = 0


def layer_losses(
    quantised: Network,
    plain: Network,
    sources: Mapping[str, str],
    runs: Sequence[Mapping[str, NDArray[Any]]],
) -> list[LayerLoss]:
    """Return the loss of each layer on integers in the first `RUNS` runs.

    `sources` has, for each tensor of `quantised`, the tensor of `plain` that it represents.
    """
    rows = [layer for layer in quantised.layers if _counts(quantised, layer, sources)]
    sums = {layer.outputs[0]: _Sums() for layer in rows}
    for inputs in runs[:RUNS]:
        exact = evaluate(plain, inputs)
        whole = evaluate(quantised, inputs)
        for layer in rows:
            name = layer.outputs[0]
            real = exact[sources[name]].astype(np.float64)
            alone = evaluate_layer(
                quantised, layer, _ideal_inputs(quantised, layer, sources, exact)
            )
            row = sums[name]
            difference = _real(quantised.tensors[name], whole[name]) - real
            row.signal += float(np.square(real).sum())
            row.whole += float(np.square(difference).sum())
            row.own += float(np.square(_real(quantised.tensors[name], alone[0]) - real).sum())
            row.difference += float(difference.sum())
            row.count += real.size
    return [_loss(quantised, layer, sums[layer.outputs[0]]) for layer in rows]


def _counts(network: Network, layer: Layer, sources: Mapping[str, str]) -> bool:
    """Return whether a layer has a loss: its result is quantised, and `sources` has its tensor."""
    tensor = network.tensors.get(layer.outputs[0])  # none if a recurrent layer leaves it out
    return tensor is not None and tensor.quantisation is not None and tensor.name in sources


def _ideal_inputs(
    network: Network, layer: Layer, sources: Mapping[str, str], exact: Mapping[str, NDArray[Any]]
) -> list[NDArray[Any] | None]:
    """Return the inputs of a layer as they would be without losses in earlier layers.

    An input that the layer leaves out is None. `exact` has the values of the floating-point network
    by name. `sources` has, for each tensor, the name of the value that it represents.
    """
    arrays: list[NDArray[Any] | None] = []
    for name in layer.inputs:
        tensor = network.tensors.get(name)
        if not name:
            arrays.append(None)
        elif tensor is None:
            arrays.append(network.constants[name])
        elif tensor.quantisation is None:
            arrays.append(exact[sources[name]])
        else:
            # The name of stored integers is that of a real value, which has a source, `STORED`, and
            # perhaps a number.
            real = exact[sources.get(name) or sources[name[: name.rindex(STORED)]]]
            arrays.append(quantise_array(real, tensor.quantisation, tensor.dtype))
    return arrays


def _real(tensor: Tensor, array: NDArray[Any]) -> NDArray[np.float64]:
    if tensor.quantisation is None:
        return array.astype(np.float64)
    return dequantise_array(array, tensor.quantisation).astype(np.float64)


def _loss(network: Network, layer: Layer, sums: _Sums) -> LayerLoss:
    tensor = network.tensors[layer.outputs[0]]
    first = next((network.tensors[name] for name in layer.inputs if name in network.tensors), None)
    root = (sums.signal / sums.count) ** 0.5 or 1.0
    return LayerLoss(
        name=layer.name,
        operator=layer.operator,
        input=first.dtype if first else "",
        output=tensor.dtype,
        scale=tensor.quantisation.scale if tensor.quantisation else None,
        own=decibels(sums.signal, sums.own),
        whole=decibels(sums.signal, sums.whole),
        error=sums.difference / sums.count / root,
    )
