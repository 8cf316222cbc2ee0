"""Runs command lines on a session. Whatever the screen can do, a script can, by the same lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macaw.debugger.accessors import Members
from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer, Mark
from macaw.debugger.commands.keeping import Displays, Looked
from macaw.debugger.commands.stopping import obeyed
from macaw.debugger.commands.table import COMMANDS, Command, CommandError, Line, find
from macaw.debugger.commands.usage import UsageError, expected, match
from macaw.debugger.expressions import ExpressionError
from macaw.debugger.layout import NAMES, PANELS, Arrangement
from macaw.debugger.places import PlaceError, places
from macaw.debugger.points import events
from macaw.debugger.session import Session
from macaw.debugger.stops import SessionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from macaw.debugger.commands.files import Files

DEEPEST = 16  # scripts that call scripts
LONGEST = 1 << 16  # characters of a line


class Interpreter:
    """The command language over one session.

    `allow_shell`: `shell` and `python` may be used. `on_answer` gets each answer as it comes, also
    those of scripts and of points' commands.
    """

    def __init__(
        self,
        session: Session,
        files: Files,
        allow_shell: bool = False,
        on_answer: Callable[[str, Answer], object] | None = None,
    ) -> None:
        self.session = session
        self.files = files
        self.allow_shell = allow_shell
        self.on_answer = on_answer
        self.history: list[str] = []
        self.looked = Looked()  # by `x`
        self.displays = Displays()
        self.arrangement = Arrangement()  # of the screen, if there is one
        self.counted: dict[str, dict[str, int]] = {}  # by `info perf`
        self.listed: tuple[str, int] | None = None  # by `list`: file, the next line
        self.names_of_python: dict[str, Any] = {"session": session}
        self._repeated = ""
        self._written: list[tuple[str, bytes]] = []  # by the program, and not taken
        self._shows_output = session.on_output
        session.on_output = self._wrote
        self._depth = 0
        self._obeys = False  # commands of points are being done

    def execute(self, line: str, keep: bool = True) -> Answer:
        """Do a command line. An empty one repeats the last that repeats. Nothing is raised."""
        text = line.strip()
        if len(text) > LONGEST:
            return answers.error(f"a line of {len(text)} characters is too long")
        if not text:
            text = self._repeated
        if not text or text.startswith("#"):
            return answers.done()
        if keep and line.strip():
            self.history.append(text)
        answer = self._done(text)
        if self.on_answer is not None:
            self.on_answer(text, answer)
        return answer

    def aside(self, line: str) -> Answer:
        """Do a line that nobody has typed: the history and what an empty line repeats stay."""
        repeated = self._repeated
        answer = self.execute(line, keep=False)
        self._repeated = repeated
        return answer

    def _done(self, text: str) -> Answer:
        row = None
        try:
            row, line = self.parse(text)
            self._repeated = (row.name if row.alone else text) if row.repeats else ""
            answer = row.act(self, line).of(row.name)
            if answer.kind == "stop":
                self.listed = None
                answer = replace(answer, answers=(*answer.answers, *self.displays.shown(self)))
                answer = self._with_orders(answer)
            return answer
        except UsageError as error:
            assert row is not None or isinstance(error, _Wrong)
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

    def _with_orders(self, answer: Answer) -> Answer:
        """A stop with what the commands of its points answer, unless these have led to it."""
        if self._obeys or answer.stopped is None or not answer.stopped.hits:
            return answer
        self._obeys = True
        try:
            return replace(answer, answers=(*answer.answers, *obeyed(self, answer.stopped)))
        finally:
            self._obeys = False

    def parse(self, text: str) -> tuple[Command, Line]:
        """A line's command and operands. Raises `CommandError`, `UsageError`."""
        word, suffix, offset = split(text)
        row = find(word)
        if suffix and not row.suffix:
            raise CommandError(f"{row.name} takes nothing behind a slash", f"usage: {row.usage}")
        arguments = text[offset:]
        try:
            given = match(row.usage, arguments)
        except UsageError as error:
            raise _Wrong(error, row, offset) from None
        return row, Line(row, given, suffix, arguments, offset)

    def run_lines(self, lines: Iterable[str], what: str) -> Iterator[tuple[int, Answer]]:
        """Do lines of a script until one fails, leaves or is interrupted.

        Gives their numbers, and what they answer. Raises `CommandError` if scripts that call
        scripts go too deep.
        """
        if self._depth >= DEEPEST:
            raise CommandError(f"{what}: scripts that call scripts go deeper than {DEEPEST}")
        self._depth += 1
        try:
            for number, line in enumerate(lines, 1):
                if not line.strip() or line.lstrip().startswith("#"):
                    continue
                answer = self.execute(line, keep=False)
                if answer.kind not in ("error", "stop") and self.session.runner.asked():
                    answer = answers.error("interrupted, the rest is not done")
                yield number, answer
                if answer.kind == "error" or answer.leaves or answer.interrupted:
                    return
        finally:
            self._depth -= 1

    def taken_output(self) -> dict[str, str]:
        """What the program has written since the last call, by stream."""
        written, self._written = self._written, []
        found: dict[str, bytes] = {}
        for stream, data in written:
            found[stream] = found.get(stream, b"") + data
        return {stream: data.decode("utf-8", "replace") for stream, data in found.items()}

    def _wrote(self, stream: str, data: bytes) -> None:
        self._written.append((stream, data))
        if self._shows_output is not None:
            self._shows_output(stream, data)

    # Completion

    def complete(self, text: str) -> list[str]:
        """What the last word of a line may become."""
        word, _, offset = split(text)
        if offset >= len(text) and (not text or not text[-1].isspace()):
            names = (name for row in COMMANDS.values() for name in row.names)
            return sorted(name for name in names if name.startswith(word) and name[0].isalpha())
        try:
            row = find(word)
        except CommandError:
            return []
        arguments = text[offset:]
        begun = "" if not arguments or arguments[-1].isspace() else arguments.split()[-1]
        found: list[str] = []
        for one in expected(row.usage, arguments):
            found += self._offers(one, begun, row)
        return sorted({one for one in found if one.startswith(begun)})

    def _offers(self, operand: str, begun: str, row: Command) -> Sequence[str]:
        if operand == "FILE":
            return _files(begun)
        if operand == "EVENT":
            return list(events(self.session))
        if operand == "PLACES":
            return list(self.session.device.cores)
        if operand == "LOC":
            return [symbol.name for symbol in self.session.program.symbols]
        if operand in ("E", "V"):
            return [*self.names(), *self._members(begun)]
        if operand == "NAME" and row.name == "help":
            return list(COMMANDS)
        if operand == "NAME":
            return {"layout": NAMES, "panel": list(PANELS), "zoom": list(PANELS)}.get(row.name, [])
        return [operand] if not operand.isupper() else []

    def _members(self, begun: str) -> list[str]:
        """Names of the focus, or what may follow the place that a word begins with."""
        place, dot, _ = begun.rpartition(".")
        try:
            found = places(self.session.device, place) if dot else self.session.focus
        except PlaceError:
            return []
        return [f"{place}{dot}{name}" for name in Members(self.session.device, found[0]).names()]

    def names(self) -> list[str]:
        """Names that an expression may begin with."""
        program = self.session.program
        found = [symbol.name for symbol in program.symbols]
        found += [tensor.name for tensor in program.tensors]
        return [*found, *self.session.device.cores]


class _Wrong(UsageError):
    """A line that does not fit the usage of its command."""

    def __init__(self, error: UsageError, row: Command, offset: int) -> None:
        super().__init__(str(error), (error.at[0] + offset, error.at[1] + offset))
        self.row = row


def split(text: str) -> tuple[str, str, int]:
    """A line's command, what stands behind its slash, and where its arguments begin."""
    head = text.split(None, 1)[0] if text.split() else ""
    begin = text.find(head) if head else 0
    word, slash, suffix = head.partition("/")
    end = begin + len(head)
    while end < len(text) and text[end].isspace():
        end += 1
    return word, suffix if slash else "", end


def _usage_error(text: str, error: UsageError) -> Answer:
    hint = f"usage: {error.row.usage}" if isinstance(error, _Wrong) else ""
    begin = min(error.at[0], len(text))
    return answers.error(str(error), Mark(begin, max(begin + 1, error.at[1])), hint)


def _files(begun: str) -> list[str]:
    """Files and folders whose names begin so."""
    path = Path(begun or ".")
    folder = path if begun.endswith("/") or not begun else path.parent
    try:
        found = sorted(folder.iterdir())[:1000]
    except OSError:
        return []
    prefix = begun[: len(begun) - len(path.name)] if begun and not begun.endswith("/") else begun
    return [f"{prefix}{one.name}{'/' if one.is_dir() else ''}" for one in found]
