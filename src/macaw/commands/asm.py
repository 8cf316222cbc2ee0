"""The command `macaw asm`: assembles sources into an executable or an image."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from macaw.commands.options import collect
from macaw.errors import EXIT_WRONG_INPUT


def _definitions(
    _ctx: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """Return NAME=VALUE options as a dictionary; NAME alone gets the value 1."""
    return collect(map(_name_and_value, values))


def _name_and_value(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not name.replace(".", "_").replace("$", "_").isidentifier():
        raise click.BadParameter(f"'{text}' is not NAME=VALUE")
    return name, value or "1"


@click.command("asm", short_help="Assemble source files into an executable.")
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option(
    "-o", "output", type=click.Path(), metavar="OUT", help="Write this file; default FILE.FORMAT."
)
@click.option(
    "-I",
    "folders",
    multiple=True,
    type=click.Path(),
    metavar="DIR",
    help="Let directives read files below DIR.",
)
@click.option(
    "-D",
    "defines",
    multiple=True,
    callback=_definitions,
    metavar="NAME=VALUE",
    help="Define a symbol in every file.",
)
@click.option(
    "--device", metavar="NAME|FILE", help="Assemble for this device, not the one of .device."
)
@click.option(
    "-g/-g0",
    "lines",
    default=True,
    help="Put the source line of every address into the executable (the default), or leave it out.",
)
@click.option(
    "--format",
    type=click.Choice(["elf", "bin", "hex"]),
    default="elf",
    show_default=True,
    help="Write an executable, the raw bytes of one memory, or Intel HEX.",
)
@click.option(
    "--memory",
    type=click.Choice(["local", "cores", "external"]),
    help="Write only the bytes that are loaded into this memory (bin and hex).",
)
@click.option(
    "--listing",
    type=click.Path(),
    metavar="FILE",
    help="Also write each line with its address and bytes; - is standard output.",
)
@click.option(
    "--diagnostics",
    "style",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="The format of errors and warnings on standard error.",
)
@click.option(
    "--max-errors",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    metavar="N",
    help="Print at most N errors and as many warnings; 0 prints all.",
)
@click.option("-Werror", "strict", is_flag=True, help="Treat warnings as errors.")
def command(
    files: tuple[str, ...],
    output: str | None,
    folders: tuple[str, ...],
    defines: dict[str, str],
    device: str | None,
    lines: bool,
    format: str,  # noqa: A002 - click's name for --format
    memory: str | None,
    listing: str | None,
    style: str,
    max_errors: int,
    strict: bool,
) -> int:
    """Assemble FILEs together into one ELF executable, or into an image for a loader.

    If there are errors, all of them are printed with their places in the source, and nothing is
    written.
    """
    from macaw import api
    from macaw.asm.diagnostics import AssemblyError
    from macaw.files import refuse_same_file, write_bytes
    from macaw.terminal.diagnostics_output import as_error, print_diagnostics, warnings_of

    if memory and format == "elf":
        raise click.UsageError("--memory goes with --format bin or hex")
    target = output or Path(files[0]).with_suffix(f".{format}")
    inputs = [*files, *([device] if device else [])]
    beside = None if listing == "-" else listing
    _keep_files(target, beside, inputs)
    if beside is not None:
        refuse_same_file(target, beside)
    record = None
    if listing is not None:
        from macaw.asm.listing import Record

        record = Record()
    try:
        program = api.assemble(
            *files, device=device, defines=defines, include_dirs=folders, record=record
        )
    except AssemblyError as error:
        print_diagnostics(error.diagnostics, style, max_errors)
        return EXIT_WRONG_INPUT
    _keep_files(target, beside, program.read_files)
    warnings = warnings_of(program)
    if strict and warnings:
        print_diagnostics([as_error(item) for item in warnings], style, max_errors)
        return EXIT_WRONG_INPUT
    print_diagnostics(warnings, style, max_errors)
    api.save(program, target, format=format, lines=lines, memory=memory)
    if record is not None:
        from macaw.asm.listing import text

        data = text(program, record).encode("utf-8", "backslashreplace")
        click.echo(data, nl=False) if beside is None else write_bytes(beside, data)
    return 0


def _keep_files(target: str | Path, listing: str | None, inputs: Iterable[str]) -> None:
    """Raise `InputError` if the output or the listing would overwrite an input."""
    from macaw.files import refuse_overwriting

    refuse_overwriting([target], inputs)
    if listing is not None:
        refuse_overwriting([listing], inputs, "--listing names another")
