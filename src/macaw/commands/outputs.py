"""Writes the outputs of a command: to files, or to standard output for the name `-`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import click

from macaw.errors import InputError

STANDARD_OUTPUT = "-"


def file_names(names: Iterable[str | None]) -> list[str]:
    """Return the names of a command's outputs that are files; None is an output not asked for.

    Raises `InputError` if two outputs are the same file, or both are standard output.
    """
    from macaw import files

    outputs = [name for name in names if name is not None]
    if outputs.count(STANDARD_OUTPUT) > 1:
        raise InputError(f"two outputs cannot both go to {STANDARD_OUTPUT}")
    found = [name for name in outputs if name != STANDARD_OUTPUT]
    for one, other in combinations(found, 2):
        files.refuse_same_file(one, other)
    return found


def write_outputs(contents: Sequence[tuple[str, bytes]]) -> bool:
    """Write each output (name, bytes). Return whether one of them was printed.

    Raises `InputError` if a file cannot be written; then no file is replaced and nothing printed.
    """
    from macaw import files

    files.write_all(item for item in contents if item[0] != STANDARD_OUTPUT)
    printed = [data for name, data in contents if name == STANDARD_OUTPUT]
    for data in printed:
        click.echo(data, nl=False)
    return bool(printed)
