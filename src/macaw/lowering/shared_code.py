"""Lets the layers of a network share cp's code; each layer has a record with its numbers.

This module first takes a layer's code as written for a program of its own. If an `li` or `la` has a
number or a label that may differ between layers, the module replaces it by a load from the layer's
record. gp has the address of this record. Layers whose code is then the same text call the same
subroutine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from macaw.lowering.listing import Listing
from macaw.lowering.plan import ProductPlan
from macaw.lowering.processor_program import processor_constants, write_code, write_fixed_constants

RECORD = "record"  # label of a layer's record
_ENTRY = "shared_entry"  # stands for the name of the subroutine until it has one
_FIXED = re.compile(r"0|NOTHING|PARTIAL|RESULTS|UNIT|PONG")  # the same for all layers
_STATEMENT = re.compile(r"(?P<label>(?:\w+:\s*)*)(?P<code>[^#]*?)\s*(?P<comment>#.*)?")
_LOAD = re.compile(r"(?:li|la) (?P<register>\w+), (?P<value>.+)")
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")
_LINE = 8  # words of a record on one line of the source


@dataclass(frozen=True)
class SharedCode:
    """A subroutine for a layer: its symbol, and the words of this layer's record."""

    symbol: str
    parameters: tuple[str, ...]


class CodeLibrary:
    """The subroutines for the layers of a network, each with a different text."""

    def __init__(self) -> None:
        self._symbols: dict[tuple[str, ...], str] = {}

    def code(self, plan: ProductPlan) -> SharedCode:
        """Return the subroutine that computes a plan; add it to the library if it is new."""
        out = Listing()
        write_code(out, plan, _ENTRY, shared=True)
        text, parameters = _parameterised(out.lines)
        symbol = self._symbols.setdefault(text, f"array_{len(self._symbols) + 1}")
        values = {name: value for name, (value, _) in processor_constants(plan).items()}
        return SharedCode(symbol, tuple(_value(item, values) for item in parameters))

    def sources(self, includes: IncludeLibrary) -> dict[str, str]:
        """Return the source of each subroutine, by its symbol."""
        result = {}
        constants = Listing()
        write_fixed_constants(constants)
        for text, symbol in self._symbols.items():
            out = Listing()
            out.comment(f"{symbol}.s - cp's code of some layers. Written by macaw compile.")
            out.put(f".global {symbol}")
            out.put(".core cp")
            out.put(f'.include "{includes.name("frame", constants.text())}"')
            out.comment("gp points to the record of the layer: words with the numbers after #.")
            for line in text:
                if line:
                    out.block(line.replace(_ENTRY, symbol))
                else:
                    out.comment()
            result[symbol] = out.text()
        return result


class IncludeLibrary:
    """Texts that several sources of a network include: a file for each different one."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}

    def name(self, kind: str, text: str) -> str:
        """Return the name of the file with a text, which is the kind and a number."""
        count = sum(other == kind for other, _ in self._names)
        return self._names.setdefault((kind, text), f"{kind}_{count + 1}.inc")

    def texts(self) -> dict[str, str]:
        """Return the texts by the names of their files."""
        return {name: text for (_, text), name in self._names.items()}


def _parameterised(lines: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return lines of code that load numbers from a record, and the words of this record."""
    words: list[str] = []
    places: dict[str, int] = {}
    result = []
    for line in lines:
        parts = _STATEMENT.fullmatch(line.strip())
        assert parts is not None
        load = _LOAD.fullmatch(parts["code"])
        if load is None or _FIXED.fullmatch(load["value"]):
            result.append(line.strip())
            continue
        value = load["value"]
        # numbers that are equal here may differ in another layer
        if value not in places or value[0].isdigit():
            places[value] = len(words)
            words.append(value)
        what = value if _NAME.search(value) else (parts["comment"] or "").lstrip("# ")
        comment = f" # {what}" if what else ""
        result.append(f"{parts['label']}lw {load['register']}, {4 * places[value]}(gp){comment}")
    return tuple(result), tuple(words)


def _value(expression: str, values: dict[str, str]) -> str:
    """Return an expression with the values of constants in place of their names."""
    for _ in range(2):  # the value of a pitch contains the name of an element's size
        expression = _NAME.sub(lambda name: values.get(name[0], name[0]), expression)
    return expression


def write_record(out: Listing, words: Sequence[str]) -> None:
    """Write the record of a layer."""
    out.comment()
    out.comment("The numbers of this layer for the code that it shares with others.")
    for first in range(0, len(words), _LINE):
        some = ", ".join(words[first : first + _LINE])
        out.put(f".word {some}", label="" if first else RECORD)


def write_used_constants(out: Listing, plan: ProductPlan, lines: Sequence[str]) -> None:
    """Write those constants of a plan whose names occur in lines of data."""
    used = {name for line in lines for name in _NAME.findall(line.partition("#")[0])}
    constants = processor_constants(plan)
    fixed = Listing()
    write_fixed_constants(fixed)
    for line in fixed.lines:
        parts = _STATEMENT.fullmatch(line)
        assert parts is not None
        if parts["code"].removeprefix(".equ ").partition(",")[0] in used:
            out.put(parts["code"], (parts["comment"] or "").lstrip("# "))
    for name, (value, comment) in constants.items():
        if name in used:
            out.put(f".equ {name}, {value}", comment)
