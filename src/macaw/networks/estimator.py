"""Predicts the cost of a model on a device, layer by layer, without a program or a run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from macaw import api, arguments
from macaw.arguments import check_arguments
from macaw.errors import InputError
from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import OPERAND_DTYPES
from macaw.lowering.errors import LowerError
from macaw.networks import model_files
from macaw.phrases import one_line, plural

if TYPE_CHECKING:
    import onnx
    from numpy.typing import ArrayLike

    from macaw.lowering.net.assign import Refusal
    from macaw.lowering.net.layer_plan import LayerPlan
    from macaw.lowering.net.network import Network
    from macaw.lowering.net.report import LayerReport
    from macaw.lowering.onnx.network import Network as ModelNetwork


@dataclass(frozen=True)
class Estimate:
    """The predicted costs of a model on a device.

    `layers` are the layers that a core computes, `refusals` the nodes that no core computes.
    `problem` says why the layers do not fit the device together; it is empty if they fit.
    `is_calibrated` is false if the model has floating-point numbers and its scales were chosen with
    random numbers.
    """

    name: str
    config: Configuration
    layers: tuple[LayerReport, ...]
    refusals: tuple[Refusal, ...] = ()
    problem: str = ""
    is_calibrated: bool = True

    @property
    def cycles(self) -> int:
        """The predicted cycles of all layers together."""
        return sum(layer.predicted for layer in self.layers)

    @property
    def is_complete(self) -> bool:
        """Whether `compile` would accept the model (after `quantise`, if it is not quantised)."""
        return not (self.refusals or self.problem)

    def __repr__(self) -> str:
        text = f"<estimate of {self.name} for {self.config.name}: {self.cycles:,} cycles"
        refused = f", {plural(len(self.refusals), 'node')} refused" if self.refusals else ""
        return one_line(f"{text}, {plural(len(self.layers), 'layer')}{refused}>")


@check_arguments(**model_files.MODEL_ARGUMENTS)
def estimate(
    model: str | os.PathLike[str] | onnx.ModelProto,
    *,
    device: api.DeviceLike = api.DEFAULT_DEVICE,
    dims: Mapping[str, int] | None = None,
    name: str | None = None,
    batch: int | None = None,
    data: ArrayLike | Mapping[str, ArrayLike] | None = None,
    islands: Sequence[str] = (),
) -> Estimate:
    """Predict the cycles of each layer of an ONNX model on a device, without running it.

    The predictions are those of `compile`. A model of floating-point numbers is first quantised
    with `data`, or else with one sample of random numbers, because the cycles hardly depend on the
    scales. `data` has samples of the inputs: an array for the only input, or arrays by name. With
    `data` the predictions count the zeros of each tensor in the first four samples; without it they
    assume that no activation is zero. Nodes that no core computes are listed; the layers around
    them are still predicted. `dims` gives sizes to dimensions for which the model has only names.
    `name` is the model's name, by default that of the file. `batch` is the number of samples in one
    run. `islands` has names of layers or operators; fim islands compute the products of two tensors
    (MatMul) among these layers. Raises `InputError` for a model that cannot be read, `ConfigError`
    for an invalid device.
    """
    config = api.configuration(device)
    proto = model_files.load(model)
    title = name or (Path(model).stem if isinstance(model, str | os.PathLike) else "network")
    from macaw.lowering.net.assign import assign_what_can_be, operators_of
    from macaw.lowering.net.report import layer_report
    from macaw.lowering.onnx.pipeline import is_quantised
    from macaw.networks.island_settings import parts_for_samples
    from macaw.networks.sample_densities import with_sample_densities

    count, known = arguments.python_numbers(batch), arguments.python_numbers(dims or {})
    proto, sizes = model_files.with_batch(proto, count, known)
    is_calibrated = is_quantised(proto) or data is not None
    try:
        if is_quantised(proto):
            layers = model_files.layers(proto, sizes)
        else:
            layers = _integers(proto, config, sizes, data)
    except LowerError as error:
        raise InputError(str(error), error.hint) from None
    try:
        operators = operators_of(layers)
        layers, network, refusals = assign_what_can_be(layers, config, title, islands)
    except LowerError as error:
        raise InputError(str(error), error.hint) from None
    if data is not None:
        try:
            samples = model_files.sample_inputs(layers, proto, data, sizes)
            parts = parts_for_samples(layers)
            network = with_sample_densities(network, layers, config, parts, samples)
        except LowerError as error:
            raise InputError(str(error), error.hint) from None
    # A rewritten layer may have another operator than the node of the model.
    operators = operators_of(layers) | operators
    plans, more, problem = _plans(network, config, operators)
    reports = tuple(layer_report(plan, network.tensors, config) for plan in plans)
    return Estimate(title, config, reports, (*refusals, *more), problem, is_calibrated)


def _integers(
    proto: onnx.ModelProto,
    config: Configuration,
    dims: Mapping[str, int],
    data: ArrayLike | Mapping[str, ArrayLike] | None,
) -> ModelNetwork:
    """Return a floating-point model after quantisation to the integers of the device's array.

    `dims` has the sizes of the model's named dimensions. `data` has samples of the inputs. Without
    `data`, the scales are chosen with one random sample. Raises `InputError` for data that do not
    fit, `LowerError` for a model that cannot be quantised.
    """
    from macaw.lowering.onnx.assign import Types
    from macaw.lowering.onnx.pipeline import Plan, trial_network
    from macaw.lowering.onnx.samples import input_names, random_sample
    from macaw.quantisation import data_by_name

    dtype = OPERAND_DTYPES[config["pe.element"]]
    types = Types(dtype if dtype in ("int8", "int16") else "int8")
    if data is None:
        arrays = {name: array[None] for name, array in random_sample(proto, dims).items()}
    else:
        arrays = data_by_name(data, input_names(proto), [])
    return trial_network(proto, arrays, Plan(types, dims=dims))


def _plans(
    network: Network, config: Configuration, operators: Mapping[str, str]
) -> tuple[tuple[LayerPlan, ...], tuple[Refusal, ...], str]:
    """Return (plans of layers, layers without a plan, reason why the plans do not fit together).

    The plans are those that `compile` would choose. If `compile` refuses the network, each layer is
    planned alone. `operators` are the operators of the model's nodes by name.
    """
    from macaw.lowering.net.assign import Refusal
    from macaw.lowering.net.layer_plans import fitting_plans, plan_layers

    try:
        return fitting_plans(network, config)[0], (), ""
    except LowerError as error:
        problem = error
    plans: list[LayerPlan] = []
    refusals = []
    for layer in network.layers:
        try:
            plans += plan_layers(replace(network, layers=(layer,)), config)
        except LowerError as error:
            reason = str(error).removeprefix(f"layer {layer.name}: ")
            refusals.append(Refusal(layer.name, operators[layer.name], reason, error.hint))
    return tuple(plans), tuple(refusals), "" if refusals else str(problem)
