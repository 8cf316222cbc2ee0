"""Finds the statement, the operand and the incomplete word at a position of a source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from macaw.asm.editing.source_tokens import (
    COMMENT_TEXT,
    FUNCTION,
    HEADS,
    MARK,
    NAMED,
    STRING_TEXT,
    WORD,
    WRONG,
    SourceTokens,
    Token,
    TokenLine,
)

_WORDS = re.compile(r"%?[\w.$]*$")


@dataclass(frozen=True, slots=True)
class Cursor:
    """A position in a statement, with the text and the brackets before it.

    - `word`: the text of the word before the position. It begins at `start`.
    - `head`: the statement's first word. It is empty if the position is in that word or before it.
    - `role`: the role of `head`, as for a `Token`.
    - `operand`: the number of commas after `head`, except those in brackets.
    - `depth`: the number of open brackets. `inner`: the number of commas in the innermost of them.
    - `function`: the function in whose brackets the position is, such as `%hi`.
    - `named`: in the value of a named operand, the operand's name with its `=`, such as `data=`.
    - `quoted`: in a string, the string's text before the position; elsewhere None.
    - `written`: the names of the named operands, and the flags, before the position.
    """

    start: int
    word: str
    head: str = ""
    role: str = ""  # the role of `head`
    operand: int = 0
    depth: int = 0
    inner: int = 0
    named: str = ""
    quoted: str | None = None
    is_comment: bool = False
    written: frozenset[str] = frozenset()
    function: str = ""


def at(tokens: SourceTokens, offset: int) -> Cursor:
    """Return the cursor at an offset of a text."""
    line = tokens.line_at(offset)
    place = offset - line.start
    match = _WORDS.search(line.text, 0, place)
    assert match is not None
    start, word = match.start() + line.start, match[0]
    if any(_is_in_comment(token, place) for token in line.tokens):
        return Cursor(start, word, is_comment=True)
    statement = _before(line, place, match.start())
    return _measure(statement, place, line, start, word)


def _is_in_comment(token: Token, place: int) -> bool:
    if token.role != COMMENT_TEXT or place <= token.start:
        return False
    is_closed = token.text.startswith("/*") and token.text.endswith("*/")
    return place < token.end or (place == token.end and not is_closed)


def _before(line: TokenLine, place: int, word: int) -> list[Token]:
    """Return the tokens of the statement that begin before the offset `place` in the line.

    The incomplete word, which begins at the offset `word`, is left out. If `place` is inside of a
    string, the string is the last token.
    """
    statement: list[Token] = []
    for token in (token for token in line.tokens if token.start < place):
        if token.role == MARK and token.text == ";":
            statement = []
        elif token.text[0] == '"' or token.start < word or token.end <= word:
            statement.append(token)
    return statement


def _measure(
    statement: Sequence[Token], place: int, line: TokenLine, start: int, word: str
) -> Cursor:
    """Return the cursor at the offset `place` of a line.

    The incomplete word at the cursor is `word`; it begins at the offset `start` of the text.
    `statement` has the statement's tokens before this word.
    """
    head = next((x for x in statement if x.role in HEADS), None)
    if head is None:
        return Cursor(start, word)
    commas = [0]  # after the head and in each open bracket
    functions = [""]  # before each of these brackets
    named, written, before = "", set(), ""
    for token in statement[statement.index(head) + 1 :]:
        is_string = token.role == STRING_TEXT or (token.role == WRONG and token.text[0] == '"')
        if is_string and (place < token.end or (place == token.end and not _is_whole(token))):
            inside = line.text[token.start + 1 : place]
            return Cursor(
                line.start + token.start + 1, inside, head.text, head.role, commas[0],
                len(commas) - 1, commas[-1], named, inside,
            )  # fmt: skip
        if token.role == MARK and token.text in "([":
            commas.append(0)
            functions.append(before)
        elif token.role == MARK and token.text in ")]" and len(commas) > 1:
            commas.pop()
            functions.pop()
        elif token.role == MARK and token.text == ",":
            commas[-1] += 1
            named = named if len(commas) > 1 else ""
        elif token.role == NAMED and len(commas) == 1:
            named = f"{token.text}="
            written.add(token.text)
        elif token.role == WORD and len(commas) == 1:
            written.add(token.text)
        before = token.text if token.role == FUNCTION else ""
    return Cursor(
        start, word, head.text, head.role, commas[0], len(commas) - 1, commas[-1], named,
        written=frozenset(written), function=functions[-1],
    )  # fmt: skip


def _is_whole(token: Token) -> bool:
    return len(token.text) > 1 and token.text.endswith('"')
