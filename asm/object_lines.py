"""Reads the line information of an object file.

All sections of an object begin at address 0, and the addresses in debug sections become final by
relocation. So this module gives the sections different addresses, applies the relocations, reads
the line table, and subtracts the sections' addresses from the addresses in the line table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from macaw.asm import dwarf_read
from macaw.asm import elf_format as elf
from macaw.asm.elf_format import ElfError
from macaw.asm.elf_headers import ElfFile
from macaw.asm.program import Line, Section
from macaw.isa.lazy_dataclass import dataclass

_LINES = ".debug_line"
_TEXTS = (".debug_str", ".debug_line_str")
_FIRST, _GAP = 0x1000, 0x1000  # the address of the first section; bytes between two

# By the type of a relocation: how many bytes the linker changes. `_ADD` and `_SUB` add to the old
# value or subtract from it, `_SET` replaces it. In `_SIX_BITS`: -1 subtracts, 0 replaces.
_ADD = {33: 1, 34: 2, 35: 4, 36: 8}
_SUB = {37: 1, 38: 2, 39: 4, 40: 8}
_SET = {elf.R_RISCV_32: 4, 54: 1, 55: 2, 56: 4}
_SIX_BITS = {52: -1, 53: 0}  # R_RISCV_SUB6, R_RISCV_SET6
_NOTHING = (0, 43, 51)  # R_RISCV_NONE, R_RISCV_ALIGN, R_RISCV_RELAX


@dataclass(frozen=True, slots=True)
class RelocatedValue:
    """A relocation at the byte with offset `address` in a debug section.

    `kind` is the ELF type R_RISCV_*. The relocation inserts the address that is `offset` bytes
    after the start of the section with the number `section`.
    """

    address: int
    kind: int  # R_RISCV_*
    section: int  # its number
    offset: int


def read(
    file: ElfFile, sections: Mapping[int, Section], values: Sequence[RelocatedValue]
) -> dict[int, tuple[Line, ...]]:
    """Return the source lines of each section by the section's number in the file.

    `sections` has the sections by number. Addresses count from the start of a section. `values` are
    the relocations of the section .debug_line. The result is empty if the file has no line
    information, or if the line information is unreadable.
    """
    debug: dict[str, bytes] = {}
    for number, name in enumerate(file.names):
        if name in (_LINES, *_TEXTS) and file.headers[number].kind == elf.SHT_PROGBITS:
            if name in debug:
                return {}  # several groups of sections: nothing says which belong together
            debug[name] = file.contents(number)
    if _LINES not in debug:
        return {}
    starts, free = {}, _FIRST
    for number, section in sections.items():
        if section.data:
            starts[number] = free
            free += (section.size | 15) + 1 + _GAP
    try:
        debug[_LINES] = _relocated(debug[_LINES], values, starts)
        placed = [
            replace(section, name=str(number), address=starts[number])
            for number, section in sections.items()
            if number in starts
        ]
        table = dwarf_read.read(debug, placed)
    except ElfError:
        return {}
    lines: dict[int, list[Line]] = {}
    for line in table:
        number = int(line.section)
        moved = replace(line, section=sections[number].name, address=line.address - starts[number])
        lines.setdefault(number, []).append(moved)
    return {number: tuple(items) for number, items in lines.items()}


def _relocated(data: bytes, values: Sequence[RelocatedValue], starts: Mapping[int, int]) -> bytes:
    """Return the bytes of a debug section after its relocations. Raises `ElfError`.

    `values` are the relocations; `starts` has the address of each section by number.
    """
    result = bytearray(data)
    for item in (item for item in values if item.kind not in _NOTHING):
        number = starts.get(item.section, 0) + item.offset
        kind, place = item.kind, item.address
        size = 1 if kind in _SIX_BITS else (_ADD | _SUB | _SET).get(kind)
        if size is None or place + size > len(result):
            raise ElfError(f"{_LINES}: relocation of type {kind} at {place:#x}")
        old = int.from_bytes(result[place : place + size], "little")
        if kind in _SIX_BITS:
            low = old - number if _SIX_BITS[kind] else number
            new = (old & 0xC0) | (low & 0x3F)
        else:
            new = old + number if kind in _ADD else old - number if kind in _SUB else number
        result[place : place + size] = (new % (1 << 8 * size)).to_bytes(size, "little")
    return bytes(result)
