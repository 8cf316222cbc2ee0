"""Reports on a network, its runs and its estimate, layer by layer: as a table, CSV or JSON."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from macaw.lowering.net.report import LayerReport
from macaw.networks.compiled import CompiledNetwork, LayerResult, NetworkRun
from macaw.networks.estimator import Estimate
from macaw.phrases import plural, shape_text

if TYPE_CHECKING:
    from rich.table import Table

# Columns of the table; a narrow screen leaves out the last ones first. `measured`, `used` and
# `equal` are for runs.
_HEADINGS = {
    "name": "layer",
    "operator": "operation",
    "predicted": "predicted",
    "measured": "cycles",
    "bound": "bound",
    "equal": "equal",
    "limiter": "limiter",
    "used": "used",
    "macs": "products",
    "core": "core",
    "shape": "output",
    "external_bytes": "bytes",
}
_ORDER = (
    *("name", "operator", "core", "shape", "macs", "predicted", "measured", "bound", "limiter"),
    *("used", "external_bytes", "equal"),
)
_OF_RUN = frozenset(("measured", "used", "equal"))
_TEXTS = frozenset(("name", "operator", "core", "shape", "limiter", "equal"))
_NAME_WIDTH = 28


Reported = CompiledNetwork | Estimate


def records(network: Reported, run: NetworkRun | None = None) -> list[dict[str, Any]]:
    """Return one record for each layer, with plain values by name, for JSON and CSV."""
    if run is None:
        return [_record(layer) for layer in network.layers]
    return [_record(result.report, result) for result in run.layers]


def _record(layer: LayerReport, result: LayerResult | None = None) -> dict[str, Any]:
    record: dict[str, Any] = {
        "name": layer.name,
        "symbol": layer.symbol,
        "tensor": layer.tensor,
        "operator": layer.operator,
        "core": layer.core,
        "shape": list(layer.shape),
        "macs": layer.macs,
        "predicted": layer.predicted,
        "bound": layer.bound,
        "limiter": layer.limiter,
        "external_bytes": layer.external_bytes,
    }
    if result is not None:
        record |= {
            "measured": result.cycles,
            "used": round(result.utilisation, 4),
            "equal": result.equal,
            **{f"{core}_busy": round(share, 4) for core, share in result.busy.items()},
        }
    return record


def json_text(network: Reported, run: NetworkRun | None = None) -> str:
    """Return the report on a network as the text of a JSON object.

    Every report has the layers. The report of a run also has the run's cycles and the busy share of
    each core. The report of an estimate also has the predicted cycles, whether the estimate is
    calibrated, and the refused nodes.
    """
    report: dict[str, Any] = {"network": network.name, "device": network.config.name}
    if run is not None:
        report |= {"cycles": run.cycles, "busy": {k: round(v, 4) for k, v in run.busy.items()}}
    if isinstance(network, Estimate):
        report |= {
            "cycles": network.cycles,
            "calibrated": network.is_calibrated,
            "refusals": [dataclasses.asdict(refusal) for refusal in network.refusals],
            "problem": network.problem,
        }
    return json.dumps({**report, "layers": records(network, run)}, indent=1) + "\n"


def csv_text(network: Reported, run: NetworkRun | None = None) -> str:
    """Return the layers as comma-separated values, after a line with the names of the columns."""
    stream = io.StringIO()
    rows = records(network, run)
    writer = csv.DictWriter(stream, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, "shape": "x".join(map(str, row["shape"]))})
    return stream.getvalue()


def layer_table(network: Reported, run: NetworkRun | None, width: int) -> Table:
    """Return the table of layers, with as many columns as fit into `width` characters."""
    from rich.table import Table

    rows = [
        {name: _cell(name, value) for name, value in record.items()}
        for record in records(network, run)
    ]
    names = [name for name in _ORDER if run is not None or name not in _OF_RUN]
    for name in reversed(_HEADINGS):
        if _width(names, rows) > width and len(names) > 1:
            names = [other for other in names if other != name]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in names:
        table.add_column(
            _HEADINGS[name],
            justify="left" if name in _TEXTS else "right",
            no_wrap=True,
            overflow="ellipsis",
            max_width=_NAME_WIDTH if name == "name" else None,
        )
    for row in rows:
        table.add_row(*(row[name] for name in names))
    return table


def _width(names: Sequence[str], rows: Sequence[dict[str, str]]) -> int:
    total = 0
    for name in names:
        most = max((len(row[name]) for row in rows), default=0)
        total += max(len(_HEADINGS[name]), min(most, _NAME_WIDTH) if name == "name" else most) + 2
    return total - 2


def _cell(name: str, value: Any) -> str:
    if name == "shape":
        return shape_text(tuple(value))
    if name == "used":
        return f"{value:.0%}"
    if name == "equal":
        return "yes" if value else "NO"
    return f"{value:,}" if isinstance(value, int) else str(value)


def print_report(network: Reported, run: NetworkRun | None, kind: str) -> None:
    """Print the report to standard output; `kind` is "table", "csv" or "json"."""
    from macaw.terminal import console

    if kind == "json":
        print(json_text(network, run), end="")
        return
    if kind == "csv":
        print(csv_text(network, run), end="")
        if isinstance(network, Estimate):
            for line in remarks(network):
                console.warning(line)
        return
    screen = console.stdout()
    screen.print(layer_table(network, run, screen.width))
    for line in summary(network, run):
        screen.print(line, soft_wrap=True, highlight=False)


def remarks(network: Estimate) -> list[str]:
    """Return lines of text about the limits of an estimate.

    They say which nodes are refused, why the layers do not fit the device together, and whether the
    scales come from random numbers.
    """
    lines = [
        f"refused: node {item.name} ({item.operator}): {item.reason}"
        + (f" ({item.hint})" if item.hint else "")
        for item in network.refusals
    ]
    if network.refusals:
        lines.append(
            f"{plural(len(network.refusals), 'node')} refused: `macaw compile` would not accept the"
            " model; the rows are its other layers, as if the refused results were on the device"
        )
    if network.problem:
        lines.append(f"`macaw compile` would not accept the model: {network.problem}")
    if not network.is_calibrated:
        lines.append(
            "the model is floating-point: scales are from one sample of random numbers;"
            " `macaw quantise` takes real ones"
        )
    return lines


def summary(network: Reported, run: NetworkRun | None = None) -> list[str]:
    """Return lines about the whole network, which compare its cycles with their lower bound.

    The cycles are the predicted ones, and with a `run` also the measured ones. With a `run`, the
    lines also have the number of layers that equal the reference, and the idle share of each core.
    """
    layers = network.layers
    macs, bound = sum(x.macs for x in layers), sum(x.bound for x in layers)
    predicted = sum(x.predicted for x in layers)
    times = f", {predicted / bound:.2f} times the bound of {bound:,}" if bound else ""
    lines = [f"{plural(len(layers), 'layer')}, {macs:,} products; {predicted:,} cycles predicted"]
    lines[0] += times
    if isinstance(network, Estimate):
        lines += remarks(network)
    if run is not None:
        wrong = [result.report.name for result in run.layers if not result.equal]
        equal = f"{len(run.layers) - len(wrong)} of {len(run.layers)} layers equal the reference"
        lines.append(f"{run.cycles:,} cycles, {run.cycles / bound:.2f} times the bound; {equal}")
        if wrong:
            lines.append(f"the first that differs is {wrong[0]}")
        idle = ", ".join(f"{name} {1 - share:.0%}" for name, share in run.busy.items())
        lines.append(f"idle: {idle}")
    return lines
