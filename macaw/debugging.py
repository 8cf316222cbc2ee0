"""The debugger's front door: sessions of programs with inputs, files, a prompt of lines."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from debugger.commands.interpreter import Interpreter
from debugger.commands.table import CommandError
from debugger.session import Session
from emu.engines import ENGINES
from macaw import api, files
from macaw.binding import bind
from macaw.errors import InputError
from macaw.running import Streams, configuration_of
from macaw.words import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray
    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from asm.program import Program
    from debugger.commands.answers import Answer

_Value = TypeVar("_Value")
MOST_TEXT = 1 << 20  # bytes of a script


class DebuggerFiles:
    """Files as commands want them (`debugger.commands.files.Files`)."""

    def read_array(self, path: str) -> NDArray[Any]:
        """The array of a .npy file. Raises `CommandError`."""
        return _told(lambda: files.read_array(path))

    def write_array(self, path: str, array: NDArray[Any]) -> None:
        """Write an array as .npy, whole or not at all. Raises `CommandError`."""
        _told(lambda: files.write_array(path, array))

    def read_text(self, path: str) -> str:
        """A text file, in UTF-8. Raises `CommandError`."""
        data = _told(lambda: files.read_bytes(path))
        if len(data) > MOST_TEXT:
            size = plural(MOST_TEXT >> 20, "MiB")
            raise CommandError(f"{path} is larger than {size}")
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise CommandError(f"{path} is no UTF-8 text: byte {error.start}") from None

    def write_text(self, path: str, text: str) -> None:
        """Write a text, whole or not at all. Raises `CommandError`."""
        _told(lambda: files.write_bytes(path, text.encode()))


def _told(act: Callable[[], _Value]) -> _Value:
    try:
        return act()
    except InputError as error:
        raise CommandError(str(error), error.hint or "") from None


def interpreter(
    program: Program,
    inputs: Mapping[str, object],
    *,
    item: int | None = None,
    device: api.DeviceLike | None = None,
    engine: str = ENGINES[0],
    allow_shell: bool = False,
    streams: Streams | None = None,
) -> Interpreter:
    """The command language over a program with its inputs.

    `item` chooses from a batch axis (0 if it is not given). Raises `InputError`.
    """
    binding = bind(program, inputs)
    if item is not None and item >= (binding.items or 0):
        if binding.items is None:
            raise InputError("no input has a batch axis to choose an item from", "leave --item out")
        raise InputError(f"item {item} is out of range, 0 to {binding.items - 1}")

    def wrote(stream: str, data: bytes) -> None:
        write = getattr(streams, stream, None)
        if write is not None:
            write(data)

    session = Session(
        program,
        configuration_of(program, device),
        binding.item(item or 0),
        engine,
        on_output=wrote,
    )
    return Interpreter(session, DebuggerFiles(), allow_shell)


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


def prompt(
    interpreter: Interpreter,
    show: Callable[[str, Answer], object],
    history: Path | None = None,
) -> None:
    """Ask for lines and show their answers until the user leaves."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer, Completion
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    class Words(Completer):
        """Completion by the table of commands."""

        def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
            text = document.text_before_cursor
            begun = "" if not text or text[-1].isspace() else text.split()[-1]
            for word in interpreter.complete(text):
                yield Completion(word, start_position=-len(begun))

    kept = FileHistory(str(history)) if history is not None else InMemoryHistory()
    asking: PromptSession[str] = PromptSession(
        completer=Words(), complete_while_typing=False, history=kept
    )
    while True:
        try:
            line = asking.prompt("(macaw) ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        with interruptible(interpreter.session):
            answer = interpreter.execute(line)
        show(line, answer)
        if answer.leaves:
            return
