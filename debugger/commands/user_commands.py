"""Commands that a user has defined by `define` or `alias`, and the lines that a call executes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

ALL_WORDS = "$arg*"  # an alias replaces it by all words of the call
_ARGUMENT = re.compile(r"\$arg(\*|c\b|\d+)")


@dataclass(frozen=True)
class UserCommand:
    """A command that a user has defined: its lines, and the lines of its help."""

    name: str
    lines: tuple[str, ...]
    meaning: tuple[str, ...] = ()


def lines_of_call(command: UserCommand, text: str) -> list[str]:
    """Return the lines that a call with the words in `text` executes.

    Raises `ValueError` if a line has `$argN` and the call has no such word.
    """
    words = text.split()
    return [_filled(line, words, text) for line in command.lines]


def _filled(line: str, words: Sequence[str], text: str) -> str:
    def fill(match: re.Match[str]) -> str:
        what = match[1]
        if what == "*":
            return text
        if what == "c":
            return str(len(words))
        number = int(what)
        if number >= len(words):
            raise ValueError(f"{match[0]} is missing: the call has {len(words)} words")
        return words[number]

    return _ARGUMENT.sub(fill, line)
