"""`macaw isa`: the reference, from the tables."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from macaw.errors import DONE, InputError

if TYPE_CHECKING:
    from isa.model import Core


def _complete(_ctx: click.Context, _option: click.Parameter, start: str) -> list[str]:
    """Names with a page that start so, for the shell."""
    from isa import manual, registry

    found = {name for core in registry.cores() for name in manual.names(core)}
    return sorted(name for name in found if name.startswith(start))


def _complete_core(_ctx: click.Context, _option: click.Parameter, start: str) -> list[str]:
    from isa import registry

    return [name for name in registry.names() if name.startswith(start)]


@click.command("isa", short_help="Describe instructions, from the tables.")
@click.argument("mnemonic", required=False, metavar="[MNEMONIC]", shell_complete=_complete)
@click.option(
    "--core", "name", metavar="C", help="Of this core alone.", shell_complete=_complete_core
)
def command(mnemonic: str | None, name: str | None) -> int:
    """Show an instruction: bits, operands, meaning, cycles, example.

    MNEMONIC may also be a pseudo-instruction or a structure in memory (packet).
    Without it, the mnemonics of all cores; with --core, everything of that core
    in a line each: registers, queues, counters, faults and settings too.
    """
    from isa import manual, registry

    cores = (registry.core(name),) if name else registry.cores()
    if mnemonic is not None:
        click.echo(_pages(cores, mnemonic), nl=False)
    elif name:
        click.echo(manual.summary(cores[0]), nl=False)
    else:
        click.echo("\n".join(_mnemonics(core) for core in cores))
        click.echo("`macaw isa MNEMONIC` describes one, `macaw isa --core C` all of a core.")
    return DONE


def _pages(cores: tuple[Core, ...], mnemonic: str) -> str:
    """The pages of the mnemonic on every core that has it. Raises `InputError`."""
    from isa import manual, registry
    from macaw.words import did_you_mean

    word = mnemonic.lower()
    found = [manual.page(core, word) for core in cores if word in manual.names(core)]
    if not found:
        owners = [core.name for core in registry.cores() if word in manual.names(core)]
        where = f"core {cores[0].name} has" if len(cores) == 1 else "no core has"
        known = {name for core in cores for name in manual.names(core)}
        hint = f"{' and '.join(owners)} has it" if owners else did_you_mean(word, known)
        raise InputError(
            f"{where} {'no' if len(cores) == 1 else 'an'} instruction '{mnemonic}'",
            hint or "`macaw isa` lists all",
        )
    return "\n".join(found)


def _mnemonics(core: Core) -> str:
    """A core's heading and everything that has a page, by kind."""
    lines = [f"{core.name}: {core.title}"]
    families = dict.fromkeys((*core.order, *(row.family for row in core.instructions)))
    groups = [
        (family, [row.mnemonic for row in core.instructions if row.family == family])
        for family in families
    ]
    groups.append(("pseudo", [row.mnemonic for row in core.pseudos]))
    groups.append(("structure", [item.name for item in core.structures]))
    for family, names in groups:
        text = " ".join(dict.fromkeys(names))
        lines += textwrap.wrap(
            text, 96, initial_indent=f"  {family:<12}", subsequent_indent=" " * 14
        )
    return "\n".join(lines) + "\n"
