"""Splits the operands of macros and repetitions at commas and blanks, as GNU as does.

A blank remains only between a word or string and a following word, string, character or backslash:
`1 + 2, x y` gives `1+2`, `x` and `y`. A character becomes its number, and a string loses its
quotes.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from macaw.asm.literals import unescape
from macaw.asm.syntax import Mistake
from macaw.isa.lazy_pattern import lazy_pattern

_TOKEN = lazy_pattern(
    r'(?P<string>"[^"\\]*(?:\\.[^"\\]*)*"?)'
    r"|(?P<character>'(?:\\(?:x[0-9a-fA-F]+|[0-7]{1,3}|[^\n])|[^\\\n])'?)"
    r"|(?P<blank>[ \t\r\f\v]+)"
    r"|(?P<word>(?:[A-Za-z0-9_.$]|[^\x00-\x7f])+)"
    r"|.",
    re.DOTALL,
)
_NAME = lazy_pattern(r"[A-Za-z_.$][A-Za-z0-9_.$]*")
_NO_KEYWORD = ' \t,";()'  # one of these before a `=`: no keyword


class OperandText:
    """The operands of a macro call or repetition, without needless blanks.

    The object knows for each character of the operands its offset in the source line.
    """

    def __init__(self, text: str, offset: int) -> None:
        """Read the operands `text`, which begin at offset `offset` in their source line."""
        self._runs = [(0, offset)]  # (offset in `self.text`, offset in the line) of each piece
        self._end = offset + len(text)
        self.text = self._without_blanks(text, offset)

    def _without_blanks(self, text: str, offset: int) -> str:
        pieces: list[str] = []
        length, after_word, blank = 0, False, False
        for match in _TOKEN.finditer(text):
            kind, token = match.lastgroup, match[0]
            if kind == "blank":
                blank = True
                continue
            if blank:
                if after_word and (kind is not None or token == "\\"):
                    pieces.append(" ")
                    length += 1
                self._runs.append((length, offset + match.start()))
                blank = False
            if kind == "character":
                token = _number(token)
                self._runs.append((length + len(token), offset + match.end()))
            pieces.append(token)
            length += len(token)
            after_word = kind in ("word", "string")
        return "".join(pieces)

    def _place(self, position: int) -> int:
        start, origin = self._runs[bisect_right(self._runs, (position, self._end)) - 1]
        return min(origin + position - start, self._end)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the offsets in the source line at which `self.text[start:end]` begins and ends."""
        first = self._place(start)
        return first, max(first + 1, self._place(end - 1) + 1 if end > start else first)

    def name(self, position: int) -> str:
        """Return the name at the start of `self.text[position:]`; empty if no name begins there."""
        match = _NAME.match(self.text, position)
        return match[0] if match else ""

    def blank(self, position: int) -> int:
        """Return the first position at or after `position` that is not a blank."""
        while self.text.startswith((" ", "\t"), position):
            position += 1
        return position

    def comma(self, position: int) -> int:
        """Skip blanks, an optional comma and further blanks; return the position after them."""
        position = self.blank(position)
        return self.blank(position + 1) if self.text.startswith(",", position) else position

    def is_keyword(self, position: int) -> bool:
        """Return whether a keyword argument, `name=`, begins at `position` of `self.text`."""
        for char in self.text[position:]:
            if char == "=":
                return True
            if char in _NO_KEYWORD:
                return False
        return False

    def argument(self, position: int) -> tuple[str, int]:
        """Return the argument that begins at `position`, and the position after the argument."""
        position = self.blank(position)
        if self.text.startswith('"', position):
            return self._string(position)
        return self._word(position)

    def _string(self, position: int) -> tuple[str, int]:
        """Return the contents of the string at `position`, and the position after the string.

        `""` inside of the string is one quote; an escaped quote keeps its backslash.
        """
        text, pieces = self.text, []
        position += 1
        while position < len(text):
            char = text[position]
            if char == "\\" and position + 1 < len(text):
                pieces.append(text[position : position + 2])
                position += 2
                continue
            position += 1
            if char == '"':
                if not text.startswith('"', position):
                    break
                position += 1
            pieces.append(char)
        return "".join(pieces), position

    def _word(self, position: int) -> tuple[str, int]:
        """Return the word that begins at `position`, and the position at which the word ends.

        A comma or a blank ends the word, but not inside of quotes; a blank inside of brackets does
        not end it either.
        """
        text, start = self.text, position
        brackets: list[str] = []
        while position < len(text):
            char = text[position]
            if char == "," or (char in " \t" and not brackets):
                break
            if char in "\"'":
                end = text.find(char, position + 1)
                if end < 0:
                    return text[start:], len(text)
                position = end
            elif char in "([":
                brackets.append(")" if char == "(" else "]")
            elif brackets and char == brackets[-1]:
                brackets.pop()
            position += 1
        return text[start:position], position


def _number(character: str) -> str:
    """Return a character literal as its code in decimal; return any other text unchanged."""
    inside = character[1:-1] if len(character) > 2 and character.endswith("'") else character[1:]
    if character == "'\\'":
        inside = "\\'"
    try:
        code = unescape(inside, 0)
    except Mistake:
        return character
    return str(code[0]) if len(code) == 1 else character
