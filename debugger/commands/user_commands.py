"""Commands that a user has defined by `define` or `alias`, and the lines that a call executes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_ARGUMENT = re.compile(r"\$arg(\*|c\b|\d+)")
_NUMBERED = re.compile(r"\$arg\d+")


@dataclass(frozen=True)
class UserCommand:
    """A command that a user has defined: `lines` is its body, `meaning` the text of its help."""

    name: str
    lines: tuple[str, ...]
    meaning: tuple[str, ...] = ()


def lines_of_call(command: UserCommand, words: Sequence[str], text: str) -> list[str]:
    """Return the lines that a call of a user's command executes.

    `words` are the arguments, `text` is the text of all of them. In the lines, argument N (from 0)
    replaces `$argN`, the number of arguments replaces `$argc`, and all arguments replace `$arg*`.
    An `$argN` without argument stays; `missing_argument` finds it when its line is executed.
    """

    def fill(match: re.Match[str]) -> str:
        what = match[1]
        if what == "*":
            return text
        if what == "c":
            return str(len(words))
        return words[int(what)] if int(what) < len(words) else match[0]

    return [_ARGUMENT.sub(fill, line) for line in command.lines]


def missing_argument(line: str) -> str | None:
    """Return the first `$argN` that a line of a call has kept, or None."""
    match = _NUMBERED.search(line)
    return None if match is None else match[0]
