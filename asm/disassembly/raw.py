"""Dumps the bytes of a program with their meaning, for `macaw dis --raw`.

Instructions are printed as encoded, without pseudo-instructions. Addresses are numbers; names
appear only in comments. Bytes that belong to no instruction or record are printed in hexadecimal
and as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import pairwise

from macaw.asm.columns import with_comment
from macaw.asm.disassembly import code
from macaw.asm.disassembly.forms import Naming, Record, printer_of
from macaw.asm.disassembly.labels import Labels
from macaw.asm.program import Line, LineTable, Program, Section
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.model import Core

_ROW = 16  # bytes of a line of data
_PIECE = 8  # bytes of a record in a line
_ZEROS = " " * 11 + "..."
_COMMENT = 48  # column of a name after an instruction


@dataclass(frozen=True, slots=True)
class Notes:
    """The additional information that the dump of an object shows.

    `relocations` are texts by address. In the heading, `name` and `place` replace the section's
    name and address. If an object's section has no `place`, the heading shows no address.
    """

    relocations: Mapping[int, str] = field(default_factory=dict)
    lines: LineTable = field(default_factory=LineTable)
    name: str = ""
    place: int | None = None

    def inside(self, start: int, end: int) -> list[tuple[int, str]]:
        """Return (address, text) of each relocation from `start` to `end` - 1, by address."""
        return [(x, self.relocations[x]) for x in range(start, end) if x in self.relocations]


_NO_NOTES = Notes()


def dump(
    program: Program,
    sections: Sequence[Section],
    tables: Mapping[str, Core],
    labels: Mapping[str, Labels],
    notes: Notes = _NO_NOTES,
) -> str:
    """Return the dump of the sections.

    `tables` are the tables of the cores by core name, `labels` the labels by section name.
    """

    def name(address: int) -> str | None:
        place = program.symbol_at(address)
        if place is None:
            return None
        symbol, distance = place
        return f"<{symbol.name}{f'+{distance:#x}' if distance else ''}>"

    lines: list[str] = []
    for section in sections:
        lines += ["", _heading(section, notes)]
        table = tables.get(section.core) if section.core is not None else None
        own = labels[section.name]
        if section.nobits:
            lines += _data(section, own, section.address, section.end, notes)
        elif table is not None and section.flags == "ax":
            lines += _code(section, table, own, name, notes)
        elif table is not None and section.name == table.section.format(section.index):
            records = printer_of(table.name).records(section, own)
            lines += _records(section, own, records, name, notes)
        else:
            lines += _data(section, own, section.address, section.end, notes)
    return "\n".join(lines[1:]) + "\n"


def _heading(section: Section, notes: Notes) -> str:
    text = f"{notes.name or section.name}: {section.size} bytes"
    if not notes.name:
        text += f" at {section.address:#010x}"
    elif notes.place is not None:
        text += f", to be linked at {notes.place:#010x}"
    if section.load_address != section.address:
        text += f", loaded at {section.load_address:#010x}"
    return f"{text}, zeros" if section.nobits else text


def _names(labels: Labels, address: int, reach: int = 1) -> list[str]:
    """Return the lines that show the names of `address` and of the `reach` - 1 bytes after it."""
    return [
        line
        for place in range(address, address + reach)
        for symbol in labels.symbols_at(place)
        for line in ("", f"{place:08x} <{symbol.name}>:")
    ]


def _line(address: int, data: str, text: str, width: int, comment: str | None) -> str:
    line = f"{address:8x}:  {data:{width}}  {text}".rstrip()
    return with_comment(line, f"# {comment}", _COMMENT + width - 8) if comment else line


def _code(section: Section, core: Core, labels: Labels, name: Naming, notes: Notes) -> list[str]:
    """Return the lines of a section of instructions.

    `name` is a function that returns the name of an address, or None.
    """
    printer = printer_of(core.name)
    named = {place - (place - section.address) % code.WORD for place in labels.addresses()}
    lines = []
    source = ""
    for address, value, item in code.words(section, core):
        if address in named:
            lines += _names(labels, address, code.WORD)
            printer.forget()
        place = _source_place(notes.lines.at(section.name, address))
        if place not in ("", source):
            source = place
            lines.append(f"# {place}")
        comment = None
        if item.instruction is None:
            comment = item.reason
            printer.forget()
        elif item.distances:
            comment = name(address + item.distances[0] & 0xFFFF_FFFF)
            printer.target_of(item.instruction, address)
        elif (target := printer.target_of(item.instruction, address)) is not None and (
            text_of_target := name(target)
        ):
            comment = f"{target:x} {text_of_target}"
        text = item.bare or item.bare_at(address)
        if changes := notes.inside(address, address + code.WORD):
            printer.forget()  # the linker completes the instruction
            comment = ", ".join(
                f"{text} at {place:x}" if place != address else text for place, text in changes
            )
        if comment is None:
            lines.append(f"{address:8x}:  {value:08x}  {text}")
        else:
            lines.append(_line(address, f"{value:08x}", text, 8, comment))
    rest = section.address + len(section.data) // code.WORD * code.WORD
    return lines + _data(section, labels, rest, section.end, notes)


def _source_place(line: Line | None) -> str:
    if line is None:
        return ""
    return f"{line.file}:{line.line}" + (f":{line.column}" if line.column else "")


def _records(
    section: Section, labels: Labels, records: Iterable[Record], name: Naming, notes: Notes
) -> list[str]:
    """Return the lines of a part that the core does not fetch as instructions.

    The lines show the part's records and all other bytes, in the order of their addresses. `name`
    is a function that returns the name of an address, or None.
    """
    lines, end = [], section.address
    for record in records:
        lines += _data(section, labels, end, record.address, notes)
        lines += _names(labels, record.address, record.size)
        end = record.address + record.size
        data = section.data[record.address - section.address : end - section.address]
        width = 2 * _PIECE + 1
        for place in range(0, len(data), _PIECE):
            piece = _groups(data[place : place + _PIECE])
            comment = name(record.target) if record.target is not None and not place else None
            text = record.text if not place else ""
            lines.append(_line(record.address + place, piece, text, width, comment))
        lines += _changes(record.address, end, notes)
    return lines + _data(section, labels, end, section.end, notes)


def _changes(start: int, end: int, notes: Notes) -> list[str]:
    """Return one line for each relocation at an address from `start` to `end` - 1."""
    return [f"{address:8x}:  {text}" for address, text in notes.inside(start, end)]


def _data(section: Section, labels: Labels, start: int, end: int, notes: Notes) -> list[str]:
    """Return the bytes from `start` to `end` as lines of hexadecimal numbers and characters.

    Consecutive lines of zeros become one line `...`. After each line of bytes come the lines for
    the relocations of these bytes.
    """
    inside = [place for place in labels.addresses() if start <= place < end]
    lines: list[str] = []
    for low, high in pairwise(sorted({start, *inside, end})):
        lines += _names(labels, low)
        lines += _rows(section, low, high, notes)
    return lines


def _rows(section: Section, low: int, high: int, notes: Notes) -> Iterator[str]:
    """Yield the lines of the bytes from `low` to `high`; several lines of zeros become one."""
    zeros: list[str] = []
    for place in range(low, high, _ROW):
        data = section.data[place - section.address : min(place + _ROW, high) - section.address]
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data)
        line = f"{place:8x}:  {_groups(data):35}  |{text}|"
        changes = _changes(place, min(place + _ROW, high), notes)
        if not any(data) and not changes:
            zeros = [*zeros[:1], line]
            continue
        yield from _shorten(zeros)
        zeros = []
        yield line
        yield from changes
    yield from [_ZEROS] if section.nobits and high > low else _shorten(zeros)


def _shorten(zeros: list[str]) -> list[str]:
    return [_ZEROS] if len(zeros) > 1 else zeros


def _groups(data: bytes) -> str:
    """Return the bytes as hexadecimal numbers in groups of four, in memory order."""
    return data.hex(" ", -4)
