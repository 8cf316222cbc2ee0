"""The command `macaw profile`: finds where a program spends its cycles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from macaw.commands.options import (
    LazyChoice,
    collect,
    energy_option,
    file_option,
    jitter_option,
    load_program,
    max_cycles_option,
    plain_option,
    program_options,
)
from macaw.commands.outputs import file_names, write_outputs
from macaw.errors import EXIT_FAILURE, EXIT_SUCCESS

if TYPE_CHECKING:
    from macaw.asm.program import Program
    from macaw.asm.warnings import WarningChoice
    from macaw.profiling.model import Profile


def _numbers(
    _ctx: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> dict[str, float]:
    """Return the options KEY=NUMBER as a dictionary."""
    return collect(map(_key_and_number, values))


def _key_and_number(text: str) -> tuple[str, float]:
    key, equals, digits = text.partition("=")
    try:
        number = float(digits)
    except ValueError:
        number = -1.0
    if not key or not equals or not 0 <= number < float("inf"):
        raise click.BadParameter(f"'{text}' is not KEY=NUMBER, a number from 0 on")
    return key, number


def _sizes(
    _ctx: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> dict[str, int]:
    """Return the options N and CORE=N as a dictionary of numbers by core.

    A word N without a core is for all cores that no other word names; its key is "".
    """
    return collect(map(_core_and_size, values), "N")


def _core_and_size(text: str) -> tuple[str, int]:
    core, _, digits = text.rpartition("=")
    # a register has at most ten digits; Python refuses numbers of thousands of digits
    if not (digits.isascii() and digits.isdigit() and 0 < int(digits[:11]) < 1 << 32):
        raise click.BadParameter(f"'{text[:40]}' is not N or CORE=N, a number from 1 on")
    return core, int(digits)


def _allowable() -> tuple[str, ...]:
    from macaw.profiling.comparison import ALLOWABLE

    return ALLOWABLE


@click.command("profile", short_help="Say where a program's cycles go.")
@program_options()
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
    help="Let one record cover N instructions.",
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
    help="Record N segments, each in its own run, and merge them (with --jitter, as chips do).",
)
@click.option(
    "--shared",
    type=click.IntRange(min=1),
    default=1,
    metavar="M",
    help="Let neighbouring segments share M groups.",
)
@jitter_option("Add noise to the timing of DRAM.")
@click.option(
    "--repeat",
    type=click.IntRange(min=1),
    default=1,
    metavar="R",
    help="Take the mean of R runs, with the seeds SEED, SEED+1, ...",
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
    help="Use V as the threshold of a metric.",
)
@click.option("--layers", is_flag=True, help="Of a compiled network: print a row for each layer.")
@click.option(
    "--causes", is_flag=True, help="Account for all cycles of each core: work, waits, idle."
)
@click.option(
    "--roofline",
    is_flag=True,
    help="Compare operations and bytes of each core with the peaks of the device.",
)
@energy_option("Estimate the energy, with published figures of 45 nm or those of a table.")
@click.option(
    "--lines", is_flag=True, help="Say what each line of the source costs, as macaw annotate does."
)
@click.option(
    "--no-findings",
    is_flag=True,
    help="Leave out what makes the run longer, and the extra run that finds it.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    help="Print at most N records, findings and lines, instead of 12, 8 and 12.",
)
@click.option("--guide", is_flag=True, help="Say which step of the optimisation loop comes next.")
@file_option("--against", metavar="OLD.json", text="Say what improved since an earlier --json.")
@click.option(
    "--allow",
    type=LazyChoice(_allowable),
    multiple=True,
    help="Compare with OLD.json although its program, or values or shapes of inputs, are others.",
)
@file_option("--json", "json_file", text="Write the profile as JSON; - prints it.")
@file_option("--perfetto", "perfetto_file", text="Write a trace for ui.perfetto.dev; - prints it.")
@file_option("--html", "html_file", text="Write the timeline as one HTML page; - prints it.")
@max_cycles_option
@plain_option
def command(
    sources: tuple[str, ...],
    inputs: dict[str, str],
    device: str | None,
    choice: WarningChoice | None,
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
    layers: bool,
    causes: bool,
    roofline: bool,
    energy: str | None,
    lines: bool,
    no_findings: bool,
    limit: int | None,
    guide: bool,
    against: str | None,
    allow: tuple[str, ...],
    json_file: str | None,
    perfetto_file: str | None,
    html_file: str | None,
    max_cycles: int | None,
) -> int:
    """Run FILEs, assembly sources, an ELF executable or a folder, while trace blocks record them.

    Prints the timeline of the six kinds of cores, the bottleneck, what makes the run longer, and
    the metrics that miss their thresholds. Exit status 1: a goal was missed, the program does not
    end by itself, or it reaches no marker in mark mode.
    """
    from macaw import files
    from macaw.networks.compiler import program_inputs
    from macaw.profiling.model import from_json
    from macaw.profiling.profiler import ProfileOptions, profile
    from macaw.terminal.progress_bar import ProgressBar

    if scheduler is not None and jobs > 1:
        raise click.UsageError("--jobs is for processes here, --scheduler for a cluster")
    outputs = file_names((json_file, perfetto_file, html_file))
    earlier = None if against is None else from_json(_read_json(against), against)
    inputs_read = [*inputs.values(), *filter(None, (against, energy))]
    program = load_program(sources, device, inputs_read, outputs, "another name", choice=choice)
    if layers and program.network is None:
        raise click.UsageError("--layers is for the folder of a compiled network")
    options = ProfileOptions(
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
        earlier,
        against or "",
        max_cycles,
        item,
        causes,
        roofline,
        energy,
        allow,
        lines,
        not no_findings,
    )
    arrays = program_inputs(sources, files.read_arrays(inputs))
    with ProgressBar("profiling") as bar:
        state = ["", 0, 0]
        bar.note = lambda: "{} {:,} of {:,}".format(*state)

        def show(what: str, done: int, total: int) -> None:
            state[:] = what, done, total

        name = ", ".join(sources) if program.network is None else program.network.name
        report = profile(program, arrays, options, device=device, watch=show, name=name)
    _write(report, program, json_file, perfetto_file, html_file, layers=layers, limit=limit)
    return EXIT_FAILURE if report.missed else EXIT_SUCCESS


def _read_json(path: str) -> object:
    """Return the JSON value of a file. Raises `InputError` if the file has none."""
    import json

    from macaw import files
    from macaw.errors import InputError

    data = files.read_bytes(path)
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON: {error}") from None
    return value


def _write(
    profile: Profile,
    program: Program,
    json_file: str | None,
    perfetto_file: str | None,
    html_file: str | None,
    *,
    layers: bool,
    limit: int | None,
) -> None:
    """Write the profile to the files; print the report, or the one output whose name is `-`.

    With `layers`, the report has a table of a network's layers. `limit` is the greatest number of
    records, findings, missed thresholds and source lines in it (`print_report`).
    """
    import json

    from macaw import files
    from macaw.profiling.model import to_json
    from macaw.terminal import console

    contents: list[tuple[str, bytes]] = []
    if json_file is not None:
        text = json.dumps(to_json(profile), ensure_ascii=False)
        contents.append((json_file, files.text_bytes(text) + b"\n"))
    if perfetto_file is not None:
        from macaw.profiling import perfetto

        contents.append((perfetto_file, perfetto.encode(profile)))
    if html_file is not None:
        from macaw.profiling import html
        from macaw.profiling.page_lines import source_texts

        page = html.page(profile, source_texts(program))
        contents.append((html_file, files.text_bytes(page)))
    if write_outputs(contents):
        return
    from macaw.profiling import terminal_report
    from macaw.terminal.plain import is_plain

    screen = console.stdout()
    terminal_report.print_report(profile, screen, layers=layers, limit=limit, plain=is_plain())
