"""The command `macaw device`: prints a device's configuration."""

from __future__ import annotations

import click

from macaw.commands import suggestions
from macaw.commands.options import plain_option


@click.command("device", short_help="Print a device's whole configuration as TOML.")
@click.argument("device", metavar="NAME|FILE", shell_complete=suggestions.devices)
@plain_option
def command(device: str) -> int:
    """Print every field of a device with its value, meaning, unit and range, as TOML.

    NAME is a device that comes with Macaw (tiny, base, large). FILE is a TOML file with the fields
    that differ from the defaults. The printed text can be used as FILE.
    """
    from macaw import api

    click.echo(api.configuration(device).to_toml(), nl=False)
    return 0
