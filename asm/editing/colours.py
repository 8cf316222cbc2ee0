"""Finds the role of each word of a source, which an editor turns into colours (semantic tokens)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from macaw.asm.editing import occurrences
from macaw.asm.editing.file_view import FileView
from macaw.asm.editing.source_tokens import (
    ARGUMENT,
    COMMENT_TEXT,
    DIRECTIVE,
    FUNCTION,
    INSTRUCTION,
    LABEL,
    MACRO,
    NAMED,
    NUMBER,
    OPERATOR,
    REGISTER,
    STRING_TEXT,
    SYMBOL,
    WORD,
    Token,
    TokenLine,
)

CONSTANT, PARAMETER = "constant", "parameter"
# The roles of words, in the order of their numbers in the protocol.
ROLES = (
    DIRECTIVE, INSTRUCTION, MACRO, REGISTER, WORD, NAMED, FUNCTION, LABEL, SYMBOL, CONSTANT,
    PARAMETER, STRING_TEXT, NUMBER, COMMENT_TEXT, OPERATOR,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ColouredWord:
    """A word from offset `start` up to `end` in one line. `role` is one of `ROLES`.

    `defines` is true if the source defines the word here.
    """

    start: int
    end: int
    role: str
    defines: bool


def coloured_words(view: FileView, start: int, end: int) -> Iterator[ColouredWord]:
    """Yield the words, with their roles, of the lines between the offsets `start` and `end`."""
    constants = {
        name
        for scope in view.scopes
        for name, symbol in {**scope.table.shared, **scope.symbols}.items()
        if not symbol.is_label
    }
    for line in view.file.tokens.between(start, end):
        defined = {x.start for x in occurrences.in_line(line) if x.defines}
        parameters = {
            x.start for x in occurrences.in_line(line) if x.kind == occurrences.PARAMETERS
        }
        for token in line.tokens:
            role = _role(token, constants, token.start in parameters)
            if role in ROLES:
                yield from _lines(line, token, role, token.start in defined)


def _role(token: Token, constants: set[str], is_parameter: bool) -> str:
    if token.role == ARGUMENT or is_parameter:
        return PARAMETER
    if token.role == SYMBOL and token.text in constants:
        return CONSTANT
    return token.role


def _lines(line: TokenLine, token: Token, role: str, defines: bool) -> Iterator[ColouredWord]:
    """Yield the pieces of a token of `line`: one for each line of text that the token covers."""
    start = line.start + token.start
    for text in token.text.split("\n"):
        length = len(text.rstrip("\r"))
        if length:
            yield ColouredWord(start, start + length, role, defines)
        start += len(text) + 1
