"""Finds the files that a source names, so that an editor can open them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from macaw.asm.diagnostics import Span
from macaw.asm.editing.file_view import FileView
from macaw.asm.editing.source_tokens import DIRECTIVE, STRING_TEXT, head_of

_TEXTS = (".ascii", ".asciz", ".string", ".error", ".warning", ".print", ".ident", ".section")


@dataclass(frozen=True, slots=True)
class FileLink:
    """The span at which a source names a file, and the path of the file."""

    span: Span
    path: Path


def links(view: FileView) -> Iterator[FileLink]:
    """Yield a link for each name of an existing file in the text, in the order of the text."""
    for line in view.file.tokens.lines:
        if '"' not in line.text:
            continue
        for statement in line.statements():
            head = head_of(statement)
            if head is None or head.role != DIRECTIVE or head.text in _TEXTS:
                continue
            for token in statement:
                if token.role == STRING_TEXT and len(token.text) > 2:
                    path = view.path(token.text[1:-1])
                    if path is not None:
                        start = line.start + token.start
                        span = view.span(start + 1, start + len(token.text) - 1)
                        yield FileLink(span, path)
