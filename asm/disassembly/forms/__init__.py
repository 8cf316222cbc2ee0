"""What a core's disassembly needs beyond its rows: one module a core or base.

It reverses `asm/forms`. The modules are separate because those of the assembler load the grammar,
which disassembling does not need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from macaw.asm.disassembly.labels import Labels
from macaw.asm.program import Program, Section
from macaw.isa import registry
from macaw.isa.codec import Decoded

Naming = Callable[[int], str | None]  # the name of an address, if it has one


class Record(NamedTuple):
    """A record of a part that is not fetched as instructions."""

    address: int
    size: int  # bytes
    text: str  # its description, in columns
    target: int | None = None  # the address that it means
    begins: int | None = None  # address of the whole that it belongs to, if the core starts there


class PartPrinter:
    """Prints a section of a core's part. This base suits a core that has nothing but words."""

    def part(self, program: Program, section: Section, labels: Labels) -> list[str] | None:
        """The lines of a part that is not fetched; None if directives cannot give its bytes."""
        return None

    def records(self, section: Section, labels: Labels) -> Iterator[Record]:
        """Yield the records of a part that is not fetched, in the order of their addresses."""
        return iter(())

    def open(self, program: Program, section: Section) -> None:
        """Prepare for a section of instructions."""

    def line(self, instruction: Decoded, address: int) -> str | None:
        """The whole line of an instruction that is not written as its row says; None: it is."""
        return None

    def target_of(self, instruction: Decoded, address: int) -> int | None:
        """Return the address that an instruction completes without naming it, if any.

        The caller passes the instructions in the order of their addresses.
        """
        return None

    def forget(self) -> None:
        """Forget what earlier instructions did: code may jump to the next one."""


def printer_of(core: str) -> PartPrinter:
    """A new printer for the core: `PRINTER` of its module or of its base's, else `PartPrinter`."""
    for name in registry.form_modules(core):
        if find_spec(f"{__name__}.{name}") is not None:
            result = import_module(f"{__name__}.{name}").PRINTER()
            assert isinstance(result, PartPrinter)
            return result
    return PartPrinter()
