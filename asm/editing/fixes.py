"""The corrections that an editor offers for errors.

If the message of an error asks "did you mean", the correction replaces the wrong word by the
suggested one. If it names a missing or superfluous punctuation mark, the correction inserts or
removes this mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from macaw.asm.diagnostics import Diagnostic, Span
from macaw.asm.editing import cursor
from macaw.asm.editing.completion import directives
from macaw.asm.editing.file_view import FileView
from macaw.asm.recovery import suggested_word
from macaw.asm.syntax import BRACKETS, DOUBLE_QUOTES, NO_END

_MAX_COLUMN = 1 << 32  # after the end of any line
_QUOTED = re.compile(r"'([^']+)'")
_EXPECTED = re.compile(
    r"expected '(?P<separator>[,:])' (?:before|after) "
    r"|the line ends where '(?P<closing>[^']+)' should be"
)
_TOO_MUCH = re.compile(
    r"unexpected '(?P<mark>[^']+)', expected (?:',' or the end of the line|an operand)"
)
_MARKS = (")", "]", ",", "%")  # marks that may be superfluous
_CHARACTERS = re.compile(r"'([^'\"]*)'")  # a string in single quotes, as some assemblers write it


@dataclass(frozen=True, slots=True)
class Fix:
    """An edit that corrects an error: the text at `span` becomes `text`."""

    title: str
    span: Span
    text: str
    diagnostic: Diagnostic


def fixes(view: FileView, first: int, last: int) -> Iterator[Fix]:
    """Yield the corrections of the errors in the lines from `first` to `last`.

    If one of these lines calls a macro or includes a file, errors there are corrected, too.
    """
    for item in view.program.assembly.report.diagnostics():
        spans = [item.span, *(link.span for link in item.chain)]
        if any(x.file == view.file.name and first <= x.line <= last for x in spans):
            yield from _of_diagnostic(view, item)


def _of_diagnostic(view: FileView, item: Diagnostic) -> Iterator[Fix]:
    word = suggested_word(item.hint)
    if word is None:
        yield from _of_mark(view, item)
        return
    for span in (item.span, *(link.span for link in item.chain)):
        is_parameter = word.startswith("\\")
        wrong = _parameter(view, span) if is_parameter else _wrong_word(view, item, span)
        if wrong is not None:
            yield Fix(f"Change '{_text(view, wrong)}' to '{word}'", wrong, word, item)
            return


def _of_mark(view: FileView, item: Diagnostic) -> Iterator[Fix]:
    """Yield the edit that inserts or removes the punctuation mark that `item` names."""
    if item.span.file != view.file.name or not _line(view, item.span):
        return  # the span is in a text that the assembler made, or in another file
    if item.hint == DOUBLE_QUOTES:
        if _takes_strings(view, item.span):
            yield from _quotes(view, item)
    elif item.message == NO_END:
        end = len(_line(view, item.span).rstrip()) + 1
        yield Fix("Insert '\"'", replace(item.span, column=end, end_column=end), '"', item)
    elif match := _EXPECTED.match(item.message):
        mark = match["separator"] or match["closing"]
        yield Fix(f"Insert '{mark}'", replace(item.span, end_column=item.span.column), mark, item)
    elif (match := _TOO_MUCH.match(item.message)) and match["mark"] in _MARKS:
        if item.hint == BRACKETS:
            return  # the `%` is right
        yield Fix(f"Remove '{match['mark']}'", item.span, "", item)


def _quotes(view: FileView, item: Diagnostic) -> Iterator[Fix]:
    """Yield the edit that puts double quotes around the string at which `item` reports an error."""
    for match in _CHARACTERS.finditer(_line(view, item.span)):
        start, end = match.start() + 1, match.end() + 1
        if start <= item.span.column < end:
            text = f'"{match[1]}"'
            span = replace(item.span, column=start, end_column=end)
            yield Fix(f"Change {match[0]} to {text}", span, text, item)


def _takes_strings(view: FileView, span: Span) -> bool:
    """Return whether the statement at `span` is a directive whose operands can be strings."""
    tokens, offset = view.file.tokens, view.offset(span.line, span.column)
    head = cursor.at(tokens, offset).head
    row = directives(view.core_at(offset)).get(head)
    return row is not None and '"' in row.syntax


def _line(view: FileView, span: Span) -> str:
    return _text(view, replace(span, column=1, end_column=_MAX_COLUMN))


def _parameter(view: FileView, span: Span) -> Span | None:
    r"""Return the span of the `\name` that begins where `span` begins; None if there is none."""
    match = re.match(r"\\[\w.$]+", _text(view, replace(span, end_column=_MAX_COLUMN)))
    return None if match is None else replace(span, end_column=span.column + match.end())


def _wrong_word(view: FileView, item: Diagnostic, span: Span) -> Span | None:
    """Return the span, inside of `span`, of the word that the message of `item` names.

    Return None if the word is not there.
    """
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
    """Return the text at a span in a file of the program; empty if there is no such file."""
    file = view.program.files.get(span.file)
    lines = file.text.split("\n") if file is not None else []
    if not 1 <= span.line <= len(lines):
        return ""
    return lines[span.line - 1][span.column - 1 : span.end_column - 1]
