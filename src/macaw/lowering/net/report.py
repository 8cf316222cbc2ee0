"""Reports on a network: for each layer its predicted cycles, and the least number possible."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

import numpy as np

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import ENTRY
from macaw.lowering.choose import Choice
from macaw.lowering.convolution import Convolution
from macaw.lowering.cost import Cost
from macaw.lowering.net.island_program import island_prediction, products_a_cycle
from macaw.lowering.net.island_program import products as island_macs
from macaw.lowering.net.layer_plan import LayerPlan
from macaw.lowering.net.native_program import native_prediction
from macaw.lowering.net.network import IslandLayer, NativeLayer, NetTensor, VectorLayer
from macaw.lowering.net.vector.operations import VectorOperation, elements
from macaw.lowering.net.vector.source import cycles
from macaw.lowering.nnp.operations import products
from macaw.lowering.operation import Product, Types


@dataclass(frozen=True)
class LayerReport:
    """One layer of a compiled network: its core, its amount of work, and its cost.

    `name` is the name of the node in the model, `tensor` the name of its result. `symbol` is the
    name of the layer's subroutine in the program. `macs` counts multiplications: in the array and
    nnp those by nonzero weights, in islands all; it is 0 for an operation of vc, even if the array
    does it. `bound` is the least number of cycles that the device needs: for `macs` if all
    multipliers of the core work, or for moving the bytes, whichever is greater. `predicted` is the
    predicted number of cycles, and `limiter` names the part of the device that needs most of them.
    """

    name: str
    symbol: str
    tensor: str
    operator: str
    core: str
    shape: tuple[int, ...]  # the shape of the output on the device
    macs: int
    predicted: int  # the predicted number of cycles
    bound: int
    limiter: str
    external_bytes: int


def layer_report(
    item: LayerPlan, tensors: Mapping[str, NetTensor], config: Configuration
) -> LayerReport:
    """Return the report of a planned layer of the network that has these tensors."""
    shape = tensors[item.layer.output].shape
    if isinstance(item.layer, VectorLayer):
        return _vector_layer(item, item.layer.operation, shape, config)
    if isinstance(item.layer, NativeLayer):
        return _native_layer(item, item.layer, shape, config)
    if isinstance(item.layer, IslandLayer):
        return _island_layer(item, item.layer, shape, config)
    assert item.choice is not None
    return _array_layer(item, item.choice, shape, config)


def _vector_layer(
    item: LayerPlan, operation: VectorOperation, shape: tuple[int, ...], config: Configuration
) -> LayerReport:
    """Return the report of a layer that vc computes. The bound is the time to move its tensors."""
    moved = _tensor_bytes(operation)
    return LayerReport(
        item.layer.name,
        item.symbol,
        item.layer.output,
        operation.title.lower(),
        "vc",
        shape,
        0,
        cycles(operation, config) if item.overlap is None else item.overlap.cycles,
        ceil(moved / int(config["mem.external_width"])),
        "vc",
        moved,
    )


def _native_layer(
    item: LayerPlan, layer: NativeLayer, shape: tuple[int, ...], config: Configuration
) -> LayerReport:
    """Return the report of a layer that nnp computes.

    The bound is the larger of two times: the time for the multiplications by nonzero weights, and
    the time to move the layer's tensors.
    """
    macs, run = products(layer.native), native_prediction(layer, config)
    count, native = layer.vectors
    taken = sum(layer.native.tensors[port.tensor].vectors for port in layer.native.inputs)
    moved = (taken + count) * native * Types.size("float32")
    width = int(config["mem.external_width"])
    lanes = int(config["nnp.engines"]) * int(config["nnp.lanes"]) * native
    least = ceil(macs / lanes) * int(config["nnp.divider"])
    return LayerReport(
        item.layer.name,
        item.symbol,
        item.layer.output,
        layer.operator,
        "nnp",
        shape,
        macs,
        run.cycles,
        max(least, ceil(moved / width)),
        "nnp",
        moved + run.beats * width,
    )


def _island_layer(
    item: LayerPlan, layer: IslandLayer, shape: tuple[int, ...], config: Configuration
) -> LayerReport:
    """Return the report of a layer that islands compute.

    The bound is the larger of two times. One is the time for the multiplications if all lanes of
    all islands with fp32 always work. The other one is the time to move the layer's tensors.
    """
    graph = layer.product.graph
    macs = island_macs(graph.tasks)
    numbers = sum(tensor.numbers for tensor in (*graph.inputs, *graph.results))
    moved = numbers * Types.size("float32")
    rate = products_a_cycle(config, graph.form)
    return LayerReport(
        item.layer.name,
        item.symbol,
        item.layer.output,
        "matmul",
        "fim",
        shape,
        macs,
        island_prediction(layer, config),
        max(ceil(macs / rate), ceil(moved / int(config["mem.external_width"]))),
        _island_limiter(layer),
        moved,
    )


def _island_limiter(layer: IslandLayer) -> str:
    """Return "dma" or "fim": whether the copies or the busiest island need more cycles."""
    options = [step.option for step in layer.product.plan.steps]
    copies = sum(option.bring + option.fetch for option in options)
    blocks: dict[int | None, int] = {}
    for option in options:
        blocks[option.island] = blocks.get(option.island, 0) + option.compute
    return "fim" if max(blocks.values()) > copies else "dma"


def _tensor_bytes(operation: VectorOperation) -> int:
    """Return the sum of the bytes of an operation's inputs and result."""
    tensors = zip(
        (*operation.input_dtypes, operation.result_dtype),
        (*operation.inputs, operation.result),
        strict=True,
    )
    return sum(Types.size(dtype) * elements(shape) for dtype, shape in tensors)


def _array_layer(
    item: LayerPlan, choice: Choice, shape: tuple[int, ...], config: Configuration
) -> LayerReport:
    """Return the report of a layer that the array computes."""
    product, cost = choice.selection.plan.product, choice.selection.cost
    macs, least = nonzero_macs(product), least_bytes(product, config)
    name = operator(product)
    if item.operation is not None:  # the model has no weights
        macs, least = 0, _tensor_bytes(item.operation)
        name = item.operation.title.lower()
    pes = int(config["pe.rows"]) * int(config["pe.clusters"]) * int(config["pe.pes"])
    width = int(config["mem.external_width"])
    bound = max(ceil(macs / pes) * int(config["pe.divider"]), ceil(least / width))
    return LayerReport(
        item.layer.name,
        item.symbol,
        item.layer.output,
        name,
        "pe",
        shape,
        macs,
        cost.cycles,
        bound,
        _limiter(cost),
        cost.traffic.external,
    )


def _limiter(cost: Cost) -> str:
    """Return which part needs the most cycles: the array, the dma or cp."""
    times = {"array": cost.rows, "dma": cost.dma, "cp": cost.cp}
    return max(times, key=times.__getitem__)


def operator(product: Product) -> str:
    """Return a short name of a product's operation, with the size of a convolution's kernel."""
    table = "" if product.table is None else " + table"
    if not isinstance(product, Convolution):
        return f"product{table}"
    kind = "depthwise" if product.depthwise else "conv"
    pairs = zip(product.kernel, product.dilation, strict=True)
    size = "×".join(str((reach - 1) // step + 1) for reach, step in pairs)
    stride = "" if product.stride == (1, 1) else f"/{'×'.join(map(str, product.stride))}"
    return f"{kind} {size}{stride}{table}"


def nonzero_macs(product: Product) -> int:
    """Return the number of multiplications by nonzero weights that a product needs."""
    positions = product.m
    if isinstance(product, Convolution):
        positions *= product.columns * product.image_count
    return positions * int(np.count_nonzero(product.weights))


def least_bytes(product: Product, config: Configuration) -> int:
    """Return how many bytes a product has to move at least.

    They are those of its activations and results, and of its nonzero weights with their indices.
    """
    entry = ENTRY.size + Types.size(product.types(config).weight)
    return product.tensor_bytes(config) + entry * int(np.count_nonzero(product.weights))
