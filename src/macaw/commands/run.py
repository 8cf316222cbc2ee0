"""`macaw run`: a program on the emulated device."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from macaw.errors import DONE, FAILED

if TYPE_CHECKING:
    from macaw.emu.device import Device
    from macaw.running import Run


def pairs(_ctx: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """NAME=FILE options as a mapping."""
    pairs: dict[str, str] = {}
    for value in values:
        name, equals, path = value.partition("=")
        if not (name and equals and path):
            raise click.BadParameter(f"'{value}' is not NAME=FILE")
        if name in pairs:
            raise click.BadParameter(f"{name} is given twice")
        if option.name == "results" and _real(path) in map(_real, pairs.values()):
            raise click.BadParameter(f"two outputs cannot both go to {path}")
        pairs[name] = path
    return pairs


def _real(path: str) -> str:
    """The file itself, by whatever name."""
    return os.path.realpath(path)


def checked_engine(_ctx: click.Context, _option: click.Parameter, value: str | None) -> str:
    """The name of an engine; the default one if none is given."""
    from macaw.emu.engines import ENGINES

    if value is not None and value not in ENGINES:
        raise click.BadParameter(f"no engine is called '{value}', there are {', '.join(ENGINES)}")
    return value or ENGINES[0]


@click.command("run", short_help="Run a program (source or executable) on the emulated device.")
@click.argument("file", type=click.Path(), metavar="FILE")
@click.option(
    "-i",
    "inputs",
    multiple=True,
    callback=pairs,
    metavar="NAME=FILE",
    help="Bind an input to a .npy file; one more leading axis runs once an item.",
)
@click.option(
    "-o",
    "results",
    multiple=True,
    callback=pairs,
    metavar="NAME=FILE",
    help="Write an output to a .npy file; without any, outputs are printed.",
)
@click.option("--device", metavar="NAME|FILE", help="Run on this device, not the program's.")
@click.option(
    "--max-cycles", type=click.IntRange(min=1), metavar="N", help="Stop each run after N cycles."
)
@click.option(
    "--engine",
    callback=checked_engine,
    metavar="NAME",
    help="Simulate as fast, or as reference: step by step; results are the same.",
)
@click.option(
    "--jitter",
    type=click.IntRange(min=0),
    metavar="SEED",
    help="Add noise to the timing of DRAM: other cycles for each seed, the same for the same.",
)
@click.option("--stats", is_flag=True, help="Print cycles and counters, on standard error.")
@click.option("--json", "as_json", is_flag=True, help="Print all results as one JSON object.")
def command(
    file: str,
    inputs: dict[str, str],
    results: dict[str, str],
    device: str | None,
    max_cycles: int | None,
    engine: str,
    jitter: int | None,
    stats: bool,
    as_json: bool,
) -> int:
    """Run FILE, an assembly source or an ELF executable, to its end.

    Exit status 1: the program faulted, met its cycle limit, or exited with another
    code than 0.
    """
    from macaw import api, binding, console, files, report, running
    from macaw.errors import RunError
    from macaw.progress import Bar

    files.keep_inputs(results.values(), [file, *inputs.values(), *([device] if device else [])])
    program = api.load(file, device=device)
    files.keep_inputs(results.values(), program.read_files)
    console.diagnostics(console.warnings_of(program))
    if device and program.config_toml:
        ours = running.configuration_of(program, device)
        made_for = running.configuration_of(program)
        if ours != made_for:
            console.warning(f"the program was made for {made_for.name} and runs on {ours.name}")
    binding.check_outputs(program, results)
    arrays = {name: files.read_array(path) for name, path in inputs.items()}
    streams = None if as_json else running.Streams(console.write_stdout, console.write_stderr)
    try:
        with Bar("running", binding.bind(program, arrays).items) as bar:

            def watch(index: int, machine: Device) -> None:
                bar.done = index
                bar.note = lambda: f"{machine.cycle:,} cycles"

            run = running.run(
                program,
                arrays,
                device=device,
                max_cycles=max_cycles,
                engine=engine,
                jitter=jitter,
                streams=streams,
                on_start=watch,
            )
    except RunError as error:
        if as_json:
            click.echo(report.failure_json(error))
        else:
            report.print_failure(error, program)
        return error.status
    for name, path in results.items():
        files.write_array(path, run.outputs[name])
    if as_json:
        click.echo(report.run_json(run, results))
    elif not results:
        report.print_outputs(run)
    if stats and not as_json:
        report.print_stats(run)
    if not as_json:
        for name in run.unwritten:
            console.warning(f"nothing was written to the output '{name}'; it is as before the run")
        for core, window, left in running.left_over(run.device):
            text = f"{left:,} bytes that {core} gave are still in {window}"
            console.warning(f"{text}: no output or transfer took them")
    return _status(run, quiet=as_json)


def _status(run: Run, *, quiet: bool) -> int:
    from macaw import console

    if not run.exit_code:
        return DONE
    if not quiet:
        console.warning(f"the program exited with code {run.exit_code}")
    return FAILED
