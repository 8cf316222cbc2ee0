"""Lines of an assembly source in columns."""

from __future__ import annotations

from collections.abc import Iterable

_STATEMENT, _OPERANDS, _COMMENT = 8, 16, 48


class Listing:
    """A source that grows line by line."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def put(self, statement: str, comment: str = "", *, label: str = "", indent: int = 0) -> None:
        """A statement, `MNEMONIC operands`, with its label and comment."""
        mnemonic, _, operands = statement.partition(" ")
        *before, label = label.split(": ")
        self._lines += [f"{name}:" for name in before]
        head = f"{label}:" if label else ""
        if len(head) >= _STATEMENT:
            self._lines.append(head)
            head = ""
        text = head.ljust(_STATEMENT + indent) + mnemonic
        if operands:
            text = text.ljust(_OPERANDS + indent - 1) + " " + operands
        if comment:
            text = text.ljust(_COMMENT - 1) + f" # {comment}"
        self._lines.append(text.rstrip())

    def block(self, statements: str) -> None:
        """Several statements, a line each: `label: statement # comment`."""
        for line in statements.strip("\n").splitlines():
            if not line.strip():
                continue
            code, _, comment = line.partition("#")
            head, colon, rest = code.strip().partition(":")
            if colon and " " not in head:
                self.put(rest.strip(), comment.strip(), label=head)
            elif code.strip():
                self.put(code.strip(), comment.strip())
            else:
                self.comment(comment.strip())

    def comment(self, text: str = "") -> None:
        """A comment of its own, or an empty line."""
        self._lines.append(f"# {text}" if text else "")

    def title(self, text: str) -> None:
        """A heading."""
        self._lines += ["", f"# {'-' * 16} {text}"]

    def extend(self, lines: Iterable[str]) -> None:
        """Comments, one a line."""
        for line in lines:
            self.comment(line)

    def text(self) -> str:
        """The source."""
        return "\n".join(self._lines).lstrip("\n") + "\n"
