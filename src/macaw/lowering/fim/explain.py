"""Explains a plan in text: what each step does where and why, and a timeline of the islands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from macaw.isa.fim_circuit import ARRANGEMENT_NAMES
from macaw.lowering.fim.clock import simulate
from macaw.lowering.fim.graph import GATHER, PRODUCT, SCATTER, Task
from macaw.lowering.fim.plan import BRING, FETCH, HOST, PREFETCH, GraphPlan, Option, Refusal, Step
from macaw.lowering.operation import counted

MARKS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
FAR = 3  # options with more than this factor times the chosen cycles are counted, not listed
WAITS, IDLE = "-", "."
NARROW = 40  # least number of columns


def describe(task: Task) -> str:
    """Return a task as a formula with its sizes, for example `y = x · w (1 x 256 x 256)`."""
    inputs, output = task.inputs, task.output
    if task.kind == PRODUCT:
        a, b = inputs
        return f"{output.name} = {a.name} · {b.name} ({a.rows} x {a.columns} x {b.columns})"
    if task.kind in (GATHER, SCATTER):
        where = "from" if task.kind == GATHER else "of"
        into = f" into {inputs[1].name}" if len(inputs) > 1 else ""
        parts = f"{counted(len(task.places), 'segment')} of {task.width}"
        return f"{output.name} = {task.kind} {where} {inputs[0].name}{into} ({parts})"
    names = ", ".join(tensor.name for tensor in inputs)
    return f"{output.name} = {task.function}({names}) ({output.rows} x {output.columns})"


HEADINGS = ("", "where", "in", "computes", "out", "begin", "end")


def step_rows(plan: GraphPlan) -> list[tuple[str, ...]]:
    """Return a row of texts for each step, with the columns of `HEADINGS`.

    The texts are the step's mark, the name of its option, the cycles to bring, compute and fetch,
    and the cycles in which the step begins and ends.
    """
    rows = []
    for step in plan.steps:
        option = step.option
        times = [row for row in plan.actions if row.step == step.number and row.kind != PREFETCH]
        begin, end = min(row.begin for row in times), max(row.end for row in times)
        numbers = [plan.bring_cycles(step), option.compute, option.fetch, begin, end]
        rows.append((mark(step), option.name, *(f"{number:,}" for number in numbers)))
    return rows


def steps(plan: GraphPlan) -> list[str]:
    """Return the lines of a table of the steps; the line of a step is followed by its tasks."""
    rows = [HEADINGS, *step_rows(plan)]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = [
        f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  "
        + "  ".join(f"{row[place]:>{widths[place]}}" for place in range(2, len(row)))
        for row in rows
    ]
    table = lines[:1]
    for line, step in zip(lines[1:], plan.steps, strict=True):
        table += [line, *(f"   {describe(task)}" for task in step.tasks)]
        table += [f"   {text}" for text in _constants(plan, step)]
    return table


def _constants(plan: GraphPlan, step: Step) -> Iterator[str]:
    """Yield a line if a step's constants come into the banks before its other inputs.

    The line says in which cycles they are copied, or which earlier step used them. There is no line
    if the loader writes the constants, or if they are copied with the other inputs.
    """
    if step.number in plan.holders:
        yield f"its constants are in the banks, as step {plan.holders[step.number]} used them"
    elif step.number in plan.prefetched:
        copied = plan.action(PREFETCH, step.number)
        yield f"its constants come in advance, in cycles {copied.begin:,} to {copied.end:,}"


def mark(step: Step) -> str:
    """Return the character that represents a step in the timeline."""
    return MARKS[step.number % len(MARKS)]


# --- reasons ---


def reasons(plan: GraphPlan) -> list[str]:
    """Return lines that explain the choice of each step's island and layout."""
    lines = []
    for step in plan.steps:
        lines += [
            f"{'' if place else mark(step):<2} {describe(task)}"
            for place, task in enumerate(step.tasks)
        ]
        lines += [f"     {line}" for line in _why(plan, step)]
    return lines


def _why(plan: GraphPlan, step: Step) -> Iterator[str]:
    option, others = step.option, plan.options_by_cost[step.number]
    yield f"{option.name}: {_costs(option, option.bring - plan.bring_cycles(step))}"
    whole = plan.issued[plan.issued_index(step)]
    if whole.parts:
        region = option.job.region
        yield (
            f"part {whole.parts.index(option) + 1} of {len(whole.parts)}: rows {region.row} to"
            f" {region.row + region.rows - 1}, columns {region.column} to"
            f" {region.column + region.columns - 1}"
        )
        option = whole
    products = sum(task.kind == PRODUCT for task in option.tasks)
    if option.pair and products > 2:
        buffers = f"{products - 1} buffers of {option.buffer} columns together"
        yield f"{products} products at once, with {buffers}"
    elif option.pair:
        yield f"producer and consumer at once, with a buffer of {option.buffer} columns"
    if step.option.residency is not None:
        rows = counted(step.option.residency.rows, "row", ",")
        yield f"its constants stay in {rows} of each bank (resident)"
    yield from _constants(plan, step)
    if plan.separate_end[step.number]:
        yield f"as steps of their own they {_ends(plan, plan.separate_end[step.number])}"
    least = others[0]
    if option.total > least.total:
        more = option.total - least.total
        yield (
            f"{more:,} cycles more than {least.name} would take alone,"
            f" which {_later(plan, step, least)}"
        )
    near = [row for row in others if row.total <= FAR * max(option.total, least.total)]
    for other in near:
        if other is not option and (other is not least or option.total <= least.total):
            yield f"{other.name}: {other.total:,} cycles; it {_later(plan, step, other)}"
    if far := others[len(near) :]:
        names = dict.fromkeys(ARRANGEMENT_NAMES[row.layout] for row in far)
        yield f"{len(far)} more, by {', '.join(names)}: {far[0].total:,} cycles and more"
    yield from _refusals(plan.refusals[step.number])


def _costs(option: Option, there: int) -> str:
    """Return a phrase with the cycles of an option.

    `there` is the number of cycles of copies that the option's step does not need, because the
    constants are in the banks when the step begins.
    """
    order = f" ({option.reorder:,} since they lie in another order)" if option.reorder else ""
    if option.island is None:
        parts = [(option.bring, "copying"), (option.compute, "computing")]
        return " and ".join(f"{cycles:,} cycles {what}" for cycles, what in parts if cycles)
    with_constants = f"; {option.total:,} with the copies of its constants" if there else ""
    return (
        f"{option.total - there:,} cycles, {option.bring - there:,} to bring the inputs in{order},"
        f" {option.compute:,} computing, {option.fetch:,} to fetch the results{with_constants}"
    )


def _later(plan: GraphPlan, step: Step, other: Option) -> str:
    """Return a phrase that says when the plan would end if a step used option `other`."""
    options = list(plan.issued)
    options[plan.issued_index(step)] = other
    return _ends(plan, simulate(options).clock.end)


def _ends(plan: GraphPlan, end: int) -> str:
    """Return a phrase that compares `end`, the end of another plan, with the end of `plan`.

    Only the chosen plan has exact times; `end` is a time that `clock` predicted. So the function
    compares it with the end that `clock` predicts for `plan`, not with the exact `plan.makespan`.
    """
    later = end - simulate(plan.issued).clock.end
    if later == 0:
        return "would end the plan in the same cycle"
    return f"would end the plan {abs(later):,} cycles {'later' if later > 0 else 'sooner'}"


def _refusals(refusals: Sequence[Refusal]) -> Iterator[str]:
    """Yield a line for each island with refusals: the layouts refused, and the first reason."""
    by_island: dict[int | None, dict[str, list[int]]] = {}
    for row in refusals:
        by_island.setdefault(row.island, {}).setdefault(row.why, []).append(row.layout)
    for island, whys in by_island.items():
        layouts = (ARRANGEMENT_NAMES[layout] for rows in whys.values() for layout in rows)
        yield f"not island {island} by {', '.join(layouts)}: {next(iter(whys))}"


# --- timeline ---


def timeline(plan: GraphPlan, width: int) -> list[str]:
    """Return the lines of a picture: the work of dma, islands and host over time.

    Each of these has a line of up to `width` characters, or `NARROW` if that is more. A character
    is the mark of the step at work there, `WAITS` if the step waits, or `IDLE` without a step. The
    first line is an axis of cycles. The last line says how many cycles a character stands for.
    """
    islands = sorted({step.option.island for step in plan.steps if step.option.island is not None})
    names = ["dma in", "dma out", *(f"island {island}" for island in islands)]
    if any(step.option.island is None for step in plan.steps):
        names.append("host")
    left = max(map(len, names)) + 1
    columns = max(width, NARROW) - left
    each = max(1, -(-plan.makespan // columns))
    count = -(-plan.makespan // each) if plan.makespan else 0
    rows = {name: [IDLE] * count for name in names}
    for action in plan.actions:
        _draw(rows, plan, action.kind, action.step, action.begin, action.end, each)
    lines = [" " * left + _axis(each, count)]
    lines += [f"{name:<{left}}{''.join(row)}" for name, row in rows.items()]
    cycles = f"{each:,} cycles" if each > 1 else "a cycle"
    lines.append(f"A character is {cycles}: the step at work, {WAITS} if it waits, {IDLE} if none.")
    return lines


def _draw(
    rows: dict[str, list[str]],
    plan: GraphPlan,
    kind: str,
    number: int,
    begin: int,
    end: int,
    each: int,
) -> None:
    step = plan.steps[number]
    option = step.option
    name = {PREFETCH: "dma in", BRING: "dma in", FETCH: "dma out", HOST: "host"}.get(
        kind, f"island {option.island}"
    )
    works = {BRING: plan.bring_cycles(step), FETCH: option.fetch}.get(kind, end - begin)
    for column in range(begin // each, -(-end // each)):
        middle = min(max(begin, column * each + each // 2), end - 1)
        rows[name][column] = mark(step) if middle >= end - works else WAITS
    if kind == HOST and option.bring:  # its copies come first, then cp computes
        for column in range(begin // each, -(-(begin + option.bring) // each)):
            rows["dma in"][column] = mark(step)


def _axis(each: int, count: int) -> str:
    """Return the axis of the timeline, with a cycle number at every twelfth character.

    A character stands for `each` cycles; there are `count` characters.
    """
    line = ""
    for column in range(0, count, 12):
        line = f"{line:<{column}}" + f"{column * each:,} "
    return line.rstrip()
