"""The command `macaw completion`: prints the script with which a shell completes `macaw`."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from macaw.errors import EXIT_SUCCESS

VARIABLE = "_MACAW_COMPLETE"  # environment variable of click with which the script asks for words
SHELLS = ("bash", "zsh", "fish")


@click.command("completion", short_help="Print the script that completes macaw in a shell.")
@click.argument("shell", required=False, type=click.Choice(SHELLS), metavar="[SHELL]")
@click.pass_context
def command(ctx: click.Context, shell: str | None) -> int:
    """Print a script by which SHELL (bash, zsh or fish) completes commands, options and names.

    Without SHELL, the environment variable SHELL names the shell. The scripts are for these files:

    \b
    bash  ~/.bashrc                               eval "$(macaw completion bash)"
    zsh   ~/.zshrc, after compinit                eval "$(macaw completion zsh)"
    fish  ~/.config/fish/completions/macaw.fish   macaw completion fish | source
    """
    shell = shell or Path(os.environ.get("SHELL", "")).name
    found = get_completion_class(shell) if shell in SHELLS else None
    if found is None:
        raise click.UsageError(f"which shell is it? Name one of {', '.join(SHELLS)}")
    group = ctx.find_root().command
    click.echo(found(group, {}, "macaw", VARIABLE).source())
    return EXIT_SUCCESS
