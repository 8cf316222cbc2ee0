"""The command `macaw run`: runs a program on the emulated device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from macaw.commands.options import (
    engine_option,
    jitter_option,
    load_program,
    max_cycles_option,
    output_pairs,
    plain_option,
    program_options,
)
from macaw.errors import EXIT_FAILURE, EXIT_SUCCESS

if TYPE_CHECKING:
    from macaw.asm.program import Program
    from macaw.asm.warnings import WarningChoice
    from macaw.emu.device import Device
    from macaw.execution import Run


@click.command("run", short_help="Run a program (source or executable) on the emulated device.")
@program_options(
    "Bind an input to a .npy file; with one more leading axis, run once for each item."
)
@click.option(
    "-o",
    "results",
    multiple=True,
    callback=output_pairs,
    metavar="NAME=FILE",
    help="Write an output to a .npy file; without any, outputs are printed.",
)
@max_cycles_option
@engine_option("The engine, fast or reference (step by step); results are the same.")
@jitter_option("Add noise to the timing of DRAM; the same seed gives the same cycles.")
@click.option("--stats", is_flag=True, help="Print cycles and counters, on standard error.")
@click.option("--json", "as_json", is_flag=True, help="Print all results as one JSON object.")
@click.option(
    "--layers", is_flag=True, help="Of a compiled network: compare each layer, print its cycles."
)
@click.pass_context
@plain_option
def command(
    ctx: click.Context,
    sources: tuple[str, ...],
    inputs: dict[str, str],
    results: dict[str, str],
    device: str | None,
    choice: WarningChoice | None,
    max_cycles: int | None,
    engine: str,
    jitter: int | None,
    stats: bool,
    as_json: bool,
    layers: bool,
) -> int:
    """Run FILEs, assembly sources, one ELF executable or a folder, to the end.

    Exit status 1: the program faulted, reached the cycle limit, or exited with another code than 0.
    """
    from macaw import execution, files, input_binding, run_report
    from macaw.errors import RunError
    from macaw.network_description import network_folder
    from macaw.terminal import console
    from macaw.terminal.progress_bar import ProgressBar

    network = network_folder(sources)
    if network is not None:
        from macaw.commands import run_network

        _check_network_options(ctx, device=device, jitter=jitter, stats=stats)
        return run_network.run(
            network,
            inputs,
            results,
            max_cycles=max_cycles,
            engine=engine,
            layers=layers,
            as_json=as_json,
        )
    if layers:
        raise click.UsageError("--layers is for the folder of a compiled network", ctx)
    program = load_program(sources, device, inputs.values(), list(results.values()), choice=choice)
    if device:
        _warn_of_other_device(program, device)
    input_binding.check_outputs(program, results)
    arrays = files.read_arrays(inputs)
    streams = None if as_json else execution.Streams(console.write_stdout, console.write_stderr)
    try:
        with ProgressBar("running", input_binding.bind(program, arrays).items) as bar:

            def watch(index: int, machine: Device) -> None:
                bar.count = index
                bar.note = lambda: f"{machine.cycle:,} cycles"

            run = execution.run(
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
            click.echo(run_report.failure_json(error))
        else:
            run_report.print_failure(error, program)
        return error.status
    files.write_all((path, files.npy_bytes(run.outputs[name])) for name, path in results.items())
    if as_json:
        click.echo(run_report.run_json(run, results))
        return _status(run, quiet=True)
    if not results:
        run_report.print_outputs(run)
    if stats:
        run_report.print_stats(run)
    _warn_of_results(run)
    return _status(run)


def _check_network_options(ctx: click.Context, **values: object) -> None:
    """Raise `click.UsageError` for an option that cannot be used with a compiled network.

    `values` has the values of these options by name: None or False means that it was not given.
    """
    for name, value in values.items():
        if value not in (None, False):
            raise click.UsageError(f"--{name} does not go with a compiled network", ctx)


def _warn_of_other_device(program: Program, device: str) -> None:
    from macaw import execution
    from macaw.terminal import console

    if program.config_toml:
        ours = execution.configuration_of(program, device)
        made_for = execution.configuration_of(program)
        if ours != made_for:
            console.warning(f"the program was made for {made_for.name} and runs on {ours.name}")


def _warn_of_results(run: Run) -> None:
    from macaw import execution, run_report
    from macaw.terminal import console

    run_report.print_cautions(run)
    for name in run.unwritten:
        console.warning(f"nothing was written to the output '{name}'; it is as before the run")
    for core, window, count in execution.unread_window_bytes(run.device):
        text = f"{count:,} bytes that {core} wrote are still in {window}"
        console.warning(f"{text}: no output or transfer read them")


def _status(run: Run, *, quiet: bool = False) -> int:
    from macaw.terminal import console

    if not run.exit_code:
        return EXIT_SUCCESS
    if not quiet:
        console.warning(f"the program exited with code {run.exit_code}")
    return EXIT_FAILURE
