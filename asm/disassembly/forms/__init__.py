"""What a core's disassembly needs beyond rows: one module a core or base, as its table's.

The way back of `asm/forms`. They stand here and not there because a form of the
assembler needs the grammar, and disassembling must not load it.
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
    """A piece of a part that is not fetched, as it lies in memory."""

    address: int
    size: int  # bytes
    text: str  # what it is, in columns
    target: int | None = None  # the address that it means
    begins: int | None = None  # where the core begins with what it belongs to, if it does


class Form:
    """A section of a core's part. This base suits a core that has nothing but words."""

    def part(self, program: Program, section: Section, labels: Labels) -> list[str] | None:
        """The lines of a part that is not fetched; None if directives do not give its bytes."""
        return None

    def records(self, section: Section, labels: Labels) -> Iterator[Record]:
        """What the bytes of such a part are, ascending; what lies between is data."""
        return iter(())

    def open(self, program: Program, section: Section) -> None:
        """A section of instructions begins."""

    def line(self, instruction: Decoded, address: int) -> str | None:
        """The whole line of an instruction that the source writes otherwise than its row says."""
        return None

    def see(self, instruction: Decoded, address: int) -> int | None:
        """The address that an instruction means without naming it. Asked in the code's order."""
        return None

    def forget(self) -> None:
        """The instruction asked for next can be jumped to."""


def form(core: str) -> Form:
    """A new form of the core: `CoreForm` of its module or of its base's, or the plain one."""
    for name in registry.form_modules(core):
        if find_spec(f"{__name__}.{name}") is not None:
            result = import_module(f"{__name__}.{name}").CoreForm()
            assert isinstance(result, Form)
            return result
    return Form()
