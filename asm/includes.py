"""`.include`: another file's lines. All textual directives together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.asm import files
from macaw.asm.conditionals import CONDITIONALS
from macaw.asm.diagnostics import printable_name
from macaw.asm.directives import wrong_operands
from macaw.asm.expansion import MAX_CHARACTERS, Command, TextDirective
from macaw.asm.macros import MACROS
from macaw.asm.repetition import REPETITION
from macaw.asm.source import SourceText
from macaw.asm.syntax import Mistake, Text

if TYPE_CHECKING:
    from macaw.asm.expansion import Reader


def _include(reader: Reader, command: Command) -> None:
    statement = reader.parsed(command)
    if len(statement.operands) != 1 or not isinstance(statement.operands[0], Text):
        raise wrong_operands(statement, '.include "FILE"')
    node = statement.operands[0]
    assembly = reader.assembly
    try:
        path, name = assembly.folders.find(command.line, node)
        text = files.read(path, MAX_CHARACTERS).decode("utf-8-sig")
    except files.FileError as error:
        raise Mistake(str(error), node) from None
    except UnicodeDecodeError as error:
        message = f"'{node.value.decode()}': byte {error.start} is not UTF-8 text"
        raise Mistake(message, node) from None
    caller = command.caller("included from here")
    # Its own includes are found as those of the file that the run began with, as in GNU as.
    reader.include(
        SourceText(text, printable_name(name), command.line.source.folder, caller), caller
    )


# fmt: off
INCLUDES = (
    TextDirective(".include", '.include "FILE"', "The lines of another file, which is found below the source's folder or a -I folder.", _include, example=".include \"shared.inc\""),
)
# fmt: on
TEXTUAL = (*CONDITIONALS, *MACROS, *REPETITION, *INCLUDES)
