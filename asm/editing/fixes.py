"""Corrections that an editor offers for errors: each "did you mean" becomes an edit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from macaw.asm.diagnostics import Diagnostic, Span
from macaw.asm.editing.file_view import FileView
from macaw.asm.recovery import suggested_word

_MAX_COLUMN = 1 << 32  # after the end of any line
_QUOTED = re.compile(r"'([^']+)'")


@dataclass(frozen=True, slots=True)
class Fix:
    """An edit that corrects an error: the text at `span` becomes `text`."""

    title: str
    span: Span
    text: str
    diagnostic: Diagnostic


def fixes(view: FileView, first: int, last: int) -> Iterator[Fix]:
    """Yield the corrections of the errors that are shown in the lines from `first` to `last`."""
    for item in view.program.assembly.report.diagnostics():
        spans = [item.span, *(link.span for link in item.chain)]
        if any(x.file == view.file.name and first <= x.line <= last for x in spans):
            yield from _of_diagnostic(view, item)


def _of_diagnostic(view: FileView, item: Diagnostic) -> Iterator[Fix]:
    word = suggested_word(item.hint)
    if word is None:
        return
    for span in (item.span, *(link.span for link in item.chain)):
        is_parameter = word.startswith("\\")
        wrong = _parameter(view, span) if is_parameter else _wrong_word(view, item, span)
        if wrong is not None:
            yield Fix(f"Change '{_text(view, wrong)}' to '{word}'", wrong, word, item)
            return


def _parameter(view: FileView, span: Span) -> Span | None:
    r"""Return the span of the `\name` that begins at a span; None if there is none."""
    match = re.match(r"\\[\w.$]+", _text(view, replace(span, end_column=_MAX_COLUMN)))
    return None if match is None else replace(span, end_column=span.column + match.end())


def _wrong_word(view: FileView, item: Diagnostic, span: Span) -> Span | None:
    """Return the span of the word of a message in the text at `span`; None if it is not there."""
    text = _text(view, span)
    if span == item.span and re.fullmatch(r"[%\w.$]+", text):
        return span
    for word in _QUOTED.findall(item.message):
        match = re.search(rf"(?<![\w.$]){re.escape(word)}(?![\w.$])", text)
        if match is not None:
            start = span.column + match.start()
            return Span(span.file, span.line, start, start + len(word))
    return None


def _text(view: FileView, span: Span) -> str:
    """Return the text at a span of any file of the program; empty if there is none."""
    file = view.program.files.get(span.file)
    lines = file.text.split("\n") if file is not None else []
    if not 1 <= span.line <= len(lines):
        return ""
    return lines[span.line - 1][span.column - 1 : span.end_column - 1]
