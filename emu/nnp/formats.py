"""Host values in memory as the multiplier takes them: codes of a native vector, its exponent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.emu.floats import HOST
from macaw.emu.formats import MemoryFormat, Row
from macaw.emu.nnp.numbers import Quantiser, quantise

if TYPE_CHECKING:
    from macaw.emu.nnp.arithmetic import Arithmetic

ACROSS = 8  # codes to a row


def formats(arithmetic: Arithmetic, config: Mapping[str, Any]) -> dict[str, MemoryFormat]:
    """By name: the kind of the device's numbers, of vectors and (`_matrix`) of matrices."""
    native, dtype = int(config["nnp.native"]), np.dtype(HOST[config["nnp.host_format"]])
    columns = ("exponent", *(f"+{at}" for at in range(min(ACROSS, native))))
    found = {}
    for quantiser, name, what in (
        (arithmetic.vector, "", "vectors"),
        (arithmetic.matrix, "_matrix", "matrices"),
    ):
        meaning = f"{native} codes of {what} and the exponent that they share"
        rows = partial(_rows, quantiser, dtype.newbyteorder("<"))
        size = native * dtype.itemsize
        found[quantiser.kind + name] = MemoryFormat(meaning, size, columns, rows)
    return found


def _rows(quantiser: Quantiser, dtype: np.dtype[Any], data: bytes) -> Sequence[Row]:
    found = quantise(np.frombuffer(data, dtype), quantiser)
    codes = found.codes.tolist()
    width = min(ACROSS, len(codes))
    rows: list[Row] = []
    for at in range(0, len(codes), width):
        part = codes[at : at + width]
        first = int(found.exponents) if not at else None
        rows.append((at * dtype.itemsize, (first, *part, *[None] * (width - len(part)))))
    return rows
