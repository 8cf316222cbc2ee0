"""Tables of counters for notebooks: one table for each kind of core that did some work."""

from __future__ import annotations

from collections.abc import Mapping

from macaw.emu.device import Device
from macaw.execution import combine_counters
from macaw.isa.common import TRAFFIC
from macaw.notebook.markup import Column, Markup, table

MOST_CORES = 8  # of a kind that have columns of their own


def counter_tables(device: Device, counters: Mapping[str, Mapping[str, int]]) -> list[Markup]:
    """Return, for each kind of core of a device, a table of the counters that are not zero.

    The table has one column of values for all cores of the kind together. It also has a column for
    each core that did some work, if there are at least two such cores and at most `MOST_CORES`.
    """
    kinds: dict[str, list[str]] = {}
    for name, core in device.cores.items():
        if any(counters.get(name, {}).values()):
            kinds.setdefault(core.table.name, []).append(name)
    return [_counter_table(device, kind, cores, counters) for kind, cores in kinds.items()]


def _counter_table(
    device: Device, kind: str, cores: list[str], counters: Mapping[str, Mapping[str, int]]
) -> Markup:
    rows = {row.name: row for row in (*device.cores[cores[0]].table.counters, *TRAFFIC)}
    names = dict.fromkeys(name for core in cores for name in counters[core])
    columns = cores if 1 < len(cores) <= MOST_CORES else []
    lines = []
    for name in names:
        values = [counters[core].get(name, 0) for core in cores]
        if not any(values):
            continue
        row = rows.get(name)
        numbers = [*(values if columns else ()), combine_counters(row, values)]
        about = [row.unit, row.meaning] if row else ["", ""]
        lines.append([name, *(f"{value:,}" for value in numbers), *about])
    heading = "all" if len(cores) > 1 else "value"
    head = [
        Column("counter"),
        *(Column(core, True) for core in columns),
        Column(heading, True),
        Column("unit"),
        Column("meaning"),
    ]
    return table(head, lines, kind)
