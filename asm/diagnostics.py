"""Prints the errors and warnings of a source as text with carets, or as JSON.

A diagnostic contains its position and the text of its line, so that no file is read to print it.
`pieces` yields the printed form as (style, text) pairs, which a screen can colour; `render` joins
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache

from macaw.isa.errors import MacawError
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.lazy_pattern import lazy_pattern

_NUMBERED = lazy_pattern(r"(.*?)([0-9]+)")
_WIDEST = 160  # characters of a source line that are shown
MOST_ERRORS = 100  # errors that are printed by default
_MOST_COMPARED = 200_000  # the most names that a run of the assembler compares


class _Guesses:
    """What `did_you_mean` stores during a run of the assembler: a limit, and the hints so far.

    `names_left` is the number of names that the run may still compare with wrong words. `hints` has
    the hint for each (wrong word, hash of the candidates), so that nothing is compared twice.
    """

    def __init__(self) -> None:
        self.names_left = _MOST_COMPARED
        self.hints: dict[tuple[str, int], str] = {}


_guesses: ContextVar[_Guesses | None] = ContextVar("guesses", default=None)

ERROR, WARNING, NOTE = "error", "warning", "note"


@dataclass(frozen=True, slots=True)
class Span:
    """A range of columns in one source line. Lines and columns count from 1.

    `end_column` is the first column after the range.
    """

    file: str
    line: int
    column: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Link:
    """One step of a diagnostic's chain: the line that calls a macro or includes a file.

    `what` says in words what the line at `span` does.
    """

    what: str  # "in expansion of macro 'dot'", "included from here"
    span: Span


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """An error, a warning or a note, with its position and the text of its line.

    `severity` is "error", "warning" or "note", `source` the text of the line, and `name` the name
    of a warning. `chain` has the lines that call the macro or include the file, the innermost
    first.
    """

    severity: str  # ERROR, WARNING or NOTE
    message: str
    span: Span
    hint: str = ""
    chain: tuple[Link, ...] = ()
    source: str = ""  # text of the line, without its end
    name: str = ""  # of a warning: its name in `-Wno-NAME`

    def __str__(self) -> str:
        return f"{_where(self.span)}: {self.severity}: {self.message}"


class AssemblyError(MacawError):
    """The error for a source that could not be assembled.

    `diagnostics` are all errors and warnings of the source. The message has one line for each of
    these, but shows at most `MOST_ERRORS` errors and at most `MOST_ERRORS` warnings.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        lines, left_out = first(self.diagnostics)
        super().__init__("\n".join([*map(str, lines), *([left_out] if left_out else [])]))

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The errors, without the warnings."""
        return tuple(item for item in self.diagnostics if item.severity == ERROR)


def _where(span: Span) -> str:
    return f"{printable(span.file)}:{span.line}:{span.column}"


def printable(text: str) -> str:
    """Return the text with a visible character in place of each control character except tabs."""
    if text.isprintable():
        return text
    return "".join(
        char if char == "\t" or char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text
    )


def printable_name(name: str) -> str:
    """Return a file's name with visible characters in place of control characters.

    Bytes that are not UTF-8 are unchanged, so that the result is still a valid name of the file.
    """
    if name.isprintable():
        return name
    return "".join(char if "\ud800" <= char <= "\udfff" else printable(char) for char in name)


def _caret_line(source: str, span: Span) -> str:
    """Return the line that is printed below `source`: blanks, then carets below `span`.

    The tabs of `source` before the span are tabs in this line, too.
    """
    before = source[: span.column - 1].ljust(span.column - 1)
    end = min(span.end_column, len(source) + 1)
    return "".join("\t" if char == "\t" else " " for char in before) + "^" * max(
        1, end - span.column
    )


def _window(source: str, span: Span) -> tuple[str, Span]:
    """Return a source line and a span in it.

    If the line is long, both are cut to the part of the line around the span.
    """
    if len(source) <= _WIDEST:
        return source, span
    start = max(0, min(span.column - 1 - _WIDEST // 3, len(source) - _WIDEST))
    end = start + _WIDEST
    before, behind = "..." * (start > 0), "..." * (end < len(source))
    moved = len(before) - start
    last = min(span.end_column, end + 1)
    place = replace(span, column=span.column + moved, end_column=last + moved)
    return f"{before}{source[start:end]}{behind}", place


def first(
    diagnostics: Sequence[Diagnostic], most: int = MOST_ERRORS
) -> tuple[Sequence[Diagnostic], str]:
    """Return the first `most` errors and the first `most` warnings, and a note.

    The note says how many diagnostics are left out; it is empty if none is left out. If `most` is
    0, all diagnostics are returned.
    """
    if not most or len(diagnostics) <= most:
        return diagnostics, ""
    chosen, count = [], {ERROR: 0, WARNING: 0}
    for item in diagnostics:
        count[item.severity] = count.get(item.severity, 0) + 1
        if count[item.severity] <= most:
            chosen.append(item)
    more = [
        f"{number - most:,} more {severity}{'s' * (number - most > 1)}"
        for severity, number in count.items()
        if number > most
    ]
    return chosen, " and ".join(more)


def pieces(diagnostic: Diagnostic) -> Iterator[tuple[str, str]]:
    """Yield the printed form of a diagnostic as (style, text) pairs, line ends included.

    The styles are "place", the severity ("error", "warning" or "note"), "message", "source",
    "caret", "hint" and "chain".
    """
    span = diagnostic.span
    yield "place", f"{_where(span)}: "
    yield diagnostic.severity, f"{diagnostic.severity}: "
    name = f" [-W{diagnostic.name}]" if diagnostic.name and diagnostic.severity == WARNING else ""
    yield "message", f"{diagnostic.message}{name}\n"
    if diagnostic.source:
        source, place = _window(diagnostic.source, span)
        yield "source", f"    {printable(source)}\n"
        yield "caret", f"    {_caret_line(source, place)}\n"
    if diagnostic.hint:
        yield "hint", f"    hint: {diagnostic.hint}\n"
    for link in diagnostic.chain:
        yield "chain", f"{_where(link.span)}: {link.what}\n"


def render(diagnostics: Iterable[Diagnostic]) -> str:
    """Return the diagnostics as plain text. Each one includes its source line and carets."""
    return "".join(text for item in diagnostics for _style, text in pieces(item))


def _span_object(span: Span) -> dict[str, object]:
    return {
        "file": span.file,
        "line": span.line,
        "column": span.column,
        "end_column": span.end_column,
    }


def to_json(diagnostics: Iterable[Diagnostic], left_out: str = "") -> str:
    """Return the diagnostics as JSON text: a list with one object for each diagnostic.

    The keys of an object are severity, message, file, line, column, end_column, hint, name and
    chain. If `left_out` is not empty, it is the message of a last object with the severity "note".
    """
    note = Diagnostic("note", left_out, Span("", 0, 0, 0))
    import json

    return json.dumps(
        [
            {
                "severity": item.severity,
                "message": item.message,
                **_span_object(item.span),
                "hint": item.hint,
                "name": item.name,
                "chain": [{"what": link.what, **_span_object(link.span)} for link in item.chain],
            }
            for item in [*diagnostics, *([note] if left_out else [])]
        ],
        indent=2,
    )


@contextmanager
def guessing() -> Iterator[None]:
    """Limit how many names `did_you_mean` may compare inside the `with` block.

    When the limit is reached, `did_you_mean` returns no more hints. Without the limit, a source
    with thousands of wrong words would take minutes.
    """
    before = _guesses.set(_Guesses())
    try:
        yield
    finally:
        _guesses.reset(before)


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """Return a hint that names the candidate most similar to `word`; empty if none is similar."""
    # Comparing takes quadratic time, and long words are no typing mistakes.
    if not word or len(word) > 64:
        return ""
    names = frozenset(candidates)
    guesses = _guesses.get()
    if guesses is None:
        return _nearest(word, names)
    key = word, hash(names)
    if key not in guesses.hints:
        if guesses.names_left <= 0:
            return ""
        guesses.names_left -= len(names)
        guesses.hints[key] = _nearest(word, names)
    return guesses.hints[key]


def numbered_names(word: str, names: Iterable[str]) -> str:
    """Return a hint for a word such as `x32`: "the registers are x0 to x31".

    `names` are the names that exist. The hint is empty if `word` has no number at its end, if no
    name begins with the same letters and ends with a number, or if a number is missing between the
    least and the greatest one.
    """
    match = _NUMBERED.fullmatch(word)
    numbers = _numbers(frozenset(names)).get(match[1]) if match else None
    if not match or not numbers or len(numbers) <= max(numbers) - min(numbers):
        return ""
    return f"the registers are {match[1]}{min(numbers)} to {match[1]}{max(numbers)}"


@lru_cache(maxsize=64)
def _numbers(names: frozenset[str]) -> Mapping[str, Sequence[int]]:
    """Return the numbers at the end of names, by the letters before them: {"a": [0, 1, 2]}."""
    numbers: dict[str, list[int]] = {}
    for name in names:
        if match := _NUMBERED.fullmatch(name):
            numbers.setdefault(match[1], []).append(int(match[2]))
    return numbers


@lru_cache(maxsize=256)  # an editor assembles the same mistake again and again
def _nearest(word: str, candidates: frozenset[str]) -> str:
    names = sorted(candidates)
    folded = {name.lower(): name for name in reversed(names)}
    matches = get_close_matches(word.lower(), list(folded), n=1, cutoff=0.6)
    return f"did you mean '{folded[matches[0]]}'?" if matches and folded[matches[0]] != word else ""
