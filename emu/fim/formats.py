"""Memory formats of islands: tiles of 4 x 4 numbers, as tensor products read and write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from macaw.emu.bfloat16 import element_type, numbers
from macaw.emu.formats import MemoryFormat, Row
from macaw.isa.fim_circuit import FORMATS, TENSOR_SIDE, NumberFormat


def _rows(dtype: np.dtype[Any], data: bytes) -> Sequence[Row]:
    matrix = numbers(np.frombuffer(data, dtype)).reshape(TENSOR_SIDE, TENSOR_SIDE)
    wide = TENSOR_SIDE * dtype.itemsize
    return [(at * wide, tuple(map(float, row))) for at, row in enumerate(matrix)]


def _format(form: NumberFormat) -> MemoryFormat:
    dtype = element_type(form.dtype)
    columns = tuple(map(str, range(TENSOR_SIDE)))
    meaning = f"a tile of {TENSOR_SIDE} x {TENSOR_SIDE} numbers of {form.name}"
    return MemoryFormat(meaning, TENSOR_SIDE**2 * dtype.itemsize, columns, partial(_rows, dtype))


TILE_FORMATS: Mapping[str, MemoryFormat] = MappingProxyType(
    {
        f"tiles_{row.name}" if number else "tiles": _format(row)
        for number, row in enumerate(FORMATS)
        if not row.is_integer  # a tile would be half a column
    }
)
