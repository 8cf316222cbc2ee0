"""The command `macaw debug`: debugs a program on the emulated device, forward and back."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from macaw.commands import suggestions
from macaw.commands.options import (
    descriptions,
    engine_option,
    file_option,
    load_program,
    name_file_pairs,
    own_plain_option,
    program_options,
)
from macaw.errors import EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_SUCCESS, InputError
from macaw.terminal.plain import is_plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from macaw.asm.warnings import WarningChoice
    from macaw.debugger.commands.answers import Answer
    from macaw.debugger.commands.interpreter import Interpreter
    from macaw.debugger.gdb.link import Link
    from macaw.debugger.gdb.target import Target

MOST_INPUT = 1 << 20  # bytes of commands on standard input


PIPE = -1  # `--gdb -`
MOST_PORT = 65535


def _gdb_port(_context: click.Context, _option: click.Parameter, value: str | None) -> int | None:
    """Return the port that `--gdb` names, or `PIPE` for `-`.

    Raises `click.BadParameter` for any other text.
    """
    if value is None or value == "-":
        return None if value is None else PIPE
    if not value.isascii() or not value.isdecimal() or int(value[:6]) > MOST_PORT:
        raise click.BadParameter(f"'{value:.20}' is no port: 0 to {MOST_PORT}, or -")
    return int(value)


@click.command("debug", short_help="Debug a program: step, stop, look, go back.")
@program_options()
@click.option(
    "--item",
    type=click.IntRange(min=0),
    metavar="N",
    help="Debug item N of the batch axis; default 0.",
)
@engine_option("The engine, fast or reference; results are the same.")
@file_option(
    "--against",
    "other_sources",
    multiple=True,
    text="Run FILE (another version of the program) beside it, and compare both runs.",
)
@click.option(
    "--against-input",
    "other_inputs",
    multiple=True,
    callback=name_file_pairs,
    metavar="NAME=FILE",
    help="Compare with a run that has this input instead.",
    shell_complete=suggestions.arrays,
)
@click.option(
    "--against-device",
    "other_device",
    metavar="NAME|FILE",
    help="Compare with a run on this device.",
    shell_complete=suggestions.devices,
)
@click.option(
    "--against-engine",
    "other_engine",
    metavar="ENGINE",
    help="Compare with a run of this engine.",
    shell_complete=suggestions.engines,
)
@file_option(
    "-x", "scripts", metavar="SCRIPT", multiple=True, text="Execute the commands of a file first."
)
@click.option(
    "-e",
    "lines",
    multiple=True,
    metavar="COMMAND",
    help="Execute a command, after those of -x.",
)
@click.option(
    "--batch",
    is_flag=True,
    help="Execute the commands of -x and -e, or of standard input, then end.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Like --batch, with one JSON object for each command."
)
@own_plain_option(
    "Prompt for commands, without a screen, and print tables as records (also MACAW_PLAIN=1).",
    is_passed=True,
)
@click.option(
    "--allow-shell",
    is_flag=True,
    help="Allow the commands shell and python, which can do anything.",
)
@click.option(
    "--gdb",
    metavar="PORT|-",
    callback=_gdb_port,
    help="Serve gdb at a port of this machine (0: a free one), or at standard input and output.",
)
def command(
    sources: tuple[str, ...],
    inputs: dict[str, str],
    item: int | None,
    device: str | None,
    choice: WarningChoice | None,
    engine: str,
    other_sources: tuple[str, ...],
    other_inputs: dict[str, str],
    other_device: str | None,
    other_engine: str | None,
    scripts: tuple[str, ...],
    lines: tuple[str, ...],
    batch: bool,
    as_json: bool,
    plain: bool,
    allow_shell: bool,
    gdb: int | None,
) -> int:
    """Debug FILEs: assembly sources, one ELF executable or a folder. `help` lists the commands.

    A terminal shows a screen of panels.

    Exit status of --batch and --json: 1 if a command failed, or if a `diff` found a difference.
    """
    others = (*other_sources, *other_inputs.values(), other_device, other_engine)
    if gdb is not None and (batch or as_json or plain or scripts or lines):
        raise click.UsageError("--gdb goes with none of --batch, --json, --plain, -x and -e")
    if gdb is not None and any(others):
        raise click.UsageError("--gdb serves one run, it goes with none of --against...")
    has_screen = not (batch or as_json or is_plain() or gdb is not None) and _is_screen()

    def load() -> Interpreter:
        from macaw import debugging, files
        from macaw.execution import Streams
        from macaw.networks.compiler import program_inputs
        from macaw.terminal import console

        silent = as_json or has_screen or gdb is not None  # answers, panels, gdb show the output
        return debugging.make_interpreter(
            load_program(sources, device, choice=choice),
            program_inputs(sources, files.read_arrays(inputs)),
            item=item,
            device=device,
            engine=engine,
            allow_shell=allow_shell,
            streams=None if silent else Streams(console.write_stdout, console.write_stderr),
            protected=[
                *sources,
                *descriptions(sources),
                *inputs.values(),
                *([device] if device else []),
            ],
        )

    if gdb is not None:
        return _serve_gdb(gdb, load)
    from macaw import debugging
    from macaw.terminal.progress_bar import ProgressBar

    with ProgressBar("loading"):
        interpreter = load()
        if any(others):
            from macaw import files
            from macaw.networks.compiler import program_inputs

            other = debugging.make_interpreter(
                load_program(other_sources or sources, other_device or device, choice=choice),
                program_inputs(other_sources or sources, files.read_arrays(inputs | other_inputs)),
                item=item,
                device=other_device or device,
                engine=other_engine or engine,
                protected=[*other_sources, *other_inputs.values()],
            )
            debugging.join_runs(interpreter, other, *debugging.run_names(others, sources))
    first = [*(f"source '{path}'" for path in scripts), *lines]
    if batch or as_json:
        return _run_batch(interpreter, first or _read_commands(), as_json)
    with debugging.exit_on_sigterm():
        if has_screen:
            debugging.run_screen(interpreter, first)
        else:
            _run_then_prompt(interpreter, first)
    return EXIT_SUCCESS


def _is_screen() -> bool:
    """Return whether standard input and output are a terminal that can show a screen."""
    from macaw import debugging

    return os.environ.get("TERM", "dumb") != "dumb" and debugging.is_interactive()


def _serve_gdb(port: int, load: Callable[[], Interpreter]) -> int:
    """Serve one gdb at a port, or at standard input and output if `port` is `PIPE`.

    `load` loads the program and returns an interpreter for it. For a port, the function calls
    `load` before it waits for gdb. A gdb at standard input and output has already sent its first
    packet, and waits only a short time for the acknowledgement. So the function then acknowledges
    the packet first, and calls `load` after that.
    """
    from macaw.debugger.gdb import server

    def connect(link: Link, interpreter: Interpreter | None = None) -> Target:
        from macaw.debugger.gdb.target import Target  # not before gdb is acknowledged

        return Target(link, interpreter or load())

    if port == PIPE:
        click.echo(server.serve_pipe(connect), err=True)
        return EXIT_SUCCESS
    interpreter = load()
    try:
        listener = server.listen(port)
    except OSError as error:
        message = f"port {port} cannot be used: {error.strerror}"
        raise InputError(message, "0 is a free one") from None
    with listener:
        host, number = listener.getsockname()
        click.echo(f"waiting for gdb: target remote {host}:{number}")
        click.echo(f"its command `macaw`: source {server.CLIENT}")
        try:
            click.echo(server.serve_port(listener, lambda link: connect(link, interpreter)))
        except KeyboardInterrupt:
            click.echo("interrupted")
            return EXIT_INTERRUPTED
    return EXIT_SUCCESS


def _run_then_prompt(interpreter: Interpreter, first: list[str]) -> None:
    """Execute the commands `first`, then prompt for more."""
    from macaw import debugging

    with debugging.interruptible(interpreter.session):
        for line in first:
            answer = debugging.execute(interpreter, line)
            _print_answer(line, answer)
            if answer.leaves:
                return
            if answer.was_interrupted:
                break
    debugging.run_prompt(interpreter, _print_answer)


def _read_commands() -> list[str]:
    """Return the lines of standard input. Raises `InputError` if they are too long."""
    data = sys.stdin.buffer.read(MOST_INPUT + 1)
    if len(data) > MOST_INPUT:
        size = f"{MOST_INPUT >> 20} MiB"
        raise InputError(
            f"the commands on standard input are more than {size}", "give them in files, by -x"
        )
    return data.decode("utf-8", "replace").splitlines()


def _run_batch(interpreter: Interpreter, lines: list[str], as_json: bool) -> int:
    """Execute command lines, print their answers, and return the exit status."""
    from macaw.debugging import interruptible

    with interruptible(interpreter.session) as pressed:
        status = _execute_batch(interpreter, lines, as_json)
    return EXIT_INTERRUPTED if pressed.is_set() else status


def _execute_batch(interpreter: Interpreter, lines: list[str], as_json: bool) -> int:
    from macaw.debugging import execute

    fails = False
    for line in filter(str.strip, lines):
        answer = execute(interpreter, line)
        if as_json:
            output = interpreter.take_output()
            click.echo(json.dumps({"line": line, **answer.json(), **output}))
        else:
            _print_answer(line, answer)
        fails |= answer.finds_differences or answer.has_failed
        if answer.kind == "error":
            return EXIT_FAILURE
        if answer.leaves:
            break
    unfinished = interpreter.end_input()
    if unfinished is not None:
        if as_json:
            click.echo(json.dumps({"line": "", **unfinished.json()}))
        else:
            _print_answer("", unfinished)
        return EXIT_FAILURE
    return EXIT_FAILURE if fails else EXIT_SUCCESS


def _print_answer(line: str, answer: Answer) -> None:
    from macaw.debugger.commands.answers import Answer

    if answer.kind == "error" and answer.answers:  # the answers of a script before its error
        _print_answer("", Answer("done", answers=answer.answers))
        answer = replace(answer, answers=())
    if is_plain():
        from macaw.terminal.plain_answers import plain_answer_text as answer_text
    else:
        from macaw.debugger.commands.text import answer_text
    text = answer_text(answer, line)
    if text:
        click.echo(text, err=answer.kind == "error")
