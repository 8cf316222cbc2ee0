"""Lists an object file: a dump of each section, with relocations and source lines."""

from __future__ import annotations

from collections.abc import Sequence

from macaw.asm.disassembly import raw
from macaw.asm.disassembly.labels import Labels, Names
from macaw.asm.disassembly.raw import Notes
from macaw.asm.object_file import ObjectSection
from macaw.asm.program import Program
from macaw.isa import registry


def listing(sections: Sequence[ObjectSection]) -> str:
    """Return the listing of these sections of an object.

    Addresses count from the section's start.
    """
    return "\n".join(map(_section, sections))


def _section(item: ObjectSection) -> str:
    section = item.section
    program = Program(sections=(section,), symbols=item.symbols, lines=item.lines)
    tables = {} if section.core is None else {section.core: registry.core(section.core)}
    labels = {section.name: Labels(section, program, Names(program.symbols))}
    relocations: dict[int, list[str]] = {}
    for relocation in item.relocations:
        relocations.setdefault(relocation.address, []).append(str(relocation))
    notes = Notes(
        {address: ", ".join(texts) for address, texts in relocations.items()},
        program.line_table,
        item.name,
        item.place,
    )
    return raw.dump(program, [section], tables, labels, notes)
