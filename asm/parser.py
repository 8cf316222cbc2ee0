"""Parses logical lines to statements.

The parser knows no core: it returns the pieces of the line with their positions. The grammar of
`grammar.lark` (`asm/grammar.py`) is the definition. Lines of words and plain numbers are split
without the grammar (`asm/simple_statement.py`), so most programs never load Lark. Lines with the
same text are parsed once.
"""

from __future__ import annotations

from functools import lru_cache

from macaw.asm import simple_statement
from macaw.asm.syntax import Name, Number, Statement
from macaw.isa.lazy_pattern import lazy_pattern

_LONGEST_SHORT = 400  # characters of a line whose statement is cached with many others
# The labels of a line that is wrong after them.
_LABELS = lazy_pattern(r"\s*([A-Za-z_$][A-Za-z0-9_.$]*|\.[A-Za-z0-9_.$]+|[0-9]+)\s*:")


def parse(text: str) -> Statement:
    """Return the statement of a logical line without comments. Raises `Mistake`."""
    # Many long lines would fill the memory.
    return (_parse_short if len(text) <= _LONGEST_SHORT else _parse_long)(text)


# `.insn r 0x33, ...`: there is no comma after the name of the format.
_FORMAT = lazy_pattern(r"(\.insn[ \t]+[a-z]\w*)[ \t](?![ \t]*(?:,|$))")


def _parse(text: str) -> Statement:
    if ".insn" in text:
        text = _FORMAT.sub(r"\1,", text, count=1)  # of the same length
    statement = simple_statement.split(text)
    if statement is not None:
        return statement
    from macaw.asm import grammar  # loads Lark

    return grammar.parse(text)


_parse_short = lru_cache(maxsize=8192)(_parse)
_parse_long = lru_cache(maxsize=4)(_parse)


def labels_of(text: str) -> tuple[Name | Number, ...]:
    """Return the labels at the start of a line, even if the rest of the line is wrong."""
    labels: list[Name | Number] = []
    position = 0
    while match := _LABELS.match(text, position):
        start, end = match.span(1)
        word, position = match[1], match.end()
        if word[0].isdigit():
            labels.append(Number(start, end, int(word) if len(word) < 20 else -1))
        else:
            labels.append(Name(start, end, word))
    return tuple(labels)
