"""Lets the layers of a network share cp's code; each layer has a record with its numbers.

This module starts from the code that a layer would have in a separate program. An instruction `li`
or `la` may have a number or label that differs between layers. The module replaces it by a load
from the layer's record, whose address is in register gp. Layers whose code is then the same text
call the same subroutine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import accumulate

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.listing import Listing
from macaw.lowering.macro_library import MACROS, MacroLibrary
from macaw.lowering.plan import ProductPlan
from macaw.lowering.processor_program import code_parts, processor_constants, write_fixed_constants

Sections = tuple[tuple[str, tuple[str, ...]], ...]  # of a listing: names and lines

RECORD = "record"  # label of a layer's record
# Most parts of the code have their own words of the record, at most these numbers. Other parts, and
# parts that need more words, get the words after them.
_MOST = {
    "enter": 5,
    "copies": 2,
    "loop": 1,
    "after": 3,
    "leave": 3,
    "step": 2,
    "store": 3,
    "sums": 6,
    "factors": 2,
    "tile": 10,
    "list": 4,
    "place": 5,
    "activations": 18,
    "rows": 3,
    "loaded": 1,
}
_FIRST = dict(zip(_MOST, accumulate(_MOST.values(), initial=0), strict=False))
_OTHERS = sum(_MOST.values())
_FIXED = re.compile(r"0|NOTHING|PARTIAL|RESULTS|UNIT|PONG")  # words that are equal for all layers
_STATEMENT = re.compile(r"(?P<label>(?:\w+:\s*)*)(?P<code>[^#]*?)\s*(?P<comment>#.*)?")
_LOAD = re.compile(r"(?:li|la) (?P<register>\w+), (?P<value>.+)")
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")
_LINE = 90  # characters of the words of a record on a line of the source
# A call, so that a backtrace in the shared code names the layer.
_LAYER = r"""
        .macro sizes room, shift # of a tile's weights, in bytes; of results
        .equ WEIGHT_ROOM, \room
        .ifnb \shift
        .equ SHIFT, \shift
        .endif
        .endm
        .macro bias file # what sums begin with, by (n tile, row)
start_sums: .npy "\file"
        .endm
        .macro layer name, code # the subroutine of a layer
        .global \name
        .core cp
\name:  addi sp, sp, -16
        sw ra, 12(sp)
        la gp, record
        call \code
        lw ra, 12(sp)
        addi sp, sp, 16
        ret
        .endm
"""


@dataclass(frozen=True)
class SharedCode:
    """A subroutine for a layer: its symbol, and the words of the layer's record.

    The record has the layer's numbers and labels, which the subroutine reads.
    """

    symbol: str
    parameters: tuple[str, ...]  # the words of the record


class CodeLibrary:
    """The subroutines for the layers of a network. Each subroutine is a combination of parts.

    Each part has a separate file. Subroutines with the same part include the same file.
    """

    def __init__(self, includes: IncludeLibrary) -> None:
        self._includes = includes
        self._symbols: dict[tuple[str, ...], str] = {}
        # Most layers have the same parts of code.
        self._parameterised = cache(_parameterised)

    def code(self, plan: ProductPlan, *, reports: bool) -> SharedCode:
        """Return the subroutine that computes a plan. Add it to the library if it is new.

        If `reports`, the subroutine writes how many iterations are left.
        """
        files, record = list[str](), dict[int, str]()
        for name, part in code_parts(plan, shared=True, reports=reports).items():
            first = _FIRST.get(name, _OTHERS)
            code, words = self._parameterised(part.lines, first)
            if len(words) > _MOST.get(name, 0):
                first = max([_OTHERS, *(place + 1 for place in record)])
                code, words = self._parameterised(part.lines, first)
            record |= dict(enumerate(words, first))
            if code.lines:
                files.append(self._includes.name(name, code))
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
            out.comment(f"{symbol}.s - cp's code of some layers; gp points to a layer's record.")
            out.put(f".global {symbol}")
            out.put(".core cp")
            out.put(f'.include "{self._includes.name("frame", constants)}"')
            out.put("", label=symbol)
            out.put(f".irp part, {', '.join(file.removesuffix('.inc') for file in files)}")
            out.put(r'.include "\part\().inc"')
            out.put(".endr")
            result[symbol] = out.text()
        return result


class IncludeLibrary:
    """Listings that several sources of a network include: one file for each different listing."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, Sections], str] = {}
        self._listings: dict[str, Listing] = {}

    def name(self, kind: str, listing: Listing) -> str:
        """Return the name of the include file that has `listing`: `kind` and a number."""
        count = sum(other == kind for other, _ in self._names)
        name = self._names.setdefault((kind, listing.sections), f"{kind}_{count + 1}.inc")
        self._listings.setdefault(name, listing)
        return name

    def texts(self) -> dict[str, str]:
        """Return the texts of all files by file name, including the file with the macros."""
        macros = MacroLibrary(tuple(self._listings.values()))
        texts = {name: macros.text(listing) for name, listing in self._listings.items()}
        if not texts:
            return {}
        definitions = Listing()
        definitions.comment("Macros of the layers. Written by macaw compile.")
        definitions.block(_LAYER)
        definitions.append(macros.definitions())
        return texts | {MACROS: definitions.text()}


def _parameterised(lines: Sequence[str], first: int) -> tuple[Listing, list[str]]:
    """Replace numbers and labels in code by loads from a record; return (code, words).

    The words of the record are the replaced numbers and labels. The first one is word `first` of
    the record, which may have words of other code before it.
    """
    words: list[str] = []
    places: dict[str, int] = {}
    result = Listing()
    for line in lines:
        parts = _STATEMENT.fullmatch(line.strip())
        assert parts is not None
        load = _LOAD.fullmatch(parts["code"])
        if load is None or _FIXED.fullmatch(load["value"]):
            result.line(line.strip())
            continue
        value = load["value"]
        # numbers that are equal here may differ in another layer
        if value not in places or value.lstrip("-")[0].isdigit():
            places[value] = first + len(words)
            words.append(value)
        what = value if _NAME.search(value) else (parts["comment"] or "").lstrip("# ")
        comment = f" # {what}" if what else ""
        result.block(f"{parts['label']}lw {load['register']}, {4 * places[value]}(gp){comment}")
    return result, words


def _value(expression: str, values: dict[str, str]) -> str:
    """Return an expression in which the values of constants replace their names."""
    for _ in range(2):  # the value of a pitch contains the name of an element's size
        expression = _NAME.sub(lambda name: values.get(name[0], name[0]), expression)
    return expression


def write_record(out: Listing, words: Sequence[str]) -> None:
    """Write the record of a layer: the numbers and labels for the code that layers share."""
    label, what = RECORD, "the numbers for the code that layers share"
    first = 0
    while first < len(words):
        ends = accumulate(len(word) + len(", ") for word in words[first:])
        count = max(1, sum(end <= _LINE for end in ends))
        out.put(f".word {', '.join(words[first : first + count])}", what, label=label)
        first, label, what = first + count, "", ""


def write_used_constants(out: Listing, plan: ProductPlan, lines: Sequence[str]) -> None:
    """Write those constants of a plan whose names occur in `lines`."""
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
