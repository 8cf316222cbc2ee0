"""Collects and sorts the diagnostics of a run; omits duplicates and errors that others cause."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field, replace

from macaw.asm.diagnostics import ERROR, NOTE, WARNING, Diagnostic, Link, Span, printable
from macaw.asm.expressions import NotYet
from macaw.asm.parser import parse
from macaw.asm.source import LogicalLine, SourceText
from macaw.asm.syntax import AlreadyReported, Mistake, Node
from macaw.isa.lazy_dataclass import dataclass

_MOST_LINKS = 8  # links of a chain that are shown; the others are counted
_MOST_REPEATED = 5  # shown expansions of one line with the same error; further ones are counted
_MOST_COMPARED = 1000  # expansions of one line whose chains are compared; later ones count as equal
_LONGEST = 300  # characters of a message, which may quote a long word


@dataclass
class _SameMistake:
    """An error that occurs `count` times in the expansions of one line.

    `places` has the indices, in the report's list, of the diagnostics that show this error.
    """

    count: int = 0
    places: list[int] = field(default_factory=list)  # indices of the shown diagnostics


class Report:
    """Collects diagnostics, so that the assembler can continue after errors."""

    def __init__(self) -> None:
        self.errors = 0  # errors of lines so far, including those that are only counted
        self._items: list[Diagnostic] = []
        self.failed: set[tuple[SourceText, int]] = set()  # the identities of lines with an error
        self._same_mistakes: dict[tuple[Span, str], _SameMistake] = {}
        self._warned: set[tuple[Span, str]] = set()
        self._order: dict[str, int] = {}  # the order of the files, by name

    @contextmanager
    def catching(self, line: LogicalLine) -> Iterator[None]:
        """Catch the errors that the `with` block raises, and report each as the error of `line`.

        These are `Mistake`, `NotYet` and `RecursionError`. After `AlreadyReported`, the line only
        counts as failed.
        """
        try:
            yield
        except Mistake as mistake:
            self.mistake(line, mistake)
        except NotYet as error:
            why = f"the value must be known here: {error.why}"
            self.mistake(line, Mistake(why, error.node))
        except AlreadyReported:
            self.fail(line)
        except RecursionError:
            why = "the expression is nested too deeply"
            self.mistake(line, Mistake(why, (-1, -1)))

    def add_source(self, text: SourceText) -> None:
        """Register a file. Diagnostics have the order in which their files are registered."""
        self._order.setdefault(text.name, len(self._order))

    def mistake(self, line: LogicalLine, *mistakes: Mistake) -> None:
        """Add the errors `mistakes` of a line, unless the line already has an error.

        Several errors are possible for a line that chooses or changes the device.
        """
        if self.has_failed(line):
            return
        self.fail(line)
        for mistake in mistakes:
            start, end = mistake.start, mistake.end
            if start < 0:  # the node has no position: use the whole statement
                start, end = statement_place(line)
            self._add(ERROR, line, start, end, mistake.message, mistake.hint)

    def fail(self, line: LogicalLine) -> None:
        """Mark a line as failed, because an error that is already reported affects the line.

        Later errors and warnings of the line are not reported.
        """
        self.failed.add(line.source.identity(line.start))

    def has_failed(self, line: LogicalLine) -> bool:
        """Return whether a reported error concerns a line."""
        return self.has_failed_at(line.source, line.start)

    def has_failed_at(self, source: SourceText, start: int) -> bool:
        """Return whether a reported error concerns the line at offset `start` of a source."""
        return bool(self.failed) and source.identity(start) in self.failed

    def warning(
        self,
        line: LogicalLine,
        at: Node | tuple[int, int],
        message: str,
        hint: str = "",
        *,
        name: str,
    ) -> None:
        """Add a warning at `at`, unless the line has an error or the same warning.

        `name` is one of `macaw.asm.warnings`.
        """
        if self.has_failed(line):
            return
        start, end = at if isinstance(at, tuple) else (at.start, at.end)
        if start < 0:
            start, end = statement_place(line)
        span = line.source.span(line.start + start, line.start + end)
        if (span, message) not in self._warned:
            self._warned.add((span, message))
            self._add(WARNING, line, start, end, message, hint, name)

    def note(self, line: LogicalLine, at: tuple[int, int], message: str) -> None:
        """Add a note: the text that a directive `.print` of the source prints."""
        self._add(NOTE, line, *at, message, "")

    def at_file(self, file: str, message: str, before: str = "") -> None:
        """Add an error that concerns a whole file, or the place after the text `before` in it."""
        message = printable(message)
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        self._items.append(Diagnostic(ERROR, message, Span(printable(file), line, column, column)))

    def _add(
        self,
        severity: str,
        line: LogicalLine,
        start: int,
        end: int,
        message: str,
        hint: str,
        name: str = "",
    ) -> None:
        source = line.source
        span = source.span(line.start + start, line.start + end)
        message = _shorten(printable(message))
        self.errors += severity == ERROR
        same = None
        if source.caller is not None:
            same = self._same_mistakes.setdefault((span, message), _SameMistake())
            same.count += 1
            if len(same.places) == _MOST_REPEATED or same.count > _MOST_COMPARED:
                return
        text = source.line(span.line)
        chain = _shorten_chain(source.chain)
        diagnostic = Diagnostic(severity, message, span, hint, chain, text, name)
        if same is not None:
            if any(self._items[place] == diagnostic for place in same.places):
                return
            same.places.append(len(self._items))
        self._items.append(diagnostic)

    @property
    def events(self) -> int:
        """A number that grows with each reported error or warning and each failed line.

        The caller compares the number before and after some lines. If the two are equal, these
        lines have caused no error and no warning.
        """
        return self.errors + len(self._items) + len(self.failed)

    @property
    def has_errors(self) -> bool:
        """Whether any error was reported."""
        return any(item.severity == ERROR for item in self._items)

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return all diagnostics by file, line and column.

        A diagnostic in an expansion is sorted by the position of the line that caused the
        expansion.
        """

        def order(item: Diagnostic) -> tuple[int, int, int]:
            span = item.chain[-1].span if item.chain else item.span
            return self._order.get(span.file, -1), span.line, span.column

        diagnostics = list(self._items)
        for same in self._same_mistakes.values():
            unlisted = same.count - len(same.places)
            if unlisted:
                last = same.places[-1]
                more = f"the same in {unlisted} more expansion{'s' * (unlisted > 1)}"
                hint = diagnostics[last].hint
                diagnostics[last] = replace(
                    diagnostics[last], hint=f"{hint}; {more}" if hint else more
                )
        return tuple(sorted(diagnostics, key=order))


def _shorten_chain(chain: tuple[Link, ...]) -> tuple[Link, ...]:
    """Return the chain. If it is long, one link with a count replaces its middle."""
    left_out = len(chain) - _MOST_LINKS
    if left_out <= 1:
        return chain
    half = _MOST_LINKS // 2
    between = Link(f"... {left_out} expansions between", chain[-half - 1].span)
    return (*chain[:half], between, *chain[-half:])


def _shorten(message: str) -> str:
    """Return the message. If it is long, dots replace its middle."""
    if len(message) <= _LONGEST:
        return message
    half = (_LONGEST - 3) // 2
    return f"{message[:half]}...{message[-half:]}"


def statement_place(line: LogicalLine) -> tuple[int, int]:
    """Return the (start, end) offsets of mnemonic and operands in a line, without its labels.

    If the line cannot be parsed, return the offsets of the whole line.
    """
    try:
        statement = parse(line.text)
    except Mistake:
        return 0, len(line.text)
    return (statement.head.start if statement.head else 0), statement.end
