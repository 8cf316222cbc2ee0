"""Shows a sweep in a notebook: its points with settings and cycles, and the refused points."""

from __future__ import annotations

from macaw.isa import config
from macaw.notebook.markup import Cell, Column, paragraph, section, table
from macaw.phrases import plural
from macaw.sweeps.points import Outcome
from macaw.sweeps.results import Sweep


def sweep_html(sweep: Sweep) -> str:
    """Return the HTML of a sweep: a row for each point, the point with fewest cycles first."""
    measured = sorted(sweep.measured, key=lambda row: row.metrics["cycles"])
    least = measured[0].metrics["cycles"] if measured else 0
    columns = [*(Column(name, True) for name in sweep.settings), Column("cycles", True),
               Column("times the least", True)]  # fmt: skip
    rows = [_row(outcome, least) for outcome in measured]
    refused: list[list[Cell]] = [
        [outcome.point.name, paragraph(outcome.refused)]
        for outcome in sweep.outcomes
        if outcome.refused
    ]
    parts = [table(columns, rows), table([Column("refused"), Column("reason")], refused)]
    return section(f"Sweep of {sweep.subject}, {plural(len(sweep.outcomes), 'point')}", parts)


def _row(outcome: Outcome, least: float) -> list[Cell]:
    cycles = outcome.metrics["cycles"]
    values = [config.shown(value) for _, value in outcome.point.settings]
    times = f"{cycles / least:.2f}" if least else ""
    return [*values, f"{cycles:,.0f}", times]
