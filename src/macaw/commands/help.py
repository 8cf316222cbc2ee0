"""The command `macaw help`: prints the help of a command."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from macaw.errors import EXIT_SUCCESS


def _commands(ctx: click.Context, _parameter: click.Parameter, start: str) -> list[CompletionItem]:
    group, parent = _group(ctx)
    return [CompletionItem(x) for x in group.list_commands(parent) if x.startswith(start)]


def _group(ctx: click.Context) -> tuple[click.Group, click.Context]:
    """Return the group to which this command belongs, and the group's context."""
    parent = ctx.parent
    if parent is None or not isinstance(parent.command, click.Group):
        raise TypeError("help is a command of a group")
    return parent.command, parent


@click.command("help", short_help="Show the help of a command.")
@click.argument("name", required=False, metavar="[COMMAND]", shell_complete=_commands)
@click.pass_context
def command(ctx: click.Context, name: str | None) -> int:
    """Show the help of COMMAND, as `macaw COMMAND --help` does; without it, list the commands.

    Instructions, directives, registers and the like are in `macaw isa NAME`; the commands of the
    debugger are in its own `help`.
    """
    group, parent = _group(ctx)
    if name is None:
        click.echo(parent.get_help())
        return EXIT_SUCCESS
    _, found, _ = group.resolve_command(parent, [name])
    if found is None:
        raise click.UsageError(f"no command '{name}'", parent)
    with click.Context(found, info_name=name, parent=parent) as inner:
        click.echo(found.get_help(inner))
    return EXIT_SUCCESS
