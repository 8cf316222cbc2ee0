"""Messages on standard error, and tables. Colour only on a terminal, never with NO_COLOR."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from macaw.asm.diagnostics import Diagnostic
    from macaw.asm.program import Program

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
    """A console on standard error."""
    return _console(stderr=True)


def stdout() -> Console:
    """A console on standard output."""
    return _console(stderr=False)


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise  # the BrokenPipeError that rich is handling; rich itself would exit with 1

    return Plain(stderr=stderr, highlight=False)


def error(message: str, hint: str = "") -> None:
    """`macaw: error: message`, and the hint on a line of its own."""
    _say("error", message, hint)


def warning(message: str, hint: str = "") -> None:
    """`macaw: warning: message`, and the hint on a line of its own."""
    _say("warning", message, hint)


def _say(severity: str, message: str, hint: str) -> None:
    from rich.text import Text

    text = Text("macaw: ").append(f"{severity}: ", STYLES[severity]).append(shown(message))
    if hint:
        text.append("\n").append("hint: ", STYLES["hint"]).append(shown(hint))
    _show(text)


def shown(text: str) -> str:
    """A message, which may quote any file's name, without what would steer the terminal."""
    from macaw.asm.diagnostics import printable

    return "\n".join(map(printable, text.split("\n")))


def _show(text: Text, end: str = "\n") -> None:
    """Print without folding: the terminal folds long lines, and a pipe wants them whole."""
    with _message():
        if sys.stderr.isatty():
            stderr().print(text, soft_wrap=True, end=end)
        else:
            print(text.plain, file=sys.stderr, end=end)


@contextlib.contextmanager
def _message() -> Iterator[None]:
    """What is printed within comes after the results so far.

    A message that cannot be written is lost: it must not become another error, nor
    change the exit status that it explains.
    """
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    with contextlib.suppress(OSError):
        yield


def diagnostics(found: Sequence[Diagnostic], style: str = "text", most: int | None = None) -> None:
    """Each diagnostic with its line and carets, or (style "json") all as one list.

    At most `most` errors and as many warnings, 0: all; what is left out is said.
    """
    from macaw.asm.diagnostics import MOST_ERRORS, first, pieces, to_json

    found, left_out = first(found, MOST_ERRORS if most is None else most)
    if left_out:
        left_out += " not shown"
    if style == "json":
        with _message():
            print(to_json(found, left_out), file=sys.stderr)
        return
    if not found:
        return  # and nothing is loaded to print it
    from rich.text import Text

    from macaw import colours

    colour = colours.wanted(sys.stderr)
    for item in found:
        text = Text()
        for name, piece in pieces(item):
            if name == "source" and colour:
                text.append_text(colours.source(piece))
            else:
                text.append(piece, STYLES.get(name, ""))
        _show(text, end="")
    if left_out:
        _show(Text(f"macaw: {left_out}"))


def warnings_of(program: Program) -> list[Diagnostic]:
    """The warnings that the assembler left in the program."""
    from macaw.asm.diagnostics import Diagnostic

    return [item for item in program.warnings if isinstance(item, Diagnostic)]


def as_error(item: Diagnostic) -> Diagnostic:
    """A warning as -Werror takes it."""
    return replace(item, severity="error", message=f"{item.message} [-Werror]")


def write_stdout(data: bytes) -> None:
    """What the program wrote to its standard output, to ours."""
    _pass_on(sys.stdout, data)


def write_stderr(data: bytes) -> None:
    """What the program wrote to its standard error, to ours."""
    _pass_on(sys.stderr, data)


def _pass_on(stream: TextIO, data: bytes) -> None:
    """The bytes as they are; as text where a progress bar has to make room for them."""
    if hasattr(stream, "rich_proxied_file") or not hasattr(stream, "buffer"):
        stream.write(data.decode("utf-8", errors="replace"))
        return  # a flush would end the line above the bar
    stream.flush()
    stream.buffer.write(data)
    stream.flush()
