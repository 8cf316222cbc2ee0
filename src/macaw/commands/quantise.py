"""The command `macaw quantise`: converts an ONNX model to integers."""

from __future__ import annotations

import shutil

import click

from macaw.commands import suggestions
from macaw.commands.data_option import data_arrays
from macaw.commands.lower_fim import dimensions
from macaw.commands.options import (
    FileName,
    OutputName,
    constant_numbers,
    constants_option,
    dims_option,
    file_option,
    name_pairs,
    plain_option,
)
from macaw.errors import EXIT_SUCCESS


@click.command("quantise", short_help="Give an ONNX model integers, and say what each layer loses.")
@click.argument("model", type=FileName(), metavar="MODEL")
@click.option(
    "--data",
    multiple=True,
    required=True,
    metavar="[NAME=]FILE",
    help="Samples of an input, .npy: (samples, ...).",
    shell_complete=suggestions.samples,
)
@file_option(
    "-o", "output", metavar="OUT", required=True, text="Write this model.", kind=OutputName()
)
@click.option(
    "--method",
    default="mse",
    show_default=True,
    metavar="NAME",
    help="How scales are chosen: mse (least squared error) or minmax (largest number).",
)
@click.option(
    "--scales",
    default="power-of-two",
    show_default=True,
    metavar="KIND",
    help="power-of-two (a right shift requantises) or real (a multiplication).",
)
@click.option("--per-channel", is_flag=True, help="Give each channel of weights a scale.")
@click.option(
    "--type",
    "element_type",
    default="int8",
    show_default=True,
    metavar="TYPE",
    help="Type of all layers: int8 or int16.",
)
@click.option(
    "--layer",
    "layers",
    multiple=True,
    metavar="NAME=TYPE",
    help="Type of one layer: int8, int16 or float.",
)
@click.option(
    "--keep-float",
    multiple=True,
    metavar="NAME",
    help="Leave a layer, or all layers with this operator, floating-point.",
)
@dims_option("the model")
@constants_option
@click.option("--json", "as_json", is_flag=True, help="Print what layers lose as JSON.")
@plain_option
def command(
    model: str,
    data: tuple[str, ...],
    output: str,
    method: str,
    scales: str,
    per_channel: bool,
    element_type: str,
    layers: tuple[str, ...],
    keep_float: tuple[str, ...],
    dims: tuple[str, ...],
    constants: tuple[str, ...],
    as_json: bool,
) -> int:
    """Quantise MODEL, an ONNX file of floating-point numbers, to symmetric integers.

    The samples of --data decide about the scales. Batch normalisations are folded into the layers
    before them. The output is a standard ONNX file with QuantizeLinear and DequantizeLinear. The
    command prints a row for each layer: its types, the scale of its result, and two signal-to-noise
    ratios in decibels. For "own dB" only this layer is quantised, for "dB" all layers up to it.
    """
    from macaw import files
    from macaw.quantisation import quantise
    from macaw.terminal.plain import is_plain
    from macaw.terminal.progress_bar import ProgressBar

    arrays, paths = data_arrays(data)
    files.refuse_overwriting([output], [model, *paths])
    with ProgressBar("quantising"):
        result = quantise(
            model,
            arrays,
            method=method,
            scales=scales,
            per_channel=per_channel,
            element_type=element_type,
            layers=dict(name_pairs(layers, "--layer", "NAME=TYPE")),
            keep_float=keep_float,
            dims=dimensions(dims),
            constants=constant_numbers(constants),
        )
    result.write(output)
    width = None if is_plain() else shutil.get_terminal_size((120, 24)).columns
    click.echo(result.to_json() if as_json else "\n".join(result.table(width)))
    return EXIT_SUCCESS
