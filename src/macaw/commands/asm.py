"""The command `macaw asm`: assembles sources into an executable, an object or an image."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import click

from macaw.commands.options import (
    assembly_options,
    file_option,
    plain_option,
    refuse_other_files,
    sources_argument,
)
from macaw.commands.outputs import STANDARD_OUTPUT, file_names, write_outputs
from macaw.commands.warning_option import chosen_errors, chosen_warnings, warning_option
from macaw.errors import EXIT_WRONG_INPUT

if TYPE_CHECKING:
    from macaw.asm.warnings import WarningChoice


@click.command("asm", short_help="Assemble source files into an executable or object.")
@sources_argument
@file_option(
    "-o",
    "output",
    metavar="OUT",
    text="Write this file; default FILE.FORMAT, with -c FILE.o; - is standard output.",
)
@assembly_options
@click.option(
    "-g/-g0",
    "lines",
    default=True,
    help="Put the source line of every address into the executable (the default), or leave it out.",
)
@click.option("-c", "relocatable", is_flag=True, help="Make an object for a linker (docs/c.md).")
@file_option(
    "--ld-script",
    "script",
    text="With -c: also write the linker script for this object and device; - prints it.",
)
@click.option(
    "--format",
    type=click.Choice(["elf", "bin", "hex"]),
    default="elf",
    show_default=True,
    help="Write an ELF file, the raw bytes of one memory, or Intel HEX.",
)
@click.option(
    "--memory",
    type=click.Choice(["local", "cores", "external"]),
    help="Write only the bytes that are loaded into this memory (bin and hex).",
)
@file_option(
    "--listing", text="Also write each line with its address and bytes; - is standard output."
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
@warning_option
@plain_option
def command(
    sources: tuple[str, ...],
    output: str | None,
    folders: tuple[str, ...],
    defines: dict[str, str],
    device: str | None,
    gnu: bool,
    lines: bool,
    relocatable: bool,
    script: str | None,
    format: str,  # noqa: A002 - click's name for --format
    memory: str | None,
    listing: str | None,
    style: str,
    max_errors: int,
    choice: WarningChoice | None,
) -> int:
    """Assemble FILEs together into one ELF executable, or into an image for a loader.

    With -c the result is an object: symbols that no FILE defines are symbols of other objects, and
    a linker with the script of --ld-script makes the executable.

    If there are errors, all of them are printed with their places in the source, and nothing is
    written.
    """
    from macaw import api
    from macaw.asm.diagnostics import AssemblyError
    from macaw.asm.relocatable import Relocatable
    from macaw.files import named_after
    from macaw.terminal.diagnostics_output import print_diagnostics
    from macaw.terminal.progress_bar import ProgressBar

    refuse_other_files(sources)
    _check_format(memory, format, relocatable, script)
    target = output or str(named_after(sources[0], ".o" if relocatable else f".{format}"))
    others = {"--listing": listing, "--ld-script": script}
    inputs = [*sources, *([device] if device else [])]
    _keep_files(target, others, inputs)
    file_names([target, *others.values()])
    record = None
    if listing is not None:
        from macaw.asm.listing import Record

        record = Record()
    assemble = api.assemble_object if relocatable else api.assemble
    try:
        with chosen_errors(choice), ProgressBar("assembling"):
            result = assemble(
                *sources,
                device=device,
                defines=defines,
                include_dirs=folders,
                record=record,
                gnu=gnu,
            )
        program = result.program if isinstance(result, Relocatable) else result
        _keep_files(target, others, program.read_files)
        warnings = chosen_warnings(program, choice)
    except AssemblyError as error:
        print_diagnostics(error.diagnostics, style, max_errors)
        return EXIT_WRONG_INPUT
    print_diagnostics(warnings, style, max_errors)
    contents: list[tuple[str, bytes]] = []
    if isinstance(result, Relocatable):
        contents.append((target, api.object_bytes(result, lines)))
        if script is not None:
            contents.append((script, _bytes(api.linker_script(result))))
    else:
        contents.append((target, api.program_bytes(result, format, lines, memory)))
    if listing is not None and record is not None:
        from macaw.asm.listing import text

        contents.append((listing, _bytes(text(program, record))))
    write_outputs(contents)
    return 0


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _check_format(
    memory: str | None, file_format: str, relocatable: bool, script: str | None
) -> None:
    if memory and file_format == "elf":
        raise click.UsageError("--memory goes with --format bin or hex")
    if relocatable and file_format != "elf":
        raise click.UsageError("-c makes an ELF file: it does not go with --format")
    if script and not relocatable:
        raise click.UsageError("--ld-script goes with -c")


def _keep_files(target: str, others: Mapping[str, str | None], inputs: Iterable[str]) -> None:
    """Raise `InputError` if an output file would overwrite an input.

    `target` is the main output. `others` has the paths of further outputs by the options that name
    them.
    """
    from macaw.files import refuse_overwriting

    refuse_overwriting(file_names([target]), inputs)
    for option, path in others.items():
        if path is not None and path != STANDARD_OUTPUT:
            refuse_overwriting([path], inputs, f"{option} names another")
