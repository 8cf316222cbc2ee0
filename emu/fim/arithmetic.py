"""The ALU of a circuit: it computes the results of operations for many circuits at once.

Operands are columns: arrays of bytes of shape (..., 32). Results are arrays of n numbers, of shape
(..., n); n depends on the arrangement and the number format. The mode selects the number format.
In a floating-point format each sum and product is rounded, half to even by IEEE 754. All NaNs have
the same bits. A sum of products is added as a tree of adjacent pairs. `integers` computes in int8.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.bfloat16 import element_type
from macaw.emu.curves import sigmoid, tanh
from macaw.emu.fim import integers
from macaw.emu.floats import (
    Host,
    add,
    multiply,
    one_nan,
    relu,
    subtract,
    to_host,
    tree_sum,
    widened,
)
from macaw.isa.fim_circuit import (
    DOT,
    ELEMENTWISE,
    FORMATS,
    FUNCTION_NAMES,
    MUL,
    OUTER,
    TENSOR,
    TENSOR_SIDE,
    TRANSPOSES,
    NumberFormat,
)
from macaw.isa.lazy_dataclass import dataclass

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Mode:
    """The mode registers that an operation uses: the numbers that the instruction `mmr` writes."""

    op: int = 0
    arrange: int = ELEMENTWISE
    transpose: int = 0
    accumulate: int = 0
    format: int = 0

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type of a lane, `BFLOAT16` for bf16."""
        return element_type(FORMATS[self.format].dtype)

    @cached_property
    def numbers(self) -> NumberFormat:
        """The number format of the lanes."""
        return FORMATS[self.format]

    @cached_property
    def sums(self) -> np.dtype[Any]:
        """The NumPy type of a result in Rz: that of a lane, or int32 for int8."""
        return element_type(FORMATS[self.format].sums)

    @cached_property
    def accumulates(self) -> bool:
        """Whether results are added to the contents of Rz."""
        return bool(self.accumulate) and self.op == MUL

    @cached_property
    def product(self) -> Mode:
        """The same mode without accumulation."""
        return replace(self, accumulate=0)

    def place(self, slot: int) -> tuple[int, int]:
        """Return the first byte of Rz that an operation writes, and the number of bytes.

        `slot` is the value of the register RZ_SLOT.
        """
        numbers = self.numbers
        if self.arrange == DOT:
            return slot * numbers.sum_size, numbers.sum_size
        if self.arrange == OUTER:
            return 0, numbers.lanes * numbers.lanes * numbers.sum_size
        return slot * numbers.slice_bytes, numbers.slice_bytes


def results(mode: Mode, left: Bytes, right: Bytes) -> Host:
    """Return the results of an operation in `mode` on the columns `left` and `right`.

    The columns have shape (..., 32), the results (..., n). The results are not accumulated.
    """
    if mode.numbers.is_integer:
        return integers.results(mode.op, mode.arrange, left, right)
    x, y = left.view(mode.dtype), right.view(mode.dtype)
    if mode.arrange == DOT:
        return tree_sum(multiply(x, y))[..., None]
    if mode.arrange == OUTER:
        products = multiply(x[..., :, None], y[..., None, :])
        return products.reshape(*products.shape[:-2], -1)
    if mode.arrange == TENSOR:
        return _tensor(x, y, TRANSPOSES[mode.transpose])
    return _lanes(FUNCTION_NAMES[mode.op], x, y)


def accumulate(old: Host, new: Host) -> Host:
    """Return the sums of the old contents of Rz and new results, both of shape (..., n)."""
    return integers.accumulate(old, new) if new.dtype.kind == "i" else add(old, new)


def _tensor(x: Host, y: Host, transpose: str) -> Host:
    """Return the products C of 4 x 4 tiles A (`x`) and B (`y`), of shape (..., 16).

    C[i, j] is the sum over k of A[i, k] * B[k, j], added as a tree. `transpose` is "a" or "b" if
    that operand is transposed first.
    """
    side = TENSOR_SIDE
    a = x.reshape(*x.shape[:-1], side, side)
    b = y.reshape(*y.shape[:-1], side, side)
    a = a.swapaxes(-1, -2) if transpose == "a" else a
    b = b if transpose == "b" else b.swapaxes(-1, -2)  # y[..., j, k] is B[k, j] from here on
    products = multiply(a[..., :, None, :], b[..., None, :, :])
    sums = tree_sum(products)
    return sums.reshape(*sums.shape[:-2], side * side)


def _lanes(name: str, x: Host, y: Host) -> Host:
    """Apply the function `name` to the lanes of the operands `x` and `y`; return the results."""
    match name:
        case "add":
            return add(x, y)
        case "sub":
            return subtract(x, y)
        case "mul":
            return multiply(x, y)
        case "div":
            return _round_once(np.divide, x, y)
        case "and" | "or" | "xor" | "not":
            return _logic(name, x, y)
        case "relu":
            return relu(x)
        case "vssqr":
            return multiply(x, x)
        case "vssqrt":
            return _round_once(np.sqrt, x)
        case "sigmoid":
            return sigmoid(x)
        case "tanh":
            return tanh(x)
    raise ValueError(f"no function is called {name}")


def _round_once(operation: np.ufunc, *operands: Host) -> Host:
    """Return a quotient or square root of `operands`, rounded once to the lanes' format.

    The function rounds twice: to binary32, then to the lanes' format. For fp16 and bf16 this gives
    the same result as one rounding, because binary32 has 24 binary digits: at least twice the
    11 of fp16 or the 8 of bf16, plus two. A bf16 quotient below 2**-126 has fewer digits in
    binary32, but the two roundings still give the same result as one. The quotient is half-way
    between two bf16 numbers, or differs from each half-way number by at least 2**-142, and the
    rounding to binary32 changes the quotient by at most 2**-150.
    """
    with np.errstate(all="ignore"):
        wide = np.asarray(operation(*(widened(np.ascontiguousarray(x)) for x in operands)))
        return one_nan(to_host(wide, operands[0].dtype))


_LOGIC = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


def _logic(name: str, x: Host, y: Host) -> Host:
    """Apply the logical function `name` to the bits of the lanes of `x` and `y`.

    Return the results.
    """
    kind = f"u{x.dtype.itemsize}"
    bits = np.ascontiguousarray(x).view(kind)
    other = np.ascontiguousarray(y).view(kind)
    result = _LOGIC[name](bits, other) if name in _LOGIC else ~bits
    return np.asarray(result).view(x.dtype)
