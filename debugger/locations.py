"""Finds the addresses of locations: `layer.s:12`, `12`, `+1`, `loop`, `loop+8`, `*0x10000`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from macaw.asm.disassembly.forms import Record, printer_of
from macaw.asm.disassembly.labels import Labels, Names
from macaw.debugger.expressions import ExpressionError, compile_expression
from macaw.debugger.model_names import layer_symbol, near_layers, unquoted
from macaw.debugger.values import unsigned_address
from macaw.debugger.where import where_of
from macaw.emu.breaks import Breakable
from macaw.emu.copies import candidates, index_of, original, same_offset
from macaw.isa import registry

if TYPE_CHECKING:
    from macaw.asm.program import Program, Section, Symbol
    from macaw.debugger.debuggee import Debuggee
    from macaw.emu.core import Core

_LINE = re.compile(r"(?:(.+):)?(\d{1,18})")  # Python refuses to convert longer numbers
_OFFSET = re.compile(r"[+-]\d{1,9}")  # a distance in lines from the present one


class LocationError(ValueError):
    """Raised for a location that the program does not have; the message is for the user."""


@dataclass(frozen=True)
class Location:
    """The addresses that a location denotes.

    `text` is a text for the location that does not depend on the focus: the file precedes a line
    number, and the address after `*` is a number.
    """

    text: str
    addresses: tuple[int, ...]


def locate(debuggee: Debuggee, text: str) -> Location:
    """Return the location that a text denotes. Raises `LocationError`.

    A line number without a file name is a line of the focused core's file; with a sign, it is a
    distance from the present line. The name of a layer, in quotation marks or alone, means the
    start of the layer.
    """
    if not isinstance(text, str):
        raise LocationError(f"a location is a string, such as '12', not {text!a:.60}")
    text = text.strip()
    symbol = layer_symbol(debuggee.program, text)
    if symbol is not None:
        return Location(text, (debuggee.program.symbol(symbol).value,))
    name = unquoted(text)
    if name is not None:
        raise LocationError(_no_layer(debuggee.program, name))
    match = _LINE.fullmatch(_line_at(debuggee, int(text)) if _OFFSET.fullmatch(text) else text)
    if match is not None:
        file = _file(debuggee, match[1])
        where = match[0] if match[1] or file is None else f"{PurePath(file).name}:{match[2]}"
        return Location(where, _of_line(debuggee, file, int(match[2])))
    try:
        value = compile_expression(debuggee, text.removeprefix("*")).value()
    except ExpressionError as error:
        raise LocationError(str(error)) from None
    if isinstance(value, int) and text.startswith("*"):
        value = unsigned_address(value)
    if not isinstance(value, int) or not 0 <= value < 1 << 32:
        raise LocationError(f"{text} is no address")
    if text.startswith("*"):
        return Location(f"*{value:#x}", (value,))
    section = debuggee.program.section_at(value)
    if section is None:
        raise LocationError(
            f"{text} is {value:#x}, where the program has nothing; *{text} allows it"
        )
    return Location(text, (_piece_starts(debuggee.program, section).get(value, value),))


def _line_at(debuggee: Debuggee, distance: int) -> str:
    """Return the number of the line that is `distance` lines after the line of the focused core.

    Raises `LocationError` if the core is at no line, or if there is no such line.
    """
    here = where_of(debuggee.program, debuggee.core)
    if here.file is None or here.line is None:
        raise LocationError("the focused core is at no line of a source")
    if here.line + distance < 1:
        raise LocationError(f"{PurePath(here.file).name} has no line {here.line + distance}")
    return str(here.line + distance)


def _no_layer(program: Program, name: str) -> str:
    """Return the message for `name`, a name in quotation marks that no layer has."""
    if program.network is None:
        return f"the program has no layers, so none is called '{name}'"
    near = near_layers(program, name)
    hint = f"; did you mean {' or '.join(near)}?" if near else "; `info layers` lists them"
    return f"no layer is called '{name}'{hint}"


def _file(debuggee: Debuggee, name: str | None) -> str | None:
    """Return the path of the source file `name`. Raises `LocationError`.

    If `name` is None, return the file of the focused core's next instruction. If that is not known,
    return the program's first file, or None for a program without source lines.
    """
    files = list(debuggee.program.line_table.files)
    if name is None:
        here = where_of(debuggee.program, debuggee.core).file
        return here if here is not None else (files[0] if files else None)
    matches = [file for file in files if file == name or file.endswith(f"/{name}")]
    if not matches:
        near = get_close_matches(name, files, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise LocationError(f"the program has no lines of {name}{hint}")
    return matches[0]


def _of_line(debuggee: Debuggee, file: str | None, number: int) -> tuple[int, ...]:
    """Return the start addresses of line `number`, or of the next line that has code.

    Raises `LocationError`.
    """
    if number < 1:
        raise LocationError(f"{file} has no line {number}")
    table = debuggee.program.line_table
    starts: dict[int, list[int]] = {}
    for name in table.sections:
        before = None
        begins = _piece_starts(debuggee.program, debuggee.program.section(name))
        for row in (table.at(name, address) for address in table.rows(name).addresses):
            if row is None or row.file != file:
                before = None
                continue
            if row.line != before and (not begins or row.address in begins):
                starts.setdefault(row.line, []).append(begins.get(row.address, row.address))
            before = row.line
    line = min((line for line in starts if line >= number), default=None)
    if line is None:
        raise LocationError(f"line {number} of {file} has no code, nor has any line after it")
    return tuple(dict.fromkeys(starts[line]))


def _piece_starts(program: Program, section: Section) -> dict[int, int]:
    """Return from which address a core executes each piece of a section of data.

    A piece is for example a packet, a segment of a packet, or an instruction of a sequence. A core
    executes a packet or a sequence as a whole, so for a segment the result has the address of its
    packet. The keys of the result are the addresses of the pieces in the section. If the section
    contains instructions that a core executes one by one, the result is empty.
    """
    if section.core is None or registry.core(section.core).executable:
        return {}
    pieces = records_of(program, section.name, section.core)
    return {piece.address: piece.begins for piece in pieces if piece.begins is not None}


def labels_of_code(program: Program) -> list[Symbol]:
    """Return the symbols at which a core executes an instruction, a packet or a sequence."""
    labels = []
    typed = {item.address for item in program.typed}
    pieces: dict[str, dict[int, int]] = {}
    sections = {section.name: section for section in program.sections if section.core is not None}
    for symbol in program.symbols:
        section = sections.get(symbol.section or "")
        if section is None:
            continue
        if section.name not in pieces:
            pieces[section.name] = _piece_starts(program, section)
        is_data = symbol.kind == "object" or symbol.value in typed
        is_fetched = "x" in section.flags and section.holds(symbol.value) and not is_data
        if symbol.value in pieces[section.name] or is_fetched:
            labels.append(symbol)
    return labels


@lru_cache(maxsize=64)
def records_of(program: Program, name: str, core: str) -> tuple[Record, ...]:
    """Return the pieces (packets, lists) of section `name`, a section of data of `core`."""
    section = program.section(name)
    labels = Labels(section, program, Names(program.symbols))
    return tuple(printer_of(core).records(section, labels))


class Target(NamedTuple):
    """An address at which a core may execute the instruction of a location.

    If `of` is not None, the instruction at `address` is a copy of the one that the program has at
    the address `of`. The target counts only while memory has this copy at `address`.
    """

    core: Core
    address: int
    of: int | None = None


def targets(debuggee: Debuggee, address: int) -> list[Target]:
    """Return a target for each core that may execute the code at an address of the program.

    The addresses of the targets may differ, because a row of the array may have a copy of another
    row's section.
    """
    device, program = debuggee.device, debuggee.program
    section = program.section_at(address)
    if section is None or section.core is None:
        holders = [core for core in device.order if any(candidates(program, core, address))]
        holders = holders or [core for core in device.order if isinstance(core, Breakable)]
        return [Target(core, address) for core in holders]
    own = []
    for core in device.order:
        if core.table.name != section.core:
            continue
        if section.index in (None, index_of(core)):
            own.append(Target(core, address))
            continue
        place = same_offset(core, address, section.index, index_of(core))
        if program.section_at(place) is None:
            own.append(Target(core, place, address))
    return own


def holds_code(debuggee: Debuggee, target: Target) -> bool:
    """Return whether the memory at the target's address contains the target's code now.

    This matters for a copy of code (`Target.of`), which the program may not have made yet.
    """
    return target.of is None or original(debuggee.program, target.core, target.address) == target.of
