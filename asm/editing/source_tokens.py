"""Divides a source into tokens, each with its role, for the editor services.

The roles come from the lexer in `macaw.asm.editors`. The module stores the tokens of each line,
because an editor changes one line and then asks about the whole text again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from pygments.token import Comment, Error, Name, Number, Operator, Punctuation, String, Whitespace

from macaw.asm.editors import lexer
from macaw.asm.source import CHARACTER, COMMENT, STRING
from macaw.isa.typed_records import NamedTuple

# Roles of tokens.
DIRECTIVE, INSTRUCTION, MACRO = "directive", "instruction", "macro"
REGISTER, WORD, NAMED, FUNCTION = "register", "word", "named", "function"
LABEL, SYMBOL, ARGUMENT = "label", "symbol", "argument"
STRING_TEXT, NUMBER, COMMENT_TEXT = "string", "number", "comment"
OPERATOR, MARK, WRONG = "operator", "mark", "wrong"

_ROLES = {
    lexer.DIRECTIVE: DIRECTIVE,
    lexer.MNEMONIC: INSTRUCTION,
    lexer.MACRO: MACRO,
    lexer.REGISTER: REGISTER,
    lexer.WORD: WORD,
    lexer.NAMED: NAMED,
    lexer.FUNCTION: FUNCTION,
    lexer.LABEL: LABEL,
    lexer.SYMBOL: SYMBOL,
    lexer.ARGUMENT: ARGUMENT,
    Name.Builtin.Pseudo: SYMBOL,
    String.Double: STRING_TEXT,
    String.Char: NUMBER,
    Number.Hex: NUMBER,
    Number.Bin: NUMBER,
    Number.Oct: NUMBER,
    Number.Integer: NUMBER,
    Number.Float: NUMBER,
    Comment.Single: COMMENT_TEXT,
    Comment.Multiline: COMMENT_TEXT,
    Operator: OPERATOR,
    Punctuation: MARK,
    Error: WRONG,
}
HEADS = (DIRECTIVE, INSTRUCTION, MACRO)  # roles of the first word of a statement
_BREAKS = re.compile(f"{STRING}|{CHARACTER}|{COMMENT}|(?P<line_end>\n)")
_LOCAL_USE = re.compile(r"[0-9]+[bf]")
_CACHED_LINES = 1 << 14


class Token(NamedTuple):
    """A token from offset `start` up to `end`. `role` is what it is, such as "register".

    `head` is the first word of the statement; it is empty if the token is part of a label. If the
    token is in the value of a named operand, `named` is the name with its `=`, such as `data=`.
    """

    start: int
    end: int
    role: str
    text: str
    head: str
    named: str


@dataclass(frozen=True, slots=True)
class TokenLine:
    """A line of a text, or several lines that a comment joins.

    `start` is the line's offset in the text. The offsets of `tokens` count from `start`. `core` is
    the core of the part that contains the line; it is empty before the first part.
    """

    start: int
    text: str
    core: str
    tokens: tuple[Token, ...]

    @property
    def end(self) -> int:
        """The offset in the text at which the line's last character ends, without the line end."""
        return self.start + len(self.text)

    def statements(self) -> Iterator[tuple[Token, ...]]:
        """Yield the tokens of each statement, without comments and without the `;` between them."""
        statement: list[Token] = []
        for token in self.tokens:
            if token.role == MARK and token.text == ";":
                yield tuple(statement)
                statement = []
            elif token.role != COMMENT_TEXT:
                statement.append(token)
        if statement:
            yield tuple(statement)


class SourceTokens:
    """The tokens of a text. `core` is the core of the part in which the text begins, or empty."""

    def __init__(self, text: str, core: str = "") -> None:
        self.text, self._core = text, core

    @cached_property
    def lines(self) -> Sequence[TokenLine]:
        """The lines of the text, in their order."""
        lines, core = [], self._core
        for start, end in _pieces(self.text):
            text = self.text[start:end]
            tokens, following = _tokens(text, core)
            lines.append(TokenLine(start, text, core, tokens))
            core = following
        return lines

    @cached_property
    def _starts(self) -> list[int]:
        return [line.start for line in self.lines]

    def line_at(self, offset: int) -> TokenLine:
        """Return the line that contains the offset."""
        return self.lines[max(0, bisect_right(self._starts, offset) - 1)]

    def between(self, start: int, end: int) -> Sequence[TokenLine]:
        """Return the lines that contain text between the offsets `start` and `end`."""
        first = max(0, bisect_right(self._starts, start) - 1)
        return self.lines[first : max(first + 1, bisect_right(self._starts, max(start, end - 1)))]

    def token_at(self, offset: int) -> tuple[TokenLine, Token] | None:
        """Return the token at an offset, and its line; None if there is no token.

        At the border of two tokens, return the token that is a word.
        """
        line = self.line_at(offset)
        place = offset - line.start
        touching = [token for token in line.tokens if token.start <= place <= token.end]
        best = [token for token in touching if token.role not in (MARK, OPERATOR)] or touching
        return (line, best[-1]) if best else None

    def core_at(self, offset: int) -> str:
        """Return the name of the core whose part contains the line at an offset."""
        return self.line_at(offset).core


def head_of(statement: Sequence[Token]) -> Token | None:
    """Return the first word of a statement.

    Return None for a statement that has only labels or sets a symbol by `=`.
    """
    return next((token for token in statement if token.role in HEADS), None)


def quoted_name(token: Token) -> str:
    """Return the name that a token has in quotes. For any other token, return an empty string.

    A string with a backslash counts as no name.
    """
    is_quoted = token.role in (STRING_TEXT, LABEL) and token.text[0] == '"'
    return token.text[1:-1] if is_quoted and "\\" not in token.text else ""


def is_local(token: Token) -> bool:
    """Return whether a token is a use of a local label, such as `1b`."""
    return token.role == LABEL and _LOCAL_USE.fullmatch(token.text) is not None


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets (start, end) of each line; lines that a comment joins count as one line."""
    start = 0
    if "/*" in text:
        for match in _BREAKS.finditer(text):
            if match["line_end"]:
                yield start, match.start()
                start = match.end()
    else:
        while (end := text.find("\n", start)) >= 0:
            yield start, end
            start = end + 1
    yield start, len(text)


@lru_cache(maxsize=_CACHED_LINES)
def _tokens(text: str, core: str) -> tuple[tuple[Token, ...], str]:
    """Return the tokens of a line in a part of `core`, and the core at the end of the line."""
    scan = lexer.Scan(text, core or None)
    tokens = []
    for start, kind, word in scan.tokens():
        if kind is not Whitespace and not word.isspace():
            role = _ROLES[kind]
            tokens.append(Token(start, start + len(word), role, word, scan.head or "", scan.named))
    return tuple(tokens), scan.core or ""
