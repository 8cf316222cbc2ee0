"""The number types of the PE array."""

from __future__ import annotations

from macaw.isa.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Element:
    """A number type of the array."""

    name: str
    dtype: str  # a tensor's name for it, which is NumPy's
    accumulator: str = ""  # the type of the sums where it is pe.element; empty: it cannot be


ELEMENT_TYPES = (
    Element("int8", "int8", "int32"),
    Element("int16", "int16", "int64"),
    Element("int32", "int32"),
    Element("int64", "int64"),
    Element("fp16", "float16", "fp32"),
    Element("fp32", "float32", "fp32"),
)
ELEMENTS = tuple(row.name for row in ELEMENT_TYPES)
DTYPES = {row.name: row.dtype for row in ELEMENT_TYPES}
# By pe.element: what weights and activations are, and what accumulators hold.
OPERAND_DTYPES = {row.name: row.dtype for row in ELEMENT_TYPES if row.accumulator}
SUM_DTYPES = {row.name: DTYPES[row.accumulator] for row in ELEMENT_TYPES if row.accumulator}
