"""Measures which share of each tensor of a network is not zero, on samples of the inputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.net.densities import shares, with_shares
from macaw.lowering.net.network import Network
from macaw.lowering.onnx.network import Network as ModelNetwork
from macaw.lowering.onnx.reference import evaluate
from macaw.networks.island_settings import core_definitions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from macaw.lowering.net.island_layers import Parts
    from macaw.lowering.net.layer_plans import MapAll


@dataclass(frozen=True)
class SampleTask:
    """A sample of a model's inputs, and the names of the tensors whose densities are wanted.

    A density is the share of elements that are not zero. `parts` says into which parts the products
    of each layer on islands are divided.
    """

    model: ModelNetwork
    config: Configuration
    parts: Parts
    names: frozenset[str]
    inputs: Mapping[str, NDArray[Any]]


def sample_shares(task: SampleTask) -> dict[str, float]:
    """Return by name the share of nonzero elements of each tensor of a task.

    Raises `LowerError` if the model cannot be evaluated.
    """
    definitions = core_definitions(task.model, task.config, task.parts)
    return shares(task.names, evaluate(task.model, task.inputs, definitions))


def with_sample_densities(
    network: Network,
    model: ModelNetwork,
    config: Configuration,
    parts: Parts,
    inputs: Iterable[Mapping[str, NDArray[Any]]],
    map_all: MapAll | None = None,
) -> Network:
    """Return the network with the densities of its tensors, as means over samples of the inputs.

    A density is the share of elements that are not zero. `inputs` are the samples, each with the
    inputs of `model` by name. `parts` says into which parts the products of each layer on islands
    are divided. `map_all` replaces `map`; it may evaluate the samples in several processes. Raises
    `LowerError` if the model cannot be evaluated.
    """
    names = frozenset(network.tensors)
    tasks = [SampleTask(model, config, parts, names, item) for item in inputs]
    return with_shares(network, (map_all or map)(sample_shares, tasks))
