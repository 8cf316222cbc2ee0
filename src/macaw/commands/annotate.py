"""The command `macaw annotate`: prints each line of a source with its cycles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from macaw.commands import suggestions
from macaw.commands.options import (
    LazyChoice,
    file_option,
    jitter_option,
    load_program,
    max_cycles_option,
    plain_option,
    program_options,
)
from macaw.commands.outputs import file_names, write_outputs
from macaw.errors import EXIT_SUCCESS

if TYPE_CHECKING:
    from macaw.asm.warnings import WarningChoice


def _keys() -> tuple[str, ...]:
    from macaw.profiling.annotation_view import KEYS

    return KEYS


def _percent(_ctx: click.Context, _option: click.Parameter, value: float) -> float:
    """Return the value of --min-percent; click takes nan for a number in its range."""
    if math.isnan(value):
        raise click.BadParameter("nan is not a number from 0 to 100")
    return value


@click.command("annotate", short_help="Say what each line of the source costs.")
@program_options()
@click.option(
    "--item", type=click.IntRange(min=0), default=0, metavar="I", help="Run item I of a batch."
)
@jitter_option("Add noise to the timing of DRAM.")
@click.option(
    "--core",
    "cores",
    multiple=True,
    metavar="NAME",
    help="Show only this core or kind of core, with its own cycles.",
    shell_complete=suggestions.cores,
)
@click.option(
    "--by-core", is_flag=True, help="Show a column for each kind of core, instead of causes."
)
@click.option(
    "--sort", type=LazyChoice(_keys), help="List the lines with most of it, without their context."
)
@click.option(
    "--limit", type=click.IntRange(min=0), metavar="N", help="Show only the N hottest lines."
)
@click.option(
    "--min-percent",
    "percent",
    type=click.FloatRange(0, 100),
    default=0.0,
    callback=_percent,
    metavar="P",
    help="Leave out lines with less than P percent of the cycles.",
)
@click.option(
    "--context",
    type=click.IntRange(min=0),
    metavar="N",
    help="Show N lines without a cost around each line, instead of 3.",
)
@file_option("--json", "json_file", text="Write all lines as JSON; - prints it.")
@max_cycles_option
@plain_option
def command(
    sources: tuple[str, ...],
    inputs: dict[str, str],
    device: str | None,
    choice: WarningChoice | None,
    item: int,
    jitter: int | None,
    cores: tuple[str, ...],
    by_core: bool,
    sort: str | None,
    limit: int | None,
    percent: float,
    context: int | None,
    json_file: str | None,
    max_cycles: int | None,
) -> int:
    """Run FILEs, assembly sources, an ELF executable or a folder, and print their lines.

    Beside each line are its cycles, their causes, its MACs, and the bytes that it moved. The cycles
    of all lines add up to the cycles of the run. Exit status 1: the program does not end by itself.
    """
    import json

    from macaw import files
    from macaw.emu.device import Device
    from macaw.execution import configuration_of
    from macaw.networks.compiler import program_inputs
    from macaw.profiling.annotating import annotate
    from macaw.profiling.annotation import to_json
    from macaw.profiling.annotation_report import print_annotation
    from macaw.profiling.annotation_view import CONTEXT, Choice, of_cores
    from macaw.profiling.timeline import check_core_names, core_traits
    from macaw.terminal import console
    from macaw.terminal.plain import is_plain
    from macaw.terminal.progress_bar import ProgressBar

    outputs = file_names([json_file])
    program = load_program(sources, device, inputs.values(), outputs, "another name", choice=choice)
    if cores:
        check_core_names(cores, core_traits(Device(configuration_of(program, device))))
    arrays = program_inputs(sources, files.read_arrays(inputs))
    name = ", ".join(sources) if program.network is None else program.network.name
    with ProgressBar("annotating"):
        annotation = annotate(
            program,
            arrays,
            device=device,
            item=item,
            jitter=jitter,
            max_cycles=max_cycles,
            name=name,
        )
    part = of_cores(annotation, cores) if cores else annotation
    if json_file is not None:
        text = json.dumps(to_json(annotation), ensure_ascii=False)
        if write_outputs([(json_file, files.text_bytes(text) + b"\n")]):
            return EXIT_SUCCESS
    shown = Choice(sort or "", limit, percent / 100, CONTEXT if context is None else context)
    screen = console.stdout()
    print_annotation(part, screen, shown, own=bool(cores), by_core=by_core, plain=is_plain())
    return EXIT_SUCCESS
