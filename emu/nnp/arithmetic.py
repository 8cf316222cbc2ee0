"""The arithmetic of an engine: what a chain asks of numbers; and that of the fast engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from macaw.emu.nnp import numbers
from macaw.emu.nnp.numbers import HOST, Quantised, Quantiser
from macaw.emu.nnp.prepared import PreparedTiles
from macaw.emu.nnp.state import NnpState

Host = NDArray[np.floating[Any]]


class Arithmetic(Protocol):
    """Host values are arrays (..., N); a block is the last axis. All rules: docs/numbers-nnp.md."""

    dtype: np.dtype[Any]
    vector: Quantiser
    matrix: Quantiser

    def quantise(self, values: Host, quantiser: Quantiser) -> Quantised:
        """As the vector or matrix quantiser does. Raises `NotANumber`."""

    def host(self, quantised: Quantised, quantiser: Quantiser) -> Host:
        """Quantised numbers as host values, rounded once."""

    def product(self, first: int, rows: int, cols: int, vectors: Quantised) -> Host:
        """Tiles from entry `first` of MatrixRf on by vectors (iterations, cols, N).

        Gives (iterations, rows, N). Raises `OutOfRange`.
        """

    def function(self, name: str, *operands: Host) -> Host:
        """What an instruction of an MFU does, by the plain mnemonic: chain, operand."""

    def softmax(self, values: Host, valid: int) -> Host:
        """Along the last axis, over the first `valid` elements."""

    def written(self, first: int, count: int) -> None:
        """Entries of MatrixRf have changed."""

    def clear(self) -> None:
        """All of MatrixRf may have changed."""


class Numbers:
    """What the arithmetics have in common: formats and quantisers of a configuration."""

    def __init__(self, config: Mapping[str, Any], state: NnpState) -> None:
        self.state = state
        self.dtype = np.dtype(HOST[config["nnp.host_format"]])
        kind = config["nnp.quantise"]
        sizes = config["nnp.float_exponent_bits"], config["nnp.float_mantissa_bits"]
        self.vector = Quantiser(kind, config["nnp.vector_bits"], *sizes)
        self.matrix = Quantiser(kind, config["nnp.matrix_bits"], *sizes)


_FUNCTIONS: Mapping[str, Callable[..., Host]] = {
    "vv_add": numbers.add,
    "vv_a_sub_b": numbers.subtract,
    "vv_b_sub_a": lambda chain, operand: numbers.subtract(operand, chain),
    "vv_max": numbers.maximum,
    "vv_mul": numbers.multiply,
    "v_sigm": numbers.sigmoid,
    "v_tanh": numbers.tanh,
    "v_relu": numbers.relu,
}


class FastArithmetic(Numbers):
    """Whole arrays at once."""

    def __init__(self, config: Mapping[str, Any], state: NnpState) -> None:
        super().__init__(config, state)
        self._prepared = PreparedTiles(
            state.tile_codes, state.tile_exponents, self.matrix, self.vector
        )

    def quantise(self, values: Host, quantiser: Quantiser) -> Quantised:
        """See `Arithmetic`."""
        return numbers.quantise(values, quantiser)

    def host(self, quantised: Quantised, quantiser: Quantiser) -> Host:
        """See `Arithmetic`."""
        found: Host = numbers.to_host(numbers.dequantise(quantised, quantiser), self.dtype)
        return found

    def product(self, first: int, rows: int, cols: int, vectors: Quantised) -> Host:
        """See `Arithmetic`."""
        return self._prepared.tiles(first, rows, cols).times(vectors, self.dtype)

    def function(self, name: str, *operands: Host) -> Host:
        """See `Arithmetic`."""
        return _FUNCTIONS[name](*operands)

    def softmax(self, values: Host, valid: int) -> Host:
        """See `Arithmetic`."""
        return numbers.softmax(values, valid)

    def written(self, first: int, count: int) -> None:
        """See `Arithmetic`."""
        self._prepared.written(first, count)

    def clear(self) -> None:
        """See `Arithmetic`."""
        self._prepared.clear()
