"""Tables of a profile: columns of equal length by name, as `pandas.DataFrame` takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from macaw import arguments
from macaw.arguments import check_arguments
from macaw.profiling.account import CauseCycles
from macaw.profiling.model import Profile

Table = dict[str, list[Any]]
Row = Mapping[str, Any]


@check_arguments(profile=arguments.instance("a Profile", "macaw.profiling.model:Profile"))
def profile_tables(profile: Profile) -> dict[str, Table]:
    """Return the tables of a profile by name; each table has a list for each column.

    All columns of a table have the same length. A table without rows has no columns. Cycles are
    device cycles; in `causes` and `lines` they are multiplied by the units of the core.

    `slices` has the records of the register groups, with their counters. `metrics` has the metrics
    of slices. `causes` has the tree of each core's account, one row for each cause. `lines` has the
    lines of each account. `annotation` has the lines of the source. `roofs` has a row for each
    memory of a core. `energy` has a row for each kind of activity of a core. Raises `InputError` if
    `profile` is no profile.
    """
    return {name: _columns(rows(profile)) for name, rows in _TABLES.items()}


def _columns(rows: Iterable[Row]) -> Table:
    """Return rows as a table of columns. A row that lacks a column has None in this column."""
    listed = list(rows)
    names = dict.fromkeys(name for row in listed for name in row)
    return {name: [row.get(name) for row in listed] for name in names}


def _members(item: object, names: str) -> dict[str, Any]:
    return {name: getattr(item, name) for name in names.split()}


def _slices(profile: Profile) -> Iterator[Row]:
    names = "core row begin end cycles waited first instructions name place layer"
    for track in profile.rows:
        for item in track.slices:
            yield {**_members(item, names), **item.counters}


def _metrics(profile: Profile) -> Iterator[Row]:
    for group in profile.groups:
        for metric in group.metrics:
            yield {
                **_members(group.slice, "core begin end place"),
                **_members(metric, "key value threshold ok"),
            }


def _findings(profile: Profile) -> Iterator[Row]:
    for item in profile.findings:
        yield _members(item, "core cause where saved cycles advice")


def _missed(profile: Profile) -> Iterator[Row]:
    for item in profile.missed_thresholds:
        yield {
            **_members(item, "core where"),
            **_members(item.metric, "key value"),
            **_members(item, "sentence cycles slices cost"),
        }


def _series(profile: Profile) -> Iterator[Row]:
    for item in profile.series:
        for cycle, value in item.points:
            yield {**_members(item, "name unit row"), "cycle": cycle, "value": value}


def _causes(profile: Profile) -> Iterator[Row]:
    for account in profile.accounts:
        for cause in account.causes:
            yield from _branch({"core": account.core, "row": account.row}, cause, "")


def _branch(core: Row, cause: CauseCycles, above: str) -> Iterator[Row]:
    yield {**core, "cause": cause.name, "above": above, "cycles": cause.cycles}
    for below in cause.below:
        yield from _branch(core, below, cause.name)


def _lines(profile: Profile) -> Iterator[Row]:
    for account in profile.accounts:
        for line in account.lines:
            yield {"core": account.core, **_members(line, "place text file number cycles run")}


def _annotation(profile: Profile) -> Iterator[Row]:
    for line in profile.lines:
        yield _members(line, "place text file number run cycles macs bytes heat")


def _layers(profile: Profile) -> Iterator[Row]:
    for layer in profile.layers:
        yield _members(layer, "name operator core begin end cycles predicted bound")


def _roofs(profile: Profile) -> Iterator[Row]:
    for roof in profile.work.roofs if profile.work is not None else ():
        for level in roof.levels:
            yield {
                **_members(roof, "core row operations cycles rate peak"),
                "memory": level.memory,
                "bytes": level.bytes,
                "ceiling": roof.ceiling(level),
            }


def _energy(profile: Profile) -> Iterator[Row]:
    for core in profile.energy.cores if profile.energy is not None else ():
        for kind, energy in core.kinds.items():
            yield {"core": core.core, "row": core.row, "kind": kind, "picojoules": energy}


def _differences(profile: Profile) -> Iterator[Row]:
    for item in profile.differences:
        yield _members(item, "what before after better")


_TABLES: Mapping[str, Callable[[Profile], Iterator[Row]]] = {
    "slices": _slices,
    "metrics": _metrics,
    "findings": _findings,
    "missed_thresholds": _missed,
    "series": _series,
    "causes": _causes,
    "lines": _lines,
    "annotation": _annotation,
    "layers": _layers,
    "roofs": _roofs,
    "energy": _energy,
    "differences": _differences,
}
