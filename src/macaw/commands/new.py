"""The command `macaw new`: makes a folder with a small program that runs."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from macaw.commands.options import plain_option
from macaw.errors import EXIT_SUCCESS
from macaw.samples import SAMPLES


@click.command("new", short_help="Make a folder with a small program to begin with.")
@click.argument("name", type=click.Path(), metavar="NAME")
@click.option(
    "--core",
    type=click.Choice(list(SAMPLES)),
    default=next(iter(SAMPLES)),
    show_default=True,
    help="The core that the program is for; c is a program in C with a layer in assembly.",
)
@plain_option
def command(name: str, core: str) -> int:
    """Make the folder NAME with a program that runs, its input, its golden test and a README.

    The source explains each of its parts, the README what to try first.
    """
    from macaw import samples
    from macaw.terminal import console

    folder = Path(name)
    files = samples.create(folder, core)
    shown = console.printable(str(folder))
    click.echo(f"{shown}: {SAMPLES[core]}")
    for path in files:
        if len(path.parts) == 1:
            click.echo(f"  {path}")
    click.echo("Try:")
    if folder.resolve() != Path.cwd():
        click.echo(f"  cd {console.printable(shlex.quote(str(folder)))}")
    for line in ("macaw run .", "macaw test .", "macaw debug ."):
        click.echo(f"  {line}")
    return EXIT_SUCCESS
