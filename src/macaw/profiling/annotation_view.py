"""Chooses and orders the rows that show an annotation: lines of the source, and sums of lines.

The rows of a view add up to the annotation, because lines that are left out are summed up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from macaw.emu.critical_path import heat_of
from macaw.errors import InputError
from macaw.phrases import suggestion
from macaw.profiling.annotation import AnnotatedLine, Annotation

KEYS = ("run", "cycles", "macs", "bytes")  # by which lines are sorted
CONTEXT = 3  # lines that are shown before and after each chosen line
NO_LINE = "(no instruction)"


@dataclass(frozen=True)
class Choice:
    """The lines that a view shows, and their order.

    `sort` is the measure by which lines are sorted; if it is empty, they have the order of the
    source. The view leaves out lines whose share is below `least`, and all but the `most` costliest
    lines. Around each line it shows `context` neighbours.
    """

    sort: str = ""  # of `KEYS`; empty: in the order of the source, with lines without a cost
    most: int | None = None  # None: no limit
    least: float = 0.0  # from 0 to 1
    context: int = CONTEXT  # lines of the file that are shown before and after each chosen line


@dataclass(frozen=True)
class Costs:
    """The costs of one or several lines, added up.

    `run` are device cycles on the critical path of the run, `cycles` those of all cores, times
    their units. `by_row` has `run` by row of the timeline.
    """

    run: int
    cycles: int
    macs: int
    bytes: int
    by_row: Mapping[str, int] | None  # `run` by row of the timeline


@dataclass(frozen=True)
class ViewRow:
    """A row of a view: a line of the source, or the sum of lines that are left out.

    `hidden` is the number of lines that are left out, or 0 for a line. `costs` is None for a line
    without costs.
    """

    text: str  # of the line
    file: str = ""
    number: int = 0  # of the line in its file, from 1 on; 0: none
    place: str = ""  # such as "layer.s:12"; empty below the heading of the file
    line: AnnotatedLine | None = None
    hidden: int = 0  # number of lines that are left out; 0: the row is one line
    costs: Costs | None = None  # None: the line has no cost


@dataclass(frozen=True)
class Section:
    """A part of a view: the rows of one file, or the rows of all files in sorted order."""

    title: str
    file: str  # empty for the sorted lines of all files
    costs: Costs  # of the whole file or list
    rows: tuple[ViewRow, ...]


def sum_costs(lines: Iterable[AnnotatedLine]) -> Costs:
    """Return the costs of `lines`, added up."""
    lines, by_row = list(lines), Counter[str]()
    for line in lines:
        for cost in line.costs:
            by_row[cost.row] += sum(cost.run.values())
    return Costs(
        sum(line.run for line in lines),
        sum(line.cycles for line in lines),
        sum(line.macs for line in lines),
        sum(line.bytes for line in lines),
        by_row,
    )


def of_cores(annotation: Annotation, names: Collection[str]) -> Annotation:
    """Return the annotation with the costs of some cores only.

    `names` are names of cores, such as "pe[0]", or of rows of the timeline, such as "pe". `units`
    of the result has only these cores, and the heat of a line counts only their cycles.
    Raises `InputError` if no core that worked has one of the names.
    """
    costs = [cost for line in annotation.lines for cost in line.costs]
    rows = {cost.core: cost.row for cost in costs if cost.core in annotation.units}
    for name in names:
        if name not in rows and name not in rows.values():
            known = dict.fromkeys([*rows, *rows.values()])
            if any(name in (cost.core, cost.row) for cost in costs):
                raise InputError(f"{name} did nothing in this run", suggestion("", known))
            raise InputError(f"no core is called '{name}'", suggestion(name, known))
    units = {
        core: units for core, units in annotation.units.items() if {core, rows[core]} & {*names}
    }
    whole = annotation.cycles * sum(units.values())
    lines = [_of_cores(line, units, whole) for line in annotation.lines]
    return replace(annotation, units=units, lines=tuple(line for line in lines if line.costs))


def _of_cores(line: AnnotatedLine, cores: Collection[str], whole: int) -> AnnotatedLine:
    costs = tuple(cost for cost in line.costs if cost.core in cores)
    causes: Counter[str] = Counter()
    for cost in costs:
        causes.update(cost.cycles)
    return replace(
        line,
        run=sum(sum(cost.run.values()) for cost in costs),
        causes=dict(causes.most_common()),
        macs=sum(cost.macs for cost in costs),
        bytes=sum(sum(cost.bytes.values()) for cost in costs),
        heat=heat_of(causes.total(), whole) if line.place else 0,
        costs=costs,
    )


def sections(annotation: Annotation, choice: Choice, measure: str) -> Iterator[Section]:
    """Yield the sections of a view: one for each file, or a single one if `choice` sorts the lines.

    `measure` is one of `KEYS`. A line's share is its part of the sum of `measure` over
    all lines.
    """
    whole = sum(getattr(line, measure) for line in annotation.lines)
    key = choice.sort or measure
    lines = [line for line in annotation.lines if line.place or getattr(line, measure)]
    annotation = replace(annotation, lines=tuple(lines))
    order = sorted(lines, key=lambda line: -getattr(line, key))
    chosen = [line for line in order if getattr(line, measure) >= choice.least * whole]
    chosen = [line for line in chosen[: choice.most] if not choice.sort or getattr(line, key)]
    if choice.sort:
        yield _sorted(annotation, chosen, f"lines by {choice.sort}")
        return
    ids = {id(line) for line in chosen}
    for file in dict.fromkeys(line.file for line in annotation.lines):
        lines = [line for line in annotation.lines if line.file == file]
        if file:
            title = lines[0].place.rpartition(":")[0]
            source = annotation.sources.get(file, ())
            rows = [*_file_rows(lines, ids, source, choice.context)]
        else:
            title = "without a line of the source"
            ids.update(id(line) for line in lines if not line.place)
            shown = [line for line in lines if id(line) in ids]
            rest = [line for line in lines if id(line) not in ids]
            rows = [*map(_row, shown[:-1]), *_left_out(rest), *map(_row, shown[-1:])]
        yield Section(title, file, sum_costs(lines), tuple(rows))


def _sorted(annotation: Annotation, chosen: Sequence[AnnotatedLine], title: str) -> Section:
    ids = {id(line) for line in chosen}
    rest = [line for line in annotation.lines if id(line) not in ids]
    rows = [*map(_row, chosen), *_left_out(rest)]
    return Section(title, "", sum_costs(annotation.lines), tuple(rows))


def _row(line: AnnotatedLine) -> ViewRow:
    text = line.text if line.place else NO_LINE
    return ViewRow(text, line.file, line.number, line.place, line, costs=sum_costs([line]))


def _left_out(lines: Iterable[AnnotatedLine]) -> Iterator[ViewRow]:
    """Yield one row with the costs of `lines`, which a view leaves out; nothing without lines."""
    lines = list(lines)
    if lines:
        yield ViewRow("", hidden=len(lines), costs=sum_costs(lines))


def _file_rows(
    lines: Sequence[AnnotatedLine], chosen: Collection[int], source: Sequence[str], context: int
) -> Iterator[ViewRow]:
    """Yield the rows of a file: chosen lines with their neighbours, and one row for each gap.

    `lines` are the lines of the file with a cost, `chosen` has the identities (`id`) of those to
    show. `source` is the text of all lines of the file. `context` is the number of neighbours.
    """
    by_number = {line.number: line for line in lines}
    last = max(len(source), lines[-1].number)
    shown: set[int] = set()
    for line in lines:
        if id(line) in chosen:
            reach = context if source else 0
            near = range(max(1, line.number - reach), min(last, line.number + reach) + 1)
            shown.update(near)
    before = 0
    for number in [*sorted(shown), last + 1]:
        if number > before + 1:
            gap = [line for line in lines if before < line.number < number]
            if source or gap:
                costs = sum_costs(gap) if gap else None
                yield ViewRow("", hidden=number - before - 1 if source else len(gap), costs=costs)
        if number <= last:
            found = by_number.get(number)
            text = source[number - 1] if number <= len(source) else found.text if found else ""
            costs = None if found is None else sum_costs([found])
            yield ViewRow(text, lines[0].file, number, "", found, costs=costs)
        before = number
