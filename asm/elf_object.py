"""Writes a `Relocatable` as an ELF object for a linker.

The name of every section is `.macaw` followed by the section's own name. Every section has the
address 0; the linker script gives the final addresses. The debug sections refer to section symbols.
Code and data may refer to symbols of other objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from macaw.asm import dwarf, elf, elf_note
from macaw.asm import elf_format as form
from macaw.asm.elf_builder import ElfBuilder, NamedSymbol
from macaw.asm.program import Program
from macaw.asm.relocatable import PREFIX, Relocatable, Relocation

_HIGH_PART = ".Lpcrel_hi"  # begins the symbol of an instruction with a high part; a number follows


def _object_symbols(
    item: Relocatable, numbers: Mapping[str, int], starts: Mapping[str, int]
) -> list[NamedSymbol]:
    """Return the program's symbols, the symbol `item.layout_symbol`, and the undefined symbols.

    `numbers` and `starts` are the numbers and start addresses of sections by name.
    """
    layout, absolute = item.layout_symbol, form.SHN_ABS
    return [
        *elf.symbol_entries(item.program.symbols, numbers, starts),
        (layout, item.layout, 0, form.STT_NOTYPE, absolute, form.STB_GLOBAL),
        *(
            (
                name,
                0,
                0,
                form.STT_NOTYPE,
                form.SHN_UNDEF,
                form.STB_WEAK if name in item.weak else form.STB_GLOBAL,
            )
            for name in item.undefined
        ),
    ]


def write(item: Relocatable, *, lines: bool = True) -> bytes:
    """Return the ELF object, with or without line information. Raises `ElfError`."""
    program = item.program
    elf.check(program)
    starts = {section.name: section.address for section in program.sections}
    debug = dwarf.write(program.line_table, program.sections) if lines else {}
    file = ElfBuilder()
    for section in program.sections:
        file.add_loaded(section, PREFIX + section.name, 0)
    note = elf_note.write(replace(program, is_linked=True), arrays=lines)
    file.add(elf_note.SECTION, form.SHT_NOTE, note, 4)
    for name, contents in debug.items():
        file.add(name, form.SHT_PROGBITS, contents.data, 1)
    numbers = {name.removeprefix(PREFIX): number for name, number in file.numbers.items()}
    sections = [*starts, *debug]
    symbols: list[NamedSymbol] = [
        ("", 0, 0, form.STT_SECTION, numbers[name], form.STB_LOCAL) for name in sections
    ]
    places = {name: place for place, name in enumerate(sections, 1)}
    marks = sorted({x.symbol for x in item.relocations if isinstance(x.symbol, int)})
    symbols += _marks(program, marks, numbers, starts)
    high_parts = {address: len(sections) + place for place, address in enumerate(marks, 1)}
    own = _object_symbols(item, numbers, starts)
    named = {
        name: place
        for place, (name, *_, binding) in enumerate(own, 1 + len(symbols))
        if binding != form.STB_LOCAL
    }
    symbols += own
    by_section: dict[str, list[bytes]] = {}
    for relocation in item.relocations:
        symbol = relocation.symbol
        place = named[symbol] if isinstance(symbol, str) else high_parts[symbol]
        by_section.setdefault(relocation.section, []).append(_own(relocation, place, starts))
    for name, contents in debug.items():
        for reference in contents.references:
            by_section.setdefault(name, []).append(_of_debug(contents, reference, places, starts))
    table = file.next_number + len(by_section)
    for name, records in by_section.items():
        whole = name if name in debug else PREFIX + name
        file.add(
            f".rela{whole}",
            form.SHT_RELA,
            b"".join(records),
            4,
            flags=form.SHF_INFO_LINK,
            link=table,
            info=numbers[name],
            entry_size=form.RELOCATION.size,
        )
    file.add_symbols(symbols)
    return file.bytes(form.ET_REL)


def _marks(
    program: Program, marks: Iterable[int], numbers: Mapping[str, int], starts: Mapping[str, int]
) -> Iterable[NamedSymbol]:
    """Yield a local symbol for each instruction that has the high part of an address.

    The instruction with the low part refers to this symbol. `marks` are the addresses of the
    instructions with a high part. `numbers` and `starts` are the numbers and start addresses of
    sections by name.
    """
    for number, address in enumerate(marks):
        section = program.section_at(address)
        assert section is not None
        value = address - starts[section.name]
        name = f"{_HIGH_PART}{number}"
        yield name, value, 0, form.STT_NOTYPE, numbers[section.name], form.STB_LOCAL


def _own(relocation: Relocation, symbol: int, starts: Mapping[str, int]) -> bytes:
    """Return the ELF record of a relocation.

    `symbol` is the number of the relocation's symbol; `starts` are the start addresses of sections
    by name.
    """
    offset = relocation.address - starts[relocation.section]
    addend = (relocation.addend + (1 << 31)) % (1 << 32) - (1 << 31)
    return form.RELOCATION.pack(offset, symbol << 8 | relocation.kind, addend)


def _of_debug(
    debug: dwarf.DebugSection,
    reference: dwarf.Reference,
    places: Mapping[str, int],
    starts: Mapping[str, int],
) -> bytes:
    """Return the ELF relocation record for a reference of a debug section to another section.

    `places` are the numbers of the section symbols, `starts` the addresses of the sections, both by
    section name.
    """
    offset, target = reference
    value = int.from_bytes(debug.data[offset : offset + 4], "little")
    addend = value - starts.get(target, 0)
    return form.RELOCATION.pack(offset, places[target] << 8 | form.R_RISCV_32, addend)
