"""Describes a network as the device computes it: its tensors, and its layers in their order.

Images are stored as (height, width, channels), batches of images as (batch, height, width,
channels). All quantisation is in the layers: a product has its integer weights, biases and shift.
"""

from __future__ import annotations

from dataclasses import field
from math import prod
from typing import Any

from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.net.island_products import IslandProduct
from macaw.lowering.net.vector.operations import VectorOperation
from macaw.lowering.nnp.operations import Model
from macaw.lowering.operation import Product, Types


@dataclass(frozen=True)
class NetTensor:
    """A tensor of a network: its name in the model, its element type and its shape."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of bytes of the tensor."""
        return prod(self.shape) * Types.size(self.dtype)


@dataclass(frozen=True)
class Layer:
    """A layer of a network: its name in the model, and the tensors that it reads and writes."""

    name: str
    inputs: tuple[str, ...]
    output: str


@dataclass(frozen=True)
class ProductLayer(Layer):
    """A matrix product or a convolution, which the array computes."""

    product: Product


@dataclass(frozen=True)
class VectorLayer(Layer):
    """An operation on whole tensors, which vc computes."""

    operation: VectorOperation


@dataclass(frozen=True)
class NativeLayer(Layer):
    """A program of nnp, which reads and writes tensors of native vectors.

    A native vector is the vector that nnp processes at once. `vectors` is (number of native vectors
    of the result, elements of each).
    """

    operator: str
    native: Model
    vectors: tuple[int, int]  # number of native vectors of the result, and elements of each


@dataclass(frozen=True)
class IslandLayer(Layer):
    """A product of two stacks of matrices of real numbers; fim islands compute it."""

    product: IslandProduct


@dataclass(frozen=True)
class Network:
    """A network: its tensors by name, its layers in the order of execution, inputs and outputs.

    `aliases` has the tensors without bytes of their own: for each, the tensor that has its bytes.
    If an alias is only some columns of that tensor, `columns` has (first column, number of
    columns). `constants` has the values of constant tensors. `densities` has the share of nonzero
    elements of a tensor; it is 1 for tensors without an entry.
    """

    name: str
    tensors: dict[str, NetTensor]
    layers: tuple[Layer, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    # tensors without bytes of their own: for each, the tensor that has its bytes
    aliases: dict[str, str] = field(default_factory=dict)
    constants: dict[str, NDArray[Any]] = field(default_factory=dict)  # values of constant tensors
    # by tensor: the share of its elements that are not 0; it is 1 for tensors without an entry
    densities: dict[str, float] = field(default_factory=dict)
    # by alias that is only some columns of a tensor: the first column and the number of columns
    columns: dict[str, tuple[int, int]] = field(default_factory=dict)

    def home(self, name: str) -> str:
        """Return the name of the tensor that has the bytes of tensor `name`: itself or another."""
        return self.aliases.get(name, name)
