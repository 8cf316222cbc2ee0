"""The arithmetic that an engine offers to chains (docs/numbers-nnp.md has all rules)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from macaw.emu.nnp.numbers import HOST, Quantised, Quantiser
from macaw.emu.nnp.state import NnpState

Host = NDArray[np.floating[Any]]  # host values


class Arithmetic(Protocol):
    """What chains compute. Host values are arrays (..., N); a block is the last axis."""

    dtype: np.dtype[Any]  # of host values
    vector: Quantiser
    matrix: Quantiser

    def quantise(self, values: Host, quantiser: Quantiser) -> Quantised:
        """Quantise host values with the vector or matrix quantiser. Raises `NotANumber`."""

    def to_host(self, quantised: Quantised, quantiser: Quantiser) -> Host:
        """Return quantised numbers as host values, rounded once."""

    def product(self, first: int, rows: int, cols: int, vectors: Quantised) -> Host:
        """Multiply tiles of MatrixRf, `rows` x `cols` from entry `first` on, by vectors.

        Vectors (iterations, cols, N) give host values (iterations, rows, N). Raises `OutOfRange`
        if an accumulator overflows.
        """

    def function(self, name: str, *operands: Host) -> Host:
        """Do an MFU instruction by its plain mnemonic on the chain's vectors, and its operand."""

    def softmax(self, values: Host, valid: int) -> Host:
        """Return the softmax of the last axis' first `valid` elements; the others become 0."""

    def invalidate(self, first: int, count: int) -> None:
        """Forget what derives from `count` entries of MatrixRf: they were written."""

    def invalidate_all(self) -> None:
        """Forget what derives from MatrixRf: any entry may have changed."""


ArithmeticFactory = Callable[[Mapping[str, Any], NnpState], Arithmetic]


class NumberFormats:
    """The number formats of a configuration, for the arithmetic of each engine."""

    def __init__(self, config: Mapping[str, Any], state: NnpState) -> None:
        self.state = state
        self.dtype = np.dtype(HOST[config["nnp.host_format"]])
        kind = config["nnp.quantise"]
        sizes = config["nnp.float_exponent_bits"], config["nnp.float_mantissa_bits"]
        self.vector = Quantiser(kind, config["nnp.vector_bits"], *sizes)
        self.matrix = Quantiser(kind, config["nnp.matrix_bits"], *sizes)
