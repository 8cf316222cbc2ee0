"""docs/pruning.svg: how much faster pruned networks are, and how busy the array is in each layer.

docs/pruning.json has what `python -m benchmarks.networks pruning --run --json docs/pruning.json`
measured.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "docs" / "pruning.json"
DRAWN = (0.0, 0.5, 0.9)  # shares of zeros whose layers are drawn
_WIDTH, _LEFT, _TOP, _HEIGHT, _GAP = 800, 60, 40, 170, 70
_STYLE = """\
<style>
text { font: 13px sans-serif; fill: #1f2328 }
.end { text-anchor: end } .middle { text-anchor: middle }
.axis { stroke: #59636e; fill: none } .grid { stroke: #d1d9e0; fill: none }
.a { stroke: #0969da } .b { stroke: #bc4c00 } .c { stroke: #1a7f37 }
polyline { fill: none; stroke-width: 2 } .b { stroke-dasharray: 7 3 } .c { stroke-dasharray: 2 3 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .axis { stroke: #9198a1 } .grid { stroke: #3d444d }
.a { stroke: #4493f8 } .b { stroke: #db6d28 } .c { stroke: #3fb950 }
}
</style>"""


@dataclass(frozen=True)
class Pruned:
    """A network of which a share of the weights is zero, and its run.

    `used` has, for each layer of the array, the share of the PEs' cycles in which they multiply.
    """

    network: str
    zeros: float
    cycles: int
    equal: bool
    used: tuple[float, ...]


@dataclass(frozen=True)
class Chart:
    """A panel of the picture: its title, its axes, and its lines with their names."""

    title: str
    x_ticks: Sequence[tuple[float, str]]  # places from 0 to 1
    y_ticks: Sequence[tuple[float, str]]
    lines: Sequence[tuple[str, Sequence[tuple[float, float]]]]


def recorded() -> list[Pruned]:
    """The runs in docs/pruning.json."""
    rows = json.loads(RECORD.read_text("utf-8"))
    array = {(row["network"], name) for row in rows for name, _, used in row["layers"] if used}
    return [
        Pruned(
            row["network"],
            row["zeros"],
            row["cycles"],
            row["equal"],
            tuple(used for name, _, used in row["layers"] if (row["network"], name) in array),
        )
        for row in rows
    ]


def speeds(runs: Sequence[Pruned]) -> dict[str, list[tuple[float, float]]]:
    """For each network: the shares of zeros, and the speed-ups over the dense network."""
    found: dict[str, list[tuple[float, float]]] = {}
    dense = {run.network: run.cycles for run in runs if not run.zeros}
    for run in runs:
        found.setdefault(run.network, []).append((run.zeros, dense[run.network] / run.cycles))
    return found


def picture() -> str:
    """The text of docs/pruning.svg."""
    runs = recorded()
    most = int(max(speed for line in speeds(runs).values() for _, speed in line)) + 1
    ticks = [(share / 100, f"{share}%") for share in (0, 25, 50, 75, 90)]
    charts = [
        Chart(
            "times faster than the dense network, by the weights that are zero",
            ticks,
            [((speed - 1) / (most - 1), f"{speed}") for speed in range(1, most + 1)],
            [
                (name, [(zeros, (speed - 1) / (most - 1)) for zeros, speed in line])
                for name, line in speeds(runs).items()
            ],
        )
    ]
    for name in dict.fromkeys(run.network for run in runs):
        drawn = [run for run in runs if run.network == name and run.zeros in DRAWN]
        charts.append(_used(name, drawn))
    height = _TOP + len(charts) * (_HEIGHT + _GAP)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}">', _STYLE]
    for number, chart in enumerate(charts):
        lines += _panel(chart, _TOP + number * (_HEIGHT + _GAP))
    return "\n".join([*lines, "</svg>"]) + "\n"


def _used(name: str, runs: Sequence[Pruned]) -> Chart:
    """The panel of a network's layers on the array, for some shares of zeros."""
    last = max(len(run.used) for run in runs) - 1
    return Chart(
        f"{name}: share of the PEs' cycles with a product, by layer of the array",
        [(place / last, f"{place + 1}") for place in range(0, last + 1, max(1, last // 8))],
        [(share / 4, f"{share * 25}%") for share in range(5)],
        [
            (
                f"{run.zeros:.0%} zeros",
                [(place / last, used) for place, used in enumerate(run.used)],
            )
            for run in runs
        ],
    )


def _panel(chart: Chart, top: int) -> list[str]:
    """A panel of the picture, whose axes begin at a height."""
    wide, bottom = _WIDTH - _LEFT - 160, top + _HEIGHT
    out = [f'<text x="{_LEFT}" y="{top - 14}">{chart.title}</text>']
    for place, text in chart.y_ticks:
        y = round(bottom - place * _HEIGHT)
        out.append(f'<path class="grid" d="M{_LEFT} {y}h{wide}"/>')
        out.append(f'<text class="end" x="{_LEFT - 8}" y="{y + 4}">{text}</text>')
    for place, text in chart.x_ticks:
        x = round(_LEFT + place * wide)
        out.append(f'<text class="middle" x="{x}" y="{bottom + 20}">{text}</text>')
    out.append(f'<path class="axis" d="M{_LEFT} {top}V{bottom}h{wide}"/>')
    for number, (name, points) in enumerate(chart.lines):
        kind = "abc"[number]
        places = " ".join(f"{_LEFT + x * wide:.1f},{bottom - y * _HEIGHT:.1f}" for x, y in points)
        out.append(f'<polyline class="{kind}" points="{places}"/>')
        x, y = _LEFT + wide + 12, top + 8 + 20 * number
        out.append(f'<polyline class="{kind}" points="{x},{y} {x + 22},{y}"/>')
        out.append(f'<text x="{x + 28}" y="{y + 4}">{name}</text>')
    return out
