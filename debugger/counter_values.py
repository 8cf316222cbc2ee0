"""What is counted on a device: cores' counters, their traffic, and register groups of the trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.isa.common import TRAFFIC
from macaw.isa.trace import GROUP, group_register

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.device import Device

Counts = dict[str, dict[str, int]]  # by core, then by name


def counted(device: Device) -> Counts:
    """All counters as they are now; behind them those of the trace's groups, `t_begin0` and on.

    Times of a group count from the start of the traced program.
    """
    found = device.counters()
    for core in device.order:
        core.sync()
        groups = core.state.trace_counters.tolist()
        for group, values in enumerate(groups):
            names = (group_register(row, group) for row in GROUP)
            found[core.name].update(zip(names, values, strict=True))
    return found


def units_of(core: Core) -> dict[str, str]:
    """The unit of each counter, by its name."""
    found = {row.name: row.unit for row in (*TRAFFIC, *core.table.counters)}
    traced = {
        row.name: found.get(row.of, "uses") if row.takes == "count" else "cycle" for row in GROUP
    }
    groups = range(len(core.state.trace_counters))
    return found | {group_register(row, at): traced[row.name] for row in GROUP for at in groups}
