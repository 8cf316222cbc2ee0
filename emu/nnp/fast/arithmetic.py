"""The arithmetic of the fast engine: it computes whole arrays at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from macaw.emu.nnp import numbers
from macaw.emu.nnp.arithmetic import Host, NumberFormats
from macaw.emu.nnp.fast.prepared import PreparedTiles
from macaw.emu.nnp.numbers import Quantised, Quantiser
from macaw.emu.nnp.state import NnpState

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


class FastArithmetic(NumberFormats):
    """The fast implementation of `macaw.emu.nnp.arithmetic.Arithmetic`."""

    def __init__(self, config: Mapping[str, Any], state: NnpState) -> None:
        super().__init__(config, state)
        self._prepared = PreparedTiles(
            state.tile_codes, state.tile_exponents, self.matrix, self.vector
        )
        self.invalidate = self._prepared.invalidate
        self.invalidate_all = self._prepared.invalidate_all

    def quantise(self, values: Host, quantiser: Quantiser) -> Quantised:
        """Quantise host values with the vector or the matrix quantiser. Raises `NotANumber`."""
        return numbers.quantise(values, quantiser)

    def to_host(self, quantised: Quantised, quantiser: Quantiser) -> Host:
        """Convert quantised numbers of `quantiser` to host values, each rounded once."""
        values: Host = numbers.to_host(numbers.dequantise(quantised, quantiser), self.dtype)
        return values

    def product(self, first: int, rows: int, cols: int, vectors: Quantised) -> Host:
        """Multiply `rows` x `cols` tiles of MatrixRf, from entry `first` on, by `vectors`.

        `Arithmetic.product` explains shapes and errors.
        """
        return self._prepared.tiles(first, rows, cols).times(vectors, self.dtype)

    def function(self, name: str, *operands: Host) -> Host:
        """Return the result of an instruction of a multi-function unit (MFU).

        `name` is the name of its function, such as `v_sigm`; `operands` are its operands.
        """
        return _FUNCTIONS[name](*operands)

    def softmax(self, values: Host, valid: int) -> Host:
        """Return the softmax over the first `valid` elements of the last axis; others become 0."""
        return numbers.softmax(values, valid)
