"""Executes command lines on a session, for scripts, the screen and other callers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer, Mark
from macaw.debugger.commands.blocks import MOST as MOST_LINES
from macaw.debugger.commands.blocks import Block, add_line
from macaw.debugger.commands.completion import completions
from macaw.debugger.commands.context import Context
from macaw.debugger.commands.displays import display_answers
from macaw.debugger.commands.gdb_advice import advice_for
from macaw.debugger.commands.gdb_spellings import respell
from macaw.debugger.commands.line import CommandError, Line
from macaw.debugger.commands.table import Command, find, split
from macaw.debugger.commands.text import both, counted
from macaw.debugger.commands.usage import UsageError, match
from macaw.debugger.commands.user_commands import (
    UserCommand,
    lines_of_call,
    missing_argument,
)
from macaw.debugger.expressions import ExpressionError
from macaw.debugger.places import PlaceError
from macaw.debugger.stops import SessionError

if TYPE_CHECKING:
    from macaw.debugger.commands.files import Files
    from macaw.debugger.layout import Arrangement
    from macaw.debugger.session import Session
    from macaw.debugger.stops import StopRecord

PROMPT = "(macaw) "
DEEPEST = 16  # the greatest depth of scripts that call scripts
LONGEST = 1 << 16  # the greatest number of characters of a line
MOST_STOPS = 10_000  # the greatest number of stops in a row whose points' commands are executed
SILENT = "silent"  # as a point's first command: do not show the stop


class Interpreter:
    """The interpreter of the command language for one session.

    The interpreter calls `on_answer` with each line and its answer as soon as the line is executed.
    These lines include the lines of scripts and the commands of points.
    """

    def __init__(
        self,
        session: Session,
        files: Files,
        allow_shell: bool = False,
        on_answer: Callable[[str, Answer], object] | None = None,
    ) -> None:
        """Connect the interpreter to a session.

        `files` reads and writes files. `allow_shell` permits the commands `shell` and `python`.
        """
        self.context = Context(session, files, allow_shell, self.run_lines, self.opens_block)
        self.context.execute_here = self.execute_here
        self.context.python_names["session"] = session
        self.on_answer = on_answer
        self._repeat_line = ""  # the line that an empty line repeats
        self._pieces: list[tuple[str, bytes]] = []  # bytes of output since `take_output`
        self._on_output = session.on_output
        session.on_output = self._write
        self._depth = 0  # the present depth of scripts
        self._calls: list[int] = []  # numbers of words of the present calls of user's commands
        self._block: Block | None = None  # the block whose lines follow
        self._in_point_commands = False
        self._here_only = False  # with two runs: whether a line is only for this run

    @property
    def session(self) -> Session:
        """The session on which the commands work."""
        return self.context.session

    @property
    def history(self) -> list[str]:
        """The lines that the user typed, the oldest first."""
        return self.context.history

    @property
    def arrangement(self) -> Arrangement:
        """The user's choice of panels and sizes, for a screen."""
        return self.context.arrangement

    @property
    def in_block(self) -> bool:
        """Whether the next line belongs to the body of a command such as `define`."""
        return self._block is not None

    @property
    def prompt(self) -> str:
        """The text before the next line: `>` in the body of a command."""
        return "> " if self.in_block else PROMPT

    def end_input(self) -> Answer | None:
        """End the input. Return an error if a block is still open, else None."""
        block, self._block = self._block, None
        return None if block is None else answers.error(f"'{block.head}' lacks its `end`")

    def execute(self, line: str, keep: bool = True) -> Answer:
        """Execute a command line and return its answer. An error becomes an answer, too.

        An empty line repeats the last command if the command allows it. If `keep` is true, the line
        is added to the history. A command with a body is executed at the body's `end`, and the
        answer to `end` is its answer.
        """
        text = line.strip()
        if len(text) > LONGEST:
            return answers.error(f"a line of {len(text)} characters is too long")
        if self._block is not None:
            answer = self._add_to_block(self._block, line.rstrip())
            if keep and text:
                self.history.append(text)
            if self.on_answer is not None:
                self.on_answer(text, answer)
            return answer
        if not text:
            text = self._repeat_line
        if not text or text.startswith("#"):
            return answers.message()
        if keep and line.strip():
            self.history.append(text)
        answer = self._answer(text, end=line[len(line.rstrip()) :])
        if self.on_answer is not None:
            self.on_answer(text, answer)
        return answer

    def aside(self, line: str) -> Answer:
        """Execute a line that the user has not typed, and return its answer.

        The line is not added to the history, and a later empty line does not repeat it.
        """
        repeat_line = self._repeat_line
        answer = self.execute(line, keep=False)
        self._repeat_line = repeat_line
        return answer

    def _add_to_block(self, block: Block, text: str) -> Answer:
        """Add a line to the open block; at its `end`, execute the block's command."""
        if not text or text.lstrip().startswith("#"):
            return answers.message()
        if len(block.lines) >= MOST_LINES:
            self._block = None
            return answers.error(f"'{block.head}' has more than {MOST_LINES:,} lines")
        if not add_line(block, text, self.opens_block):
            return answers.message()
        self._block = None
        return self._answer(block.head, tuple(block.lines))

    def opens_block(self, text: str) -> bool:
        """Return whether `text` is a command with a body, whose lines follow up to `end`."""
        try:
            row, line = self.parse(respell(text))
        except (CommandError, UsageError):
            return False
        return row.body and line.get("TEXT") is None

    def _answer(self, text: str, body: tuple[str, ...] | None = None, end: str = "") -> Answer:
        """Return the answer to a line; `body` has the lines of its body, or is None.

        `end` is the white space that followed the line.
        """
        is_own = split(text)[0] in self.context.user_commands
        line = text if is_own else respell(text)
        answer = self._answer_to(line, body, end)
        if answer.kind != "error" or is_own:
            return answer
        advice = advice_for(text)
        if advice is not None:
            return answers.error(advice.message, hint=advice.hint)
        if body is not None:
            return replace(answer, mark=None)  # the mark belongs to the first line, not to `end`
        if answer.mark is not None and line != text:
            shift = len(text) - len(line)
            begin = max(0, answer.mark.begin + shift)
            mark = Mark(begin, max(begin + 1, answer.mark.end + shift))
            return replace(answer, mark=mark)
        return answer

    def _answer_to(self, text: str, body: tuple[str, ...] | None, end: str) -> Answer:
        row = None
        try:
            self._check_arguments(text)
            word, _, offset = split(text)
            if word in self.context.user_commands:
                self._repeat_line = text
                return self._call(self.context.user_commands[word], text[offset:])
            row, line = self.parse(text)
            if row.body and line.get("TEXT") is None:
                if body is None:
                    if row.check is not None:
                        row.check(self.context, line)
                    self._block = Block(text)
                    return answers.message()
                line = replace(line, body=body)
            line = replace(line, end=end)
            self._repeat_line = (row.name if row.alone else text) if row.repeats else ""
            answer = row.act(self.context, line).of(row.name)
            if answer.kind == "stop":
                self.context.list_position = None
                self.context.frame = 0
                displays = display_answers(self.context)
                answer = replace(answer, answers=(*answer.answers, *displays))
                answer = self._with_point_commands(answer)
            return self._with_other(row, text, answer)
        except UsageError as error:
            assert row is not None or isinstance(error, _LineError)
            return _usage_error(text, error)
        except CommandError as error:
            at = error.at or (0, len(text.split()[0]))
            return answers.error(str(error), Mark(*at), error.hint)
        except (SessionError, PlaceError) as error:
            return answers.error(str(error))
        except MemoryError:
            return answers.error("there is not enough memory for that")
        except ExpressionError as error:
            return answers.error(error.message, hint=error.hint)

    def _call(self, command: UserCommand, text: str) -> Answer:
        """Execute a command of the user with the arguments `text`. Raises `CommandError`."""
        words = text.split()
        lines = lines_of_call(command, words, text)
        replies: deque[Answer] = deque(maxlen=answers.MOST_ANSWERS)
        self._calls.append(len(words))
        try:
            for number, answer in self.run_lines(lines, command.name):
                if answer.kind == "error":
                    what = f"{command.name}, line {number}: {answer.message}"
                    return replace(answers.error(what, hint=answer.hint), answers=tuple(replies))
                replies.append(answer)
        finally:
            self._calls.pop()
        if len(replies) == 1:
            return replies[0]
        leaves = any(answer.leaves for answer in replies)
        return Answer("done", command.name, answers=tuple(replies), leaves=leaves)

    def _check_arguments(self, text: str) -> None:
        """Raise `CommandError` if a line of a call names an argument that the call lacks."""
        name = missing_argument(text) if self._calls else None
        if name is not None:
            words = counted(self._calls[-1], "word")
            raise CommandError(f"{name} is missing: the call has {words}")

    def _with_other(self, row: Command, text: str, answer: Answer) -> Answer:
        """Execute a line in the other run, too, and return the answers of both runs as one.

        `row` is the line's command, `answer` its answer in this run. If the command does not work
        on both runs, or if there is no other run, return `answer` unchanged.
        """
        other = self.context.other
        if other is None or not row.is_for_both or row.body:
            return answer
        if self._in_point_commands or self._here_only:
            return answer
        if answer.was_interrupted or answer.is_of_both:
            return answer
        return both(answer, other.execute(text), other.this_name, other.name)

    def execute_here(self, line: str) -> Answer:
        """Execute a line in this run, not in the other one, and return its answer."""
        here_only, self._here_only = self._here_only, True
        try:
            return self.aside(line)
        finally:
            self._here_only = here_only

    def parse(self, text: str) -> tuple[Command, Line]:
        """Return the command and the operands of a line. Raises `CommandError`, `UsageError`."""
        word, suffix, offset = split(text)
        row = find(word)
        if suffix and not row.suffix:
            raise CommandError(f"{row.name} takes nothing after a slash", f"usage: {row.usage}")
        text = text[offset:]
        try:
            arguments = match(row.usage, text)
        except UsageError as error:
            raise _LineError(error, row, offset) from None
        return row, Line(row.name, arguments, suffix, text, offset)

    def run_lines(self, lines: Iterable[str], what: str) -> Iterator[tuple[int, Answer]]:
        """Execute the lines of a script until a line fails, ends the debugger or is interrupted.

        Yields (number, answer) for each executed line; numbers count from 1. `what` names the
        script in messages. Raises `CommandError` if scripts that call scripts are nested too
        deeply.
        """
        if self._depth >= DEEPEST:
            raise CommandError(f"{what}: scripts that call scripts go deeper than {DEEPEST}")
        self._depth += 1
        number = 0
        try:
            for number, line in enumerate(lines, 1):
                if not line.strip() or line.lstrip().startswith("#"):
                    continue
                answer = self.aside(line)
                if answer.kind not in ("error", "stop") and self.session.interrupts.take():
                    answer = answers.error("interrupted, the rest is not done")
                yield number, answer
                if answer.kind == "error" or answer.leaves or answer.was_interrupted:
                    return
            unfinished = self.end_input()
            if unfinished is not None:
                yield number, unfinished
        finally:
            self._depth -= 1

    def complete(self, text: str) -> list[str]:
        """Return the words to which the last word of a line can be completed, sorted."""
        return completions(self.session, text, self.context.user_commands)

    # Commands of points

    def _with_point_commands(self, answer: Answer) -> Answer:
        """Execute the commands of the points that caused a stop; add their answers to `answer`.

        The user can give commands to a breakpoint, watch or caught event (a point). If such a
        command has itself led to this stop, return `answer` unchanged: `_run_point_commands` then
        executes the commands of the points that caused this stop.
        """
        if self._in_point_commands or answer.stopped is None or not answer.stopped.hits:
            return answer
        stopped = answer.stopped
        if self._is_silent(stopped):
            answer = answer.silenced()
        more = self.execute_point_commands(stopped)
        leaves = any(reply.leaves for reply in more)
        return replace(answer, answers=(*answer.answers, *more), leaves=leaves)

    def execute_point_commands(self, stop: StopRecord) -> tuple[Answer, ...]:
        """Execute the commands of the points that caused a stop, and return their answers.

        `execute` does so for the runs that its line starts; other callers that start runs use this
        method. The commands may run the program, so `last_stop` of the session may change.
        """
        self._in_point_commands = True
        try:
            return self._run_point_commands(stop)
        finally:
            self._in_point_commands = False

    def _run_point_commands(self, stop: StopRecord | None) -> tuple[Answer, ...]:
        """Execute the commands of the points that caused a stop, and return their answers.

        If a command leads to another stop, the remaining commands are dropped, and the commands of
        the points that caused the new stop are executed. This is repeated for at most `MOST_STOPS`
        stops. An error, or a command that ends the debugger, ends the execution. The result has the
        last `answers.MOST_ANSWERS` answers, with the error.
        """
        replies: deque[Answer] = deque(maxlen=answers.MOST_ANSWERS)
        for _ in range(MOST_STOPS):
            lines = self._point_commands(stop)
            stop = None
            for text in lines:
                answer = self.aside(text)
                last = answer.last_run
                if last is not None and self._is_silent(last.stopped):
                    answer = answer.silenced()
                replies.append(answer)
                if answer.kind == "error" or answer.leaves:
                    return tuple(replies)
                if last is not None:
                    stop = last.stopped
                    break
            if stop is None:
                break
        return tuple(replies)

    def _is_silent(self, stop: StopRecord | None) -> bool:
        """Return whether `silent` is the first of the commands that a stop leads to."""
        return [text.strip() for text in self._point_commands(stop)[:1]] == [SILENT]

    def _point_commands(self, stop: StopRecord | None) -> list[str]:
        hits = () if stop is None else stop.hits
        numbers = dict.fromkeys(hit.number for hit in hits)  # several PEs may hit one point at once
        return [text for number in numbers for text in self.session.points.commands_of(number)]

    # Output of the program

    def take_output(self) -> dict[str, str]:
        """Return the output of the program since the last call, by the name of the stream."""
        pieces, self._pieces = self._pieces, []
        streams: dict[str, bytes] = {}
        for stream, data in pieces:
            streams[stream] = streams.get(stream, b"") + data
        return {stream: data.decode("utf-8", "replace") for stream, data in streams.items()}

    def _write(self, stream: str, data: bytes) -> None:
        self._pieces.append((stream, data))
        if self._on_output is not None:
            self._on_output(stream, data)


class _LineError(UsageError):
    """The error for a line that does not match the usage of its command."""

    def __init__(self, error: UsageError, row: Command, offset: int) -> None:
        super().__init__(str(error), (error.at[0] + offset, error.at[1] + offset))
        self.row = row


def _usage_error(text: str, error: UsageError) -> Answer:
    hint = f"usage: {error.row.usage}" if isinstance(error, _LineError) else ""
    begin = min(error.at[0], len(text))
    return answers.error(str(error), Mark(begin, max(begin + 1, error.at[1])), hint)
