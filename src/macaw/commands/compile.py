"""The command `macaw compile`: compiles a quantised ONNX model to a program for the device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from macaw.commands.options import (
    LazyChoice,
    batch_option,
    constant_numbers,
    constants_option,
    device_option,
    dims_option,
    file_option,
    plain_option,
)
from macaw.errors import EXIT_SUCCESS

REPORTS = ("table", "csv", "json")


def _cores() -> Sequence[str]:
    from macaw.networks.compiler import CORES

    return CORES


@click.command("compile", short_help="Compile an ONNX model to a program.")
@click.argument("model", type=click.Path(), metavar="MODEL.onnx")
@file_option(
    "-o",
    "output",
    metavar="FOLDER",
    text="Write the program into this folder; default the name of the model.",
)
@device_option
@dims_option("the model")
@batch_option
@constants_option
@click.option(
    "--core",
    type=LazyChoice(_cores),
    help="Compile a floating-point model for this core alone.",
)
@click.option(
    "--report",
    type=click.Choice(REPORTS),
    default=REPORTS[0],
    show_default=True,
    help="How to print what each layer costs.",
)
@plain_option
def command(
    model: str,
    output: str | None,
    device: str,
    dims: tuple[str, ...],
    batch: int | None,
    constants: tuple[str, ...],
    core: str | None,
    report: str,
) -> int:
    """Compile MODEL.onnx to a folder with sources, weights and a description of the layers.

    The model is quantised, unless --core is given. `macaw run FOLDER -i NAME=FILE --layers`
    runs it, and compares each layer with the reference evaluator. `macaw debug` and `macaw profile`
    take the folder, too.
    """
    from macaw.commands.lower_fim import dimensions
    from macaw.networks import nnp_report
    from macaw.networks import report as network_report
    from macaw.networks.compiler import compile as compile_model
    from macaw.networks.nnp_network import NnpNetwork
    from macaw.terminal import console
    from macaw.terminal.progress_bar import ProgressBar

    folder = Path(output or Path(model).stem)
    with ProgressBar("compiling"):
        network = compile_model(
            model,
            device=device,
            dims=dimensions(dims),
            name=folder.name or None,
            batch=batch,
            core=core,
            constants=constant_numbers(constants),
        )
    network.write(folder)
    if isinstance(network, NnpNetwork):
        nnp_report.print_report(network, report)
    else:
        network_report.print_report(network, None, report)
    if report == REPORTS[0]:
        click.echo(f"wrote {console.printable(str(folder))}")
    return EXIT_SUCCESS
