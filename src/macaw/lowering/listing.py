"""Collects an assembly source line by line; `macaw fmt` formats the whole."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from macaw.asm.formatter import format_text

_LABEL = 8  # a longer label gets its own line
WIDTH = 98  # width of comments


class Listing:
    """The lines of an assembly source that is being written."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def put(self, statement: str, comment: str = "", *, label: str = "") -> None:
        """Append a statement with its label and its comment; `a: b` as label gives two labels."""
        *before, label = label.split(": ")
        self._lines += [f"{name}:" for name in before]
        head = f"{label}:" if label else ""
        if len(head) > _LABEL:
            self._lines.append(head)
            head = ""
        tail = f"# {comment}" if comment else ""
        self._lines.append("  ".join(filter(None, (head, statement, tail))))

    def block(self, statements: str) -> None:
        """Append several statements, each in a line of the form `label: statement # comment`."""
        self._lines += [line.strip() for line in statements.splitlines() if line.strip()]

    def comment(self, text: str = "") -> None:
        """Append a comment line, or an empty line."""
        self._lines += [f"# {line}" for line in textwrap.wrap(text, WIDTH)] or [""]

    def title(self, text: str) -> None:
        """Append a heading, as a comment between empty lines."""
        self._lines += ["", f"# {'-' * 16} {text}"]

    def extend(self, lines: Iterable[str]) -> None:
        """Append comment lines."""
        for line in lines:
            self.comment(line)

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines so far, not formatted."""
        return tuple(self._lines)

    def append(self, other: Listing) -> None:
        """Append the lines of another listing."""
        self._lines += other.lines

    def text(self) -> str:
        """Return the formatted source."""
        return format_text("\n".join(self._lines).strip("\n") + "\n")
