"""Writes a `LineTable` as the debug sections of an ELF file, in the format DWARF.

The line table has version 4, because more tools read it than version 5. The compile unit and its
address ranges have version 5, like those of compilers: if Macaw's ranges had version 4, readelf
2.40 would misread a file that also has ranges of a compiler.

One compile unit covers the whole assembly, as with `as -g`; each section is one sequence of the
line table. The addresses of PE parts are the addresses that the array uses. File names are written
as the caller gave them, without dates or folders. `asm/dwarf_read.py` reads the result.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from macaw.asm.lines import LineTable, Rows
from macaw.asm.program import Section
from macaw.isa.typed_records import NamedTuple

PREFIX = ".debug_"  # of the names of all debug sections

# DW_TAG_*, DW_AT_*, DW_FORM_*, DW_LANG_*, DW_LNCT_*, DW_LNS_*, DW_LNE_*: as the standard has them.
TAG_COMPILE_UNIT = 0x11
AT_NAME, AT_STMT_LIST, AT_LOW_PC, AT_LANGUAGE = 0x03, 0x10, 0x11, 0x13
AT_PRODUCER, AT_RANGES = 0x25, 0x55
FORM_ADDR, FORM_DATA2, FORM_DATA4, FORM_DATA8, FORM_STRING = 0x01, 0x05, 0x06, 0x07, 0x08
FORM_BLOCK, FORM_DATA1, FORM_STRP, FORM_UDATA, FORM_SEC_OFFSET = 0x09, 0x0B, 0x0E, 0x0F, 0x17
FORM_DATA16, FORM_LINE_STRP = 0x1E, 0x1F
UT_COMPILE = 1
RLE_END_OF_LIST, RLE_START_END = 0, 6
LNCT_PATH, LNCT_DIRECTORY_INDEX = 1, 2
LANG_ASSEMBLER = 0x8001  # DW_LANG_Mips_Assembler: what every assembler calls itself
LNS_COPY, LNS_ADVANCE_PC, LNS_ADVANCE_LINE, LNS_SET_FILE, LNS_SET_COLUMN = 1, 2, 3, 4, 5
LNS_CONST_ADD_PC, LNS_FIXED_ADVANCE_PC = 8, 9
LNE_END_SEQUENCE, LNE_SET_ADDRESS, LNE_DEFINE_FILE = 1, 2, 3

PRODUCER = "Macaw"
_LINE, _INFO, _ABBREV, _RANGES = ".debug_line", ".debug_info", ".debug_abbrev", ".debug_rnglists"
_SET_ADDRESS = 3  # bytes of the opcode before its address
_NAMELESS = "<text>"  # instead of an empty name, which would end the list
_LAST = 0xFFFF_FFFF  # the highest address, and length, that 32 bits hold
_LINE_VERSION, _UNIT_VERSION = 4, 5
_ADDRESS_SIZE = 4
_LENGTH_BYTES = 4  # bytes of the length in front of a unit
_RANGES_HEADER = struct.Struct("<HBBI")  # after the length: version, sizes, number of offsets
# The special opcodes: line steps of -5 to 8, address steps of up to 17.
LINE_BASE, LINE_RANGE = -5, 14
OPERANDS = (0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1)  # operands of opcodes 1 to 12
OPCODE_BASE = len(OPERANDS) + 1


class Reference(NamedTuple):
    """A 32-bit field of a debug section that contains an address in the section `target`.

    `offset` is the byte offset of the field in its debug section.
    """

    offset: int
    target: str  # a section's name; an address in a debug section counts from its start


class DebugSection(NamedTuple):
    """The bytes of a debug section, and its references to other sections.

    In an executable the addresses in `data` are final; in an object the linker fills them in.
    """

    data: bytes
    references: tuple[Reference, ...] = ()


def write(lines: LineTable, sections: Sequence[Section]) -> dict[str, DebugSection]:
    """Return the contents of the debug sections by name, in file order.

    The result is empty if there are no lines. Rows of the table with addresses outside of all
    sections are left out.
    """
    placed = sorted((item for item in sections if item.size), key=lambda item: item.address)
    rows = {item.name: lines.rows(item.name).inside(item.address, item.end) for item in placed}
    placed = [item for item in placed if len(rows[item.name])]
    if not placed:
        return {}
    names, numbers = _file_names(lines, [rows[item.name] for item in placed])
    program = bytearray()
    starts = []
    for item in placed:
        starts.append(Reference(len(program) + _SET_ADDRESS, item.name))
        _sequence(program, rows[item.name], item.end, numbers)
    return {
        _LINE: _line_table(names, bytes(program), starts),
        _INFO: _unit(names[0]),
        _ABBREV: DebugSection(_abbreviations()),
        _RANGES: _ranges(placed),
        ".debug_aranges": _address_ranges(placed),
    }


def encode_text(text: str) -> bytes:
    """Return a name as bytes with a terminating zero byte.

    Bytes of the name that are not UTF-8 (surrogate escapes) are unchanged.
    """
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = text.encode("utf-8", "backslashreplace")
    return data.replace(b"\0", b"\\0") + b"\0"


def decode_text(data: bytes) -> str:
    """Return the name in `data`: the bytes from `encode_text`, without the zero byte at the end."""
    return data.decode("utf-8", "surrogateescape")


def uleb(value: int) -> bytes:
    """Encode an unsigned number in LEB128 and return its bytes."""
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)


def sleb(value: int) -> bytes:
    """Encode a signed number in LEB128 and return its bytes."""
    data = bytearray()
    while not -0x40 <= value < 0x40:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value & 0x7F)
    return bytes(data)


def _file_names(lines: LineTable, used: Sequence[Rows]) -> tuple[list[str], dict[int, int]]:
    """Return the names of all files in `used`, and the DWARF number of each, counted from 1.

    The second result has these numbers by the files' indices in `lines.files`.
    """
    places = sorted({place for rows in used for place in set(rows.files)})
    named = {place: lines.files[place] or _NAMELESS for place in places}
    names = list(dict.fromkeys(named.values()))
    order = {name: number for number, name in enumerate(names, 1)}
    return names, {place: order[name] for place, name in named.items()}


def _sequence(out: bytearray, rows: Rows, end: int, numbers: Mapping[int, int]) -> None:
    """Append to `out` the line-number opcodes for a section's rows.

    The section ends at address `end`; `numbers` are the DWARF numbers of files by their indices.
    """
    state = _State(rows.addresses[0], 1, 1, 0)
    out += struct.pack("<BBBI", 0, 1 + _ADDRESS_SIZE, LNE_SET_ADDRESS, state.address)
    start = 0
    for block in (block for block in rows.blocks if block.rounds >= 3):
        # From the second round on, each round has the same opcodes.
        second, third = block.first + block.rows, block.first + 2 * block.rows
        state = _rows(out, rows, range(start, second), numbers, state)
        size = len(out)
        state = _rows(out, rows, range(second, third), numbers, state)
        out += out[size:] * (block.rounds - 2)
        start = block.end
        state = state._replace(address=rows.addresses[start - 1])
    state = _rows(out, rows, range(start, len(rows)), numbers, state)
    out += bytes((LNS_ADVANCE_PC,)) + uleb(end - state.address)
    out += bytes((0, 1, LNE_END_SEQUENCE))


class _State(NamedTuple):
    """The registers of a line-number program."""

    address: int
    file: int
    line: int
    column: int


def _rows(
    out: bytearray, rows: Rows, places: range, numbers: Mapping[int, int], state: _State
) -> _State:
    """Append to `out` the opcodes for the rows with the indices `places`.

    `state` has the line-number registers before these opcodes; the result has the registers after
    them.
    """
    address, file, line, column = state
    highest = LINE_BASE + LINE_RANGE
    first = OPCODE_BASE - LINE_BASE
    columns = (rows.addresses, rows.files, rows.lines, rows.columns)
    for place, number, new_line, new_column in zip(
        *(values[places.start : places.stop] for values in columns), strict=True
    ):
        number = numbers[number]
        if number != file:
            out += bytes((LNS_SET_FILE,)) + uleb(number)
            file = number
        if new_column != column:
            out += bytes((LNS_SET_COLUMN,)) + uleb(new_column)
            column = new_column
        step, gap = new_line - line, place - address
        if not LINE_BASE <= step < highest:
            out += bytes((LNS_ADVANCE_LINE,)) + sleb(step)
            step = 0
        special = first + step + gap * LINE_RANGE
        if special > 0xFF:
            out += bytes((LNS_ADVANCE_PC,)) + uleb(gap)
            special = first + step
        out.append(special)
        line, address = new_line, place
    return _State(address, file, line, column)


def _with_length(data: bytes) -> bytes:
    """Return a DWARF unit with its 32-bit length in front."""
    return struct.pack("<I", len(data)) + data


def _line_table(
    names: Sequence[str], program: bytes, addresses: Sequence[Reference]
) -> DebugSection:
    """Return the contents of .debug_line.

    `names` are the files, relative to the folder in which the assembler ran; in DWARF, this folder
    has the number 0. `program` has the line-number opcodes; `addresses` are the references in these
    opcodes.
    """
    files = b"".join(encode_text(name) + bytes(3) for name in names)  # folder, time, size
    header = (
        struct.pack("<BBBbBB", 1, 1, 1, LINE_BASE, LINE_RANGE, OPCODE_BASE)
        + bytes(OPERANDS)
        + bytes(1)  # no other folders
        + files
        + bytes(1)
    )
    before = struct.pack("<HI", _LINE_VERSION, len(header)) + header
    start = _LENGTH_BYTES + len(before)
    references = tuple(Reference(start + place, target) for place, target in addresses)
    return DebugSection(_with_length(before + program), references)


def _abbreviations() -> bytes:
    """Return the contents of .debug_abbrev. It describes one kind of entry, without children."""
    pairs = (
        (AT_STMT_LIST, FORM_SEC_OFFSET),
        (AT_RANGES, FORM_SEC_OFFSET),
        (AT_LOW_PC, FORM_ADDR),
        (AT_NAME, FORM_STRING),
        (AT_PRODUCER, FORM_STRING),
        (AT_LANGUAGE, FORM_DATA2),
        (0, 0),
    )
    attributes = b"".join(uleb(name) + uleb(form) for name, form in pairs)
    return uleb(1) + uleb(TAG_COMPILE_UNIT) + b"\0" + attributes + b"\0"


def _unit(name: str) -> DebugSection:
    """Return the contents of .debug_info: one compile unit named `name`."""
    header = struct.pack("<HBBI", _UNIT_VERSION, UT_COMPILE, _ADDRESS_SIZE, 0)
    values = struct.pack("<III", 0, _LENGTH_BYTES + _RANGES_HEADER.size, 0)
    texts = encode_text(name) + encode_text(PRODUCER)
    data = _with_length(header + uleb(1) + values + texts + struct.pack("<H", LANG_ASSEMBLER))
    first = _LENGTH_BYTES + len(header) + 1  # after the code of the abbreviation
    lines, ranges = Reference(first, _LINE), Reference(first + _ADDRESS_SIZE, _RANGES)
    return DebugSection(data, (Reference(_LENGTH_BYTES + 4, _ABBREV), lines, ranges))


def _ranges(sections: Sequence[Section]) -> DebugSection:
    """Return the contents of .debug_rnglists: a list with the address ranges of `sections`."""
    data, references = bytearray(_RANGES_HEADER.pack(_UNIT_VERSION, _ADDRESS_SIZE, 0, 0)), []
    for item in sections:
        first = _LENGTH_BYTES + len(data) + 1
        data += struct.pack("<BII", RLE_START_END, item.address, min(item.end, _LAST))
        references += [Reference(first, item.name), Reference(first + _ADDRESS_SIZE, item.name)]
    data.append(RLE_END_OF_LIST)
    return DebugSection(_with_length(bytes(data)), tuple(references))


def _address_ranges(sections: Sequence[Section]) -> DebugSection:
    """Return the contents of .debug_aranges: the addresses that the compile unit covers."""
    header = struct.pack("<HIBB4x", 2, 0, _ADDRESS_SIZE, 0)
    pairs = b"".join(struct.pack("<II", item.address, min(item.size, _LAST)) for item in sections)
    first = _LENGTH_BYTES + len(header)
    references = (
        Reference(first + 2 * _ADDRESS_SIZE * place, item.name)
        for place, item in enumerate(sections)
    )
    data = _with_length(header + pairs + bytes(2 * _ADDRESS_SIZE))
    return DebugSection(data, (Reference(_LENGTH_BYTES + 2, _INFO), *references))
