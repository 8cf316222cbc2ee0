"""Shows a device in a notebook: the states of its cores, its queues, a heat map of the PEs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.debugger.places import Place, counts
from macaw.debugger.state_paths import Members, count_items
from macaw.emu.core import Core
from macaw.emu.device import Device
from macaw.emu.waits import NEVER
from macaw.isa.config import settings
from macaw.notebook.counters import counter_tables
from macaw.notebook.heat import heat_map, unit_counts
from macaw.notebook.markup import Cell, Column, Markup, folded, section, step_chart, table
from macaw.phrases import plural

IDLE = "idle"
MOST_STEPS = 64  # of the chart of a queue


def device_html(device: Device) -> str:
    """Return the HTML of a device in its current state."""
    state = "no program" if device.program is None else f"cycle {device.cycle:,}"
    stop = f", {device.stopped}" if device.stopped else ""
    name = getattr(device.config, "name", "of its own settings")
    title = f"Device {name}, {device.engine} engine: {state}{stop}"
    return section(title, device_parts(device))


def device_parts(device: Device) -> list[Markup]:
    """Return a device's heat maps, and tables of its cores, queues, counters and settings."""
    maps = [heat_map(units) for units in unit_counts(device) if units.values.any()]
    counters = folded("Counters", counter_tables(device, device.counters()))
    return [_cores(device), _queues(device), *maps, counters, _settings(device)]


def _cores(device: Device) -> Markup:
    """Return a table of the cores that have worked, run or wait."""
    for core in device.order:
        core.sync()
    worked = [core for core in device.order if core.retired or _state(core) != IDLE]
    columns = [Column("core"), Column("state"), Column("next instruction"),
               Column("instructions", True)]  # fmt: skip
    rows = [[core.name, _state(core), _next(device, core), f"{core.retired:,}"] for core in worked]
    others = len(device.order) - len(worked)
    caption = f"Cores ({plural(others, 'idle core')} not shown)" if others else "Cores"
    return table(columns, rows, caption)


def _queues(device: Device) -> Markup:
    """Return a table of the queues that are not empty.

    The chart of a queue shows the level in each unit.
    """
    columns = [Column("queue"), Column("level by unit"), Column("items", True),
               Column("capacity", True), Column("meaning")]  # fmt: skip
    rows: list[list[Cell]] = []
    for core in device.order:
        members, units = Members(device, Place(core.name)), counts(core)
        for queue in core.table.queues:
            level = count_items(members.find((queue.name, "level")).read())
            if not level:
                continue
            capacity = int(members.find((queue.name, "capacity")).read())
            levels = np.asarray(getattr(core.state, queue.contents, level))
            each = levels.reshape(-1) if units and levels.shape == units else np.array([level])
            title = f"{queue.name} of {core.name}: {level:,} of {capacity:,}"
            chart = step_chart(_maxima(each), capacity / each.size, title)
            name = f"{core.name}.{queue.name}"
            rows.append([name, chart, f"{level:,}", f"{capacity:,}", queue.meaning])
    return table(columns, rows, "Queues that are not empty")


def _maxima(levels: NDArray[Any]) -> list[float]:
    """Return at most `MOST_STEPS` numbers, each the maximum of adjacent `levels`."""
    starts = np.arange(0, levels.size, -(-levels.size // MOST_STEPS))
    return [float(value) for value in np.maximum.reduceat(levels, starts)]


def _state(core: Core) -> str:
    if core.waiting is not None:
        return f"waits for {core.waiting.on}"
    return "runs" if core.time < NEVER else IDLE


def _next(device: Device, core: Core) -> str:
    """Return the address of a core's next instruction as text, with the source line if known."""
    address = core.next_address
    if address is None:
        return ""
    place = device.place(address)
    if place is not None:
        return f"{address:#010x}, {place[0]}:{place[1]}"
    return f"{address:#010x}"


def _settings(device: Device) -> Markup:
    """Return a table of the settings that differ from their defaults."""
    rows = [
        [name, str(device.config[name]), str(setting.default), setting.unit, setting.meaning]
        for name, setting in settings().items()
        if name in device.config and device.config[name] != setting.default
    ]
    columns = [Column("setting"), Column("value", True), Column("default", True), Column("unit"),
               Column("meaning")]  # fmt: skip
    return folded(
        plural(len(rows), "setting") + " that differ from the defaults", [table(columns, rows)]
    )
