"""The directives of repetition: `.rept`, `.irp` and `.irpc`, as in GNU as."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from macaw.asm.arguments import OperandText
from macaw.asm.directive import wrong_operands
from macaw.asm.macro_body import NUMBER, MacroBody
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import Mistake
from macaw.asm.text_directive import TextDirective, statement_of
from macaw.asm.text_stack import Command, TextStack

_OPENING = (".rept", ".rep", ".irp", ".irep", ".irpc", ".irepc")
_END = ".endr"
_IRP, _IRPC = ".irp NAME, value, ...", ".irpc NAME, characters"


def _rept(stack: TextStack, command: Command) -> None:
    lines = stack.collect(command, _OPENING, _END)
    statement = statement_of(stack, command)
    if len(statement.operands) != 1:
        raise wrong_operands(statement, ".rept COUNT")
    count = StatementContext.current(stack.state, command.line).number(statement.operands[0])
    if count < 0:
        raise Mistake(f"{count} repetitions: the count is negative", statement.operands[0])
    if lines:
        stack.repeat(command, MacroBody(command.line.source, lines, ()), count)


def _irp(stack: TextStack, command: Command) -> None:
    _each(stack, command, _arguments, _IRP)


def _irpc(stack: TextStack, command: Command) -> None:
    _each(stack, command, _characters, _IRPC)


_Values = Callable[[OperandText, int], Iterator[str]]


def _each(stack: TextStack, command: Command, values: _Values, syntax: str) -> None:
    lines = stack.collect(command, _OPENING, _END)
    text = OperandText(command.operands, command.name.end)
    name = text.name(0)
    if not name:
        raise Mistake("a name for the value is needed here", command.name, f"write {syntax}")
    position = text.comma(len(name))
    items = values(text, position) if position < len(text.text) else iter([""])
    if lines:
        body = MacroBody(command.line.source, lines, (name, NUMBER))
        stack.repeat_with(command, body, items)


def _arguments(text: OperandText, position: int) -> Iterator[str]:
    while position < len(text.text):
        value, end = text.argument(position)
        yield value
        position = max(text.comma(end), position + 1)


def _characters(text: OperandText, position: int) -> Iterator[str]:
    """Yield each character of the operand at `position`, except blanks outside of a string."""
    characters = text.text
    quoted = characters.startswith('"', position)
    position += quoted
    while position < len(characters):
        if characters[position] == '"':
            quoted = not quoted
            if text.blank(position + 1) >= len(characters):
                return
        yield characters[position]
        position += 1
        if not quoted:
            position = text.blank(position)


def _endr(stack: TextStack, command: Command) -> None:
    raise Mistake("'.endr' without '.rept', '.irp' or '.irpc'", command.name)


D = TextDirective

# fmt: off
REPETITION = (
    D(".rept",    ".rept COUNT",                 "The lines up to .endr, COUNT times.", _rept, example=".set n, 0\n.rept 4\n.byte n\n.set n, n + 1\n.endr"),
    D(".irp",     _IRP,                          "Repeat the lines up to .endr once for each value. In the lines, \\NAME is the value.", _irp, example=".irp value, 1, 2, 4 + 4\n.byte \\value\n.endr"),
    D(".rep",     ".rep COUNT",                  "As .rept.", _rept, example=".rep 4\n.byte 1\n.endr"),
    D(".irep",    ".irep NAME, value, ...",      "As .irp.", _irp, example=".irep value, 1, 2\n.byte \\value\n.endr"),
    D(".irepc",   ".irepc NAME, characters",     "As .irpc.", _irpc, example=".irepc digit, 0123\n.byte \\digit\n.endr"),
    D(".irpc",    _IRPC,                         "Repeat the lines up to .endr once for each character. In the lines, \\NAME is the character.", _irpc, example=".irpc digit, 0123\n.byte \\digit\n.endr"),
    D(".endr",    ".endr",                       "The end of a repetition.", _endr, example=".rept 2\n.byte 1\n.endr"),
)
# fmt: on
