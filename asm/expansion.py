"""The reader between logical lines and statements: macros, repetitions, conditionals, includes.

It holds a stack of texts, the file at the bottom, and takes lines from the text on top. A
line whose first word is a textual directive or a macro is done here, all others go on to
`Assembly.statement`. A text that is skipped is not parsed. Everything is bounded: how deep
texts lie in each other, and how many lines and characters all expansions of a run have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from macaw.asm.bodies import Body, Expanded, Repeated
from macaw.asm.source import Caller, LogicalLine, SourceText
from macaw.asm.syntax import Again, Mistake, Name, Statement

if TYPE_CHECKING:
    from macaw.asm.assembler import Assembly
    from macaw.asm.conditionals import Conditional
    from macaw.asm.macros import Macro

MAX_DEPTH = 100  # expansions in each other, as in GNU as; so many includes in each other, too
MAX_LINES = 1_000_000  # of all expansions and included files of a run
MAX_CHARACTERS = 1 << 25  # of them, together
EDITED_LINES = 100_000  # of a file that is open in an editor, which assembles it again and again
EDITED_CHARACTERS = 1 << 22
MAX_LINE = 1 << 16  # characters of a line that an expansion makes
_PIECE = 1 << 16  # characters of a repetition's rounds that are read as one text

# What takes more time than a plain line of an expansion counts as so many more.
ROUND_COST = 2  # a macro call, or a round of a repetition: an empty one, too
COMMAND_COST = 4  # a line of an expansion that the reader does: a directive of this table, a call
ERROR_COST = 10  # an error in an expansion

# Labels, and the word that says what the line is.
_HEAD = re.compile(
    r"(?:(?:[A-Za-z_$][\w.$]*+|\.[\w.$]++|[0-9]++)\s*+:\s*+)*+([A-Za-z_.$][\w.$]*+)", re.ASCII
)
_ASSIGNMENT = re.compile(r"\s*=(?!=)")


class Meant(Exception):
    """A word that nobody knows is probably one of the reader's: take the line as that."""

    def __init__(self, line: LogicalLine) -> None:
        super().__init__()
        self.line = line


class TooMuch(Exception):
    """A bound is exceeded; the expansion that a line began ends."""

    def __init__(self, message: str, caller: Caller, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.caller, self.hint = message, caller, hint


@dataclass(frozen=True, slots=True)
class Command:
    """A line for the reader: `line` begins with the word `name`."""

    line: LogicalLine
    name: Name

    @property
    def operands(self) -> str:
        """The text behind the word."""
        return self.line.text[self.name.end :]

    def caller(self, what: str) -> Caller:
        """This line as the origin of another text."""
        return Caller(what, self.line, 0, len(self.line.text))


class Runnable(Protocol):
    """What a word of the reader stands for: a directive or a macro."""

    @property
    def run(self) -> Callable[[Reader, Command], None]:
        """Do what the line says. Raises `Mistake`."""


@dataclass(frozen=True)
class TextDirective:
    """A directive that works on text: as `macaw.asm.directives.Directive`, but for the reader."""

    name: str
    syntax: str
    meaning: str
    run: Callable[[Reader, Command], None]
    defines: bool = False  # its first operand is a name that it defines
    example: str = ""  # lines that assemble
    always: bool = False  # it counts in text that is skipped


@dataclass
class Budget:
    """What the expansions of a run may take, and have taken so far.

    A line counts as one, what takes longer as several.
    """

    max_lines: int = field(default_factory=lambda: MAX_LINES)
    max_characters: int = field(default_factory=lambda: MAX_CHARACTERS)
    lines: int = 0
    characters: int = 0
    is_reported: bool = False

    @property
    def is_exhausted(self) -> bool:
        """Whether more was taken than there is."""
        return self.lines > self.max_lines or self.characters > self.max_characters

    def spend(self, lines: int, characters: int, caller: Caller) -> None:
        """Take so many. Raises `TooMuch`."""
        self.lines += lines
        self.characters += characters
        if self.is_exhausted:
            what = f"{self.max_lines} lines or {self.max_characters} characters"
            hint = "calls, rounds, directives and errors in expansions count as several lines"
            raise TooMuch(f"the expansions of the run have more than {what}", caller, hint)


@dataclass(slots=True, eq=False)
class Frame:
    """A text that is being read: `lines` of its present round, then those of further `rounds`."""

    kind: str  # "file", "include", "macro", "repetition"
    lines: Iterator[LogicalLine]
    rounds: Iterator[Iterator[LogicalLine]] = field(default_factory=lambda: iter(()))
    conditionals: int = 0  # how many were open when it began


class Reader:
    """Reads one source with everything that it expands to."""

    def __init__(
        self, assembly: Assembly, words: Mapping[str, TextDirective], budget: Budget
    ) -> None:
        self.assembly = assembly
        self.words = words
        self.budget = budget
        self.macros: dict[str, Macro] = {}  # by their name in small letters
        self.conditionals: list[Conditional] = []
        self.calls = 0  # of macros, for `\@`
        self.collects = False  # lines are read for a body
        self.depth = 0  # of macros and repetitions in each other
        self._frames: list[Frame] = []
        self._errors = 0  # that expansions have paid for

    # --- the loop ---

    def read(self, lines: Iterator[LogicalLine]) -> None:
        """Take all lines of a source."""
        self._frames = [Frame("file", lines)]
        while self._frames:
            frame = self._frames[-1]
            try:
                if self._to_end(frame):
                    self._next_round(frame)
            except Meant as meant:
                self._take_meant(meant.line)
            except TooMuch as error:
                self._unwind(error)

    def _to_end(self, frame: Frame) -> bool:
        """Take the lines of a frame. Returns whether its end is reached, not another frame."""
        words, macros, conditionals = self.words, self.macros, self.conditionals
        statement, match_head = self.assembly.statement, _HEAD.match
        watch = self.assembly.watch
        for line in frame.lines:
            watch()
            if conditionals and conditionals[-1].skips:
                if line.text[0] == ".":
                    self._skip(line)
                continue
            head = match_head(line.text)
            if head is not None:
                word = head[1]
                found = words.get(word) or (macros and macros.get(word.lower()))
                if found and self._act(found, line, head):
                    if self._frames[-1] is not frame:
                        return False
                    continue
            statement(line)
        return True

    def _skip(self, line: LogicalLine) -> None:
        """Look in text that is skipped at what ends it, and at conditionals inside."""
        head = _HEAD.match(line.text)
        row = self.words.get(head[1]) if head is not None else None
        if head is not None and row is not None and row.always:
            self._act(row, line, head)

    def _act(self, found: Runnable, line: LogicalLine, head: re.Match[str]) -> bool:
        """Do what a line for the reader says, if it is one."""
        if len(self._frames) > 1:
            self.budget.spend(COMMAND_COST, 0, Caller("", line, 0, len(line.text)))
        start, end = head.span(1)
        is_macro = not isinstance(found, TextDirective)
        if is_macro and _ASSIGNMENT.match(line.text, end):
            return False
        if start:
            labels = LogicalLine(line.source, line.start, line.text[:start].rstrip())
            self.assembly.statement(labels)
            line = LogicalLine(line.source, line.start + start, line.text[start:])
        with self.assembly.reporting(line):
            found.run(self, Command(line, Name(0, end - start, head[1])))
        return True

    def _take_meant(self, line: LogicalLine) -> None:
        """Take a line whose first word was guessed."""
        head = _HEAD.match(line.text)
        assert head is not None
        found = self.words.get(head[1]) or self.macros.get(head[1].lower())
        if found is not None:
            try:
                self._act(found, line, head)
            except TooMuch as error:
                self._unwind(error)

    @property
    def takes_statements(self) -> bool:
        """Whether the next line is assembled if it is a statement."""
        conditionals = self.conditionals
        return not (self.collects or (conditionals and conditionals[-1].skips))

    def known(self) -> list[str]:
        """The words of the reader."""
        return [*self.words, *(macro.name for macro in self.macros.values())]

    def knows(self, word: str) -> bool:
        """Whether a word is the reader's."""
        return word in self.words or word.lower() in self.macros

    def define(self, macro: Macro) -> None:
        """Let a macro's name, in any case, stand for it."""
        name = macro.name.lower()
        self.macros[name] = macro
        self.assembly.short.blocked |= {name, macro.name}

    def purge(self, name: str) -> bool:
        """Forget a macro, if there is one of this name."""
        macro = self.macros.pop(name.lower(), None)
        if macro is not None:
            self.assembly.short.blocked -= {name.lower(), macro.name}
        return macro is not None

    # --- texts ---

    def parsed(self, command: Command) -> Statement:
        """The statement of a line; what cannot be parsed of it is reported and left out.

        Raises `Again` if nothing is left.
        """
        statement = self.assembly.parsed(command.line)
        if statement.head is None:
            raise Again
        return statement

    def collect(self, command: Command, opening: Sequence[str], end: str) -> list[LogicalLine]:
        """The lines up to `end`, which the words of `opening` ask for once more. Raises `Mistake`.

        They are those of the present text, or of a round of it.
        """
        self.collects = True
        try:
            return list(self._body(command, opening, end))
        finally:
            self.collects = False

    def _body(self, command: Command, opening: Sequence[str], end: str) -> Iterator[LogicalLine]:
        depth = 1
        for line in self._frames[-1].lines:
            head = _HEAD.match(line.text)
            if head is not None and head[1] in opening:
                depth += 1
            elif head is not None and head[1] == end:
                depth -= 1
                if not depth:
                    if labels := line.text[: head.start(1)].rstrip():
                        yield LogicalLine(line.source, line.start, labels)
                    return
            yield line
        raise Mistake(f"'{command.name.text}' without '{end}'", command.name)

    def expand(self, command: Command, body: Body, values: Sequence[str], what: str) -> None:
        """Read a macro's body next."""
        caller = command.caller(what)
        self._deeper(caller)
        self._spend(body, values, caller)
        lines = self.assembly.lines(Expanded(body, values, caller, macro=True))
        self._enter(Frame("macro", lines))

    def _spend(self, body: Body, values: Sequence[str], caller: Caller) -> None:
        """Account for an expansion before there is one."""
        size = body.size(values)
        if size > MAX_LINE and body.longest(values) > MAX_LINE:
            raise TooMuch(f"a line expands to more than {MAX_LINE} characters", caller)
        self.budget.spend(len(body.lines) + ROUND_COST, size, caller)

    def repeat(self, command: Command, body: Body, count: int) -> None:
        """Read a body again and again."""
        caller = command.caller(f"in the repetition of {command.name.text}")
        self._deeper(caller)
        self._repeatable(command, body, count)
        together, cost = 1, ROUND_COST + len(body.lines)
        if self._is_plain(body) and self.assembly.record is None:
            together, cost = max(1, _PIECE // (len(body.text) + 1)), len(body.lines)

        def rounds() -> Iterator[Iterator[LogicalLine]]:
            left, before = count, self.assembly.report.errors
            source = Repeated(body, caller, min(together, count))
            while left:
                if left < source.rounds:
                    source = Repeated(body, caller, left)
                left -= source.rounds
                has_failed = self.assembly.report.errors > before
                a_round = cost + ERROR_COST * len(body.lines) * has_failed
                self.budget.spend(source.rounds * a_round, len(source.text), caller)
                yield self.assembly.lines(source)

        self._enter(Frame("repetition", iter(()), rounds()))

    def _is_plain(self, body: Body) -> bool:
        """Whether all lines of a body are statements: nothing between two rounds then matters."""
        heads = (_HEAD.match(line.text) for line in body.lines)
        return not any(head is not None and self.knows(head[1]) for head in heads)

    def _repeatable(self, command: Command, body: Body, count: int) -> None:
        """Refuse at once what cannot come to an end in its bounds."""
        most = self.budget.max_lines
        if count * len(body.lines) > most and ".exitm" not in body.text:
            lines = "a line" if len(body.lines) == 1 else f"{len(body.lines)} lines"
            message = f"{count} times {lines} is too much"
            hint = f"all expansions of a run together have at most {most} lines"
            raise TooMuch(message, command.caller(""), hint)

    def repeat_with(self, command: Command, body: Body, values: Iterator[str]) -> None:
        """Read a body once for each value of its one name."""
        caller = command.caller(f"in the repetition of {command.name.text}")
        self._deeper(caller)
        number = str(self.calls)

        def rounds() -> Iterator[Iterator[LogicalLine]]:
            for value in values:
                self._spend(body, (value, number), caller)
                yield self.assembly.lines(Expanded(body, (value, number), caller, macro=False))

        self._enter(Frame("repetition", iter(()), rounds()))

    def include(self, text: SourceText, caller: Caller) -> None:
        """Read a file next."""
        if sum(frame.kind == "include" for frame in self._frames) >= MAX_DEPTH:
            raise TooMuch(f"more than {MAX_DEPTH} includes in each other", caller)
        self.budget.spend(text.text.count("\n") + 1, len(text.text), caller)
        self._enter(Frame("include", self.assembly.lines(text)))

    def leave(self) -> None:
        """`.exitm`: leave the text on top, and the conditionals that it has begun."""
        frame = self._frames.pop()
        del self.conditionals[frame.conditionals :]
        if frame.kind != "include":
            self.depth -= 1

    def _deeper(self, caller: Caller) -> None:
        if self.depth >= MAX_DEPTH:
            raise TooMuch(f"more than {MAX_DEPTH} expansions in each other", caller)

    def _enter(self, frame: Frame) -> None:
        frame.conditionals = len(self.conditionals)
        if frame.kind != "include":
            self.depth += 1
        self._frames.append(frame)

    def _next_round(self, frame: Frame) -> None:
        """Go on with a frame whose lines are done, or end it."""
        # A file's conditionals end with the source, those of an expansion with their round.
        errors = self.assembly.report.errors
        if frame.kind in ("macro", "repetition"):
            self.budget.lines += ERROR_COST * (errors - self._errors)
        self._errors = errors
        level = frame.conditionals if frame.kind != "include" else len(self.conditionals)
        for conditional in self.conditionals[level:]:
            self.assembly.report.mistake(conditional.line, conditional.unfinished())
        del self.conditionals[level:]
        lines = next(frame.rounds, None)
        if lines is not None:
            frame.lines = lines
            return
        self._frames.pop()
        if frame.kind in ("macro", "repetition"):
            self.depth -= 1

    def _unwind(self, error: TooMuch) -> None:
        """Report what is too much, and go on behind the line of the file where it began."""
        line = error.caller.line
        if self.budget.is_reported:
            self.assembly.report.fail(line)  # said once is enough
        else:
            place = error.caller.start, error.caller.end
            self.assembly.report.mistake(line, Mistake(error.message, place, error.hint))
        self.budget.is_reported = self.budget.is_exhausted
        if len(self._frames) > 1:
            del self.conditionals[self._frames[1].conditionals :]
            del self._frames[1:]
        self.depth = 0
