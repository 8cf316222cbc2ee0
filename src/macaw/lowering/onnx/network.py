"""Networks of layers: the input of the compiler and of the reference evaluator.

Images are (batch, channels, height, width) and weights (outputs, channels / groups, height, width)
throughout, as in ONNX. Integers are signed; a `Quantisation` says which real numbers they stand
for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.window import Window

LAYOUTS = {3: "NCW", 4: "NCHW", 5: "NCDHW"}  # layouts of images, by the number of dimensions


@dataclass(frozen=True)
class Quantisation:
    """The scale and zero point of integers; `scale` is binary32.

    An integer q stands for the real number scale · (q - zero_point).
    """

    scale: float
    zero_point: int = 0


@dataclass(frozen=True)
class Tensor:
    """A value of a network: its ONNX name, shape, element type, and quantisation if it has one."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    quantisation: Quantisation | None = None

    @property
    def layout(self) -> str:
        """The order of the dimensions if the tensor is an image: NCHW, NCW or NCDHW, else ""."""
        return LAYOUTS.get(len(self.shape), "")


@dataclass(frozen=True)
class Requantisation:
    """The step y = saturate(round(f32(sum) · multiplier) + zero_point), rounding half to even.

    `multipliers` is binary32: one number, or one for each channel of the result. `low` and `high`
    limit y: the range of its type, or the range of an activation.
    """

    multipliers: NDArray[np.float32]
    zero_point: int
    low: int
    high: int

    @property
    def shifts(self) -> NDArray[np.int64] | None:
        """The right shift n of each multiplier 2 ** -n; None if one is not a power of two."""
        mantissas, exponents = np.frexp(self.multipliers)
        return 1 - exponents.astype(np.int64) if np.all(mantissas == 0.5) else None


@dataclass(frozen=True)
class Dequantisation:
    """The step y = f32(sum) · multiplier, clipped to the range (low, high); all binary32."""

    multipliers: NDArray[np.float32]
    low: float
    high: float


Output = Requantisation | Dequantisation


@dataclass(frozen=True)
class Layer:
    """One step of a network: `inputs` and `outputs` are names of tensors or constants.

    `name` is the name of the ONNX node; `parts` has the names of all nodes that the layer replaces.
    """

    name: str
    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parts: tuple[str, ...]


@dataclass(frozen=True)
class WeightLayer(Layer):
    """Conv, ConvTranspose, Gemm or MatMul with constant weights: integer sums of products.

    `weights` is int8 or int16: (outputs, channels / groups, ...) of Conv, (channels, outputs /
    groups, ...) of ConvTranspose, (outputs, inputs) of Gemm and MatMul. `bias` is int64 (outputs,);
    it fits 32 bits if `accumulator` is int32. It includes the zero point of the input, except in a
    ConvTranspose, which subtracts `input_zero` from its input. The padding of a Conv has the number
    `input_zero`. If `output` is None, the result is the sums.
    """

    weights: NDArray[Any] = field(compare=False)
    bias: NDArray[np.int64] = field(compare=False)
    output: Output | None = field(compare=False)
    accumulator: str  # int32 or int64
    window: Window | None = None
    groups: int = 1
    input_zero: int = 0


@dataclass(frozen=True)
class ProductLayer(Layer):
    """A Mul or MatMul of two tensors a and b of integers.

    It computes (a - zeros[0]) · (b - zeros[1]) in integers; `output` then turns these products or
    sums of products into the result.
    """

    zeros: tuple[int, int]
    output: Output = field(compare=False)


@dataclass(frozen=True)
class PoolLayer(Layer):
    """Maximum or mean of windows (`window`), or of whole axes (`axes`).

    For a mean, the sum of (x - input_zero) is requantised with `output`. Its multipliers include
    the division by the number of elements, and have shape (1, 1, ...) if this number differs
    between windows. A maximum keeps its input's integers (`output` is None), or is requantised.
    With `keep`, the axes `axes` stay in the result with length 1.
    """

    output: Requantisation | None = field(compare=False)
    window: Window | None = None
    axes: tuple[int, ...] = ()
    keep: bool = True  # whether the result keeps the axes, with one element each
    input_zero: int = 0


@dataclass(frozen=True)
class SumLayer(Layer):
    """The sum y = saturate(round(sum of f32(f32(q - zero) · multiplier)) + zero_point).

    `zeros` and `multipliers` have one number for each input q; the multipliers of subtracted inputs
    are negative. Products and sums are rounded to binary32, from left to right. The result's
    `zero_point` is in `output`, whose own multipliers are 1.
    """

    zeros: tuple[int, ...]
    multipliers: tuple[float, ...]
    output: Requantisation = field(compare=False)


@dataclass(frozen=True)
class TableLayer(Layer):
    """A function of each element of one tensor.

    The nodes `nodes` compute it in binary32 from the real number for which the element stands, and
    the result is quantised. For int8 inputs `table` has the results of all integers from -128 to
    127; otherwise it is None.
    """

    nodes: tuple[Node, ...] = field(compare=False)
    constants: Mapping[str, NDArray[Any]] = field(compare=False)
    table: NDArray[Any] | None = field(compare=False)


@dataclass(frozen=True)
class MoveLayer(Layer):
    """A node that moves integers: reshape, transpose, slice, concatenation, nearest resizing.

    `rescales` has, for each input, None or the requantisation of its integers; the input's number
    in `zeros` is first subtracted from them.
    """

    node: Node = field(compare=False)
    rescales: tuple[Requantisation | None, ...] = field(compare=False)
    zeros: tuple[int, ...] = ()


@dataclass(frozen=True)
class RescaleLayer(Layer):
    """A tensor converted to another scale, type or zero point, or to real numbers.

    The input has integers or sums; `zero` is its zero point. If `output` has several multipliers,
    they belong to the elements along dimension `axis`.
    """

    output: Output = field(compare=False)
    zero: int = 0
    axis: int = 1


@dataclass(frozen=True)
class FrameLayer(Layer):
    """Puts a frame around an image, and rows and columns between its pixels.

    All new elements are `value`. `before` has the numbers of rows above the image and of columns
    on its left, `after` those below it and on its right. `steps` is the distance from a pixel to
    the next in the result, in (rows, columns); with (1, 1) nothing is put between the pixels.
    """

    steps: tuple[int, int]
    before: tuple[int, int]
    after: tuple[int, int]
    value: int = 0


@dataclass(frozen=True)
class LookupLayer(Layer):
    """A layer that returns one row of `rows` (rows, elements) for each integer of a tensor.

    The last row is for all integers for which there is no other row.
    """

    rows: NDArray[Any] = field(compare=False)


@dataclass(frozen=True)
class SignLayer(Layer):
    """Adds `offset` to each integer, to convert between unsigned and signed integers."""

    offset: int


@dataclass(frozen=True)
class FloatLayer(Layer):
    """An ONNX node that is computed as ONNX defines it, in the types of its tensors."""

    node: Node = field(compare=False)


@dataclass(frozen=True)
class Network:
    """Layers in an order in which each tensor is computed before it is read.

    `operators` has the operators of the model's nodes by name, for messages.
    """

    layers: tuple[Layer, ...]
    tensors: Mapping[str, Tensor]
    constants: Mapping[str, NDArray[Any]]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    operators: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
