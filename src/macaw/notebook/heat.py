"""Draws a counter of the smallest units of cores, such as the PEs of an array, as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from macaw.debugger.places import Place, counts
from macaw.emu.core import Core
from macaw.emu.device import Device
from macaw.isa.model import Counter
from macaw.notebook.markup import Markup, text

MOST_CELLS = 1024  # of a map; with more units, a cell is the mean of several
CELL = 12  # pixels of a cell's side at most
MOST_WIDTH = 640  # pixels of a map
LEAST_OPACITY = 0.15  # so that a cell with 0 can be seen


@dataclass(frozen=True)
class UnitCounts:
    """The values of a counter in all units (such as PEs) of the cores of one kind.

    `values` has shape (cores, units of a core), in the device's order. `cores` are the names of the
    cores. `shape` is the number of units at each level of a core, such as (clusters, PEs of a
    cluster).
    """

    counter: Counter
    cores: tuple[str, ...]
    shape: tuple[int, ...]
    values: NDArray[np.int64]

    def place(self, line: int, column: int) -> Place:
        """Return the unit to which `values[line, column]` belongs; `line` is the core."""
        units = np.unravel_index(column, self.shape)
        return Place(self.cores[line], tuple(int(number) for number in units))


def unit_counts(device: Device) -> list[UnitCounts]:
    """Return, for each kind of core, the values of a counter in all units, such as the PEs.

    It is the first of the core's counters that has a value for each unit. Kinds of cores without
    such a counter are left out.
    """
    kinds: dict[str, list[Core]] = {}
    for core in device.order:
        kinds.setdefault(core.table.name, []).append(core)
    found = []
    for cores in kinds.values():
        shape = counts(cores[0])
        fields = {field.name for field in cores[0].state.fields if field.shape == shape != ()}
        counter = next((row for row in cores[0].table.counters if row.name in fields), None)
        if counter is None:
            continue
        for core in cores:
            core.sync()
        values = np.array([getattr(core.state, counter.name).reshape(-1) for core in cores])
        found.append(UnitCounts(counter, tuple(core.name for core in cores), shape, values))
    return found


def heat_map(units: UnitCounts) -> Markup:
    """Return a counter of units as a heat map, with a title for each cell and a legend.

    Each line shows a core, each cell a unit. If there are more than `MOST_CELLS` units, a cell
    shows the mean of a block of adjacent units. The greater a cell's value, the more opaque its
    colour; the cell with the greatest value is fully opaque.
    """
    height, width = _block(units.values.shape)
    cells = _means(units.values, height, width)
    greatest = float(cells.max(initial=0))
    side = min(CELL, MOST_WIDTH / cells.shape[1])
    lines, columns = cells.shape
    parts = []
    for line in range(lines):
        for column in range(columns):
            value = float(cells[line, column])
            share = value / greatest if greatest else 0.0
            opacity = LEAST_OPACITY + (1 - LEAST_OPACITY) * share
            title = f"{units.place(line * height, column * width)}: {_number(value)}"
            place = f'x="{column}" y="{line}" width=".9" height=".9"'
            parts.append(
                f'<rect {place} fill-opacity="{opacity:.2f}"><title>{text(title)}</title></rect>'
            )
    drawing = (
        f'<svg width="{side * columns:.0f}" height="{side * lines:.0f}" fill="#d06a1c"'
        f' viewBox="0 0 {columns} {lines}" preserveAspectRatio="none" role="img">'
        f"{''.join(parts)}</svg>"
    )
    return Markup(
        f"<p><b>{text(_caption(units))}</b></p>{drawing}<p class=weak>{_legend(units)}</p>"
    )


def _caption(units: UnitCounts) -> str:
    return f"{units.counter.name}: {units.counter.meaning}"


def _legend(units: UnitCounts) -> str:
    values = units.values
    lowest, highest = (
        units.place(*(int(i) for i in np.unravel_index(place, values.shape)))
        for place in (values.argmin(), values.argmax())
    )
    cores = " to ".join(dict.fromkeys((units.cores[0], units.cores[-1])))
    words = (
        f"A line is a core ({cores}), with {values.shape[1]} units;"
        f" mean {_number(float(values.mean()))},"
        f" least {_number(float(values.min()))} ({lowest}),"
        f" greatest {_number(float(values.max()))} ({highest})"
    )
    height, width = _block(values.shape)
    if height * width > 1:
        words += f"; a cell is the mean of {height} × {width} units"
    return text(words, 300)


def _block(shape: Sequence[int]) -> tuple[int, int]:
    """Return the height and width of the blocks of units that a heat map shows as one cell each.

    With this size there are at most `MOST_CELLS` cells. `shape` is (cores, units of a core).
    """
    height = width = 1
    while -(-shape[0] // height) * -(-shape[1] // width) > MOST_CELLS:
        if -(-shape[0] // height) >= -(-shape[1] // width):
            height *= 2
        else:
            width *= 2
    return height, width


def _means(values: NDArray[np.int64], height: int, width: int) -> NDArray[np.float64]:
    """Return the mean of each block of `height` × `width` values, shape (lines, columns) of cells.

    Blocks at the right and lower ends may have fewer values.
    """
    rows, columns = np.arange(0, values.shape[0], height), np.arange(0, values.shape[1], width)

    def totals(each: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.add.reduceat(np.add.reduceat(each, rows, axis=0), columns, axis=1))

    return totals(values.astype(np.float64)) / totals(np.ones(values.shape))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"
