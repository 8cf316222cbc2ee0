"""Describes the products that can be lowered, with their weights and element types."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import (
    ACTIVATIONS,
    DTYPES,
    FIXED_POINT,
    OPERAND_DTYPES,
    SUM_DTYPES,
    available,
    widest_of,
)
from macaw.lowering.errors import LowerError

# Activation functions with which each result depends on one sum only.
FUNCTIONS = tuple(name for name in ACTIVATIONS if name in ("none", "relu", *FIXED_POINT))
ENTRIES = 256  # entries of a table: one for each int8 number


def operand_dtypes(config: Configuration) -> tuple[str, ...]:
    """Return the types that weights and activations of a device's array may have."""
    return tuple(DTYPES[name] for name in available(config))


def counted(count: int, noun: str, form: str = "") -> str:
    """Return a number with its noun in a description: "1 row", "2 rows".

    `form` is the format of the number, for example "," for "1,024 rows".
    """
    return f"{count:{form}} {noun}{'s' * (count != 1)}"


@dataclass(frozen=True)
class Elements:
    """The element types of an operation's operands and results, by NumPy's names.

    They replace the device's type `pe.element` for this operation.
    """

    activation: str
    weight: str
    result: str  # the type of a requantised sum


@dataclass(frozen=True)
class Types:
    """The element types of an operation, by NumPy's names.

    `sum` is the type of accumulators and bias. `result` is the type that is stored.
    """

    activation: str
    weight: str
    sum: str  # the type of accumulators and bias
    result: str

    @classmethod
    def of(cls, config: Configuration, requantises: bool, elements: Elements | None) -> Types:
        """Return the types of activations, weights, sums and results on a device.

        Without `elements`, activations and weights have the type `pe.element`. If the operation
        does not requantise, its results have the type of the sums.
        """
        element = OPERAND_DTYPES[config["pe.element"]]
        chosen = elements or Elements(element, element, element)
        total = SUM_DTYPES[widest_of(config)]
        result = chosen.result if requantises else total
        return cls(chosen.activation, chosen.weight, total, result)

    @staticmethod
    def size(dtype: str) -> int:
        """Return the number of bytes of an element of type `dtype`."""
        return int(np.dtype(dtype).itemsize)


@dataclass(frozen=True, eq=False)
class Product:
    """A matrix product O = f(I · Wᵀ + bias) with I (m, k), weights W (n, k) and O (m, n).

    W has one row for each output, as in `.sparse` (the transpose of seed 000 Fig. 6a). With
    `vector`, m is 1 and the tensors have one dimension. `shift` or `scales` requantise the sums,
    and `table` then maps the results. If `reads_weights`, the weights come from a tensor at run
    time. If the results are some columns of a wider tensor y, `columns_of` is (column of y at which
    they begin, number of columns of y).
    """

    m: int
    weights: NDArray[Any]
    bias: NDArray[Any] | None = None
    activation: str = "none"
    shift: int | None = None  # requantise by 2**shift; None: raw sums, or requantise by `scales`
    vector: bool = False
    scales: NDArray[np.float32] | None = None  # (n,): requantise by a factor for each output
    table: NDArray[Any] | None = None  # (256,): maps results after they are requantised
    # The weights are ones; in their place come the elements of a tensor, (n,), at run time.
    reads_weights: bool = False
    elements: Elements | None = None  # None: all three types are pe.element
    # The results are columns of a wider tensor y: the first one, and the number of columns of y.
    columns_of: tuple[int, int] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields only: what was computed from them would make the pickle much larger."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @property
    def first_column(self) -> int:
        """The column of y at which the results begin."""
        return 0 if self.columns_of is None else self.columns_of[0]

    @property
    def y_pitch(self) -> int:
        """The number of columns of y: the elements from one row of results to the next."""
        return self.n if self.columns_of is None else self.columns_of[1]

    @property
    def requantises(self) -> bool:
        """Whether sums become results of a narrower type."""
        return self.shift is not None or self.scales is not None

    @cached_property
    def weights_before(self) -> NDArray[np.int64]:
        """For each output and each c from 0 to k, the number of nonzero weights for inputs below c.

        The shape is (n, k + 1).
        """
        before = np.zeros((self.n, self.k + 1), np.int64)
        np.cumsum(self.weights != 0, axis=1, out=before[:, 1:])
        return before

    @cached_property
    def weight_counts(self) -> dict[Hashable, NDArray[np.int64]]:
        """A cache for plans: the numbers of nonzero weights in tiles, by the sizes of the tiles."""
        return {}

    @property
    def n(self) -> int:
        """The number of outputs."""
        return int(self.weights.shape[0])

    @property
    def k(self) -> int:
        """The number of inputs from which an output is computed."""
        return int(self.weights.shape[1])

    def functions(self, config: Configuration) -> tuple[str, ...]:
        """Return the names of the functions that turn sums into results, in their order.

        They are those of the special-function unit (spu). Sigmoid and tanh of integers also
        requantise, so no separate function requantises after them.
        """
        names = ["activation"] if self.activation != "none" else []
        whole = np.dtype(self.types(config).sum).kind == "i"
        if self.requantises and not (whole and self.activation in FIXED_POINT):
            names.append("requantise")
        if self.table is not None:
            names.append("activation")
        return tuple(names)

    @property
    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes of activations and results."""
        if self.vector:
            return (self.k,), (self.n,)
        return (self.m, self.k), (self.m, self.n)

    @property
    def macs(self) -> int:
        """The number of products of a weight and an activation, if zeros are multiplied, too."""
        return self.m * self.n * self.k

    @property
    def copies_input(self) -> bool:
        """Whether the dma copies the input x in external memory before the product starts."""
        return False

    @property
    def frame(self) -> tuple[int, ...]:
        """The shape of the copy of x that the dma makes in external memory, if `copies_input`."""
        return self.shapes[0]

    @property
    def form(self) -> str:
        """The way in which a plan computes the operation, as text for reports; may be empty."""
        return ""

    def describe(self) -> str:
        """Return a text for messages, such as `4 rows of 16 inputs through 8 outputs`."""
        what = "a vector" if self.vector else counted(self.m, "row")
        return f"{what} of {counted(self.k, 'input')} through {counted(self.n, 'output')}"

    def types(self, config: Configuration) -> Types:
        """Return the types of activations, weights, sums and results on a device."""
        return Types.of(config, self.requantises, self.elements)

    def tensor_bytes(self, config: Configuration) -> int:
        """Return the number of bytes of activations and results in external memory."""
        types = self.types(config)
        sizes = (types.size(types.activation), types.size(types.result))
        return sum(math.prod(shape) * size for shape, size in zip(self.shapes, sizes, strict=True))

    def validated(self, config: Configuration) -> Self:
        """Return the product with weights and bias in the device's types.

        Raises `LowerError` if the product is invalid, or its types are not those of the device.
        """
        types = self.types(config)
        has = operand_dtypes(config)
        for name in (types.activation, types.weight):
            if name not in has:
                raise LowerError(f"the array has no {name}", f"{' or '.join(has)} (pe.widest)")
        if self.weights.ndim != 2 or not self.weights.size:
            raise LowerError(
                f"the weights have the shape {self.weights.shape}", "a matrix (outputs, inputs)"
            )
        if self.m < 1:
            raise LowerError(f"m is {self.m}, at least 1 row of activations is needed")
        if self.activation not in FUNCTIONS:
            raise LowerError(
                f"no activation '{self.activation}'", "there are " + ", ".join(FUNCTIONS)
            )
        whole = np.dtype(types.sum).kind == "i"
        if whole and self.activation in FIXED_POINT and self.shift is None:
            raise LowerError(
                f"{self.activation} of integers needs a shift", "the fraction bits of the sums"
            )
        if self.shift is not None and not 0 <= self.shift <= 63:
            raise LowerError(f"a shift of {self.shift} is out of range, 0 to 63")
        self._check_factors(types)
        bias = None
        if self.bias is not None:
            if self.bias.shape != (self.n,):
                raise LowerError(
                    f"the bias has the shape {self.bias.shape}, there are {self.n} outputs"
                )
            bias = as_dtype(self.bias, types.sum, "the bias")
        weights = as_dtype(self.weights, types.weight, "the weights")
        return replace(self, weights=weights, bias=bias)

    def _check_factors(self, types: Types) -> None:
        """Raise `LowerError` if scales or a table do not fit the product or its types."""
        if self.scales is not None:
            if self.shift is not None:
                raise LowerError("there are both a shift and scales")
            if self.scales.shape != (self.n,) or self.scales.dtype != np.float32:
                raise LowerError(
                    f"the scales are {self.scales.dtype} of shape {self.scales.shape}",
                    f"float32 of shape ({self.n},)",
                )
            if not np.isfinite(self.scales).all():
                raise LowerError("a scale is no finite number")
            if np.dtype(types.sum).kind != "i":
                raise LowerError("scales for sums of floating-point numbers", "integers")
        if self.table is None:
            return
        if not self.requantises or self.activation != "none" or types.result != "int8":
            raise LowerError("a table is for int8 after a shift or scales, without an activation")
        if self.table.shape != (ENTRIES,) or self.table.dtype != np.int8:
            raise LowerError(
                f"the table is {self.table.dtype} of shape {self.table.shape}",
                "int8 of shape (256,)",
            )


def as_dtype(array: NDArray[Any], dtype: str, what: str) -> NDArray[Any]:
    """Return `array` as little-endian `dtype`. Raises `LowerError` if a number does not fit.

    `what` is the name of the array in messages.
    """
    target = np.dtype(dtype).newbyteorder("<")
    hint = "the setting pe.element gives the types of weights and sums"
    if array.dtype.kind not in ("biu" if target.kind == "i" else "biuf"):
        raise LowerError(f"{what}: numbers of {array.dtype}, not of {dtype}", hint)
    if target.kind == "i":
        limits = np.iinfo(target)
        for extreme in (array.min(), array.max()):
            if not limits.min <= extreme <= limits.max:
                message = f"{extreme} is out of range of {dtype}, {limits.min} to {limits.max}"
                raise LowerError(f"{what}: {message}", hint)
    with np.errstate(over="ignore"):
        found = np.ascontiguousarray(array).astype(target)
    too_large = array[~np.isfinite(found) & np.isfinite(array)]
    if too_large.size:
        raise LowerError(f"{what}: {too_large[0]:g} is too large for {dtype}", hint)
    return found
