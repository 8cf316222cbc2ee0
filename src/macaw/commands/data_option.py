"""Declares the option `--data` of commands that take samples of a model's inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from macaw.commands import suggestions

if TYPE_CHECKING:
    from numpy.typing import NDArray

data_option = click.option(
    "--data",
    multiple=True,
    metavar="[NAME=]FILE",
    help="Samples of an input, .npy: count the zeros of each tensor for the predictions.",
    shell_complete=suggestions.samples,
)


def data_arrays(words: Sequence[str]) -> tuple[Any, list[str]]:
    """Return the arrays that the words of --data name, and the paths of their files.

    One word without a name, such as `x.npy`, gives a single array; words such as `x=x.npy` give a
    dictionary of arrays by name. Raises `click.UsageError` for words of another form, and for a
    name that occurs twice.
    """
    from macaw import files

    if len(words) == 1 and "=" not in words[0]:
        if not words[0]:
            raise click.UsageError("--data: the name is empty")
        return files.read_array(words[0]), [words[0]]
    named: dict[str, NDArray[Any]] = {}
    paths = []
    for word in words:
        name, equals, path = word.partition("=")
        if not (name and equals and path):
            which = (
                "several inputs need names" if len(words) > 1 else "the name or the file is empty"
            )
            raise click.UsageError(f"--data '{word}': {which}, NAME=FILE")
        if name in named:
            raise click.UsageError(f"--data gives {name} twice")
        named[name] = files.read_array(path)
        paths.append(path)
    return named, paths
