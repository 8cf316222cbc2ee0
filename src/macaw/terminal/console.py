"""Writes to standard output and standard error: messages, and the program's own output.

Colours appear only on a terminal, and never if NO_COLOR is set or the output is to be plain.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from macaw.terminal.plain import is_plain, rich_records

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

PLAIN_WIDTH = 10_000  # columns of plain output, which the terminal or the screen reader wraps
STYLES = {
    "error": "bold red",
    "fault": "bold red",
    "breakpoint": "bold yellow",
    "warning": "bold yellow",
    "hint": "cyan",
    "place": "bold",
    "caret": "green",
    "chain": "dim",
}


def stderr() -> Console:
    """Return a console of the library rich that prints to standard error."""
    return _console(stderr=True)


def stdout() -> Console:
    """Return a console of the library rich that prints to standard output."""
    return _console(stderr=False)


def _console(*, stderr: bool) -> Console:
    from shutil import get_terminal_size  # late, because it imports compressors

    from rich.console import Console
    from rich.table import Table

    class Unmarked(Console):  # names of models and files may contain brackets
        def __init__(self, **options: Any) -> None:
            super().__init__(stderr=stderr, highlight=False, markup=False, **options)
            if self.width < 1:  # COLUMNS=0: unknown, as for `shutil.get_terminal_size`
                self.width = get_terminal_size().columns

        def on_broken_pipe(self) -> None:
            raise  # BrokenPipeError again: rich itself would exit with 1

    class Plain(Unmarked):
        """A console of the library rich for plain output.

        It prints each row of a table as one line, and no control sequences.
        """

        def print(self, *objects: Any, **options: Any) -> None:
            if len(objects) == 1 and isinstance(objects[0], Table):
                objects, options = ("\n".join(rich_records(objects[0])),), {"soft_wrap": True}
            super().print(*objects, **options)

    if is_plain():
        return Plain(color_system=None, force_terminal=False, width=PLAIN_WIDTH)
    return Unmarked()


@contextlib.contextmanager
def message_streams() -> Iterator[tuple[BinaryIO, Callable[[bytes], None]]]:
    """Yield (stream, write), for a command that exchanges messages with an editor.

    `stream` is standard input as a binary file. `write(message)` writes bytes to standard output at
    once. The input is unbuffered. Otherwise the thread that waits for input would hold the lock of
    the buffer, and the process could not end.
    """
    with (
        os.fdopen(os.dup(sys.stdin.fileno()), "rb", buffering=0) as stream,
        os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out,
    ):

        def write(message: bytes) -> None:
            out.write(message)
            out.flush()

        yield stream, write


def error(message: str, hint: str = "") -> None:
    """Print `macaw: error: message` on standard error, and the hint on a line of its own."""
    _print_message("error", message, hint)


def warning(message: str, hint: str = "") -> None:
    """Print `macaw: warning: message` on standard error, and the hint on a line of its own."""
    _print_message("warning", message, hint)


def _print_message(severity: str, message: str, hint: str) -> None:
    from rich.text import Text

    text = Text("macaw: ").append(f"{severity}: ", STYLES[severity]).append(printable(message))
    if hint:
        text.append("\n").append("hint: ", STYLES["hint"]).append(printable(hint))
    print_error_text(text)


def printable(text: str) -> str:
    """Return a message without characters that control the terminal.

    A message may quote the name of a file, which can contain such characters.
    """
    from macaw.asm import diagnostics

    return "\n".join(map(diagnostics.printable, text.split("\n")))


def print_error_text(text: Text, end: str = "\n") -> None:
    """Print a text and `end` to standard error, after all results so far.

    Long lines are not wrapped.
    """
    with after_results():
        if sys.stderr.isatty():
            stderr().print(text, soft_wrap=True, end=end)
        else:
            print(text.plain, file=sys.stderr, end=end)


@contextlib.contextmanager
def after_results() -> Iterator[None]:
    """Flush standard output, so that messages of the `with` block follow the results.

    If a message cannot be written, the block ends without an error, so that the command's exit
    status stays the same.
    """
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    with contextlib.suppress(OSError):
        yield


def write_stdout(data: bytes) -> None:
    """Write bytes from the emulated program's standard output to Macaw's standard output."""
    _write(sys.stdout, data)


def write_stderr(data: bytes) -> None:
    """Write bytes from the emulated program's standard error to Macaw's standard error."""
    _write(sys.stderr, data)


def _write(stream: TextIO, data: bytes) -> None:
    """Write bytes unchanged to a stream, or as text if a progress bar redirects the stream."""
    if hasattr(stream, "rich_proxied_file") or not hasattr(stream, "buffer"):
        stream.write(data.decode("utf-8", errors="replace"))
        return  # no flush: it would break the line above the bar
    stream.flush()
    stream.buffer.write(data)
    stream.flush()
