"""The ALU of a circuit: what an operation makes of its operands, for many circuits at once.

Operands are columns, bytes of shape (..., 32); results are numbers of the lanes' format, of shape
(..., n). Each sum and product is rounded to the format (half to even, IEEE 754; NaN has one form).
The sum of products is that of a tree of adjacent pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.curves import sigmoid, tanh
from macaw.emu.floats import Host, add, multiply, relu, subtract, tree_sum, widened
from macaw.isa.fim_circuit import (
    COLUMN_BYTES,
    DOT,
    ELEMENTWISE,
    FORMATS,
    FUNCTION_NAMES,
    MUL,
    OUTER,
    TENSOR,
    TENSOR_SIDE,
    TRANSPOSES,
)

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Mode:
    """What `mmr` has set, as its numbers."""

    op: int = 0
    arrange: int = ELEMENTWISE
    transpose: int = 0
    accumulate: int = 0
    format: int = 0

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The format in NumPy."""
        return np.dtype(FORMATS[self.format].dtype)

    @cached_property
    def accumulates(self) -> bool:
        """Whether results are added to what Rz holds."""
        return bool(self.accumulate) and self.op == MUL

    def place(self, slot: int) -> tuple[int, int]:
        """Where in Rz the results go: first byte and bytes; `slot` is RZ_SLOT."""
        size = FORMATS[self.format].size
        if self.arrange == DOT:
            return slot * size, size
        if self.arrange == OUTER:
            return 0, COLUMN_BYTES * COLUMN_BYTES // size
        return slot * COLUMN_BYTES, COLUMN_BYTES


def results(mode: Mode, left: Bytes, right: Bytes) -> Host:
    """What an operation yields before it is accumulated."""
    x, y = left.view(mode.dtype), right.view(mode.dtype)
    if mode.arrange == DOT:
        return tree_sum(multiply(x, y))[..., None]
    if mode.arrange == OUTER:
        products = multiply(x[..., :, None], y[..., None, :])
        return products.reshape(*products.shape[:-2], -1)
    if mode.arrange == TENSOR:
        return _tensor(x, y, TRANSPOSES[mode.transpose])
    return _lanes(FUNCTION_NAMES[mode.op], x, y)


def accumulated(old: Host, new: Host) -> Host:
    """The results added to what Rz held at their place."""
    return add(old, new)


def _tensor(x: Host, y: Host, transposed: str) -> Host:
    """C[i, j] is the tree's sum over k of A[i, k] * B[k, j]."""
    side = TENSOR_SIDE
    a = x.reshape(*x.shape[:-1], side, side)
    b = y.reshape(*y.shape[:-1], side, side)
    a = a.swapaxes(-1, -2) if transposed == "a" else a
    b = b if transposed == "b" else b.swapaxes(-1, -2)  # b[j, k] from here on
    products = multiply(a[..., :, None, :], b[..., None, :, :])
    sums = tree_sum(products)
    return sums.reshape(*sums.shape[:-2], side * side)


def _lanes(name: str, x: Host, y: Host) -> Host:
    """A function lane by lane."""
    match name:
        case "add":
            return add(x, y)
        case "sub":
            return subtract(x, y)
        case "mul":
            return multiply(x, y)
        case "div":
            return _rounded(np.divide, x, y)
        case "and" | "or" | "xor" | "not":
            return _logic(name, x, y)
        case "relu":
            return relu(x)
        case "vssqr":
            return multiply(x, x)
        case "vssqrt":
            return _rounded(np.sqrt, x)
        case "sigmoid":
            return sigmoid(x)
        case "tanh":
            return tanh(x)
    raise ValueError(f"no function is called {name}")


def _rounded(operation: np.ufunc, *operands: Host) -> Host:
    """A quotient or square root in binary32, then in the lanes' format.

    Of fp16 that is one rounding: binary32 has two more than twice its digits.
    """
    dtype = operands[0].dtype
    with np.errstate(all="ignore"):
        wide = np.asarray(operation(*(widened(np.ascontiguousarray(x)) for x in operands)))
        found = wide.astype(dtype, copy=False)
    found[np.isnan(found)] = np.nan
    return found


_LOGIC = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


def _logic(name: str, x: Host, y: Host) -> Host:
    """Bits, whatever number they are."""
    kind = f"u{x.dtype.itemsize}"
    bits = np.ascontiguousarray(x).view(kind)
    other = np.ascontiguousarray(y).view(kind)
    found = _LOGIC[name](bits, other) if name in _LOGIC else ~bits
    return np.asarray(found).view(x.dtype)
