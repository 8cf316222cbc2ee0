"""Whether a laid-out source still means what it did: by its tokens, and by the bytes it gives."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest

from macaw.asm.assembler import assemble
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.formatter import LETTERS, TOKEN
from macaw.asm.source import LogicalLine, Source, SourceText, logical_lines

_LOOSE_BEFORE = {",", "=", ":", "(", "["}  # a blank behind these separates nothing
_LOOSE_AFTER = {",", "=", ":", ")", "]"}  # nor one before these


def same_tokens(before: str, after: str) -> bool:
    """Whether the statements of two texts are the same but for blanks that separate nothing."""
    pairs = zip_longest(_lines(before), _lines(after))
    return all(
        one is not None and other is not None and _tokens(one) == _tokens(other)
        for one, other in pairs
    )


def same_program(source: Source, after: str) -> bool | None:
    """Whether both texts assemble to one program; None if `source` does not assemble by itself."""
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
    """The tokens, each with whether a blank sets it apart from the one before."""
    tokens: list[tuple[str, bool]] = []
    before, blank = "", False
    for token in TOKEN.finditer(line.text):
        if token.lastgroup == "blank":
            blank = True
            continue
        if before == LETTERS:
            return [*tokens, (line.text[token.start() :], False)]
        text = token[0]
        loose = before in _LOOSE_BEFORE or text in _LOOSE_AFTER or text[0] in "\"'"
        tokens.append((text, blank and not loose))
        before, blank = text, False
    return tokens
