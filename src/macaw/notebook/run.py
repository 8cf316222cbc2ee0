"""Shows the result of a run in a notebook: outputs, texts, counters, a heat map of the PEs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.execution import Run
from macaw.notebook.counters import counter_tables
from macaw.notebook.heat import heat_map, unit_counts
from macaw.notebook.markup import Column, Markup, folded, output, paragraph, section, table
from macaw.phrases import plural, shape_text

MOST_ELEMENTS = 6  # of an output


def run_html(run: Run) -> str:
    """Return the HTML of a run's result."""
    what = "Run" if run.items is None else f"Run of {plural(run.items, 'item')}"
    device = getattr(run.device.config, "name", "a device")
    end = f"{plural(run.cycles, 'cycle')}, exit code {run.exit_code}"
    title = f"{what} on {device}: {end}"
    parts = [_outputs(run)]
    parts += [
        paragraph(f"Nothing was written to the output '{name}'.", "warning")
        for name in run.unwritten[:MOST_ELEMENTS]
    ]
    parts += [
        output(name, words)
        for name, words in (("Output", run.stdout), ("Standard error", run.stderr))
        if words
    ]
    last = [] if run.items is None else [paragraph("The map is of the last item.", "weak")]
    maps = [heat_map(units) for units in unit_counts(run.device) if units.values.any()]
    parts += [*maps, *(last if maps else [])]
    parts.append(folded("Counters", counter_tables(run.device, run.counters)))
    return section(title, parts)


def _outputs(run: Run) -> Markup:
    numbers = [Column(heading, True) for heading in ("least", "greatest", "mean")]
    columns = [*map(Column, ("output", "type", "shape")), *numbers, Column("first elements")]
    rows = [
        [name, array.dtype.name, shape_text(array.shape), *_summary(array), _first(array)]
        for name, array in run.outputs.items()
    ]
    return table(columns, rows)


def _summary(array: NDArray[Any]) -> list[str]:
    """Return the least, the greatest and the mean element as three texts.

    The texts are empty if the array has no elements.
    """
    if not array.size:
        return ["", "", ""]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(array.mean(dtype=np.float64))
    return [str(array.min()), str(array.max()), f"{mean:.4g}"]


def _first(array: NDArray[Any]) -> str:
    elements = " ".join(str(value) for value in array.reshape(-1)[:MOST_ELEMENTS])
    return f"{elements} …" if array.size > MOST_ELEMENTS else elements
