"""Reads the counters of a device: those of cores, of their traffic, and of register groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.isa.common import TRAFFIC
from macaw.isa.trace import GROUP, group_register

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.device import Device

Counts = dict[str, dict[str, int]]  # by core name, then by counter name


def read_counters(device: Device) -> Counts:
    """Return the present values of all counters: {core name: {counter name: value}}.

    After its own counters, each core has the counters of its trace: groups of registers with times
    and counts of what some of its instructions did. In group 0 their names are `t_begin0` and so
    on. Times in a group are device cycles from the start of the core's program.
    """
    counts = device.counters()
    for core in device.order:
        core.sync()
        groups = core.state.trace_counters.tolist()
        for group, values in enumerate(groups):
            names = (group_register(row, group) for row in GROUP)
            counts[core.name].update(zip(names, values, strict=True))
    return counts


def counter_units(core: Core) -> dict[str, str]:
    """Return the unit of each counter of a core, by the counter's name."""
    units = {row.name: row.unit for row in (*TRAFFIC, *core.table.counters)}
    group_units = {
        row.name: units.get(row.of, "uses") if row.takes == "count" else "cycle" for row in GROUP
    }
    groups = range(len(core.state.trace_counters))
    return units | {
        group_register(row, at): group_units[row.name] for row in GROUP for at in groups
    }
