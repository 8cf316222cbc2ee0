"""Describes the operations of a model on nnp's native vectors, before they form chains.

An operation reads and writes `Place`s: rows of native vectors of named tensors. A `Phase` is a list
of operations that is executed once, or once for each time step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass

COPY, PRODUCT, SOFTMAX, TILES = "copy", "product", "softmax", "tiles"
ADD, SUBTRACT, MULTIPLY, MAXIMUM = "add", "subtract", "multiply", "maximum"
SIGMOID, TANH, RELU = "sigmoid", "tanh", "relu"
NET_IN, NET_OUT, DRAM = "NetInQ", "NetOutQ", "Dram"


@dataclass(frozen=True)
class Tensor:
    """A tensor on the device: `vectors` native vectors in each of its `slots`.

    `constant` has the numbers of a constant, (vectors, N). `memory` is NetInQ, NetOutQ or Dram if
    the tensor must be there; otherwise it is in register files. A state of a time loop has two
    slots: a step reads one and writes the other. `shape` is (rows, elements of a row) for hints.
    """

    name: str
    vectors: int
    constant: NDArray[Any] | None = field(default=None, compare=False)
    memory: str = ""
    slots: int = 1
    shape: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Place:
    """Rows of a tensor: row i begins at native vector `first` + `stride` · i, i below `count`.

    A row has `vectors` native vectors. In time step t the rows begin `step` · t vectors later. For
    a tensor with two slots, the slot is (t + `slot`) mod 2.
    """

    tensor: str
    count: int
    vectors: int
    first: int = 0
    stride: int = 0
    step: int = 0
    slot: int = 0


@dataclass(frozen=True)
class Matrix:
    """A matrix of `rows` × `columns` native tiles.

    `values` is (rows · N, columns · N), or None if the program computes the matrix. `shape` has the
    numbers of rows and columns without padding.
    """

    name: str
    rows: int
    columns: int
    shape: tuple[int, int]
    values: NDArray[Any] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Window:
    """The windows of a convolution or a pool. The pairs are (vertical, horizontal).

    `depth` is the number of native vectors of a position. With `reads`, an operation reads all
    vectors of each window. Otherwise it reads a single position of each window, at the same place
    in all windows.
    """

    size: tuple[int, int]  # the size of the image
    kernel: tuple[int, int]
    strides: tuple[int, int]
    pads: tuple[int, int]  # the same on both sides of the image
    dilations: tuple[int, int]
    depth: int
    reads: bool = True

    @property
    def sequential(self) -> bool:
        """Whether the addresses of windows advance by one position for each window."""
        reach = (self.kernel[1] - 1) * self.dilations[1]
        return self.strides == (1, 1) and 2 * self.pads[1] == reach


@dataclass(frozen=True)
class Operation:
    """One operation: it applies `kind` to each row of `inputs` and writes the rows of `output`.

    `matrix` is the name of a product's matrix. `valid` is the number of elements of a softmax. The
    kind `tiles` loads a matrix from a tensor in Dram, and has no output.
    """

    layer: str  # the name of the model's node
    kind: str
    inputs: tuple[Place, ...]
    output: Place | None
    matrix: str = ""
    valid: int = 0
    window: Window | None = None  # the windows of the first input


@dataclass(frozen=True)
class Phase:
    """Operations that are executed `steps` times. Each time step executes all of them in order."""

    operations: tuple[Operation, ...]
    steps: int = 1


@dataclass(frozen=True)
class Port:
    """An input or output of a model: its shape, its element type, and its layout on the device.

    The device stores the elements in rows, which padding fills up to whole native vectors.
    `elements` has shape (rows, places of a row). For each place it has the index of the element
    that the device stores there, counted in the flattened array of the model, or -1 for padding.
    `tensor` is the name of the device's tensor.
    """

    name: str
    tensor: str
    shape: tuple[int, ...]
    dtype: str
    elements: NDArray[Any] = field(compare=False)


@dataclass(frozen=True)
class Layer:
    """A node of the model that computes something: its operator and the shapes of its results."""

    operator: str
    shapes: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Model:
    """A model as operations of nnp, in `phases` that are executed one after the other.

    `tensors` and `matrices` have the operands by name, `inputs` and `outputs` those of the model.
    `layers` has the nodes of the model that compute something, by name.
    """

    phases: tuple[Phase, ...]
    tensors: Mapping[str, Tensor]
    matrices: Mapping[str, Matrix]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    layers: Mapping[str, Layer]


def products(model: Model) -> int:
    """Return the number of multiplications by nonzero weights in one run of a model."""
    total = 0
    for phase in model.phases:
        for operation in phase.operations:
            if operation.matrix and operation.output is not None:
                values = model.matrices[operation.matrix].values
                size = prod(model.matrices[operation.matrix].shape)
                nonzero = size if values is None else int(np.count_nonzero(values))
                total += nonzero * operation.output.count * phase.steps
    return total
