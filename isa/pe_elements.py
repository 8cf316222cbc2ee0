"""The number types of the PE array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
SAME = "element"  # the value of pe.widest that means pe.element


def is_floating(element: str) -> bool:
    """Return whether an element type is a floating-point type."""
    return DTYPES[element].startswith("float")


def widest_of(config: Mapping[str, Any]) -> str:
    """Return the widest element type of weights and activations that a device's array has."""
    widest = str(config["pe.widest"])
    return str(config["pe.element"]) if widest == SAME else widest


def available(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the element types that sequences may name, the narrowest first.

    These are the integers, or the floating-point types, up to the widest one.
    """
    names, widest = tuple(OPERAND_DTYPES), widest_of(config)
    last = names.index(widest)
    return tuple(x for x in names[: last + 1] if is_floating(x) == is_floating(widest))


def disagreeing(config: Mapping[str, Any]) -> str:
    """Return a sentence if pe.widest and pe.element contradict each other, else an empty text."""
    element, widest = str(config["pe.element"]), widest_of(config)
    if element in available(config):
        return ""
    return (
        f"pe.widest is {widest} and pe.element {element}: an array multiplies integers or floating"
        " numbers"
    )
