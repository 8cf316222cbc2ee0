"""`macaw lower --target fim`: a graph to a program for the fim islands."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from macaw.commands.options import DIGITS
from macaw.errors import DONE

if TYPE_CHECKING:
    from macaw.fim_lowering import GraphLowering, MeasuredGraph
    from macaw.lowering.fim.plan import Plan


def dimensions(words: Sequence[str]) -> dict[str, int]:
    """NAME=N, several of them."""
    found = {}
    for word in words:
        name, _, number = word.partition("=")
        if not (name and number.isascii() and number.isdigit()):
            raise click.UsageError(f"--dim '{word}' is not of the form NAME=N")
        if len(number) > DIGITS:
            raise click.UsageError(f"--dim '{word[:40]}': a size has {DIGITS} digits at most")
        found[name] = int(number)
    return found


def lower(
    graph: str,
    output: str | None,
    *,
    device: str,
    number_format: str,
    dims: Mapping[str, int],
    dynamic: bool,
    explain: bool,
    measure: bool,
) -> int:
    """Write the source of a graph, and print what was asked for."""
    from macaw import files
    from macaw.fim_lowering import lower_graph

    target = Path(output or f"{Path(graph).stem}.s")
    found = lower_graph(
        graph,
        device=device,
        number_format=number_format,
        dims=dims,
        dynamic=dynamic,
        name=target.stem,
    )
    beside = [target.parent / name for name in (*found.files, *found.program.texts)]
    files.keep_inputs([target, *beside], [graph])
    found.write(target)
    width = shutil.get_terminal_size().columns
    click.echo("\n".join(_told(found, explain, width)))
    if measure:
        click.echo(_measured(found, found.measure()))
    return DONE


def _told(found: GraphLowering, explain: bool, width: int) -> Iterator[str]:
    if found.dynamic:
        yield "cp decides at run time which island does what; decided beforehand it would be:"
    yield from found.steps()
    yield ""
    if explain:
        for line in found.reasons():
            yield textwrap.fill(line, max(width, 60), subsequent_indent=" " * 7)
        yield ""
    yield from found.timeline(width)
    yield f"{found.cycles:,} cycles predicted."


def _measured(found: GraphLowering, measured: MeasuredGraph) -> str:
    """Predicted beside emulated: each step's blocks, and all of it."""
    from macaw.lowering.fim import explain
    from macaw.lowering.fim.plan import START

    ways, plan = found.ways(), found.plan
    rows = [["", "", "predicted", "emulated"]]
    for row in measured.steps:
        step = ways[row.number]
        guess = plan.action(START, step.number) if _is_island(plan, step.number) else None
        predicted = f"{guess.begin:,} to {guess.end:,}" if guess else "the host"
        emulated = f"{row.begin:,} to {row.end:,}"
        rows.append([explain.mark(step), f"island {row.island}", predicted, emulated])
    rows.append(["", "dma at work", f"{found.dma:,}", f"{measured.dma:,}"])
    rows.append(["", "cycles", f"{found.cycles:,}", f"{measured.cycles:,}"])
    widths = [max(len(row[place]) for row in rows) for place in range(4)]
    lines = [
        f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:>{widths[2]}}"
        f"  {row[3]:>{widths[3]}}"
        for row in rows
    ]
    lines.append(f"outputs differ from float64 by at most {measured.error:.2g} of the largest")
    return "\n".join(lines)


def _is_island(plan: Plan, number: int) -> bool:
    return plan.steps[number].option.island is not None
