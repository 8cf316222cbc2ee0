"""The command `macaw compile`: compiles a quantised ONNX model to a program for the device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from macaw.commands import lower_fim
from macaw.commands.data_option import data_arrays, data_option
from macaw.commands.options import (
    FileName,
    LazyChoice,
    OutputName,
    batch_option,
    constant_numbers,
    constants_option,
    device_option,
    dims_option,
    file_option,
    plain_option,
)
from macaw.errors import EXIT_SUCCESS

if TYPE_CHECKING:
    from macaw.networks.compiled import CompiledNetwork
    from macaw.networks.nnp_network import NnpNetwork

REPORTS = ("table", "csv", "json")
# Parameters that need `--core fim`; parameters that `--core fim` does not take; parameters that the
# other values of `--core` do not take.
_ONLY_ISLANDS = ("number_format", "dynamic", "resident", "explain", "measure")
_NOT_FOR_ISLANDS = ("batch", "data", "constants", "islands", "jobs", "report")
_NOT_FOR_OTHERS = ("data", "islands", "jobs")


def _cores() -> Sequence[str]:
    from macaw.networks.compiler import CORES

    return *CORES, lower_fim.CORE


@click.command("compile", short_help="Compile an ONNX model to a program.")
@click.argument("model", type=FileName(), metavar="MODEL.onnx")
@file_option(
    "-o",
    "output",
    metavar="FOLDER",
    text="Write the program into this folder; default the name of the model.",
    kind=OutputName(),
)
@device_option
@dims_option("the model")
@batch_option
@constants_option
@data_option
@lower_fim.islands_option
@click.option(
    "--core",
    type=LazyChoice(_cores),
    help="Compile a floating-point model for this core alone, or a quantised one for islands.",
)
@lower_fim.format_option
@lower_fim.dynamic_option
@lower_fim.resident_option
@lower_fim.explain_option
@lower_fim.measure_option
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Evaluate samples and plan layers in N processes.",
)
@click.option(
    "--report",
    type=click.Choice(REPORTS),
    default=REPORTS[0],
    show_default=True,
    help="How to print what each layer costs.",
)
@click.pass_context
@plain_option
def command(
    ctx: click.Context,
    model: str,
    output: str | None,
    device: str,
    dims: tuple[str, ...],
    batch: int | None,
    constants: tuple[str, ...],
    data: tuple[str, ...],
    islands: tuple[str, ...],
    core: str | None,
    number_format: str | None,
    dynamic: bool,
    resident: str,
    explain: bool,
    measure: bool,
    jobs: int,
    report: str,
) -> int:
    """Compile MODEL.onnx to a folder with sources, weights and a description of the layers.

    The model must be quantised, unless --core is given. `macaw run FOLDER -i NAME=FILE --layers`
    runs the network, and compares each layer with the reference evaluator. `macaw debug` and
    `macaw profile` take the folder, too. With --core fim, the folder has one source for the
    islands. This source is named like the folder.
    """
    from macaw.networks.compiler import compile as compile_model
    from macaw.terminal import console
    from macaw.terminal.progress_bar import ProgressBar

    folder = Path(output or Path(model).stem)
    _check_options(ctx, core)
    if core == lower_fim.CORE:
        source = folder / f"{folder.resolve().name or Path(model).stem}.s"
        status = lower_fim.lower(
            model,
            str(source),
            device=device,
            number_format=number_format,
            dims=lower_fim.dimensions(dims),
            dynamic=dynamic,
            resident=lower_fim.budget(resident),
            explain=explain,
            measure=measure,
            makes_folder=True,
        )
        click.echo(f"wrote {console.printable(str(source))}")
        return status
    with ProgressBar("compiling"):
        network = compile_model(
            model,
            device=device,
            dims=lower_fim.dimensions(dims),
            name=folder.name or None,
            batch=batch,
            data=data_arrays(data)[0] if data else None,
            core=core,
            constants=constant_numbers(constants),
            islands=islands,
            jobs=jobs,
        )
    network.write(folder)
    _print_report(network, report)
    if report == REPORTS[0]:
        click.echo(f"wrote {console.printable(str(folder))}")
    return EXIT_SUCCESS


def _print_report(network: CompiledNetwork | NnpNetwork, report: str) -> None:
    """Print what each layer costs."""
    from macaw.networks.compiled import CompiledNetwork

    if isinstance(network, CompiledNetwork):
        from macaw.networks.report import print_report

        print_report(network, None, report)
    else:
        from macaw.networks.nnp_report import print_report as print_nnp_report

        print_nnp_report(network, report)


def _check_options(ctx: click.Context, core: str | None) -> None:
    """Raise `UsageError` for an option of `ctx` that applies to another core than `core`."""
    other = () if core is None else _NOT_FOR_OTHERS
    refused = _NOT_FOR_ISLANDS if core == lower_fim.CORE else other
    for option in ctx.command.params:
        if ctx.get_parameter_source(option.name or "") is not ParameterSource.COMMANDLINE:
            continue
        if option.name in refused:
            raise click.UsageError(f"{option.opts[-1]} is not for --core {core}", ctx)
        if option.name in _ONLY_ISLANDS and core != lower_fim.CORE:
            raise click.UsageError(f"{option.opts[-1]} is of --core {lower_fim.CORE}", ctx)
