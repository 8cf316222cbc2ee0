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
from itertools import accumulate

from macaw.lowering.listing import Listing
from macaw.lowering.plan import ProductPlan
from macaw.lowering.processor_program import code_parts, processor_constants, write_fixed_constants

RECORD = "record"  # label of a layer's record
# Most parts have their own words of the record, at most so many. Other parts, and those that need
# more, get the words after these.
_MOST = {
    "loop": 12,
    "step": 2,
    "store": 3,
    "sums": 6,
    "factors": 2,
    "tile": 20,
    "activations": 21,
}
_FIRST = dict(zip(_MOST, accumulate(_MOST.values(), initial=0), strict=False))
_OTHERS = sum(_MOST.values())
_FIXED = re.compile(r"0|NOTHING|PARTIAL|RESULTS|UNIT|PONG")  # the same for all layers
_STATEMENT = re.compile(r"(?P<label>(?:\w+:\s*)*)(?P<code>[^#]*?)\s*(?P<comment>#.*)?")
_LOAD = re.compile(r"(?:li|la) (?P<register>\w+), (?P<value>.+)")
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")
_LINE = 16  # words of a record on one line of the source


@dataclass(frozen=True)
class SharedCode:
    """A subroutine for a layer: its symbol, and the words of this layer's record."""

    symbol: str
    parameters: tuple[str, ...]


class CodeLibrary:
    """The subroutines for the layers of a network. Each subroutine is a combination of parts.

    Each part has a file of its own. Subroutines with the same part include the same file.
    """

    def __init__(self, includes: IncludeLibrary) -> None:
        self._includes = includes
        self._symbols: dict[tuple[str, ...], str] = {}

    def code(self, plan: ProductPlan, *, reports: bool = False) -> SharedCode:
        """Return the subroutine that computes a plan. Add it to the library if it is new.

        If `reports`, the subroutine writes how many iterations are left.
        """
        files, record = list[str](), dict[int, str]()
        for name, part in code_parts(plan, shared=True, reports=reports).items():
            first = _FIRST.get(name, _OTHERS)
            text, words = _parameterised(part.lines, first)
            if len(words) > _MOST.get(name, 0):
                first = max([_OTHERS, *(place + 1 for place in record)])
                text, words = _parameterised(part.lines, first)
            record |= dict(enumerate(words, first))
            if text:
                files.append(self._includes.name(name, text))
        symbol = self._symbols.setdefault(tuple(files), f"array_{len(self._symbols) + 1}")
        values = {name: value for name, (value, _) in processor_constants(plan).items()}
        numbers = (record.get(place, "0") for place in range(max(record) + 1))
        return SharedCode(symbol, tuple(_value(number, values) for number in numbers))

    def sources(self) -> dict[str, str]:
        """Return the source of each subroutine, by its symbol."""
        result = {}
        constants = Listing()
        write_fixed_constants(constants)
        for files, symbol in self._symbols.items():
            out = Listing()
            out.comment(f"{symbol}.s - cp's code of some layers. Written by macaw compile.")
            out.comment("gp points to the record of the layer: words with the numbers after #.")
            out.put(f".global {symbol}")
            out.put(".core cp")
            out.put(f'.include "{self._includes.name("frame", constants.text())}"')
            out.put("", label=symbol)
            for file in files:
                out.put(f'.include "{file}"')
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


def _parameterised(lines: Sequence[str], first: int) -> tuple[str, list[str]]:
    """Return code that loads numbers from a record, and its words from word `first` on."""
    words: list[str] = []
    places: dict[str, int] = {}
    result = Listing()
    for line in lines:
        parts = _STATEMENT.fullmatch(line.strip())
        assert parts is not None
        load = _LOAD.fullmatch(parts["code"])
        if load is None or _FIXED.fullmatch(load["value"]):
            if line:
                result.block(line)
            else:
                result.comment()
            continue
        value = load["value"]
        # numbers that are equal here may differ in another layer
        if value not in places or value[0].isdigit():
            places[value] = first + len(words)
            words.append(value)
        what = value if _NAME.search(value) else (parts["comment"] or "").lstrip("# ")
        comment = f" # {what}" if what else ""
        result.block(f"{parts['label']}lw {load['register']}, {4 * places[value]}(gp){comment}")
    return result.text() if lines else "", words


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
