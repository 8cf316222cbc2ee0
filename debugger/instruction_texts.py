"""The texts of a program's instructions by address, as the assembler wrote them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from macaw.asm.disassembly import code
from macaw.asm.disassembly.forms import printer_of
from macaw.debugger.locations import records_of
from macaw.isa import registry

if TYPE_CHECKING:
    from macaw.asm.program import Program, Section

# members of a packet that do not explain a value
_COUNTS = re.compile(r", segments=\d+, clusters=\d+$")


def symbol_text(program: Program, address: int) -> str | None:
    """Return the symbol at or before an address, with the distance, as `loop+8`; or None."""
    near = program.symbol_at(address)
    if near is None:
        return None
    return near[0].name + (f"+{near[1]}" if near[1] else "")


class InstructionTexts:
    """The instructions, packets and sequence headers of a program as text.

    The object reads each section once. The texts are those of the assembled program, even if the
    run has changed the instructions in memory.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._sections: dict[str, dict[int, str]] = {}

    def at(self, address: int) -> str:
        """Return the text of the instruction or record that begins at an address, with operands.

        The text is empty if no instruction or record begins there.
        """
        section = self.program.section_at(address)
        if section is None or section.core is None:
            return ""
        if section.name not in self._sections:
            self._sections[section.name] = self._texts(section)
        return self._sections[section.name].get(address, "")

    def _texts(self, section: Section) -> dict[int, str]:
        """Return the text of each instruction or record of a section, by address."""
        assert section.core is not None
        table = registry.core(section.core)
        if not table.executable:
            records = records_of(self.program, section.name, section.core)
            return {x.address: _COUNTS.sub("", " ".join(x.text.split())) for x in records}
        printer = printer_of(table.name)
        printer.open(self.program, section)
        texts = {}
        for at, _, word in code.words(section, table):
            own = None
            if word.instruction is not None:
                own = printer.line(word.instruction, at)
                printer.target_of(word.instruction, at)
            text = own or word.text_at(table, at, lambda to: symbol_text(self.program, to))
            texts[at] = " ".join(text.split())
        return texts
