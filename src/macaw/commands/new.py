"""The command `macaw new`: makes a folder with a small program that runs."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from macaw.commands.options import OutputName, plain_option
from macaw.errors import EXIT_SUCCESS
from macaw.samples import EXERCISES, SAMPLES


@click.command("new", short_help="Make a folder with a small program to begin with.")
@click.argument("name", type=OutputName(), metavar="NAME")
@click.option(
    "--core",
    type=click.Choice(list(SAMPLES)),
    help=f"The core that the program is for; c is C with a layer. Default: {next(iter(SAMPLES))}.",
)
@click.option(
    "--exercise",
    type=click.Choice(list(EXERCISES)),
    help="An exercise instead, whose golden test fails until it is solved.",
)
@plain_option
def command(name: str, core: str | None, exercise: str | None) -> int:
    """Make the folder NAME with a program that runs, its input, its golden test and a README.

    The source explains each of its parts. The README says what to try first.
    """
    from macaw import samples
    from macaw.terminal import console

    if core and exercise:
        raise click.UsageError("--core does not go with --exercise")
    folder = Path(name)
    core = core or next(iter(SAMPLES))
    files = samples.create_exercise(folder, exercise) if exercise else samples.create(folder, core)
    shown = console.printable(str(folder))
    click.echo(f"{shown}: {EXERCISES[exercise] if exercise else SAMPLES[core]}")
    for path in files:
        if len(path.parts) == 1:
            click.echo(f"  {path}")
    click.echo("Try:")
    if folder.resolve() != Path.cwd():
        # A name that begins with - would be an option of cd.
        place = f"./{folder}" if str(folder).startswith("-") else str(folder)
        click.echo(f"  cd {console.printable(shlex.quote(place))}")
    for line in ("macaw run .", "macaw test .", "macaw debug ."):
        click.echo(f"  {line}")
    return EXIT_SUCCESS
