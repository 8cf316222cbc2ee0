"""The directive `.include`: read the lines of another file."""

from __future__ import annotations

from macaw.asm import files
from macaw.asm.assembly_inputs import why_no_text
from macaw.asm.diagnostics import printable_name
from macaw.asm.directive import wrong_operands
from macaw.asm.source import LogicalLine, SourceText
from macaw.asm.syntax import AlreadyReported, Mistake, Text
from macaw.asm.text_directive import TextDirective, statement_of
from macaw.asm.text_stack import MAX_CHARACTERS, Command, TextStack
from macaw.isa import reading


def _include(stack: TextStack, command: Command) -> None:
    statement = statement_of(stack, command)
    if len(statement.operands) != 1 or not isinstance(statement.operands[0], Text):
        raise wrong_operands(statement, '.include "FILE"')
    node, folders = statement.operands[0], stack.state.folders
    try:
        path, name = folders.find(command.line, node)
        text = folders.text(path, MAX_CHARACTERS)
    except files.FileError as error:
        raise Mistake(str(error), node) from None
    except UnicodeDecodeError as error:
        _report_byte(stack, name, command, error)
        raise AlreadyReported from None
    caller = command.caller("included from here")
    # An `.include` in the included file starts from the folder of the run's source, as in GNU as.
    source = SourceText(text, printable_name(name), command.line.source.folder, caller)
    folders.included.setdefault((source.name, len(stack.state.symbols.table.scopes) - 1), source)
    stack.include(source, caller)


def _report_byte(stack: TextStack, name: str, command: Command, error: UnicodeDecodeError) -> None:
    """Report the byte of the included file `name` that is not UTF-8, at its place in this file."""
    message, place = why_no_text(error)
    before = reading.decode(error.object[:place])
    start = before.rfind("\n") + 1
    rest = error.object[place:].decode(errors="replace")
    caller = command.caller("included from here")
    source = SourceText(before + rest, printable_name(name), None, caller)
    line = LogicalLine(source, start, before[start:] + rest.split("\n", 1)[0])
    span = len(before) - start, len(before) - start + 1
    stack.state.report.mistake(line, Mistake(message, span))


# fmt: off
INCLUDES = (
    TextDirective(".include", '.include "FILE"', "Read the lines of another file, which must be below the source's folder or a -I folder.", _include, example=".include \"shared.inc\""),
)
# fmt: on
