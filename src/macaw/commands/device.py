"""`macaw device`: print a device's configuration."""

from __future__ import annotations

import click


@click.command("device", short_help="Print a device's whole configuration as TOML.")
@click.argument("device", metavar="NAME|FILE")
def command(device: str) -> int:
    """Print every field of a device with its value, meaning, unit and range, as TOML.

    NAME is a shipped device (tiny, base, large), FILE a TOML file with the fields
    that differ from the defaults. What is printed is such a file again.
    """
    from macaw import api

    click.echo(api.configuration(device).to_toml(), nl=False)
    return 0
