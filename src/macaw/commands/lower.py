"""The command `macaw lower`: lowers an operation for the PE array, or a graph for fim islands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from macaw.commands import lower_fim
from macaw.commands.options import (
    DIGITS,
    LazyChoice,
    OutputName,
    device_option,
    dims_option,
    file_option,
    plain_option,
)
from macaw.errors import EXIT_FAILURE, EXIT_SUCCESS
from macaw.terminal.plain import is_plain, records
from macaw.terminal.progress_bar import ProgressBar

if TYPE_CHECKING:
    from macaw.layer_lowering import Lowering, Measurement

SPLITS = "abcdefghi"
TARGETS = ("pe", "fim")
# By target, the parameters that no other target takes.
ONLY = {
    "pe": (
        *("weights", "rows", "image", "stride", "padding", "pads", "dilation", "groups"),
        *("batch", "layout", "out_layout", "bias"),
        *("activation", "shift", "mapping", "split", "density"),
    ),
    "fim": ("number_format", "dims", "dynamic", "resident"),
}

# Parameters of the command that are no arguments of `macaw.lower` for the array.
_NOT_OF_LOWERING = (*ONLY["fim"], "target", "output", "explain", "measure")


def _pair(_ctx: click.Context, _option: click.Parameter, value: str | None) -> object:
    """Return the option text N as a number, or VERTICALxHORIZONTAL as a pair of numbers."""
    if value is None:
        return None
    parts = value.split("x")
    if not 1 <= len(parts) <= 2 or not all(part.isascii() and part.isdigit() for part in parts):
        raise click.BadParameter(f"'{value}' is no number N, and no VERTICALxHORIZONTAL")
    if max(map(len, parts)) > DIGITS:
        raise click.BadParameter(f"'{value[:40]}': numbers have {DIGITS} digits at most")
    numbers = [int(part) for part in parts]
    return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])


def _four(_ctx: click.Context, _option: click.Parameter, value: str | None) -> object:
    """Return the option text T,L,B,R (top, left, bottom, right) as four numbers."""
    if value is None:
        return None
    parts = value.split(",")
    if len(parts) != 4 or not all(part.isascii() and part.isdigit() for part in parts):
        raise click.BadParameter(f"'{value[:40]}' is not four numbers TOP,LEFT,BOTTOM,RIGHT")
    if max(map(len, parts)) > DIGITS:
        raise click.BadParameter(f"'{value[:40]}': numbers have {DIGITS} digits at most")
    return tuple(int(part) for part in parts)


def _mappings() -> Sequence[str]:
    from macaw.isa.config import MAPPINGS

    return MAPPINGS


@click.command("lower", short_help="Lower a network operation, or a graph, to a program.")
@click.argument("operation", metavar="OPERATION|GRAPH")
@click.option(
    "--target",
    type=click.Choice(TARGETS),
    default="pe",
    help="Lower for the PE array, or for fim islands.",
)
@file_option(
    "-o", "output", metavar="OUT", text="Write this source; default OPERATION.s.", kind=OutputName()
)
@file_option(
    "-w",
    "--weights",
    text="Weights, .npy: (outputs, inputs), (outputs, h, w, channels) or (channels, h, w).",
)
@click.option(
    "--rows", type=click.IntRange(min=1), metavar="M", help="Number of rows of activations (spmm)."
)
@click.option(
    "--image", callback=_pair, metavar="HxW", help="Height and width of the image (convolutions)."
)
@click.option("--stride", callback=_pair, default="1", metavar="N|YxX", help="Stride; default 1.")
@click.option("--padding", callback=_pair, default="0", metavar="N|YxX", help="Padding; default 0.")
@click.option(
    "--pads", callback=_four, metavar="T,L,B,R", help="Unequal padding: top, left, bottom, right."
)
@click.option(
    "--dilation", callback=_pair, default="1", metavar="N|YxX", help="Dilation; default 1."
)
@click.option(
    "--groups",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Groups of channels (conv2d); default 1.",
)
@click.option(
    "--batch", type=click.IntRange(min=1), metavar="N", help="Images, as a first axis of x and y."
)
@click.option(
    "--layout", default="hwc", metavar="NAME", help="Layout of the image: hwc, or cwh (depthwise)."
)
@click.option(
    "--out-layout", default="hwc", metavar="NAME", help="Layout of the results: hwc or cwh."
)
@file_option("--bias", text="Bias, .npy: (outputs,).")
@click.option(
    "--activation", default="none", metavar="NAME", help="Activation: none, relu, sigmoid or tanh."
)
@click.option(
    "--shift",
    type=int,
    metavar="N",
    help="Requantise: divide by 2**N, saturate to the element type.",
)
@device_option
@click.option(
    "--mapping",
    type=LazyChoice(_mappings),
    help="Which data stay in the array; default the cheapest choice.",
)
@click.option(
    "--split",
    type=click.Choice(list(SPLITS)),
    help="Split of Fig. 9, seed 000; default the cheapest one.",
)
@click.option(
    "--density",
    default=1.0,
    show_default=True,
    metavar="D",
    help="Share of activations that are not 0.",
)
@lower_fim.format_option
@dims_option("a graph")
@lower_fim.dynamic_option
@lower_fim.resident_option
@lower_fim.explain_option
@lower_fim.measure_option
@click.pass_context
@plain_option
def command(
    ctx: click.Context,
    operation: str,
    target: str,
    output: str | None,
    weights: str | None,
    rows: int | None,
    image: int | tuple[int, int] | None,
    stride: int | tuple[int, int],
    padding: int | tuple[int, int],
    pads: tuple[int, int, int, int] | None,
    dilation: int | tuple[int, int],
    groups: int,
    batch: int | None,
    layout: str,
    out_layout: str,
    bias: str | None,
    activation: str,
    shift: int | None,
    device: str,
    mapping: str | None,
    split: str | None,
    density: float,
    number_format: str | None,
    dims: tuple[str, ...],
    dynamic: bool,
    resident: str,
    explain: bool,
    measure: bool,
) -> int:
    """Write a source for OPERATION: spmv, spmm, conv2d or depthwise.

    The weights are written beside the source, as .npy files, in the order in which the array takes
    them. With --target fim, write a source for GRAPH, an ONNX file. Exit status 1: the outputs of
    --measure differ from NumPy's.
    """
    from macaw import files, layer_lowering

    check_target_options(ctx, target)
    if target == "fim":
        click.echo("hint: `macaw compile --core fim` does the same into a folder", err=True)
        return lower_fim.lower(
            operation,
            output,
            device=device,
            number_format=number_format,
            dims=lower_fim.dimensions(dims),
            dynamic=dynamic,
            resident=lower_fim.budget(resident),
            explain=explain,
            measure=measure,
            makes_folder=False,
        )
    if operation.lower().endswith(".onnx"):
        raise click.UsageError(f"{operation} is a graph, which --target fim takes", ctx)
    if weights is None:
        raise click.UsageError("Missing option '-w' / '--weights'.", ctx)
    path = files.file_path(output or f"{operation}.s")
    inputs = [weights, *([bias] if bias else [])]
    with ProgressBar("lowering"):
        lowering = layer_lowering.lower(
            operation,
            files.read_array(weights),
            rows=rows,
            image=(image, image) if isinstance(image, int) else image,
            stride=stride,
            padding=padding,
            pads=pads,
            dilation=dilation,
            groups=groups,
            batch=batch,
            layout=layout,
            out_layout=out_layout,
            bias=files.read_array(bias) if bias else None,
            activation=activation,
            shift=shift,
            device=device,
            mapping=mapping,
            split=split,
            density=density,
            name=path.stem,
        )
    beside = [path.parent / name for name in (*lowering.files, *lowering.program.texts)]
    files.refuse_overwriting([path, *beside], inputs)
    lowering.write(path)
    click.echo("\n".join(lowering.reasons()))
    if explain:
        click.echo(_choice_table(lowering))
    if not measure:
        return EXIT_SUCCESS
    with ProgressBar("measuring"):
        measurement = lowering.measure()
    click.echo(_measurement_table(lowering, measurement))
    return EXIT_SUCCESS if measurement.equal else EXIT_FAILURE


def lowering_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of `macaw.lower` or `macaw.lower_graph` for the command's parameters.

    `given` has the values of the parameters by name.
    """
    if given["target"] == "fim":
        return {
            "graph": given["operation"],
            "device": given["device"],
            "number_format": given["number_format"],
            "dims": lower_fim.dimensions(given["dims"]),
            "dynamic": given["dynamic"],
            "resident": lower_fim.budget(given["resident"]),
        }
    found = {key: value for key, value in given.items() if key not in _NOT_OF_LOWERING}
    image = found["image"]
    found["image"] = (image, image) if isinstance(image, int) else image
    return found


def check_target_options(ctx: click.Context, target: str) -> None:
    """Raise `UsageError` for an option of `ctx` that applies to another target than `target`."""
    for other, names in ONLY.items():
        for option in ctx.command.params:
            is_given = ctx.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
            if other != target and option.name in names and is_given:
                raise click.UsageError(f"{option.opts[-1]} is of --target {other}", ctx)


def _choice_table(lowering: Lowering) -> str:
    """Return a table of all mappings and splits as text, the cheapest one first."""
    from macaw.lowering.image_plan import ImagePlan

    rows = []
    for item in lowering.choice.others:
        plan, price = item.plan, item.cost
        sides = (plan.tile.m, plan.tile.n, plan.tile.k)
        if isinstance(plan, ImagePlan):
            sides = (plan.tile.outputs, plan.tile.n, plan.slab_channels)
        tile = "×".join(map(str, sides))
        numbers = (f"{n:,}" for n in (plan.steps, price.cycles, price.traffic.external))
        rows.append((plan.mapping.name, plan.partition.split, tile, *numbers, price.bottleneck))
    headings = ("mapping", "split", "tile m×n×k", "iterations", "cycles", "bytes", "waits for")
    if is_plain():
        return "\n".join(records(headings, rows))
    lines = (
        f"{row[0]:<8} {row[1]:<5} {row[2]:<14} {row[3]:>10} {row[4]:>12} {row[5]:>12}  {row[6]}"
        for row in (headings, *rows)
    )
    return "\n".join(lines)


def _measurement_table(lowering: Lowering, measurement: Measurement) -> str:
    price = lowering.cost
    rows = [
        ("cycles", price.cycles, measurement.cycles),
        ("rows at work", price.rows, measurement.rows),
        ("dma at work", price.dma, measurement.dma),
        ("bytes, external", price.traffic.external, measurement.external_bytes),
    ]
    if is_plain():
        lines = [f"{name}; predicted {guess:,}; measured {real:,}" for name, guess, real in rows]
    else:
        lines = [f"{'':<16} {'predicted':>12} {'measured':>12}"]
        lines += [f"{name:<16} {guess:>12,} {real:>12,}" for name, guess, real in rows]
    equal = "equal NumPy's" if measurement.equal else "differ from NumPy's"
    if lowering.product.types(lowering.config).result.startswith("float"):
        equal += " up to rounding" if measurement.equal else " by more than rounding"
    return "\n".join([*lines, f"outputs {equal}"])
