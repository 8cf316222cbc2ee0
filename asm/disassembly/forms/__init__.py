"""Prints those pieces of a core's part that are not plain instructions.

There is one module for each core or base, the inverse of its module in `asm/forms`. The two folders
are separate because the modules of the assembler import the grammar, which the disassembler does
not need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec

from macaw.asm.disassembly.labels import Labels
from macaw.asm.program import Program, Section
from macaw.isa import registry
from macaw.isa.codec import Decoded
from macaw.isa.typed_records import NamedTuple

Naming = Callable[[int], str | None]  # the name of an address, if it has one


class Record(NamedTuple):
    """A packet, segment, sequence or the like in a part that the core does not fetch as code.

    `text` describes it, and `target` is the address to which it refers. `begins` is the address
    from which the core executes it: the address of the packet that contains the record, of the
    first instruction of the sequence that contains it, or of the instruction itself.
    """

    address: int
    size: int  # bytes
    text: str  # its description, in columns
    target: int | None = None  # the address to which it refers
    # The address from which the core executes the record: that of its packet, of the first
    # instruction of its sequence, or of the instruction itself.
    begins: int | None = None


class PartPrinter:
    """Prints a section of a core's part.

    This base class is for cores whose sections are plain instruction words. A subclass may find
    addresses that two instructions compute together. Then `begins` has the mnemonics that begin
    such an address, for example `lui`, and `begun` is true while one is unfinished.
    """

    has_lines = False  # whether `line` returns lines
    begins: frozenset[str] = frozenset()  # mnemonics that a later instruction may complete
    begun: object = False  # state of an instruction that needs later words; False if none does

    def part(self, program: Program, section: Section, labels: Labels) -> list[str] | None:
        """Return the source lines of a part that the core does not fetch as instructions.

        Return None if no directives can produce the part's bytes; then the caller prints data.
        """
        return None

    def records(self, section: Section, labels: Labels) -> Iterator[Record]:
        """Yield the records of a part that the core does not fetch as instructions, by address."""
        return iter(())

    def open(self, program: Program, section: Section) -> None:
        """Prepare to print a section of instructions."""

    def line(self, instruction: Decoded, address: int) -> str | None:
        """Return the source line of an instruction whose source form differs from its row's syntax.

        Return None for any other instruction; then the caller prints it by its row's syntax.
        """
        return None

    def target_of(self, instruction: Decoded, address: int) -> int | None:
        """Return the address that this instruction computes together with an earlier one, or None.

        For example, a `lui` begins an address and a later `addi` completes it. The caller passes
        the instructions in the order of their addresses. While no address is unfinished (`begun`),
        the caller may leave out all instructions except those in `begins`.
        """
        return None

    def forget(self) -> None:
        """Forget the unfinished addresses.

        The caller does this where a jump may lead to the next instruction, because the registers
        may then contain other values.
        """


def printer_of(core: str) -> PartPrinter:
    """Return a new printer for a core.

    The printer's class is `PRINTER` of the core's module in this folder, or of the module of the
    core's base, or else `PartPrinter`.
    """
    for name in registry.form_modules(core):
        if find_spec(f"{__name__}.{name}") is not None:
            result = import_module(f"{__name__}.{name}").PRINTER()
            assert isinstance(result, PartPrinter)
            return result
    return PartPrinter()
