"""Prints the layers of a network on nnp, and how much its outputs differ from floating point."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.networks.nnp_network import NnpNetwork, NnpRun
from macaw.phrases import plural, shape_text

if TYPE_CHECKING:
    from rich.table import Table

_LAYERS = {
    "name": "layer",
    "operator": "operation",
    "shape": "output",
    "tiles": "tiles",
    "steps": "steps",
}
_OUTPUTS = {"name": "output", "shape": "shape", "greatest": "greatest", "error": "largest error"}


def records(network: NnpNetwork) -> list[dict[str, Any]]:
    """Return one record for each layer, with plain values by name, for JSON and CSV."""
    return [
        {
            "name": layer.name,
            "operator": layer.operator,
            "shape": list(layer.shape),
            "tiles": layer.tiles,
            "steps": layer.steps,
        }
        for layer in network.layers
    ]


def comparison(run: NnpRun, expected: Mapping[str, NDArray[Any]]) -> list[dict[str, Any]]:
    """Return a record for each output of a run, with its largest absolute error.

    `expected` has the outputs that floating-point arithmetic gives, by name. The record's
    `greatest` is the greatest magnitude in the expected output.
    """
    rows = []
    for name, array in run.outputs.items():
        wide, wanted = array.astype(np.float64), expected[name].astype(np.float64)
        rows.append(
            {
                "name": name,
                "shape": list(array.shape),
                "greatest": float(np.abs(wanted).max()),
                "error": float(np.abs(wide - wanted).max()),
            }
        )
    return rows


def print_report(network: NnpNetwork, kind: str) -> None:
    """Print the layers to standard output; `kind` is "table", "csv" or "json"."""
    from macaw.terminal import console

    rows = records(network)
    if kind == "json":
        used = {name: list(pair) for name, pair in network.lowered.used.items()}
        report = {
            "network": network.name, "device": network.config.name, "core": "nnp",
            "instructions": network.lowered.instructions, "memories": used, "layers": rows,
        }  # fmt: skip
        print(json.dumps(report, indent=1))
        return
    if kind == "csv":
        stream = io.StringIO()
        writer = csv.DictWriter(stream, list(_LAYERS), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({**row, "shape": "x".join(map(str, row["shape"]))})
        print(stream.getvalue(), end="")
        return
    screen = console.stdout()
    screen.print(_table(_LAYERS, rows))
    full = ", ".join(
        f"{name} {n:,} of {room:,}" for name, (n, room) in network.lowered.used.items() if n
    )
    text = f"{plural(len(rows), 'layer')}, {network.lowered.instructions:,} instructions"
    screen.print(text, soft_wrap=True, highlight=False)
    if full:
        screen.print(full, soft_wrap=True, highlight=False)


def print_run(
    network: NnpNetwork, run: NnpRun, expected: Mapping[str, NDArray[Any]], kind: str
) -> None:
    """Print how much a run's outputs differ from `expected`, to standard output.

    `kind` is "table" or "json". `expected` has the floating-point outputs by name.
    """
    from macaw.terminal import console

    rows = comparison(run, expected)
    if kind == "json":
        report = {
            "network": network.name, "device": network.config.name, "core": "nnp",
            "cycles": run.cycles, "outputs": rows,
        }  # fmt: skip
        print(json.dumps(report, indent=1))
        return
    screen = console.stdout()
    screen.print(_table(_OUTPUTS, rows))
    text = f"{run.cycles:,} cycles; errors are differences from ONNX's reference in floating point"
    screen.print(text, soft_wrap=True, highlight=False)


def _table(headings: Mapping[str, str], rows: list[dict[str, Any]]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name, heading in headings.items():
        left = name in ("name", "operator", "shape")
        table.add_column(
            heading, justify="left" if left else "right", no_wrap=True, overflow="ellipsis"
        )
    for row in rows:
        table.add_row(*(_cell(name, row[name]) for name in headings))
    return table


def _cell(name: str, value: Any) -> str:
    if name == "shape":
        return shape_text(tuple(value))
    if name in ("greatest", "error"):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
