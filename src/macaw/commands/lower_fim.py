"""The commands `macaw compile --core fim` and `macaw lower --target fim`: a graph on islands."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from macaw.commands.options import DIGITS
from macaw.errors import EXIT_SUCCESS
from macaw.terminal.plain import is_plain, record, records
from macaw.terminal.progress_bar import ProgressBar

if TYPE_CHECKING:
    from macaw.fim_lowering import GraphLowering, GraphMeasurement
    from macaw.lowering.fim.plan import GraphPlan

CORE = "fim"
# Options of `macaw lower` and of `macaw compile --core fim`.
format_option = click.option(
    "--format",
    "number_format",
    metavar="NAME",
    help="Number format of a graph on islands: fp16, fp32 or bf16; default the first one that they"
    " have; int8 of a quantised model.",
)
dynamic_option = click.option(
    "--dynamic",
    is_flag=True,
    help="Let cp decide at run time which island does which task of a graph.",
)
resident_option = click.option(
    "--resident",
    default="50%",
    metavar="BYTES|N%",
    help="Bytes or share of each island's banks for constants of a graph that stay there;"
    " default 50%, 0 copies all at each run.",
)
islands_option = click.option(
    "--islands",
    multiple=True,
    metavar="NAME",
    help="Compute layer NAME, or all with operator NAME, on fim islands.",
)
explain_option = click.option("--explain", is_flag=True, help="Print the cost of the alternatives.")
measure_option = click.option(
    "--measure", is_flag=True, help="Run the program and print measured beside predicted costs."
)


def dimensions(words: Sequence[str]) -> dict[str, int]:
    """Return the options NAME=N as a dictionary of sizes by dimension.

    Raises `click.UsageError` for a word of another form, and for a dimension that occurs twice.
    """
    sizes: dict[str, int] = {}
    for word in words:
        name, _, number = word.partition("=")
        if not (name and number.isascii() and number.isdigit()):
            raise click.UsageError(f"--dim '{word}' is not of the form NAME=N")
        if len(number) > DIGITS:
            raise click.UsageError(f"--dim '{word[:40]}': a size has {DIGITS} digits at most")
        if name in sizes:
            raise click.UsageError(f"--dim gives {name} twice")
        sizes[name] = int(number)
    return sizes


def budget(word: str) -> float:
    """Return the value of `--resident` in `word`: bytes as an integer, or N% as a share up to 1.0.

    Raises `click.UsageError` for any other text.
    """
    number = word.removesuffix("%")
    if not (number.isascii() and number.isdigit() and len(number) <= DIGITS):
        raise click.UsageError(f"--resident '{word[:40]}' is not of the form BYTES or N%")
    if number == word:
        return int(number)
    if int(number) > 100:
        raise click.UsageError(f"--resident {word}: a share is 100% at most")
    return int(number) / 100


def lower(
    graph: str,
    output: str | None,
    *,
    device: str,
    number_format: str | None,
    dims: Mapping[str, int],
    dynamic: bool,
    resident: float,
    explain: bool,
    measure: bool,
    makes_folder: bool,
) -> int:
    """Write the source of a graph and print its plan. With `measure`, also run the program.

    `graph` is the path of the ONNX file, `output` the path of the source. The other arguments are
    those of `macaw.lower_graph` and of the commands. With `makes_folder`, the folder of the source
    may be missing; the function makes it after the graph has been lowered. Returns the exit status
    0.
    """
    from macaw import files
    from macaw.fim_lowering import lower_graph

    target = files.file_path(output or f"{Path(graph).stem}.s")
    with ProgressBar("lowering"):
        lowering = lower_graph(
            graph,
            device=device,
            number_format=number_format,
            dims=dims,
            dynamic=dynamic,
            resident=resident,
            name=target.stem,
        )
    beside = [target.parent / name for name in (*lowering.files, *lowering.program.texts)]
    files.refuse_overwriting([target, *beside], [graph])
    if makes_folder:
        files.make_folder(target.parent)
    lowering.write(target)
    width = None if is_plain() else shutil.get_terminal_size().columns
    click.echo("\n".join(_plan_lines(lowering, explain, width)))
    if measure:
        with ProgressBar("measuring"):
            measurement = lowering.measure()
        click.echo(_measurement_table(lowering, measurement))
    return EXIT_SUCCESS


def _plan_lines(lowering: GraphLowering, explain: bool, width: int | None) -> Iterator[str]:
    """Yield the plan as lines for a screen of `width` columns; with `explain`, also the reasons.

    If `width` is None, each step is one line of fields, and there is no chart.
    """
    if lowering.dynamic:
        yield "cp decides at run time which island does what; decided beforehand it would be:"
    yield from _step_records(lowering) if width is None else lowering.steps()
    yield ""
    if explain:
        for reason in lowering.reasons():
            line = reason
            if width is not None:
                line = textwrap.fill(line, max(width, 60), subsequent_indent=" " * 7)
            yield line
        yield ""
    if width is not None:
        yield from lowering.timeline(width)
    if lowering.resident_bytes:
        yield f"{lowering.resident_bytes:,} bytes of constants stay in the banks (resident)."
    yield f"{lowering.cycles:,} cycles predicted."


def _step_records(lowering: GraphLowering) -> Iterator[str]:
    from macaw.lowering.fim import explain

    headings = ("step", *explain.HEADINGS[1:], "")
    rows = explain.step_rows(lowering.plan)
    for row, step in zip(rows, lowering.plan.steps, strict=True):
        yield record(headings, (*row, ", ".join(map(explain.describe, step.tasks))))


def _measurement_table(lowering: GraphLowering, measurement: GraphMeasurement) -> str:
    """Return a table of predicted and measured cycles as text: a row for each step, then totals."""
    from macaw.lowering.fim import explain
    from macaw.lowering.fim.plan import START

    steps, plan = lowering.numbered_steps(), lowering.plan
    rows = [["", "", "predicted", "emulated"]]
    for row in measurement.steps:
        step = steps[row.number]
        guess = plan.action(START, step.number) if _is_island(plan, step.number) else None
        predicted = f"{guess.begin:,} to {guess.end:,}" if guess else "the host"
        emulated = f"{row.begin:,} to {row.end:,}"
        rows.append([explain.mark(step), f"island {row.island}", predicted, emulated])
    rows.append(["", "dma at work", f"{lowering.dma:,}", f"{measurement.dma:,}"])
    rows.append(["", "cycles", f"{lowering.cycles:,}", f"{measurement.cycles:,}"])
    widths = [max(len(row[place]) for row in rows) for place in range(4)]
    lines = [
        f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:>{widths[2]}}"
        f"  {row[3]:>{widths[3]}}"
        for row in rows
    ]
    if is_plain():
        lines = [*records(("step", *rows[0][1:]), rows[1:])]
    lines.append(f"outputs differ from float64 by at most {measurement.error:.2g} of the largest")
    return "\n".join(lines)


def _is_island(plan: GraphPlan, number: int) -> bool:
    return plan.steps[number].option.island is not None
