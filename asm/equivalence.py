"""Checks whether formatting has preserved a source's meaning: its tokens, and its program."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest

from macaw.asm.assembler import assemble
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.formatter import LETTERS, NO_DIRECTIVE, TOKEN
from macaw.asm.source import LogicalLine, Source, SourceText, logical_lines

_LOOSE_BEFORE = {",", "=", ":", "(", "["}  # a blank after one of these has no meaning
_LOOSE_AFTER = {",", "=", ":", ")", "]"}  # nor has one before one of these


def same_tokens(before: str, after: str) -> bool:
    """Return whether two texts have the same statements, apart from blanks without meaning."""
    pairs = zip_longest(_lines(before), _lines(after))
    return all(
        one is not None and other is not None and _tokens(one) == _tokens(other)
        for one, other in pairs
    )


def same_program(source: Source, after: str) -> bool | None:
    """Return whether both texts assemble to the same program.

    Return None if `source` alone does not assemble.
    """
    try:
        program = assemble(source)
    except AssemblyError:
        return None
    try:
        return assemble(replace(source, text=after)) == program
    except AssemblyError:
        return False


def _lines(text: str) -> list[LogicalLine]:
    return list(logical_lines(SourceText(text, ""), lambda offset: None))


def _tokens(line: LogicalLine) -> list[tuple[str, bool]]:
    """Return for each token of a line its text, and whether the blank before it is significant."""
    tokens: list[tuple[str, bool]] = []
    before, blank = "", False
    for token in TOKEN.finditer(line.text):
        if token.lastgroup == "blank":
            blank = True
            continue
        if before == LETTERS and token[0] not in NO_DIRECTIVE:
            return [*tokens, (line.text[token.start() :], False)]
        text = token[0]
        loose = before in _LOOSE_BEFORE or text in _LOOSE_AFTER or text[0] in "\"'"
        tokens.append((text, blank and not loose))
        before, blank = text, False
    return tokens
