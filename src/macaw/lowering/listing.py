"""Collects an assembly source line by line, and formats the source as `macaw fmt` does."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from itertools import pairwise

from macaw.asm.formatter import format_text

_LABEL = 8  # a longer label gets its own line
WIDTH = 98  # width of comments
_ESCAPED = re.compile(r'[\\"\x00-\x1f\x7f]')
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")  # among them the ends of lines


def string(text: str) -> str:
    """Return `text` as a string of an assembly source: in quotation marks, with escapes."""
    escaped = _ESCAPED.sub(lambda match: f"\\{ord(match[0]):03o}", text)
    return f'"{escaped}"'


class Listing:
    """The lines of an assembly source that is being written.

    `mark` begins a section with a name, such as "memory". Sections with the same name in several
    sources can later become one macro (`macro_library`).
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._marks: list[tuple[int, str]] = []

    def mark(self, name: str = "") -> None:
        """Begin a section; without a name, the lines that follow belong to no section."""
        self._marks.append((len(self._lines), name))

    def put(self, statement: str, comment: str = "", *, label: str = "") -> None:
        """Append a statement with its label and its comment; `a: b` as label gives two labels."""
        *before, label = label.split(": ")
        self._lines += [f"{name}:" for name in before]
        head = f"{label}:" if label else ""
        if len(head) > _LABEL:
            self._lines.append(head)
            head = ""
        tail = f"# {_CONTROL.sub(' ', comment)}" if comment else ""
        self._lines.append("  ".join(filter(None, (head, statement, tail))))

    def line(self, text: str) -> None:
        """Append `text` as one line, without a change."""
        self._lines.append(text)

    def block(self, statements: str) -> None:
        """Append several statements, each in a line of the form `label: statement # comment`."""
        self._lines += [line.strip() for line in statements.splitlines() if line.strip()]

    def comment(self, text: str = "") -> None:
        """Append `text` as comment lines; without a text, append an empty line."""
        if text.isprintable() and text == text.rstrip() and len(text) <= WIDTH:
            lines = [text]  # as `wrap` returns it
        else:
            lines = textwrap.wrap(text, WIDTH)
        self._lines += [f"# {line}" if line else "" for line in lines or [""]]

    def title(self, text: str) -> None:
        """Append a heading, which is a comment after an empty line."""
        self._lines += ["", f"# {'-' * 16} {_CONTROL.sub(' ', text)}"]

    def extend(self, lines: Iterable[str]) -> None:
        """Append each of `lines` as a comment."""
        for line in lines:
            self.comment(line)

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines so far, not formatted."""
        return tuple(self._lines)

    @property
    def sections(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The lines of each section, with its name; lines of no section have an empty name."""
        marks = [(0, ""), *self._marks, (len(self._lines), "")]
        return tuple(
            (name, tuple(self._lines[first:end]))
            for (first, name), (end, _) in pairwise(marks)
            if end > first
        )

    def append(self, other: Listing) -> None:
        """Append the lines and marks of another listing."""
        self._marks += [(len(self._lines) + line, name) for line, name in other._marks]
        self._lines += other.lines

    def text(self) -> str:
        """Return the formatted source."""
        return format_text("\n".join(self._lines).strip("\n") + "\n")
