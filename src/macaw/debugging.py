"""The debugger's front door: sessions of programs with inputs, files, a prompt, the screen."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from macaw import api, files
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.line import CommandError
from macaw.debugger.session import Session
from macaw.emu.engines import ENGINES
from macaw.errors import InputError
from macaw.execution import Streams, configuration_of
from macaw.input_binding import bind
from macaw.isa import reading
from macaw.terminal import console

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from macaw.asm.program import Program
    from macaw.debugger.commands.answers import Answer

_Value = TypeVar("_Value")
PROMPT = "(macaw) "
ANOTHER = "another name"
LAYOUT, HISTORY = "debugger.json", "debugger-history"


class DebuggerFiles:
    """Files as commands want them (`macaw.debugger.commands.files.Files`).

    What the session was given is never overwritten: the program and all that was read for it,
    inputs, the device. Nor is a script, by an array; commands that are saved may replace one.
    """

    def __init__(self, protected: Iterable[str] = ()) -> None:
        self.protected = tuple(map(os.path.abspath, protected))
        self.scripts: list[str] = []  # that were read

    def read_array(self, path: str) -> NDArray[Any]:
        """The array of a .npy file. Raises `CommandError`."""
        return _raise_command_errors(lambda: files.read_array(path))

    def write_array(self, path: str, array: NDArray[Any]) -> None:
        """Write an array as .npy, whole or not at all. Raises `CommandError`."""
        _raise_command_errors(
            lambda: files.refuse_overwriting([path], [*self.protected, *self.scripts], ANOTHER)
        )
        _raise_command_errors(lambda: files.write_array(path, array))

    def read_text(self, path: str) -> str:
        """A text file, in UTF-8. Raises `CommandError`."""
        data = _raise_command_errors(lambda: files.read_bytes(path, reading.MOST_TEXT))
        self.scripts.append(str(Path(path).absolute()))
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise CommandError(f"{path} is no UTF-8 text: byte {error.start}") from None

    def exists(self, path: str) -> bool:
        """Whether something is called so."""
        return os.path.lexists(path)

    def write_text(self, path: str, text: str) -> None:
        """Write a text, whole or not at all. Raises `CommandError`."""
        _raise_command_errors(lambda: files.refuse_overwriting([path], self.protected, ANOTHER))
        _raise_command_errors(lambda: files.write_bytes(path, text.encode()))


def _raise_command_errors(act: Callable[[], _Value]) -> _Value:
    try:
        return act()
    except InputError as error:
        raise CommandError(str(error), error.hint or "") from None


def make_interpreter(
    program: Program,
    inputs: Mapping[str, object],
    *,
    item: int | None = None,
    device: api.DeviceLike | None = None,
    engine: str = ENGINES[0],
    allow_shell: bool = False,
    streams: Streams | None = None,
    protected: Iterable[str] = (),
) -> Interpreter:
    """The command language over a program with its inputs.

    `given` are the files that these come from, beside those that the program names.
    `item` chooses from a batch axis (0 if it is not given). Raises `InputError`.
    """
    binding = bind(program, inputs)
    if item is not None and item >= (binding.items or 0):
        if binding.items is None:
            raise InputError("no input has a batch axis to choose an item from", "leave --item out")
        raise InputError(f"item {item} is out of range, 0 to {binding.items - 1}")

    def pass_output(stream: str, data: bytes) -> None:
        write = getattr(streams, "stdout" if stream == "dprintf" else stream, None)
        if write is not None:
            write(data)

    session = Session(
        program,
        configuration_of(program, device),
        binding.item(item or 0),
        engine,
        on_output=pass_output,
    )
    return Interpreter(session, DebuggerFiles([*protected, *program.read_files]), allow_shell)


@contextlib.contextmanager
def interruptible(session: Session) -> Iterator[None]:
    """Ctrl-C stops what the session runs, and nothing else."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: session.interrupt())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """SIGTERM ends the process by way of what sets the terminal right again."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def run_prompt(interpreter: Interpreter, show: Callable[[str, Answer], object]) -> None:
    """Ask for lines and show their answers until the user leaves.

    At a terminal they are kept (`history_file`). With none they are read from standard input, and
    shown behind the prompt.
    """
    read_line = _line_reader(interpreter, history_file()) if is_interactive() else _read_line
    while True:
        try:
            line = read_line()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        interpreter.session.interrupts.take()  # of an earlier line
        with interruptible(interpreter.session):
            answer = interpreter.execute(line)
        show(line, answer)
        if answer.leaves:
            return


def is_interactive() -> bool:
    """Whether somebody types, and sees what is written."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _line_reader(interpreter: Interpreter, history: Path | None) -> Callable[[], str]:
    """What asks somebody at a terminal for a line."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    from macaw.debugger.screen.completion import Words

    memory = FileHistory(str(history)) if history is not None else InMemoryHistory()
    session: PromptSession[str] = PromptSession(
        completer=Words(interpreter), complete_while_typing=False, history=memory
    )
    return lambda: session.prompt(PROMPT)


def _read_line() -> str:
    """The next line of standard input. Raises `EOFError`."""
    data = sys.stdin.buffer.readline().decode("utf-8", "replace")
    if not data:
        raise EOFError
    line = data.rstrip("\r\n")
    console.write_stdout(f"{PROMPT}{line}\n".encode())
    return line


def run_screen(interpreter: Interpreter, lines: Iterable[str] = ()) -> None:
    """Show the screen until the user leaves; do lines first.

    The layout and the history of lines are kept in a folder of the user's (`state_folder`).
    """
    from macaw.debugger.screen.application import Screen
    from macaw.debugger.views.room import ASCII, UNICODE

    folder = state_folder()
    interpreter.arrangement.take(_read_layout(folder / LAYOUT))
    history = history_file()

    def keep(arrangement: Mapping[str, Any]) -> None:
        with contextlib.suppress(InputError):  # who cannot write there loses a layout, no more
            files.write_bytes(str(folder / LAYOUT), json.dumps(arrangement, indent=1).encode())

    wide = "utf" in (sys.stdout.encoding or "").lower()
    Screen(interpreter, signs=UNICODE if wide else ASCII, history=history, keep=keep).run(lines)


def history_file() -> Path | None:
    """Where lines are kept for the next session; None where nothing can be written."""
    path = state_folder() / HISTORY
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError:
        return None
    return path


def state_folder() -> Path:
    """Where the debugger keeps what shall be there the next time (XDG's folder of states)."""
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "macaw"


def _read_layout(path: Path) -> Mapping[str, Any]:
    """What a session before has written; nothing if that cannot be read."""
    try:
        layout = json.loads(reading.read(path, reading.MOST_TEXT))
    except (reading.UnreadableError, ValueError):
        return {}
    return layout if isinstance(layout, dict) else {}
