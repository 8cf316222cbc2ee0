"""Random networks of products, their programs, and each layer's result by NumPy."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import macaw
from macaw.asm.program import Program
from macaw.isa.config import Configuration
from macaw.layer_lowering import write_sources
from macaw.lowering import reference
from macaw.lowering.convolution import Convolution, convolution
from macaw.lowering.net.network import NetTensor, Network, ProductLayer
from macaw.lowering.net.program import NetworkProgram
from macaw.lowering.operation import Product


def random_convolution(
    rng: np.random.Generator,
    image: tuple[int, int, int],
    outputs: int,
    kernel: int,
    *,
    stride: int = 1,
    padding: int = 0,
    depthwise: bool = False,
    shift: int = 6,
) -> Convolution:
    """A convolution with random weights and biases; `image` is (height, width, channels)."""
    channels = image[2]
    shape = (channels, kernel, kernel) if depthwise else (outputs, kernel, kernel, channels)
    return convolution(
        rng.integers(-8, 8, shape).astype(np.int8),
        image[:2],
        stride=(stride, stride),
        padding=(padding, padding),
        depthwise=depthwise,
        bias=rng.integers(-100, 100, shape[0]).astype(np.int32),
        activation="relu",
        shift=shift,
    )


def random_vector_product(rng: np.random.Generator, inputs: int, outputs: int) -> Product:
    """A product of a vector with random weights and biases, whose results are raw sums."""
    weights = rng.integers(-8, 8, (outputs, inputs)).astype(np.int8)
    return Product(1, weights, rng.integers(-99, 99, outputs).astype(np.int32), vector=True)


def chain(products: Sequence[Product]) -> Network:
    """A network in which each product reads the previous product's results, perhaps flattened."""
    tensors = {"image": NetTensor("image", "int8", products[0].shapes[0])}
    layers, aliases, before = [], {}, "image"
    for number, product in enumerate(products):
        name = f"block/{number}"
        shape = product.shapes[0]
        if tensors[before].shape != shape:
            tensors[f"{before}/flat"] = NetTensor(f"{before}/flat", "int8", shape)
            aliases[f"{before}/flat"], before = before, f"{before}/flat"
        dtype = "int32" if product.shift is None else "int8"
        tensors[name] = NetTensor(name, dtype, product.shapes[1])
        layers.append(ProductLayer(name, (before,), name, product))
        before = name
    return Network("chain", tensors, tuple(layers), ("image",), (before,), aliases)


def expected(network: Network, config: Configuration, x: NDArray) -> dict[str, NDArray]:
    """The tensors of a chain by name, as NumPy computes them."""
    values = {"image": x}
    for layer in network.layers:
        assert isinstance(layer, ProductLayer)
        (name,) = layer.inputs
        product = layer.product.validated(config)
        inputs = values[network.aliases.get(name, name)].reshape(product.shapes[0])
        values[layer.output] = reference.result(product, config, inputs)
    return values


def assembled(program: NetworkProgram) -> Program:
    """The program of a network, assembled without a warning."""
    with tempfile.TemporaryDirectory() as folder:
        for name, source in program.sources.items():
            write_sources(source, Path(folder) / name)
        found = macaw.assemble(*(Path(folder) / name for name in program.sources))
    assert not found.warnings
    return found
