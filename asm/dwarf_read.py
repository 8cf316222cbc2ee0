"""Reads the debug sections of an ELF file as a `LineTable`.

The module reads the sections that `asm/dwarf.py` writes, and the line tables of DWARF 2 to 5 from
other tools. It checks all data in them. The message of an `ElfError` names the mistake and its
offset.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import field

from macaw.asm import dwarf
from macaw.asm.diagnostics import printable_name
from macaw.asm.elf_format import ElfError
from macaw.asm.lines import LineTable, Rows
from macaw.asm.program import Section
from macaw.isa.lazy_dataclass import dataclass

_VERSIONS = range(2, 6)
_NUL = b"\0"
_LONG_UNIT = 0xFFFF_FFFF  # as a unit's length: 64-bit DWARF
_MOST = 0xFFFF_FFFF  # the greatest number in a row
_LEB_BYTES = 10  # a 64-bit number has no more


@dataclass(slots=True)
class _Sequence:
    """The line-table rows of one contiguous address range, which ends before `end`."""

    rows: Rows = field(default_factory=Rows)
    end: int = 0


def read(debug: Mapping[str, bytes], sections: Sequence[Section]) -> LineTable:
    """Return the line table of `sections`. `debug` has the contents of the debug sections by name.

    Rows of addresses outside of all sections are left out. Raises `ElfError`.
    """
    reader = _Reader(debug)
    while reader.place < len(reader.data):
        _unit(reader)
    return _table(reader, sections)


def _table(reader: _Reader, sections: Sequence[Section]) -> LineTable:
    placed = sorted((item for item in sections if item.size), key=lambda item: item.address)
    starts = [item.address for item in placed]
    tables: dict[str, Rows] = {}
    ends: dict[str, int] = {}
    for sequence in sorted(reader.sequences, key=lambda sequence: sequence.rows.addresses[0]):
        first = sequence.rows.addresses[0]
        number = bisect_right(starts, first) - 1
        if number < 0 or not placed[number].holds(first):
            continue  # code that the linker has left out, or an empty sequence
        section = placed[number]
        rows = tables.setdefault(section.name, Rows())
        if ends.get(section.name, first) < first:
            rows.add(ends[section.name], 0, 0, 0)
        rows.extend(sequence.rows.sorted().inside(section.address, section.end))
        ends[section.name] = max(sequence.end, ends.get(section.name, 0))
    for section in placed:
        if ends.get(section.name, section.end) < section.end:
            tables[section.name].add(ends[section.name], 0, 0, 0)
    order = {item.name: tables[item.name] for item in sections if item.name in tables}
    return LineTable(reader.names, order)


class _Reader:
    """The reading position in .debug_line, and the sequences read so far."""

    def __init__(self, debug: Mapping[str, bytes]) -> None:
        self.data = debug.get(".debug_line", b"")
        self.place = 0
        self.limit = len(self.data)  # where the unit ends
        self.strings = {
            dwarf.FORM_STRP: debug.get(".debug_str", b""),
            dwarf.FORM_LINE_STRP: debug.get(".debug_line_str", b""),
        }
        self.names: dict[str, int] = {}  # indices by file name
        self.sequences: list[_Sequence] = []

    def file(self, name: str) -> int:
        """Return the index of a file's name in the list of files; append the name if it is new.

        Control characters in the name become visible.
        """
        return self.names.setdefault(printable_name(name), len(self.names))

    def wrong(self, what: str) -> ElfError:
        return ElfError(f".debug_line: {what}, at offset {self.place:#x}")

    def number(self, layout: str) -> int:
        """Read a number of fixed size.

        `layout` is the format letter that `struct` has for the number. Raises `ElfError`.
        """
        size = struct.calcsize(f"<{layout}")
        if self.place + size > self.limit:
            raise self.wrong("a unit is cut off")
        value: int = struct.unpack_from(f"<{layout}", self.data, self.place)[0]
        self.place += size
        return value

    def uleb(self) -> int:
        """Read an unsigned number in LEB128. Raises `ElfError`."""
        value, shift, data, place = 0, 0, self.data, self.place
        end = min(self.limit, place + _LEB_BYTES)
        while place < end:
            byte = data[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                self.place = place
                return value
        raise self.wrong("a number has no end")

    def sleb(self) -> int:
        """Read a signed number in LEB128. Raises `ElfError`."""
        start = self.place
        value = self.uleb()
        return (
            value - (1 << 7 * (self.place - start)) if self.data[self.place - 1] & 0x40 else value
        )

    def skip(self, count: int) -> None:
        if count > self.limit - self.place:
            raise self.wrong("a unit is cut off")
        self.place += count

    def string(self) -> str:
        end = self.data.find(_NUL, self.place, self.limit)
        if end < 0:
            raise self.wrong("a name has no end")
        text = self.data[self.place : end]
        self.place = end + 1
        return dwarf.decode_text(text)


def _unit(reader: _Reader) -> None:
    """Read one DWARF unit: its header, its files and its rows."""
    reader.limit = len(reader.data)
    length, offset = reader.number("I"), "I"
    if length == _LONG_UNIT:
        length, offset = reader.number("Q"), "Q"
    if length > reader.limit - reader.place:
        raise reader.wrong(f"a unit of {length:#x} bytes exceeds the section")
    reader.limit = reader.place + length
    version = reader.number("H")
    if version not in _VERSIONS:
        raise reader.wrong(f"DWARF version {version} is not known")
    if version >= 5:
        reader.skip(2)  # sizes of addresses and segments
    length = reader.number(offset)
    if length > reader.limit - reader.place:
        raise reader.wrong(f"a header of {length:#x} bytes exceeds its unit")
    start = reader.place + length
    step = reader.number("B")
    if version >= 4 and reader.number("B") != 1:
        raise reader.wrong("instructions in bundles are not known")
    reader.skip(1)
    base, width, opcodes = reader.number("b"), reader.number("B"), reader.number("B")
    if not (width and opcodes):
        raise reader.wrong("special opcodes have no range")
    operands = [reader.number("B") for _ in range(opcodes - 1)]
    files = _files(reader, offset) if version >= 5 else ["", *_old_files(reader)]
    if reader.place > start:
        raise reader.wrong("the names are longer than their header")
    reader.place = start
    numbers = [reader.file(name) for name in files]
    _rows(reader, _Machine(step, base, width, operands, numbers, version < 5))
    reader.place = reader.limit


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and not name.startswith("/") else name


def _old_files(reader: _Reader) -> list[str]:
    """Read the files of a unit of DWARF 2 to 4, where the first file has the number 1."""
    folders = [""]  # the folder of the compilation, to which names are relative
    while folder := reader.string():
        folders.append(folder)
    names = []
    while name := reader.string():
        names.append(_old_file(reader, name, folders))
    return names


def _old_file(reader: _Reader, name: str, folders: Sequence[str]) -> str:
    folder = reader.uleb()
    reader.uleb()  # time
    reader.uleb()  # size
    if folder >= len(folders):
        raise reader.wrong(f"file {name!r} is in folder {folder} of {len(folders)}")
    return _joined(folders[folder], name)


def _files(reader: _Reader, offset: str) -> list[str]:
    """Read the files of a unit of DWARF 5, where the first file has the number 0.

    `offset` is the `struct` letter for offsets into string sections.
    """
    folders = [name for name, _ in _entries(reader, offset)]
    names = []
    for name, folder in _entries(reader, offset):
        if folder >= len(folders) and folder:
            raise reader.wrong(f"file {name!r} is in folder {folder} of {len(folders)}")
        names.append(_joined(folders[folder], name) if folder else name)
    return names


def _entries(reader: _Reader, offset: str) -> list[tuple[str, int]]:
    """Read a DWARF 5 table of folders or files.

    `offset` is the `struct` letter for offsets into string sections. Return (name, number of the
    folder) for each entry.
    """
    pairs = [(reader.uleb(), reader.uleb()) for _ in range(reader.number("B"))]
    count = reader.uleb()
    if count > reader.limit - reader.place or (count and not pairs):
        raise reader.wrong(f"{count} names cannot be")
    entries = []
    for _ in range(count):
        name, folder = "", 0
        for content, form in pairs:
            value = _form(reader, form, offset)
            if content == dwarf.LNCT_PATH and isinstance(value, str):
                name = value
            elif content == dwarf.LNCT_DIRECTORY_INDEX and isinstance(value, int):
                folder = value
        entries.append((name, folder))
    return entries


_FIXED = {
    dwarf.FORM_DATA1: "B",
    dwarf.FORM_DATA2: "H",
    dwarf.FORM_DATA4: "I",
    dwarf.FORM_DATA8: "Q",
}
_MD5_BYTES = 16


def _form(reader: _Reader, form: int, offset: str) -> str | int | None:
    """Read a value of the DWARF form `form` and return it, or None if the caller does not need it.

    `offset` is the `struct` letter for offsets into string sections.
    """
    if form == dwarf.FORM_STRING:
        return reader.string()
    if form in reader.strings:
        table, place = reader.strings[form], reader.number(offset)
        end = table.find(_NUL, place)
        if end < 0:
            raise reader.wrong(f"a name is at {place:#x} of {len(table):#x} bytes of strings")
        return dwarf.decode_text(table[place:end])
    if form == dwarf.FORM_UDATA:
        return reader.uleb()
    if form in _FIXED:
        return reader.number(_FIXED[form])
    if form == dwarf.FORM_DATA16:
        reader.skip(_MD5_BYTES)
    elif form == dwarf.FORM_BLOCK:
        reader.skip(reader.uleb())
    else:
        raise reader.wrong(f"a name has the form {form:#x}, which is not known")
    return None


@dataclass(slots=True)
class _Machine:
    """The numbers in a unit's header that say what the line-number opcodes mean.

    `step` is the number of bytes by which an address advance of 1 increases the address. The line
    advances of special opcodes are `line_base` to `line_base` + `line_range` - 1. `operands` has
    the number of operands of each standard opcode. `files` has, for each file of the unit, its
    index in the reader's list of files.
    """

    step: int  # bytes for each unit of an address advance
    line_base: int
    line_range: int
    operands: Sequence[int]  # numbers of operands of the standard opcodes
    files: list[int]  # indices into the reader's list of files
    may_add_files: bool


def _rows(reader: _Reader, machine: _Machine) -> None:
    """Execute the line-number opcodes up to the unit's end, and add the sequences to the reader."""
    first = len(machine.operands) + 1
    special = [
        (
            machine.step * (place // machine.line_range),
            machine.line_base + place % machine.line_range,
        )
        for place in range(256 - first)
    ]
    # The address advance of DW_LNS_const_add_pc, which is that of the special opcode 255.
    constant = machine.step * ((255 - first) // machine.line_range)
    data, limit, files = reader.data, reader.limit, machine.files
    sequence = _Sequence()
    add = sequence.rows.add
    address, file, line, column = 0, 1, 1, 0
    while reader.place < limit:
        opcode = data[reader.place]
        reader.place += 1
        if opcode >= first:
            gap, step = special[opcode - first]
            address += gap
            line += step
        elif opcode == dwarf.LNS_COPY:
            pass
        elif opcode == 0:
            kind, value = _extended(reader, machine)
            if kind == dwarf.LNE_SET_ADDRESS:
                address = value
            elif kind == dwarf.LNE_END_SEQUENCE:
                if sequence.rows:
                    sequence.end = address
                    reader.sequences.append(sequence)
                sequence = _Sequence()
                add = sequence.rows.add
                address, file, line, column = 0, 1, 1, 0
            continue
        else:
            if opcode == dwarf.LNS_SET_COLUMN:
                column = reader.uleb()
            elif opcode == dwarf.LNS_ADVANCE_PC:
                address += machine.step * reader.uleb()
            elif opcode == dwarf.LNS_ADVANCE_LINE:
                line += reader.sleb()
            elif opcode == dwarf.LNS_SET_FILE:
                file = reader.uleb()
            elif opcode == dwarf.LNS_CONST_ADD_PC:
                address += constant
            elif opcode == dwarf.LNS_FIXED_ADVANCE_PC:
                address += reader.number("H")
            else:
                for _ in range(machine.operands[opcode - 1]):
                    reader.uleb()
            continue
        if not 0 <= line <= _MOST or file >= len(files) or address > _MOST:
            raise reader.wrong(f"line {line} of file {file} of {len(files)} at {address:#x}")
        add(address, files[file], line, column)
    if sequence.rows:
        raise reader.wrong("a sequence has no end")


def _extended(reader: _Reader, machine: _Machine) -> tuple[int, int]:
    """Read an extended opcode; return its number and its address operand.

    The second result is 0 if the opcode has no address operand.
    """
    length = reader.uleb()
    start = reader.place
    reader.skip(length)
    end, reader.place = reader.place, start
    kind, value = reader.number("B") if length else 0, 0
    if kind == dwarf.LNE_SET_ADDRESS:
        if length not in (5, 9):
            raise reader.wrong(f"an address of {length - 1} bytes")
        value = reader.number("I" if length == 5 else "Q")
    elif kind == dwarf.LNE_DEFINE_FILE and machine.may_add_files:
        name = reader.string()
        machine.files.append(reader.file(name))
    reader.place = end
    return kind, value
