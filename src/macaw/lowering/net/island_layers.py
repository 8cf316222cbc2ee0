"""Lets fim islands compute products of two real tensors, for the layers that the user names.

The islands read and write stacks of matrices, one below the other, row by row. So the tensors are
reshaped before and after the product; the dma moves the elements if their order changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from math import prod
from typing import Any

from numpy.typing import NDArray

from macaw.isa.fim_circuit import FORMAT_NAMES
from macaw.isa.fim_islands import abilities
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.onnx_values import matrix_pairs
from macaw.lowering.fim.product_parts import ProductPart, stacked_products
from macaw.lowering.net.island_products import LEFT, RESULT, RIGHT, IslandProduct
from macaw.lowering.net.rewriting import Rewriting
from macaw.lowering.onnx import network as model_layers
from macaw.lowering.onnx.model_file import message_name
from macaw.lowering.onnx.network import Layer, Network
from macaw.lowering.onnx.read import node_error
from macaw.lowering.onnx.reference import Definition

_FORM = FORMAT_NAMES.index("fp32")
_MOST = 64  # the most matrices of a layer; planning more would take long
_NAMED = 6  # the most layers that a hint names
OPERATOR = "MatMul"  # the operator of layers that islands compute


@dataclass(frozen=True)
class StackedProduct(Layer):
    """A product of two stacks of matrices, as islands compute it.

    The inputs have the shapes (1, rows of all matrices, k) and (1, k · matrices, n), the output
    (1, rows, n).
    """

    product: IslandProduct = field(compare=False)


def check_names(model: Network, names: frozenset[str]) -> None:
    """Raise `LowerError` unless each of `names` is a layer or operator that islands can compute."""
    for name in sorted(names):
        layers = [x for x in model.layers if name in (x.name, x.operator)]
        if not layers:
            whole = next((x for x in model.layers if name in x.parts), None)
            if whole is not None:
                raise LowerError(f"node {name} is part of layer {whole.name}", _choices(model))
            message = f"no layer and no operator is called '{message_name(name)}'"
            raise LowerError(message, _choices(model))
        if not any(_is_product_of_tensors(layer) for layer in layers):
            layer = layers[0]
            raise LowerError(
                f"node {layer.name} ({layer.operator}): beside other cores, islands compute"
                " only products of two tensors",
                _choices(model),
            )


def _choices(model: Network) -> str:
    """Return a hint that names the layers that have the right form for islands."""
    names = [layer.name for layer in model.layers if _is_product_of_tensors(layer)]
    if not names:
        return f"the model has no {OPERATOR} of two tensors without constant weights of integers"
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"islands can compute {', '.join(names[:_NAMED])}{more}"


def _is_product_of_tensors(layer: Layer) -> bool:
    return layer.operator == OPERATOR and isinstance(
        layer, model_layers.FloatLayer | model_layers.ProductLayer
    )


def is_on_islands(rewriting: Rewriting, layer: Layer) -> bool:
    """Return whether islands compute a layer, because the user named it or its operator."""
    return not rewriting.islands.isdisjoint((layer.name, layer.operator))


def append_island_product(
    rewriting: Rewriting, layer: Layer, left: str, right: str, result: str
) -> None:
    """Append the product `result` of the tensors `left` and `right`, and the reshapes around it.

    Raises `LowerError` if no island of the device has fp32, or if there are too many matrices.
    """
    config = rewriting.config
    count = int(config["fim.islands"])
    if not any(FORMAT_NAMES[_FORM] in abilities(config, number).formats for number in range(count)):
        raise LowerError(
            "it computes real numbers in binary32, and no island has fp32",
            f"add {FORMAT_NAMES[_FORM]} to fim.island.N.formats",
        )
    a, b = (rewriting.tensors[name] for name in (left, right))
    shape = rewriting.tensors[result].shape
    graph, stacks = _graph(a.shape, b.shape)
    inputs = tuple(
        rewriting.reshaped(layer, tensor.name, (1, *stack), f"{tensor.name}_rows")
        for tensor, stack in zip((a, b), stacks, strict=True)
    )
    rows = (1, prod(shape[:-1]), shape[-1])
    name = result
    if shape != rows:
        name = rewriting.tensor(f"{result}_rows", rewriting.tensors[result], shape=rows)
    work = IslandProduct(graph, config)
    rewriting.add(StackedProduct(layer.name, OPERATOR, inputs, (name,), layer.parts, work))
    if name != result:
        rewriting.reshape_to(layer, name, result)


def with_shared_instructions(layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """Return the layers of a network; those on islands share the islands' room for instructions.

    The programs of all layers are in the islands' memory at once, so each layer on islands is
    planned for an equal share of the instructions.
    """
    count = sum(isinstance(layer, StackedProduct) for layer in layers)
    return tuple(
        replace(layer, product=layer.product.with_share(count))
        if isinstance(layer, StackedProduct)
        else layer
        for layer in layers
    )


def _graph(
    left: tuple[int, ...], right: tuple[int, ...]
) -> tuple[Graph, tuple[tuple[int, int], ...]]:
    """Return a graph of products of two tensors, and the tensors' shapes as stacks of matrices.

    `left` and `right` are the shapes of the tensors. Raises `LowerError` for more than `_MOST`
    products of matrices.
    """
    (height, depth), width = left[-2:], right[-1]
    matrices = prod(right[:-2])
    stacks = (prod(left[:-1]), depth), (matrices * depth, width)
    graph = Graph(_FORM)
    a, b = graph.tensor(LEFT, *stacks[0]), graph.tensor(RIGHT, *stacks[1])
    if matrices == 1:
        graph.product(a, b, RESULT)
        return graph, stacks
    pairs = matrix_pairs(left, right)
    if len(pairs) > _MOST:
        raise LowerError(f"islands would compute {len(pairs):,} products", f"at most {_MOST}")
    whole = graph.whole(RESULT, len(pairs) * height, width)
    for number, (of_a, of_b) in enumerate(pairs):
        graph.product(
            graph.view(a, height, depth, of_a * height * depth, f"a{number}"),
            graph.view(b, depth, width, of_b * depth * width, f"b{number}"),
            f"c{number}",
            into=whole,
            row=number * height,
        )
    return graph, stacks


Parts = Mapping[str, tuple[ProductPart, ...]]


def island_parts(network: Network) -> dict[str, tuple[ProductPart, ...]]:
    """Return for each layer on islands, by name, which part of its product each island computes.

    Raises `LowerError` if the islands cannot compute a layer.
    """
    parts = {}
    for layer in network.layers:
        if isinstance(layer, StackedProduct):
            try:
                parts[layer.name] = layer.product.parts
            except LowerError as error:
                raise node_error(layer.name, layer.operator, error) from None
    return parts


def island_definitions(network: Network, parts: Parts) -> dict[str, Definition]:
    """Return the functions that compute the islands' layers of a network, by the layer's name.

    `parts` says which part of each layer's product each island computes (`island_parts`).
    """
    return {
        layer.name: _definition(network, layer, parts[layer.name])
        for layer in network.layers
        if isinstance(layer, StackedProduct)
    }


def _definition(
    network: Network, layer: StackedProduct, parts: tuple[ProductPart, ...]
) -> Definition:
    shape = network.tensors[layer.outputs[0]].shape

    def compute(arrays: list[NDArray[Any]]) -> list[NDArray[Any]]:
        (a,), (b,) = arrays
        stacks = b.reshape(-1, a.shape[1], b.shape[1])
        return [stacked_products(a, stacks, shape[1], parts)[None]]

    return compute
