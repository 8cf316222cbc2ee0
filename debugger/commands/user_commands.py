"""Commands that a user has defined by `define` or `alias`, and the lines that a call executes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_ARGUMENT = re.compile(r"\$arg(\*|c\b|\d+)")


@dataclass(frozen=True)
class UserCommand:
    """A command that a user has defined: `lines` is its body, `meaning` the text of its help."""

    name: str
    lines: tuple[str, ...]
    meaning: tuple[str, ...] = ()


def lines_of_call(command: UserCommand, text: str) -> list[str]:
    """Return the lines that a call of a user's command executes; `text` has the arguments.

    In these lines, argument N (from 0) replaces `$argN`, the number of arguments replaces `$argc`,
    and all arguments replace `$arg*`. Raises `ValueError` if the call has no argument N.
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
