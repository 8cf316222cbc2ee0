"""The command `macaw dis`: disassembles an ELF file into source."""

from __future__ import annotations

import click

from macaw.commands import suggestions
from macaw.commands.options import FileName, plain_option


@click.command("dis", short_help="Disassemble an executable or an object.")
@click.argument("file", type=FileName(), metavar="FILE")
@click.option(
    "--core",
    metavar="C",
    help="Print only the parts of this core.",
    shell_complete=suggestions.cores,
)
@click.option(
    "-j",
    "--section",
    metavar="S",
    help="Print only this section, such as .text.cp.",
    shell_complete=suggestions.sections,
)
@click.option(
    "--raw", is_flag=True, help="Print addresses and bytes with their meaning, not source."
)
@plain_option
def command(file: str, core: str | None, section: str | None, raw: bool) -> int:
    """Print source that assembles to the same bytes as FILE, an ELF executable.

    With --core or --section, print only the parts of that core or that section, and not the whole
    program. If FILE is an object for a linker, list its sections with symbols, relocations and
    source lines.
    """
    from macaw import api
    from macaw.asm.program import Program
    from macaw.terminal.progress_bar import ProgressBar
    from macaw.terminal.source_output import print_source

    with ProgressBar("disassembling"):
        item = api.read_elf(file)
        text = api.disassemble(item, core=core, section=section, raw=raw)
    if raw or not isinstance(item, Program):
        click.echo(text, nl=False)
    else:
        print_source(text)
    return 0
