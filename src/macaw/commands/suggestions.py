"""Suggests values of arguments for the shell's completion: devices, cores, sections, pairs.

Each function is the `shell_complete` of an argument or option. Its parameters are the parameters
that click passes. It returns the words that may replace the incomplete last word of the line.
"""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem


def devices(_ctx: click.Context, _parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """Return the presets that begin with `start`. If there are none, the shell completes files.

    If the function returned both presets and files, bash would show only the files.
    """
    from macaw.isa import config

    names = [CompletionItem(name) for name in config.presets() if name.startswith(start)]
    return names or [CompletionItem(start, type="file")]


def cores(_ctx: click.Context, _parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """Return the names of cores that begin with `start`."""
    from macaw.isa import registry

    return [CompletionItem(name) for name in registry.names() if name.startswith(start)]


def engines(_ctx: click.Context, _parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """Return the names of engines that begin with `start`."""
    from macaw.emu.engines import ENGINES

    return [CompletionItem(name) for name in ENGINES if name.startswith(start)]


def sections(ctx: click.Context, _parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """Return the sections of the ELF file on the command line whose names begin with `start`."""
    from macaw import api
    from macaw.isa.errors import MacawError

    file = ctx.params.get("file") or next(iter(ctx.args), "")  # not yet a parameter, or is one
    if not file:
        return []
    try:
        item = api.read_elf(file)
    except MacawError:
        return []
    names = dict.fromkeys(x.name for x in item.sections)
    return [CompletionItem(name) for name in names if name.startswith(start)]


def arrays(_ctx: click.Context, _parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """Return NAME=FILE for the .npy files and folders that complete the text after `=`.

    In bash a word ends at `=`, so the shell itself completes the file there.
    """
    name, equals, path = start.partition("=")
    if not equals:
        return []
    folder, slash, begin = path.rpartition("/")
    home = f"{folder}{slash}"
    try:
        found = sorted(Path(home or ".").iterdir())
    except OSError:
        return []
    return [
        CompletionItem(f"{name}={home}{item.name}{'/' if item.is_dir() else ''}")
        for item in found
        if item.name.startswith(begin) and (item.is_dir() or item.suffix == ".npy")
    ]


def samples(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """Return the words for [NAME=]FILE; without a name, the shell completes files."""
    if "=" in start:
        return arrays(ctx, parameter, start)
    return [CompletionItem(start, type="file")]
