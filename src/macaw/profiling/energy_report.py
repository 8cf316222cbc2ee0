"""The lines of text that show an estimate of energy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from macaw.isa.activities import ACTIVITIES
from macaw.profiling.energy import Energy
from macaw.profiling.phrases import number_text, share_text
from macaw.profiling.text_table import INDENT, Row, Table, table_lines

MOST = 8  # lines and tensors
KINDS = (*dict.fromkeys(row.kind for row in ACTIVITIES), "static")
_UNITS = (("mJ", 1e9), ("µJ", 1e6), ("nJ", 1e3), ("pJ", 1.0))
NAMELESS = "(none)"


def energy_text(picojoules: float) -> str:
    """Return the text for an energy in picojoules, such as `12.3 nJ`."""
    name, size = next((unit for unit in _UNITS if picojoules >= unit[1]), _UNITS[-1])
    return f"{number_text(picojoules / size)} {name}"


def energy_sentence(energy: Energy) -> str:
    """Return a phrase with the name of the energy table and the purpose of the estimate."""
    return f"an estimate with the table {energy.table}, to compare programs on one device"


def energy_lines(energy: Energy, width: int | None) -> Iterator[str]:
    """Yield the lines of the tables of cores, activities, source lines, tensors and layers.

    `width` is the number of columns of the screen. If they are too few, the tables leave out the
    long texts at the end of their lines.
    """
    yield f"{INDENT}{energy_sentence(energy)}"
    for table in energy_tables(energy, MOST):
        yield ""
        yield from table_lines(table, width)


def energy_tables(energy: Energy, most: int) -> Iterator[Table]:
    """Yield the tables of an estimate. Tables of lines or tensors have at most `most` rows."""
    yield _cores(energy)
    if any(core.causes for core in energy.cores):
        yield _causes(energy)
    yield _activities(energy)
    lines = [
        (line.energy, f"{core.core} {line.place or NAMELESS}", line.text)
        for core in energy.cores
        for line in core.lines
    ]
    lines.sort(key=lambda item: -item[0])
    rows = [(place, energy_text(x), share_text(x, energy.total), text) for x, place, text in lines]
    yield _most("line", rows, most)
    if energy.tensors:
        moved = sum(energy.tensors.values())
        tensors = [
            (name or NAMELESS, energy_text(x), share_text(x, moved), "")
            for name, x in energy.tensors.items()
        ]
        yield _most("bytes of tensor", tensors, most)
    if energy.layers:
        yield Table(
            ("layer", "energy", "share"),
            [
                (name or NAMELESS, energy_text(x), share_text(x, energy.total))
                for name, x in energy.layers.items()
            ],
        )


def _cores(energy: Energy) -> Table:
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
    return Table(("core", "energy", "share", *kinds), rows)


def _causes(energy: Energy) -> Table:
    """Return a table of the energy of each core by the causes of its cycles."""
    rows = [
        (core.core, cause, energy_text(x), share_text(x, core.energy))
        for core in energy.cores
        for cause, x in core.causes.items()
    ]
    return Table(("core", "cause", "energy", "of the core"), rows, (0, 1))


def _activities(energy: Energy) -> Table:
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
    return Table(headings, rows, (0, 5), (5,))


def _most(name: str, rows: Sequence[Row], most: int) -> Table:
    """Return a table of the first `most` rows, with a note that says how many more there are.

    `name` is the heading of the first column.
    """
    hidden = len(rows) - most
    note = f"{hidden:,} more not shown" if hidden > 0 else ""
    return Table((name, "energy", "share", ""), rows[:most], (0, 3), (3,), note)
