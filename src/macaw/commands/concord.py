"""The command `macaw concord`: writes an nnp program as software that gives the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from macaw.commands.options import (
    FileName,
    LazyChoice,
    OutputName,
    file_option,
    load_program,
    other_device_option,
    plain_option,
)
from macaw.commands.warning_option import warning_option
from macaw.errors import EXIT_FAILURE, EXIT_SUCCESS

if TYPE_CHECKING:
    from macaw.asm.warnings import WarningChoice


def _targets() -> Sequence[str]:
    from macaw.lowering.concord.arithmetic import TARGETS

    return TARGETS


def _entries(
    _ctx: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> list[tuple[str, int]]:
    """Return the options LABEL and LABEL:TIMES as pairs (label, number of runs)."""
    entries = []
    for value in values:
        label, colon, times = value.partition(":")
        counted = times.isascii() and times.isdigit() and len(times) < 8 and int(times) > 0
        if not label or (colon and not counted):
            raise click.BadParameter(f"'{value}' is no LABEL, and no LABEL:TIMES")
        entries.append((label, int(times) if colon else 1))
    return entries


@click.command("concord", short_help="Write an nnp program as software that gives the same bits.")
@click.argument("file", type=FileName(), metavar="FILE")
@file_option(
    "-o", "output", metavar="OUT", text="Write this file; default FILE.py.", kind=OutputName()
)
@click.option(
    "--target",
    type=LazyChoice(_targets),
    default="numpy",
    help="The library that the software uses; default numpy.",
)
@other_device_option("Translate for this device, not the program's.")
@click.option(
    "--entry",
    "entries",
    multiple=True,
    callback=_entries,
    metavar="LABEL[:N]",
    help="Start the nnp part at LABEL, N times; default once at its first instruction.",
)
@file_option(
    "--graph",
    "pictures",
    metavar="OUT",
    multiple=True,
    text="Draw the data flow: .dot for Graphviz, or .svg.",
)
@file_option(
    "--check",
    metavar="DATA",
    text="Run emulator and software on the tensors of a .npz file and compare all bits.",
)
@warning_option
@plain_option
def command(
    file: str,
    output: str | None,
    target: str,
    device: str | None,
    entries: list[tuple[str, int]],
    pictures: tuple[str, ...],
    check: str | None,
    choice: WarningChoice | None,
) -> int:
    """Write the nnp part of FILE, a source or an executable, as a Python file.

    The function `layer` in that file gives the same bits as the processor. Exit status 1: --check
    found a difference. The message names the first element that differs and the instruction that
    wrote it.
    """
    from macaw import files
    from macaw.concordance import concordance
    from macaw.errors import InputError
    from macaw.phrases import plural
    from macaw.terminal import console
    from macaw.terminal.progress_bar import ProgressBar

    target_file = files.file_path(output or files.named_after(file, ".py"))
    outputs = [target_file, *map(files.file_path, pictures)]
    kinds = [path.suffix.lower().lstrip(".") for path in outputs[1:]]
    for kind, path in zip(kinds, pictures, strict=True):
        if kind not in ("dot", "svg"):
            raise InputError(f"{path} is no name of a picture", "NAME.dot or NAME.svg")
    program = load_program(
        [file], device, [check] if check else [], list(map(str, outputs)), choice=choice
    )
    concordant = concordance.concord(
        program, target, device=device, entries=entries, name=Path(file).name
    )
    data = files.read_archive(check) if check else None
    drawn = [concordant.picture(kind).encode() for kind in kinds]
    files.write_all(zip(outputs, [concordant.text.encode(), *drawn], strict=True))
    parameters = ", ".join(f"{name} {tensor.shape}" for name, tensor in concordant.inputs.items())
    results = ", ".join(f"{name} {tensor.shape}" for name, tensor in concordant.outputs.items())
    click.echo(f"{console.printable(str(target_file))}: layer({parameters}) gives {results}")
    if data is None:
        return EXIT_SUCCESS
    with ProgressBar("comparing"):
        difference = concordant.check(data)
    if difference is None:
        elements = sum(tensor.rows * tensor.columns for tensor in concordant.outputs.values())
        click.echo(f"the same bits in {plural(elements, 'element')}")
        return EXIT_SUCCESS
    click.echo(f"macaw: different: {difference}")
    return EXIT_FAILURE
