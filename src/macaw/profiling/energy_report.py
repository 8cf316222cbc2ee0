"""The lines of text that show an estimate of energy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from macaw.isa.activities import ACTIVITIES
from macaw.profiling.energy import Energy
from macaw.profiling.phrases import number_text, share_text
from macaw.profiling.text_table import INDENT, Row, table_lines

MOST = 8  # lines and tensors
KINDS = (*dict.fromkeys(row.kind for row in ACTIVITIES), "static")
_UNITS = (("mJ", 1e9), ("µJ", 1e6), ("nJ", 1e3), ("pJ", 1.0))
NAMELESS = "(none)"


def energy_text(picojoules: float) -> str:
    """Return an energy such as `12.3 nJ`."""
    name, size = next((unit for unit in _UNITS if picojoules >= unit[1]), _UNITS[-1])
    return f"{number_text(picojoules / size)} {name}"


def energy_lines(energy: Energy, width: int) -> Iterator[str]:
    """Yield the tables of cores, activities, lines, tensors and layers for a screen.

    Long texts at the end of a line are left out if `width` has too few columns.
    """
    yield f"{INDENT}an estimate with the table {energy.table}, to compare programs on one device"
    yield from _cores(energy, width)
    yield from _activities(energy, width)
    lines = [
        (line.energy, f"{core.core} {line.place or NAMELESS}", line.text)
        for core in energy.cores
        for line in core.lines
    ]
    lines.sort(key=lambda item: -item[0])
    rows = [(place, energy_text(x), share_text(x, energy.total), text) for x, place, text in lines]
    yield from _most("line", rows, width)
    if energy.tensors:
        moved = sum(energy.tensors.values())
        tensors = [
            (name or NAMELESS, energy_text(x), share_text(x, moved), "")
            for name, x in energy.tensors.items()
        ]
        yield from _most("bytes of tensor", tensors, width)
    if energy.layers:
        yield from _layers(energy.layers, energy.total, width)


def _cores(energy: Energy, width: int) -> Iterator[str]:
    kinds = [kind for kind in KINDS if any(core.kinds.get(kind) for core in energy.cores)]
    rows: list[Row] = [
        (
            core.core,
            energy_text(core.energy),
            share_text(core.energy, energy.total),
            *(energy_text(core.kinds.get(kind, 0.0)) for kind in kinds),
        )
        for core in energy.cores
    ]
    yield ""
    yield from table_lines(("core", "energy", "share", *kinds), rows, (0,), width)
    for core in energy.cores:
        if core.causes:
            parts = ", ".join(f"{name} {energy_text(x)}" for name, x in core.causes.items())
            yield f"{INDENT}{core.core} by cause: {parts}"


def _activities(energy: Energy, width: int) -> Iterator[str]:
    rows = [
        (
            item.name,
            f"{item.count:,}",
            f"{item.each:g}",
            energy_text(item.energy),
            share_text(item.energy, energy.total),
            item.source,
        )
        for item in energy.activities
    ]
    headings = ("activity", "count", "pJ each", "energy", "share", "source")
    yield ""
    yield from table_lines(headings, rows, (0, 5), width, (5,))


def _most(name: str, rows: Sequence[Row], width: int) -> Iterator[str]:
    """Yield the table of the first rows, and how many more there are."""
    yield ""
    yield from table_lines((name, "energy", "share", ""), rows[:MOST], (0, 3), width, (3,))
    if len(rows) > MOST:
        yield f"{INDENT}{len(rows) - MOST:,} more not shown"


def _layers(layers: Mapping[str, float], total: float, width: int) -> Iterator[str]:
    rows = [(name or NAMELESS, energy_text(x), share_text(x, total)) for name, x in layers.items()]
    yield ""
    yield from table_lines(("layer", "energy", "share"), rows, (0,), width)
