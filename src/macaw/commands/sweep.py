"""The command `macaw sweep`: runs a program or a network on devices that differ in settings."""

from __future__ import annotations

import shlex
from typing import Any

import click

from macaw.commands import suggestions
from macaw.commands.options import (
    FileName,
    OutputName,
    descriptions,
    energy_option,
    file_option,
    jitter_option,
    max_cycles_option,
    name_file_pairs,
    other_device_option,
    plain_option,
    refuse_other_files,
)
from macaw.commands.outputs import file_names, write_outputs
from macaw.errors import EXIT_FAILURE, EXIT_SUCCESS

EXAMPLE = "--set dist.bus_bytes=16,32,64"


@click.command("sweep", short_help="Run on many devices that differ in settings, and compare.")
@click.argument("sources", metavar="[FILE...|NET]", nargs=-1, type=FileName())
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="FIELD=V,V,...",
    help="Sweep a setting of the device over these values; all combinations run.",
)
@click.option("--zip", "zipped", is_flag=True, help="Take the values side by side, one of each.")
@click.option(
    "--lower",
    metavar="'OPERATION ...'",
    help="Instead of FILEs: lower this operation for each device, as macaw lower does.",
)
@click.option(
    "-i",
    "inputs",
    multiple=True,
    callback=name_file_pairs,
    metavar="NAME=FILE",
    help="Bind an input to a .npy file.",
    shell_complete=suggestions.arrays,
)
@other_device_option("Change this device, not the program's.")
@jitter_option("Add noise to the timing of DRAM.")
@click.option(
    "--repeat",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Run each point N times, with the seeds SEED, SEED+1, ...",
)
@energy_option("Estimate the energy of each point, in a second run.")
@max_cycles_option
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, metavar="N", help="Run N processes at a time."
)
@click.option("--scheduler", metavar="ADDR", help="Run on the Dask cluster of this scheduler.")
@file_option(
    "-o",
    "folder",
    text="Keep each finished point in this folder; a later sweep runs only what is missing.",
    metavar="FOLDER",
    kind=OutputName(),
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Print this metric, such as cycles or pe[0].macs; --csv has all.",
)
@click.option(
    "--pareto",
    metavar="NAME,NAME",
    help="Mark the points of the Pareto front of these metrics or settings, the smallest.",
)
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="Print at most N points.")
@file_option("--csv", "csv_file", text="Write all points and metrics as CSV; - prints them.")
@file_option("--json", "json_file", text="Write all points and metrics as JSON; - prints them.")
@file_option("--html", "html_file", text="Write plots and a table as one HTML page; - prints it.")
@click.pass_context
@plain_option
def command(
    ctx: click.Context,
    sources: tuple[str, ...],
    settings: tuple[str, ...],
    zipped: bool,
    lower: str | None,
    inputs: dict[str, str],
    device: str | None,
    jitter: int | None,
    repeat: int,
    energy: str | None,
    max_cycles: int | None,
    jobs: int,
    scheduler: str | None,
    folder: str | None,
    metrics: tuple[str, ...],
    pareto: str | None,
    limit: int | None,
    csv_file: str | None,
    json_file: str | None,
    html_file: str | None,
) -> int:
    """Run FILEs, a folder or the compiled network NET on devices that differ in settings.

    A source is assembled, an operation lowered, and a network compiled again for each device. A
    point is a combination of settings. If a device or the program refuses a point, it is listed
    with the reason. Exit status 1: no point could run.
    """
    from macaw import files
    from macaw.sweeps import sweeping, tables
    from macaw.sweeps.points import axis
    from macaw.terminal.plain import is_plain
    from macaw.terminal.progress_bar import ProgressBar

    if bool(sources) == bool(lower):
        raise click.UsageError("name either FILEs or --lower OPERATION", ctx)
    if scheduler is not None and jobs > 1:
        raise click.UsageError("--jobs is for processes here, --scheduler for a cluster", ctx)
    refuse_other_files(sources)
    outputs = file_names((csv_file, json_file, html_file))
    lowered = _lower_options(lower, ctx) if lower else None
    read = [*sources, *descriptions(sources), *inputs.values(), device, energy]
    read += [(lowered or {}).get(name) for name in ("graph", "weights", "bias", "device")]
    files.refuse_overwriting(outputs, filter(None, read), "another name")
    if not settings:
        raise click.UsageError(f"--set says what differs, for example {EXAMPLE}", ctx)
    swept = _axes([axis(text) for text in settings], ctx)
    front = [name.strip() for name in pareto.split(",")] if pareto is not None else []
    with ProgressBar("sweeping") as bar:

        def watch(done: int, total: int) -> None:
            bar.count, bar.total = done, total

        sweep = sweeping.sweep(
            *sources,
            settings=swept,
            inputs=inputs,
            lower=lowered,
            device=device,
            zipped=zipped,
            repeat=repeat,
            energy=energy,
            jitter=jitter,
            max_cycles=max_cycles,
            jobs=jobs,
            scheduler=scheduler,
            folder=folder,
            metrics=tables.check_settings(swept, metrics, front),
            watch=watch,
        )
    files.refuse_overwriting(outputs, {path for row in sweep.outcomes for path in row.files})
    contents: list[tuple[str, bytes]] = []
    for path, text in ((csv_file, tables.csv_text), (json_file, tables.json_text)):
        if path is not None:
            contents.append((path, files.text_bytes(text(sweep).rstrip("\n")) + b"\n"))
    if html_file is not None:
        from macaw.sweeps import html

        contents.append((html_file, files.text_bytes(html.page(sweep))))
    if not write_outputs(contents):
        click.echo(tables.table(sweep, metrics, front, limit, plain=is_plain()))
    return EXIT_SUCCESS if sweep.measured else EXIT_FAILURE


def _axes(rows: list[tuple[str, Any]], ctx: click.Context) -> dict[str, Any]:
    """Return a dictionary of values by setting from `rows`, which are pairs (setting, values).

    Raises `click.UsageError` for a setting that occurs twice, and for a value such as `4..8`,
    because values must be listed one by one.
    """
    swept: dict[str, Any] = {}
    for name, values in rows:
        if name in swept:
            raise click.UsageError(f"--set {name} occurs twice: one has all its values", ctx)
        if any(isinstance(value, str) and ".." in value for value in values):
            raise click.UsageError(f"--set has no ranges; it lists values: {EXAMPLE}", ctx)
        swept[name] = values
    return swept


def _lower_options(text: str, ctx: click.Context) -> dict[str, Any]:
    """Return arguments of `macaw.lower` or `macaw.lower_graph` from `text`.

    The text has the words of a command line of `macaw lower`.
    """
    from macaw.commands import lower

    try:
        words = shlex.split(text)
    except ValueError as error:
        raise click.UsageError(f"--lower: {error}", ctx) from None
    inner = lower.command.make_context("--lower", words, parent=ctx)
    given = inner.params
    lower.check_target_options(inner, given["target"])
    for name in ("output", "explain", "measure"):
        if given[name]:
            raise click.UsageError(f"--{name} of `macaw lower` has no meaning in a sweep", ctx)
    return lower.lowering_arguments(given)
