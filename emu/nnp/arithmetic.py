"""The interface of the arithmetic for chains, which each engine implements.

docs/numbers-nnp.md has the rules for all results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from macaw.emu.nnp.numbers import HOST, Quantised, Quantiser, quantisers
from macaw.emu.nnp.state import NnpState

Host = NDArray[np.floating[Any]]  # host values


class Arithmetic(Protocol):
    """The arithmetic of chains.

    Host values are floating-point numbers of the type `dtype`, as programs store them in memory, in
    arrays of shape (..., N). The N values along the last axis are a native vector.
    """

    dtype: np.dtype[Any]  # the NumPy type of host values
    vector: Quantiser
    matrix: Quantiser

    def quantise(self, values: Host, quantiser: Quantiser) -> Quantised:
        """Quantise host values with the vector or the matrix quantiser. Raises `NotANumber`."""

    def to_host(self, quantised: Quantised, quantiser: Quantiser) -> Host:
        """Convert quantised numbers of `quantiser` to host values, each rounded once."""

    def product(self, first: int, rows: int, cols: int, vectors: Quantised) -> Host:
        """Multiply `rows` x `cols` tiles of MatrixRf, from entry `first` on, by vectors.

        The vectors have shape (iterations, cols, N). The result has host values of shape
        (iterations, rows, N). Raises `OutOfRange` if an accumulator overflows.
        """

    def function(self, name: str, *operands: Host) -> Host:
        """Return the result of an instruction of a multi-function unit (MFU).

        `name` is the name of its function, such as `v_sigm`. `operands` are the chain's vectors
        and, if the instruction has one, its second operand.
        """

    def softmax(self, values: Host, valid: int) -> Host:
        """Return the softmax over the first `valid` elements of the last axis.

        The other elements become 0.
        """

    def invalidate(self, first: int, count: int) -> None:
        """Drop cached data of `count` entries of MatrixRf, from entry `first` on.

        The caller has written these entries.
        """

    def invalidate_all(self) -> None:
        """Drop all cached data of MatrixRf, because any entry may have changed."""


ArithmeticFactory = Callable[[Mapping[str, Any], NnpState], Arithmetic]


class NumberFormats:
    """The number formats that a configuration selects: the host type and the two quantisers."""

    def __init__(self, config: Mapping[str, Any], state: NnpState) -> None:
        self.state = state
        self.dtype = np.dtype(HOST[config["nnp.host_format"]])
        self.vector, self.matrix = quantisers(config)
