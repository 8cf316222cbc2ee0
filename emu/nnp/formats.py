"""Memory formats of nnp, with which the debugger shows host values as codes and exponents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from macaw.emu.floats import HOST
from macaw.emu.formats import MemoryFormat, Row
from macaw.emu.nnp.arithmetic import Arithmetic
from macaw.emu.nnp.numbers import Quantiser, quantise

ACROSS = 8  # codes in one row of the table


def formats(arithmetic: Arithmetic, config: Mapping[str, Any]) -> dict[str, MemoryFormat]:
    """Return the formats in which the debugger can show host values, by name.

    `arithmetic` converts the host values. Each name is the quantiser's kind; for the matrix
    quantiser `_matrix` is appended.
    """
    native, dtype = int(config["nnp.native"]), np.dtype(HOST[config["nnp.host_format"]])
    by_name = {}
    for quantiser, name, what in (
        (arithmetic.vector, "", "vectors"),
        (arithmetic.matrix, "_matrix", "matrices"),
    ):
        shared = "the exponent that they share"
        if quantiser.blocks(native) > 1:
            shared = f"the exponent of each {quantiser.block} of them"
        meaning = f"{native} codes of {what} and {shared}"
        across = min(ACROSS, native // quantiser.blocks(native))
        columns = ("exponent", *(f"+{at}" for at in range(across)))
        rows = partial(_rows, quantiser, dtype.newbyteorder("<"))
        size = native * dtype.itemsize
        by_name[quantiser.kind + name] = MemoryFormat(meaning, size, columns, rows)
    return by_name


def _rows(quantiser: Quantiser, dtype: np.dtype[Any], data: bytes) -> Sequence[Row]:
    quantised = quantise(np.frombuffer(data, dtype), quantiser)
    codes = quantised.codes.tolist()
    exponents = quantised.exponents.ravel().tolist()
    block = len(codes) // len(exponents)
    width = min(ACROSS, block)
    rows: list[Row] = []
    for start, exponent in zip(range(0, len(codes), block), exponents, strict=True):
        for at in range(start, start + block, width):
            part = codes[at : min(at + width, start + block)]
            first = exponent if at == start else None
            rows.append((at * dtype.itemsize, (first, *part, *[None] * (width - len(part)))))
    return rows
