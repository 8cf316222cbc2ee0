"""The front end of the debugger: Python sessions, the files of commands, the prompt, the screen."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from macaw import api, arguments, files
from macaw.arguments import check_arguments
from macaw.asm.program import Program
from macaw.debugger.commands.context import OtherRun
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.line import CommandError
from macaw.debugger.layout import OF_TWO
from macaw.debugger.session import Session
from macaw.emu.engines import ENGINES
from macaw.errors import InputError
from macaw.execution import Streams, configuration_of
from macaw.input_binding import bind, join_inputs
from macaw.isa import reading
from macaw.terminal import console

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from macaw.asm.source import Source
    from macaw.debugger.commands.answers import Answer

_Value = TypeVar("_Value")
ANOTHER = "another name"
LAYOUT, HISTORY = "debugger.json", "debugger-history"


class DebuggerFiles:
    """The files that debugger commands read and write (`macaw.debugger.commands.files.Files`).

    No command overwrites a file with which the session was started: the program and all files that
    it reads, inputs, the device file. Only a command that saves commands may overwrite a script
    that the session has read.
    """

    def __init__(self, protected: Iterable[str] = ()) -> None:
        self.protected = tuple(map(os.path.abspath, protected))
        self.scripts: list[str] = []  # files that were read

    def read_array(self, path: str) -> NDArray[Any]:
        """Return the array in a .npy file. Raises `CommandError` if it cannot be read."""
        return _raise_command_errors(lambda: files.read_array(path))

    def read_arrays(self, path: str) -> dict[str, NDArray[Any]]:
        """Return the arrays in a .npz file by name. Raises `CommandError` if it cannot be read."""
        return _raise_command_errors(lambda: files.read_archive(path))

    def write_array(self, path: str, array: NDArray[Any]) -> None:
        """Write an array as .npy. If that fails, raise `CommandError`.

        An old file at `path` is then unchanged.
        """
        _raise_command_errors(
            lambda: files.refuse_overwriting([path], [*self.protected, *self.scripts], ANOTHER)
        )
        _raise_command_errors(lambda: files.write_array(path, array))

    def read_text(self, path: str) -> str:
        """Return the text of a file in UTF-8. Raises `CommandError` if it cannot be read."""
        data = _raise_command_errors(lambda: files.read_bytes(path, reading.MOST_TEXT))
        self.scripts.append(str(Path(path).absolute()))
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise CommandError(f"{path} is no UTF-8 text: byte {error.start}") from None

    def exists(self, path: str) -> bool:
        """Return whether the path names a file or folder."""
        return os.path.lexists(path)

    def write_text(self, path: str, text: str) -> None:
        """Write a text. If that fails, raise `CommandError`; an old file is then unchanged."""
        _raise_command_errors(lambda: files.refuse_overwriting([path], self.protected, ANOTHER))
        _raise_command_errors(lambda: files.write_bytes(path, text.encode()))


def _raise_command_errors(act: Callable[[], _Value]) -> _Value:
    """Return the result of `act()`; if the call raises `InputError`, raise `CommandError`."""
    try:
        return act()
    except InputError as error:
        raise CommandError(str(error), error.hint or "") from None


@check_arguments(
    program=arguments.either(
        "a Program, a Source or the path of a file",
        arguments.program_or_path,
        arguments.instance("a Source", "macaw.asm.source:Source"),
    ),
    inputs=arguments.optional(arguments.mapping(arguments.anything, "arrays by name")),
    device=arguments.optional(arguments.device),
    engine=arguments.word,
    item=arguments.optional(arguments.whole(0)),
    keyword_inputs=arguments.anything,
)
def debug(
    program: Program | Source | api.FilePath,
    inputs: Mapping[str, object] | None = None,
    *,
    device: api.DeviceLike | None = None,
    engine: str = ENGINES[0],
    item: int | None = None,
    **keyword_inputs: object,
) -> Session:
    """Return a debugging session of a program with its inputs, before the first cycle.

    The program is a `Program`, the path of a file, or a `Source`. The inputs are arrays, in a
    mapping, as keywords, or both. If they have a batch axis, `item` is the index on it (default 0).
    `device` overrides the device of the program. `engine` is one of `macaw.emu.engines.ENGINES`,
    which differ only in speed.

    Raises `InputError` for inputs that do not fit, and for a file the errors of `load`.
    """
    if isinstance(program, str | os.PathLike):
        program = api.load(program, device=device)
    elif not isinstance(program, Program):
        program = api.assemble(program, device=device)
    inputs = join_inputs(inputs, keyword_inputs)
    if engine not in ENGINES:
        raise InputError(f"no engine is called '{engine:.40}'", f"engines: {', '.join(ENGINES)}")
    (item,) = arguments.python_numbers((item,))
    return _make_session(program, inputs, item, device, engine)


def _make_session(
    program: Program,
    inputs: Mapping[str, object],
    item: int | None,
    device: api.DeviceLike | None,
    engine: str,
    on_output: Callable[[str, bytes], object] | None = None,
) -> Session:
    """Return a session of a program with one item of its inputs.

    `item` is the index on the batch axis. `on_output` is called with the name of a stream and the
    bytes that the program writes to it. Raises `InputError` for inputs that do not fit.
    """
    binding = bind(program, inputs)
    if item is not None and item >= (binding.items or 0):
        if binding.items is None:
            raise InputError(
                "no input has a batch axis to choose an item from", "leave the item out"
            )
        raise InputError(f"item {item} is out of range, 0 to {binding.items - 1}")
    config = configuration_of(program, device)
    return Session(program, config, binding.item(item or 0), engine, on_output)


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
    """Return an interpreter of debugger commands for a program with its inputs.

    `item` is the index on the batch axis, 0 by default. `allow_shell` permits shell commands.
    `streams` receive the program's output. Commands do not overwrite the `protected` files or the
    files that the program reads. Raises `InputError` for inputs that do not fit.
    """

    def pass_output(stream: str, data: bytes) -> None:
        write = getattr(streams, "stdout" if stream == "dprintf" else stream, None)
        if write is not None:
            write(data)

    session = _make_session(program, inputs, item, device, engine, pass_output)
    return Interpreter(session, DebuggerFiles([*protected, *program.read_files]), allow_shell)


def run_names(differing: Iterable[str | None], sources: Sequence[str]) -> tuple[str, str]:
    """Return names for two runs that the debugger compares: (first run, other run).

    The first run has the name of the first file of `sources`. `differing` are the values of the
    options that only the other run has, such as a second device file. The first of them that is not
    empty gives the other run its name. If both names would be the same, they are "this" and
    "other".
    """
    other = next((Path(x).name for x in differing if x), "other")
    this = Path(sources[0]).name if sources else "this"
    return (this, other) if this != other else ("this", "other")


def join_runs(
    this: Interpreter, other: Interpreter, this_name: str = "this", other_name: str = "other"
) -> None:
    """Join the interpreters of two runs, so that a user compares them in `this`.

    If a command is for both runs, `this` executes its line and then lets `other` execute it, too.
    The answer has the answers of both runs, with the two names as headings. Ctrl-C stops both runs.
    """
    other.session.share_interrupts(this.session)
    this.context.other = OtherRun(other.session, other.execute_here, other_name, this_name)


@contextlib.contextmanager
def interruptible(session: Session) -> Iterator[threading.Event]:
    """Within the `with` block, Ctrl-C stops the session's run and raises no KeyboardInterrupt.

    The event that the context manager returns is set when Ctrl-C is pressed. In a thread that is
    not the main thread, the context manager does nothing else.
    """
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return

    def stop(*_: object) -> None:
        pressed.set()
        session.interrupt()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """Within the `with` block, SIGTERM raises SystemExit, so that the terminal is restored.

    In a thread that is not the main thread, the context manager does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def execute(interpreter: Interpreter, line: str) -> Answer:
    """Execute a command line and return its answer.

    If that takes longer than a second, a terminal shows a progress bar.
    """
    from macaw.terminal.progress_bar import ProgressBar

    with ProgressBar(line.strip()) as bar:
        bar.note = lambda: f"cycle {interpreter.session.device.cycle:,}"
        return interpreter.execute(line)


def run_prompt(interpreter: Interpreter, show: Callable[[str, Answer], object]) -> None:
    """Read command lines, execute them and show the answers until the user leaves.

    On a terminal, the user can edit lines, and a history of them is stored (`history_file`).
    Otherwise the function reads lines from standard input and prints them after the prompt.
    """
    if is_interactive():
        read_line = _line_reader(interpreter, history_file())
    else:
        read_line = partial(_read_line, interpreter)
    while True:
        try:
            line = read_line()
        except KeyboardInterrupt:
            interpreter.end_input()
            continue
        except EOFError:
            unfinished = interpreter.end_input()
            if unfinished is not None:
                show("", unfinished)
            return
        interpreter.session.interrupts.take()  # a request to stop an earlier line is ignored
        with interruptible(interpreter.session):
            answer = execute(interpreter, line)
        show(line, answer)
        if answer.leaves:
            return


def is_interactive() -> bool:
    """Return whether standard input and standard output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _line_reader(interpreter: Interpreter, history: Path | None) -> Callable[[], str]:
    """Return a function that asks the user for a line at the terminal.

    The file `history` stores the lines; None means that they are not stored.
    """
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory, InMemoryHistory
    from prompt_toolkit.shortcuts import CompleteStyle

    from macaw.debugger.screen.completion import CommandCompleter
    from macaw.terminal.plain import is_plain

    memory = FileHistory(str(history)) if history is not None else InMemoryHistory()
    session: PromptSession[str] = PromptSession(
        completer=CommandCompleter(interpreter),
        complete_while_typing=False,
        complete_style=CompleteStyle.READLINE_LIKE if is_plain() else CompleteStyle.COLUMN,
        history=memory,
    )
    return lambda: session.prompt(interpreter.prompt)


def _read_line(interpreter: Interpreter) -> str:
    """Return the next line of standard input and print it. Raises `EOFError` at the end."""
    data = sys.stdin.buffer.readline().decode("utf-8", "replace")
    if not data:
        raise EOFError
    line = data.rstrip("\r\n")
    console.write_stdout(f"{interpreter.prompt}{line}\n".encode())
    return line


def run_screen(interpreter: Interpreter, lines: Iterable[str]) -> None:
    """Execute the command lines `lines`, then show the screen until the user leaves.

    The screen's layout and the history of lines are stored in `state_folder`.
    """
    from macaw.debugger.screen.application import Screen
    from macaw.debugger.views.area import ASCII, UNICODE

    folder = state_folder()
    if folder is not None:
        interpreter.arrangement.take(_read_layout(folder / LAYOUT))
    if interpreter.context.other is not None:
        interpreter.arrangement.show(OF_TWO)
    history = history_file()

    def keep(arrangement: Mapping[str, Any]) -> None:
        if folder is None:
            return
        with contextlib.suppress(InputError):  # without a writable folder the layout is lost
            files.write_bytes(str(folder / LAYOUT), json.dumps(arrangement, indent=1).encode())

    wide = "utf" in (sys.stdout.encoding or "").lower()
    Screen(interpreter, signs=UNICODE if wide else ASCII, history=history, keep=keep).run(lines)


def history_file() -> Path | None:
    """Return the path of the file with the user's earlier command lines.

    Returns None if the file cannot be written.
    """
    folder = state_folder()
    if folder is None:
        return None
    path = folder / HISTORY
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError:
        return None
    return path


def state_folder() -> Path | None:
    """Return the folder for the debugger's layout and history ($XDG_STATE_HOME/macaw).

    Returns None if the user has no home folder.
    """
    base = os.environ.get("XDG_STATE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".local" / "state") / "macaw"
    except RuntimeError:
        return None


def _read_layout(path: Path) -> Mapping[str, Any]:
    """Return the screen layout that an earlier session stored; empty if it cannot be read."""
    try:
        layout = json.loads(reading.read(path, reading.MOST_TEXT))
    except (reading.UnreadableError, ValueError):
        return {}
    return layout if isinstance(layout, dict) else {}
