"""Reads a core's code: source lines, calls and returns of its instructions.

The tables say which instructions call and return (`Instruction.flow`). A jump that writes a link
register is a call. A jump to an address in a register is a return if the jump writes no link
register. A call has returned when the core is at the instruction after the call and the stack
pointer is not below the value that it had at the call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from macaw.emu.breaks import live_values
from macaw.emu.copies import original
from macaw.emu.faults import Fault
from macaw.isa.codec import Decoded, DecodeError, decode
from macaw.isa.kinds import Register

if TYPE_CHECKING:
    from macaw.asm.program import Line
    from macaw.debugger.debuggee import Debuggee
    from macaw.emu.core import Core

STACK, WORD = "sp", 4


class SourceCode:
    """The code of one core of a debuggee."""

    def __init__(self, debuggee: Debuggee, core: Core) -> None:
        self.debuggee = debuggee
        self.core = core

    def line(self, address: int | None) -> Line | None:
        """Return the source line of the instruction at an address; None if it is not known."""
        if address is None:
            return None
        program = self.debuggee.program
        return program.line_at(original(program, self.core, address))

    def starts_line(self, address: int | None) -> bool:
        """Return whether the instruction at an address is the first one of a source line."""
        here, before = self.line(address), self.line((address or 0) - WORD)
        return here is not None and (before is None or not same_line(here, before))

    def instruction(self, address: int) -> Decoded | None:
        """Return the decoded instruction at an address; None if memory has no instruction there."""
        try:
            data = self.debuggee.device.memory.peek(address, WORD)
            return decode(self.core.table, int.from_bytes(data, "little"), 8 * WORD, address)
        except (Fault, DecodeError):
            return None

    def calls(self, address: int) -> bool:
        """Return whether the instruction at an address is a call."""
        instruction = self.instruction(address)
        return (
            instruction is not None
            and instruction.row.flow in ("call", "jump")
            and _links(instruction)
        )

    def returns(self, address: int) -> bool:
        """Return whether the instruction at an address is a return."""
        instruction = self.instruction(address)
        if instruction is None or instruction.row.flow != "jump" or _links(instruction):
            return False
        writes = instruction.row.writes.split()
        return any(
            isinstance(operand.kind, Register) and operand.name not in writes
            for operand in instruction.row.operands
        )

    def stack_test(self) -> Callable[[], bool]:
        """Return a function that tests whether the stack pointer is at or above its value now.

        "Now" is the time of the call of `stack_test`. For a core without a stack pointer, the
        function returns True.
        """
        core = self.core
        for file in core.table.files:
            for number, names in enumerate(file.names):
                values = live_values(core, file.name)
                if STACK in names and values is not None:
                    return partial(_is_back, values, number, values[number])
        return lambda: True


def _is_back(values: Sequence[int], number: int, before: int) -> bool:
    """Return whether the stack pointer, register `number` of a file, is at least `before`."""
    return bool(values[number] >= before)


def _links(instruction: Decoded) -> bool:
    """Return whether an instruction writes a return address into a register."""
    return any(instruction.values.get(name) for name in instruction.row.writes.split())


def same_line(one: Line, other: Line) -> bool:
    """Return whether two lines have the same file and number."""
    return one.line == other.line and one.file == other.file
