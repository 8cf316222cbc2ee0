"""Combines the steps from a model to its network, and from a float model to a quantised model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.assign import Types, assign
from macaw.lowering.onnx.biases import correct_biases
from macaw.lowering.onnx.canonical import canonical
from macaw.lowering.onnx.fuse import fuse
from macaw.lowering.onnx.graph import Graph
from macaw.lowering.onnx.layers import layers
from macaw.lowering.onnx.losses import LayerLoss, layer_losses
from macaw.lowering.onnx.model_file import check
from macaw.lowering.onnx.network import Network
from macaw.lowering.onnx.observe import observe
from macaw.lowering.onnx.quantise import QuantisedGraph, observed_values, quantise_graph
from macaw.lowering.onnx.read import Wishes, read
from macaw.lowering.onnx.samples import samples
from macaw.lowering.onnx.scales import ScaleRule
from macaw.lowering.onnx.write import model_of

Arrays = Mapping[str, NDArray[Any]]
_QUANTISED = ("QuantizeLinear", "QLinearConv", "QLinearMatMul")


@dataclass(frozen=True)
class Plan:
    """How a model is quantised: types of layers, choice of scales, sizes for free dimensions.

    With `per_channel`, weights have a scale for each channel. `constants` has arrays for the inputs
    that become constants.
    """

    types: Types = field(default_factory=Types)
    rule: ScaleRule = field(default_factory=ScaleRule)
    per_channel: bool = False  # whether weights have a scale for each channel
    dims: Mapping[str, int] = field(default_factory=dict)
    constants: Arrays = field(default_factory=dict)  # inputs that become constants


@dataclass(frozen=True)
class QuantisedResult:
    """A quantised model, the losses of its layers, and the names of the layers that stay float."""

    model: onnx.ModelProto
    losses: tuple[LayerLoss, ...]
    floats: tuple[str, ...]


def fused_graph(model: onnx.ModelProto, wishes: Wishes | None) -> Graph:
    """Return the frozen, fused graph of operator set 21 of a checked model.

    Raises `LowerError` if Macaw does not support the model, or if the `wishes` do not suit it.
    """
    return fuse(canonical(read(model, wishes)))


def network_of(model: onnx.ModelProto, wishes: Wishes | None = None) -> Network:
    """Return the network of layers of a checked model.

    Raises `LowerError` if Macaw does not support the model, or if the `wishes` do not suit it.
    """
    return layers(fused_graph(model, wishes))


def quantise_model(model: onnx.ModelProto, data: Arrays, plan: Plan) -> QuantisedResult:
    """Return a quantised model for a float model, calibrated with data.

    `data` has arrays of samples by the names of inputs. The result is a standard ONNX model with
    QuantizeLinear and DequantizeLinear, static shapes and operator set 21. Raises `LowerError` if
    Macaw does not support the model, if it is quantised already, or if the data do not suit it.
    """
    draft = _integers(model, data, plan)
    quantised = model_of(draft.made.graph, draft.name)
    check(quantised)
    losses = layer_losses(network_of(quantised), draft.plain, draft.made.sources, draft.runs)
    # The reading of the quantised model also makes layers on integers of nodes that only move.
    whole = {row.name for row in losses}
    floats = tuple(name for name in draft.floats if name not in whole)
    return QuantisedResult(quantised, tuple(losses), floats)


def trial_network(model: onnx.ModelProto, data: Arrays, plan: Plan) -> Network:
    """Return the network of the model that `quantise_model` would make.

    `data` has arrays of samples by the names of inputs. Unlike `quantise_model`, this function
    measures no losses. Raises `LowerError` if Macaw does not support the model, if it is quantised
    already, or if the data do not suit it.
    """
    draft = _integers(model, data, plan)
    return network_of(model_of(draft.made.graph, draft.name))


@dataclass(frozen=True)
class _Draft:
    """A quantised graph (`made`), and the floating-point network that it replaces (`plain`).

    `runs` has the samples, as the inputs of each run. `name` is the name of the model, `floats` has
    the names of the nodes that stay floating-point.
    """

    name: str  # the name of the model
    made: QuantisedGraph
    plain: Network
    runs: Sequence[Arrays]  # the samples, as the inputs of each run
    floats: tuple[str, ...]  # names of the nodes for which `assign` chooses no type


def _integers(model: onnx.ModelProto, data: Arrays, plan: Plan) -> _Draft:
    """Quantise a float model, and correct its biases if the scales are chosen by MSE.

    Return the quantised graph, the floating-point network and the samples, but no losses.
    """
    if is_quantised(model):
        raise LowerError("the model is quantised already")
    runs = samples(model, data, plan.dims, list(plan.constants))
    shapes = {name: array.shape for name, array in runs[0].items()}
    dims = {name: int(np.int64(size)) for name, size in plan.dims.items()}
    graph = fused_graph(model, Wishes(dims=dims, shapes=shapes, constants=plan.constants))
    assignment = assign(graph, plan.types)
    plain = layers(graph)
    seen = observe(plain, runs, observed_values(graph, assignment))
    made = quantise_graph(graph, assignment, seen, plan.rule, plan.per_channel)
    name = model.graph.name or "network"
    if plan.rule.method == "mse":
        first = network_of(model_of(made.graph, name))
        made = correct_biases(made, first, graph, plain, runs)
    floats = tuple(node.label for node in graph.nodes if node.key not in assignment.types)
    return _Draft(name, made, plain, runs, floats)


def is_quantised(model: onnx.ModelProto) -> bool:
    """Return whether a model has operators on quantised numbers, such as DequantizeLinear."""
    return any(node.op_type in _QUANTISED for node in model.graph.node)
