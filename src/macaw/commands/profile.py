"""`macaw profile`: where a program's cycles go, and which ratios are bad."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import click

from macaw.commands.run import pairs
from macaw.errors import DONE, FAILED

if TYPE_CHECKING:
    from macaw.profiling.model import Profile


def _numbers(
    _ctx: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> dict[str, float]:
    """KEY=NUMBER options as a mapping."""
    found: dict[str, float] = {}
    for value in values:
        key, equals, text = value.partition("=")
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if not key or not equals or not 0 <= number < float("inf"):
            raise click.BadParameter(f"'{value}' is not KEY=NUMBER, a number from 0 on")
        if key in found:
            raise click.BadParameter(f"{key} is given twice")
        found[key] = number
    return found


def _sizes(
    _ctx: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> dict[str, int]:
    """N or CORE=N options as a mapping; the name of all others is empty."""
    found: dict[str, int] = {}
    for value in values:
        core, _, text = value.rpartition("=")
        if not text.isascii() or not text.isdigit() or not 0 < int(text) < 1 << 32:
            raise click.BadParameter(f"'{value}' is not N or CORE=N, a number from 1 on")
        if core in found:
            raise click.BadParameter(f"{core or 'N'} is given twice")
        found[core] = int(text)
    return found


@click.command("profile", short_help="Say where a program's cycles go.")
@click.argument("file", type=click.Path(), metavar="FILE")
@click.option(
    "-i",
    "inputs",
    multiple=True,
    callback=pairs,
    metavar="NAME=FILE",
    help="Bind an input to a .npy file.",
)
@click.option("--device", metavar="NAME|FILE", help="Run on this device, not the program's.")
@click.option(
    "--item", type=click.IntRange(min=0), default=0, metavar="I", help="Profile item I of a batch."
)
@click.option(
    "--mode",
    type=click.Choice(["auto", "mark"]),
    default="auto",
    help="Record all instructions (auto), or those that trace_begin and trace_end bracket (mark).",
)
@click.option(
    "--num",
    multiple=True,
    callback=_sizes,
    metavar="[CORE=]N",
    help="Let N instructions make a record.",
)
@click.option(
    "--groups",
    type=click.IntRange(min=1),
    metavar="G",
    help="Give the trace blocks G register groups.",
)
@click.option(
    "--segments",
    type=click.IntRange(min=1),
    metavar="N",
    help="Record N segments in a run each and merge them (with --jitter, as chips do).",
)
@click.option(
    "--shared",
    type=click.IntRange(min=1),
    default=1,
    metavar="M",
    help="Let neighbouring segments share M groups.",
)
@click.option(
    "--jitter", type=click.IntRange(min=0), metavar="SEED", help="Add noise to the timing of DRAM."
)
@click.option(
    "--repeat",
    type=click.IntRange(min=1),
    default=1,
    metavar="R",
    help="Take the mean of R runs, with seeds from SEED on.",
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, metavar="J", help="Run J processes at a time."
)
@click.option("--scheduler", metavar="ADDR", help="Run on the Dask cluster of this scheduler.")
@click.option(
    "--goal",
    "goals",
    multiple=True,
    callback=_numbers,
    metavar="KEY=N",
    help="Exit with 1 unless cycles are at most N, or a metric is as good as N.",
)
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    callback=_numbers,
    metavar="KEY=V",
    help="Judge a metric by another value.",
)
@click.option("--guide", is_flag=True, help="Say which step of the optimisation loop comes next.")
@click.option("--against", metavar="OLD.json", help="Say what improved since an earlier --json.")
@click.option("--json", "json_file", metavar="FILE", help="Write the profile as JSON; - prints it.")
@click.option(
    "--perfetto", "perfetto_file", metavar="FILE", help="Write a trace for ui.perfetto.dev."
)
@click.option("--html", "html_file", metavar="FILE", help="Write the timeline as one HTML page.")
@click.option(
    "--max-cycles", type=click.IntRange(min=1), metavar="N", help="Stop each run after N cycles."
)
def command(
    file: str,
    inputs: dict[str, str],
    device: str | None,
    item: int,
    mode: str,
    num: dict[str, int],
    groups: int | None,
    segments: int | None,
    shared: int,
    jitter: int | None,
    repeat: int,
    jobs: int,
    scheduler: str | None,
    goals: dict[str, float],
    thresholds: dict[str, float],
    guide: bool,
    against: str | None,
    json_file: str | None,
    perfetto_file: str | None,
    html_file: str | None,
    max_cycles: int | None,
) -> int:
    """Run FILE, an assembly source or an ELF executable, recorded by its trace blocks.

    Prints the timeline of the six kinds of cores, the bottleneck, and ratios that miss their
    thresholds. Exit status 1: a goal was missed, the program does not end by itself, or in mark
    mode it reaches no marker.
    """
    from macaw import api, console, files
    from macaw.profiling.model import from_json
    from macaw.profiling.profiling import Options, profile
    from macaw.progress import Bar

    written = [name for name in (json_file, perfetto_file, html_file) if name not in (None, "-")]
    read = [file, *inputs.values(), *([device] if device else []), *([against] if against else [])]
    files.keep_inputs([str(name) for name in written], read, "another name")
    for one, other in combinations(written, 2):
        files.keep_apart(str(one), str(other))
    old = None if against is None else from_json(_object(against), against)
    program = api.load(file, device=device)
    files.keep_inputs([str(name) for name in written], program.read_files, "another name")
    console.diagnostics(console.warnings_of(program))
    options = Options(
        mode,
        num,
        groups,
        segments,
        shared,
        jitter,
        repeat,
        jobs,
        scheduler,
        goals,
        thresholds,
        guide,
        old,
        against or "",
        max_cycles,
        item,
    )
    arrays = {name: files.read_array(path) for name, path in inputs.items()}
    with Bar("profiling") as bar:
        state = ["", 0, 0]
        bar.note = lambda: "{} {:,} of {:,}".format(*state)

        def watch(what: str, done: int, total: int) -> None:
            state[:] = what, done, total

        made = profile(program, arrays, options, device=device, watch=watch, name=file)
    _write(made, json_file, perfetto_file, html_file)
    return FAILED if made.missed else DONE


def _object(path: str) -> object:
    """What a JSON file holds. Raises `InputError`."""
    import json

    from macaw import files
    from macaw.errors import InputError

    data = files.read_bytes(path)
    try:
        found: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON: {error}") from None
    return found


def _write(
    made: Profile, json_file: str | None, perfetto_file: str | None, html_file: str | None
) -> None:
    """The files, and the report unless JSON is printed."""
    import json

    from macaw import console, files
    from macaw.profiling.model import to_json

    contents: list[tuple[str, bytes]] = []
    text = json.dumps(to_json(made), ensure_ascii=False)
    if json_file not in (None, "-"):
        contents.append((str(json_file), text.encode() + b"\n"))
    if perfetto_file is not None:
        from macaw.profiling import perfetto

        contents.append((perfetto_file, perfetto.encode(made)))
    if html_file is not None:
        from macaw.profiling import html

        contents.append((html_file, html.page(made).encode()))
    files.write_all(contents)
    if json_file == "-":
        click.echo(text)
        return
    from macaw.profiling import report

    report.show(made, console.stdout())
