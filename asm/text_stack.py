"""The stack of texts that the assembler reads: a file, and above it includes and expansions.

A directive on text (`.include`, `.rept`) or a macro call puts a text on the stack. The line with
the directive or call is a `Command`. There are limits for the depth of nested texts, and for the
lines and characters of all expansions of a run together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field

from macaw.asm.assembly_state import AssemblyState
from macaw.asm.macro import Macro
from macaw.asm.macro_body import ExpandedText, MacroBody, RepeatedText
from macaw.asm.replay import Counts, Expansion, Mark, Recording, Replay
from macaw.asm.source import Caller, LogicalLine, SourceText
from macaw.asm.syntax import Mistake, Name
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.lazy_pattern import lazy_pattern

MAX_DEPTH = 100  # depth of nested expansions, as in GNU as, and of nested includes
MAX_LINES = 1_000_000  # lines of all expansions and included files of a run
MAX_CHARACTERS = 1 << 25  # characters of all of them together
EDITED_LINES = 100_000  # lines, for a file that is open in an editor
EDITED_CHARACTERS = 1 << 22
MAX_LINE = 1 << 16  # characters of a line that an expansion makes
_PIECE = 1 << 16  # characters of a repetition's rounds that are read as one text

# Costs, in lines, of what takes longer than a line of an expansion.
ROUND_COST = 2  # a macro call, or a round of a repetition, even an empty one
COMMAND_COST = 4  # a line of an expansion that is a directive on text or a call
ERROR_COST = 10  # an error in an expansion

# Labels, and the word that says what the line is.
HEAD = lazy_pattern(
    r"(?:(?:[A-Za-z_$][\w.$]*+|\.[\w.$]++|[0-9]++)\s*+:\s*+)*+([A-Za-z_.$][\w.$]*+)", re.ASCII
)


class LimitExceeded(Exception):
    """Raised if expansions are nested too deep, or have too many lines or characters.

    The expansion of the line `caller` must end.
    """

    def __init__(self, message: str, caller: Caller, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.caller, self.hint = message, caller, hint


@dataclass(frozen=True, slots=True)
class Command:
    """A line whose first word, `name`, is the name of a macro or a directive on text.

    Such a directive works on lines before they are parsed: `.macro`, `.rept`, `.if`, `.include`.
    """

    line: LogicalLine
    name: Name

    @property
    def operands(self) -> str:
        """The text after the first word."""
        return self.line.text[self.name.end :]

    def caller(self, what: str) -> Caller:
        """Return this line as the `Caller` of a text. Messages about the text show the line, too.

        `what` describes the line in messages, for example "included from here".
        """
        return Caller(what, self.line, 0, len(self.line.text))


@dataclass
class Budget:
    """The lines and characters that the expansions of a run may use, and the numbers used so far.

    An operation that takes longer than reading one line is counted as several lines.
    """

    max_lines: int = field(default_factory=lambda: MAX_LINES)
    max_characters: int = field(default_factory=lambda: MAX_CHARACTERS)
    lines: int = 0
    characters: int = 0
    is_reported: bool = False

    @property
    def is_exhausted(self) -> bool:
        """Whether the run has used more lines or characters than it may."""
        return self.lines > self.max_lines or self.characters > self.max_characters

    def allows(self, lines: int) -> bool:
        """Return whether the rest of the budget is enough for `lines` further lines."""
        return self.lines + lines <= self.max_lines

    def spend(self, lines: int, characters: int, caller: Caller) -> None:
        """Take lines and characters from the budget, for the text that `caller` expands to.

        Raises `LimitExceeded` if the budget has too few.
        """
        self.lines += lines
        self.characters += characters
        if self.is_exhausted:
            what = f"{self.max_lines} lines or {self.max_characters} characters"
            hint = "calls, rounds, directives and errors in expansions count as several lines"
            message = f"the expansions of the run have more than {what}"
            raise LimitExceeded(message, caller, hint)


@dataclass(slots=True, eq=False)
class Conditional:
    """An `.if` whose `.endif` has not been read yet.

    `skips` is true while lines are skipped. `is_settled` is true when a branch has been chosen, so
    that all later branches are skipped. `else_line` is the line with the `.else`, once it is read.
    """

    line: LogicalLine
    name: Name
    skips: bool  # the lines here are not assembled
    is_settled: bool  # a branch was chosen; no further one is assembled
    else_line: LogicalLine | None = None

    def unfinished(self) -> Mistake:
        """Return the error for a missing `.endif`."""
        return Mistake(f"'{self.name.text}' without '.endif'", self.name)


@dataclass(slots=True, eq=False)
class Frame:
    """A text on the stack, with those of its lines that are not read yet.

    `kind` is "file", "include", "macro" or "repetition". A repetition has several rounds: `lines`
    are the remaining lines of the current round, `rounds` the later rounds. `conditionals` is the
    number of conditionals that were open when the text began.
    """

    kind: str  # "file", "include", "macro", "repetition"
    lines: Iterator[LogicalLine]
    rounds: Iterator[Iterator[LogicalLine]] = field(default_factory=lambda: iter(()))
    conditionals: int = 0  # how many conditionals were open when it began
    expansion: Expansion | None = None  # of a macro call that may be recorded


class TextStack:
    """The stack of texts of one source, with the source's macros and open conditionals.

    `lines` is a function that splits a text into logical lines. `words` are the names of directives
    on text (`.macro`, `.if`, ...); `directives` is a function that returns the names of all
    directives.
    """

    def __init__(
        self,
        state: AssemblyState,
        budget: Budget,
        replay: Replay,
        words: Collection[str],
        directives: Callable[[], Collection[str]],
        lines: Callable[[SourceText], Iterator[LogicalLine]],
    ) -> None:
        self.state = state
        self.budget = budget
        self.replay = replay
        self.directives = directives
        self.macros: dict[str, Macro] = {}  # by their name in small letters
        self.macro_words: set[str] = set()  # the names of macros, as defined and in small letters
        self.conditionals: list[Conditional] = []
        self.calls = 0  # number of macro calls so far, for `\@`
        self.collects = False  # lines are read for a body
        self.depth = 0  # depth of nested macros and repetitions
        self.deepest = 0  # the greatest depth since the innermost recording began
        self.frames: list[Frame] = []
        self._words = words
        self._lines = lines
        self._charged_errors = 0  # errors that the budget counts already

    @property
    def takes_statements(self) -> bool:
        """Whether the assembler reads the next line as a statement.

        This is false if a conditional skips the line, or if the line belongs to the body of a macro
        or repetition that begins before it.
        """
        return not (self.collects or self.skips)

    @property
    def skips(self) -> bool:
        """Whether a conditional skips the next line."""
        return bool(self.conditionals) and self.conditionals[-1].skips

    def known_names(self) -> list[str]:
        """Return the names of the directives on text (`.if`, `.rept`, ...) and of the macros."""
        return [*self._words, *(macro.name for macro in self.macros.values())]

    def knows(self, word: str) -> bool:
        """Return whether a word is a macro or a directive on text, such as `.if`."""
        return word in self._words or word.lower() in self.macros

    # --- macros ---

    def define(self, macro: Macro) -> None:
        """Add a macro. Calls may write the name of the macro in upper or lower case."""
        name = macro.name.lower()
        self.macros[name] = macro
        self.macro_words |= {name, macro.name}
        self.state.macros.append(macro)
        self._forget_expansions()

    def purge(self, name: str) -> bool:
        """Remove the macro `name`. Return whether there was such a macro."""
        macro = self.macros.pop(name.lower(), None)
        if macro is not None:
            self.macro_words -= {name.lower(), macro.name}
            self._forget_expansions()
        return macro is not None

    def _forget_expansions(self) -> None:
        """Discard all recordings of expansions, and do not record the expansions that are open now.

        This is necessary when a line changes the meaning of later lines, for example by defining a
        macro.
        """
        self.state.effects += 1
        self.replay.forget()

    def collect(self, command: Command, opening: Sequence[str], end: str) -> list[LogicalLine]:
        """Read and return the lines of the body that `command` begins, up to its `end`.

        `opening` are the words that begin such a body; a body inside of this body has its own
        `end`. The body must end in the text in which it begins, in the same round. Raises `Mistake`
        if the `end` is missing.
        """
        self.collects = True
        try:
            return list(self._body(command, opening, end))
        finally:
            self.collects = False

    def _body(self, command: Command, opening: Sequence[str], end: str) -> Iterator[LogicalLine]:
        depth = 1
        for line in self.frames[-1].lines:
            head = HEAD.match(line.text)
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

    # --- texts ---

    def start(self, text: SourceText) -> None:
        """Put `text`, a source that the run assembles, on the stack as its only text."""
        self.frames = [Frame("file", self._lines(text))]

    def expand(self, command: Command, macro: Macro, values: Sequence[str]) -> None:
        """Put the body of a macro on the stack, with the given values of its parameters.

        If the bytes of the body are known for these values, append the bytes instead. Raises
        `LimitExceeded`.
        """
        body = macro.body
        assert body is not None
        caller = command.caller(f"in expansion of macro '{macro.name}'")
        self._check_depth(caller)
        mark, key = None, tuple(values)
        if body.uses_number:
            self.state.effects += 1
        else:
            recording = self.replay.find(macro, key)
            if recording is not None and self.depth + recording.spent.depth <= MAX_DEPTH:
                self._spend_again(recording, 1, caller)
                self.replay.put(recording, command.line.source, command.line.start)
                return
            mark = self._mark()
        self.calls += 1
        values = (*values, str(self.calls - 1))
        self._spend(body, values, caller)
        expansion = None if mark is None else Expansion(macro, key, mark)
        lines = self._lines(ExpandedText(body, values, caller, macro=True))
        self._enter(Frame("macro", lines, expansion=expansion))

    def _mark(self) -> Mark | None:
        mark = self.replay.mark(self._counts(), self.deepest)
        if mark is not None:
            self.deepest = self.depth
        return mark

    def _recording(self, mark: Mark) -> Recording | None:
        """Return the effects of the text that the run has read since `mark`.

        Return None if these effects cannot be repeated.
        """
        deepest, self.deepest = self.deepest, max(self.deepest, mark.deepest)
        return self.replay.recording(mark, self._counts(), deepest)

    def _counts(self) -> Counts:
        return Counts(self.calls, self.budget.lines, self.budget.characters, self.depth)

    def _spend_again(self, recording: Recording, times: int, caller: Caller) -> None:
        """Take `times` times the cost of the recorded text from the budget.

        Raises `LimitExceeded`.
        """
        spent = recording.spent
        self.budget.spend(times * spent.lines, times * spent.characters, caller)
        self.calls += times * spent.calls

    def _spend(self, body: MacroBody, values: Sequence[str], caller: Caller) -> None:
        """Take the cost of an expansion of `body` with `values` from the budget.

        The caller makes the expansion afterwards.

        Raises `LimitExceeded`.
        """
        size = body.size(values)
        if size > MAX_LINE and body.longest(values) > MAX_LINE:
            message = f"a line expands to more than {MAX_LINE} characters"
            raise LimitExceeded(message, caller)
        self.budget.spend(len(body.lines) + ROUND_COST, size, caller)

    def repeat(self, command: Command, body: MacroBody, count: int) -> None:
        """Put `count` rounds of a body on the stack. Raises `LimitExceeded`."""
        caller = command.caller(f"in the repetition of {command.name.text}")
        self._check_depth(caller)
        self._check_count(command, body, count)
        together, cost = 1, ROUND_COST + len(body.lines)
        if self._has_statements_only(body) and self.state.record is None:
            together, cost = max(1, _PIECE // (len(body.text) + 1)), len(body.lines)

        def rounds() -> Iterator[Iterator[LogicalLine]]:
            if not count:
                return
            begins_trace = self.replay.begin_trace()
            rest, before, mark = count, self.state.report.errors, self._mark()
            if mark is None and begins_trace:
                self.replay.end_trace()
            source = RepeatedText(body, caller, 1 if mark else min(together, count))
            while rest:
                if source.rounds > rest:
                    source = RepeatedText(body, caller, rest, source)
                rest -= source.rounds
                has_failed = self.state.report.errors > before
                a_round = cost + ERROR_COST * len(body.lines) * has_failed
                self.budget.spend(source.rounds * a_round, len(source.text), caller)
                yield self._lines(source)
                if mark is not None:
                    recording = self._recording(mark)
                    if begins_trace:
                        self.replay.end_trace()
                    if recording is not None:
                        rest -= self._read_again(mark, recording, rest, caller)
                    mark = None
                    if together > 1 and rest:
                        source = RepeatedText(body, caller, min(together, rest), source)

        self._enter(Frame("repetition", iter(()), rounds()))

    def _read_again(self, mark: Mark, recording: Recording, rounds: int, caller: Caller) -> int:
        """Add the effects of the text since `mark` up to `rounds` times, without reading it again.

        The text is one round of a repetition, `recording` has its effects, and `caller` is the
        repetition. Return how many times the method has added the effects. Raises `LimitExceeded`.
        """
        if recording.trace and not self.budget.allows(rounds * recording.spent.lines):
            return 0  # a number that does not fit may end the rounds before the limit
        again = self.replay.rounds_again(mark, recording, rounds)
        self._spend_again(recording, again, caller)
        self.replay.repeat(mark, recording, again)
        return again

    def _has_statements_only(self, body: MacroBody) -> bool:
        """Return whether no line of a body calls a macro or has a directive on text (`.if`, ...).

        Only then can several rounds of the body be one text on the stack.
        """
        heads = (HEAD.match(line.text) for line in body.lines)
        return not any(head is not None and self.knows(head[1]) for head in heads)

    def _check_count(self, command: Command, body: MacroBody, count: int) -> None:
        """Raise `LimitExceeded` if `count` rounds would exceed the limits.

        A body with `.exitm` is not checked, because its rounds may end earlier.
        """
        most = self.budget.max_lines
        if count * len(body.lines) > most and ".exitm" not in body.text:
            lines = "a line" if len(body.lines) == 1 else f"{len(body.lines)} lines"
            message = f"{count} times {lines} is too much"
            hint = f"all expansions of a run together have at most {most} lines"
            raise LimitExceeded(message, command.caller(""), hint)

    def repeat_with(self, command: Command, body: MacroBody, values: Iterator[str]) -> None:
        """Put one round of a body on the stack for each value of the body's only parameter.

        Raises `LimitExceeded`.
        """
        caller = command.caller(f"in the repetition of {command.name.text}")
        self._check_depth(caller)
        number = str(self.calls)
        if body.uses_number:
            self.state.effects += 1

        def rounds() -> Iterator[Iterator[LogicalLine]]:
            for value in values:
                self._spend(body, (value, number), caller)
                yield self._lines(ExpandedText(body, (value, number), caller, macro=False))

        self._enter(Frame("repetition", iter(()), rounds()))

    def include(self, text: SourceText, caller: Caller) -> None:
        """Put an included file on the stack. Raises `LimitExceeded`."""
        if sum(frame.kind == "include" for frame in self.frames) >= MAX_DEPTH:
            raise LimitExceeded(f"more than {MAX_DEPTH} includes in each other", caller)
        self.state.effects += 1
        self.budget.spend(text.text.count("\n") + 1, len(text.text), caller)
        self._enter(Frame("include", self._lines(text)))

    def stop(self) -> None:
        """Carry out `.end`: discard all lines that are not read yet.

        Report each conditional that is still open as an error, and close it.
        """
        for conditional in self.conditionals:
            self.state.report.mistake(conditional.line, conditional.unfinished())
        self.conditionals.clear()
        self.frames = [Frame("file", iter(()))]
        self.replay.end_trace()
        self.depth = 0

    def leave(self) -> None:
        """Carry out `.exitm`: remove the text on top, and the conditionals that it opened."""
        self.state.effects += 1  # an effect on the texts around this text
        self.replay.end_trace()
        frame = self.frames.pop()
        del self.conditionals[frame.conditionals :]
        if frame.kind != "include":
            self.depth -= 1

    def _check_depth(self, caller: Caller) -> None:
        if self.depth >= MAX_DEPTH:
            raise LimitExceeded(f"more than {MAX_DEPTH} expansions in each other", caller)

    def _enter(self, frame: Frame) -> None:
        frame.conditionals = len(self.conditionals)
        if frame.kind != "include":
            self.depth += 1
            self.deepest = max(self.deepest, self.depth)
        self.frames.append(frame)

    def next_round(self) -> None:
        """Begin the next round of the text on top, whose lines are all read.

        If there is no further round, remove the text.
        """
        # A file's conditionals end with the source, those of an expansion with their round.
        frame = self.frames[-1]
        errors = self.state.report.errors
        if frame.kind in ("macro", "repetition"):
            self.budget.lines += ERROR_COST * (errors - self._charged_errors)
        self._charged_errors = errors
        level = frame.conditionals if frame.kind != "include" else len(self.conditionals)
        for conditional in self.conditionals[level:]:
            self.state.report.mistake(conditional.line, conditional.unfinished())
        del self.conditionals[level:]
        lines = next(frame.rounds, None)
        if lines is not None:
            frame.lines = lines
            return
        self.frames.pop()
        if frame.expansion is not None:
            recording = self._recording(frame.expansion.mark)
            if recording is not None:
                self.replay.keep(frame.expansion, recording)
        if frame.kind in ("macro", "repetition"):
            self.depth -= 1

    def unwind(self, error: LimitExceeded) -> None:
        """Remove all texts from the stack except the file, and report the exceeded limit once."""
        line = error.caller.line
        if self.budget.is_reported:
            self.state.report.fail(line)
        else:
            place = error.caller.start, error.caller.end
            self.state.report.mistake(line, Mistake(error.message, place, error.hint))
        self.budget.is_reported = self.budget.is_exhausted
        self.replay.end_trace()
        if len(self.frames) > 1:
            del self.conditionals[self.frames[1].conditionals :]
            del self.frames[1:]
        self.depth = 0
