"""The command `macaw device`: lists the devices, or prints the configuration of one."""

from __future__ import annotations

import click

from macaw.commands import suggestions
from macaw.commands.options import plain_option


@click.command("device", short_help="Print a device's whole configuration as TOML.")
@click.argument("device", required=False, metavar="[NAME|FILE]", shell_complete=suggestions.devices)
@plain_option
def command(device: str | None) -> int:
    """Print every field of a device with its value, meaning, unit and range, as TOML.

    NAME is a device that comes with Macaw; without NAME, the command lists them. FILE is a TOML
    file with the fields that differ from the defaults. The printed text can be used as FILE.
    """
    from macaw import api
    from macaw.isa import config

    if device is None:
        names = config.presets()
        width = max(map(len, names))
        for name in names:
            click.echo(f"{name:<{width}}  {config.preset_summary(name)}")
        click.echo("`macaw device NAME` prints all settings of one.")
        return 0
    click.echo(api.configuration(device).to_toml(), nl=False)
    return 0
