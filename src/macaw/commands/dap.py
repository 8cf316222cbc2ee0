"""The command `macaw dap`: serves as the debug adapter of an editor."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from macaw.errors import EXIT_SUCCESS, InputError, MissingInputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from macaw.debugger.commands.interpreter import Interpreter
    from macaw.debugger.dap.launch import Launch


@click.command("dap", short_help="Serve the debugger of an editor: the Debug Adapter Protocol.")
@click.option(
    "--allow-shell",
    is_flag=True,
    help="Allow the commands shell and python, which can do anything.",
)
def command(allow_shell: bool) -> int:
    """Speak the Debug Adapter Protocol on standard input and output.

    Editors start this command by themselves (docs/dap.md). The program, its inputs and the device
    come with the request `launch`.
    """
    from macaw.debugger.dap import server
    from macaw.terminal import console

    def load(launch: Launch, say: Callable[[str], object]) -> Interpreter:
        if launch.folder:  # relative paths start there, and messages have short paths
            os.chdir(launch.folder)
        return _load(launch, say, allow_shell)

    with console.message_streams() as (stream, write):
        server.serve(stream, write, load)
    return EXIT_SUCCESS


def _load(launch: Launch, say: Callable[[str], object], allow_shell: bool) -> Interpreter:
    """Return an interpreter of debugger commands for the program of the request `launch`.

    `say` is called with each warning and error of the program as text. `allow_shell` permits shell
    commands. Raises `MacawError` if the program cannot be loaded.
    """
    from macaw import api, debugging, files
    from macaw.asm.diagnostics import AssemblyError
    from macaw.emu.engines import ENGINES
    from macaw.networks.compiler import program_inputs
    from macaw.program_folder import find_program

    engine = launch.engine or ENGINES[0]
    if engine not in ENGINES:
        raise InputError(f"no engine is called '{engine:.40}', there are {', '.join(ENGINES)}")
    found = find_program(launch.program)
    device = launch.device or found.device
    inputs = {**found.inputs, **launch.inputs}
    sources = [_shortest(x) if launch.folder else x for x in found.sources]
    try:
        program = api.load(*sources, device=device)
    except AssemblyError as error:
        for diagnostic in error.diagnostics:
            say(str(diagnostic))
        raise
    for warning in program.warnings:
        say(str(warning))
    try:
        return debugging.make_interpreter(
            program,
            program_inputs(found.sources, files.read_arrays(inputs)),
            item=launch.item,
            device=device,
            engine=engine,
            allow_shell=allow_shell,
            protected=[*sources, *inputs.values(), *([device] if device else [])],
        )
    except MissingInputError as error:
        raise InputError(error.message, "inputs of the launch configuration names files") from None


def _shortest(path: str) -> str:
    """Return a path for messages: relative if it is inside of the current folder."""
    inside = Path.cwd()
    return str(Path(path).relative_to(inside)) if Path(path).is_relative_to(inside) else path
