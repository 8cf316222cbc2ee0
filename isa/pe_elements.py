"""The number types of the PE array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from macaw.isa.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Element:
    """A number type of the array: its name, its NumPy type, and the type of its sums."""

    name: str
    dtype: str  # the name of the type in a tensor's declaration, and in NumPy
    accumulator: str = ""  # the type of sums if pe.element is this type; empty: it cannot be


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
# By pe.element: the types of weights and activations, and of accumulators.
OPERAND_DTYPES = {row.name: row.dtype for row in ELEMENT_TYPES if row.accumulator}
SUM_DTYPES = {row.name: DTYPES[row.accumulator] for row in ELEMENT_TYPES if row.accumulator}
SAME = "element"  # the value of pe.widest that means pe.element


def is_floating(element: str) -> bool:
    """Return whether an element type is a floating-point type."""
    return DTYPES[element].startswith("float")


def widest_of(config: Mapping[str, Any]) -> str:
    """Return the widest element type that weights and activations of a device's array can have."""
    widest = str(config["pe.widest"])
    return str(config["pe.element"]) if widest == SAME else widest


def available(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the element types that a device's sequences may use, the narrowest first.

    If the device's widest type is an integer type, these are the integer types up to it; otherwise
    they are the floating-point types up to it.
    """
    names, widest = tuple(OPERAND_DTYPES), widest_of(config)
    last = names.index(widest)
    return tuple(x for x in names[: last + 1] if is_floating(x) == is_floating(widest))


def disagreeing(config: Mapping[str, Any]) -> str:
    """Return an error sentence if pe.widest and pe.element contradict each other, else ""."""
    element, widest = str(config["pe.element"]), widest_of(config)
    if element in available(config):
        return ""
    return (
        f"pe.widest is {widest} and pe.element {element}: an array multiplies integers or floating"
        " numbers"
    )
