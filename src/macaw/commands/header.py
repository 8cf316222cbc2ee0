"""The command `macaw header`: prints the C header for a device and a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from macaw.commands.options import (
    FileName,
    assembly_options,
    file_option,
    plain_option,
    refuse_other_files,
)
from macaw.commands.outputs import STANDARD_OUTPUT, file_names, write_outputs
from macaw.commands.warning_option import chosen_errors, chosen_warnings, warning_option

if TYPE_CHECKING:
    from macaw.asm.warnings import WarningChoice


@click.command("header", short_help="Write macaw.h: instructions and addresses for C.")
@click.argument("sources", nargs=-1, type=FileName(), metavar="[FILE...]")
@file_option("-o", "output", metavar="OUT", text="Write to a file; default -, standard output.")
@assembly_options
@warning_option
@plain_option
def command(
    sources: tuple[str, ...],
    output: str | None,
    folders: tuple[str, ...],
    defines: dict[str, str],
    device: str | None,
    gnu: bool,
    choice: WarningChoice | None,
) -> int:
    """Print macaw.h, the C header of a device.

    The header has core numbers, addresses, and macros for the instructions of cp and vc that no
    compiler knows. With FILEs it also has the tensors and addresses of their program, as
    `macaw asm -c` assembles them with the same options.
    """
    from macaw import api
    from macaw.files import refuse_overwriting
    from macaw.terminal.diagnostics_output import print_diagnostics
    from macaw.terminal.progress_bar import ProgressBar

    refuse_other_files(sources)
    written = file_names([output])
    refuse_overwriting(written, [*sources, *([device] if device else [])])
    item = None
    if sources:
        with chosen_errors(choice), ProgressBar("assembling"):
            item = api.assemble_object(
                *sources, device=device, defines=defines, include_dirs=folders, gnu=gnu
            )
        refuse_overwriting(written, item.program.read_files)
        print_diagnostics(chosen_warnings(item.program, choice))
    elif defines or folders or gnu or choice is not None:
        raise click.UsageError("-D, -I, --gnu and -W go with a FILE")
    text = api.c_header(item) if item is not None else api.c_header(device=device)
    write_outputs([(output or STANDARD_OUTPUT, text.encode())])
    return 0
