"""Reports of networks from hand-written layers: the column and row of each number."""

from __future__ import annotations

import csv
import io
import json
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

import macaw
from macaw.lowering.net.report import LayerReport
from macaw.networks import report
from macaw.networks.compiled import LayerResult, NetworkRun
from tests.lowering.onnx.models import NODE, model

LAYERS = (
    LayerReport("/stem/Conv", "stem", "stem_y", "conv 3×3", "pe", (4, 4, 8), 9216, 700, 300, "array", 1530),
    LayerReport("/a/long/name/of/a/layer/Add", "add", "sum", "sum", "vc", (4, 4, 8), 0, 1300, 48, "vc", 384),
)  # fmt: skip
NETWORK: Any = SimpleNamespace(name="net", config=SimpleNamespace(name="tiny"), layers=LAYERS)
RUN = NetworkRun(
    {}, {}, 2400,
    (
        LayerResult(LAYERS[0], 750, 0.123456, True, {"pe": 0.98765, "vc": 0.25}),
        LayerResult(LAYERS[1], 1400, 0.0, False, {"pe": 0.0, "vc": 1.0}),
    ),
    {"pe": 0.29166, "vc": 0.58333},
)  # fmt: skip
HEADINGS = (
    "layer operation core output products predicted cycles bound limiter used bytes equal".split()
)


def test_records_have_each_number_under_its_name() -> None:
    stem, _ = report.records(NETWORK, RUN)
    assert stem == {
        "name": "/stem/Conv", "symbol": "stem", "tensor": "stem_y", "operator": "conv 3×3",
        "core": "pe", "shape": [4, 4, 8], "macs": 9216, "predicted": 700, "bound": 300,
        "limiter": "array", "external_bytes": 1530, "measured": 750, "used": 0.1235, "equal": True,
        "pe_busy": 0.9877, "vc_busy": 0.25,
    }  # fmt: skip
    of_run = {"measured", "used", "equal", "pe_busy", "vc_busy"}
    for record, whole in zip(report.records(NETWORK), report.records(NETWORK, RUN), strict=True):
        assert record == {name: value for name, value in whole.items() if name not in of_run}


def test_json_has_the_whole_run_before_its_layers() -> None:
    wanted: dict[str, Any] = {"network": "net", "device": "tiny"}
    assert json.loads(report.json_text(NETWORK)) == {**wanted, "layers": report.records(NETWORK)}
    wanted |= {"cycles": 2400, "busy": {"pe": 0.2917, "vc": 0.5833}}
    text = report.json_text(NETWORK, RUN)
    assert json.loads(text) == {**wanted, "layers": report.records(NETWORK, RUN)}
    assert text.endswith("\n")


def test_csv_has_a_line_of_names_and_a_line_a_layer() -> None:
    rows = list(csv.DictReader(io.StringIO(report.csv_text(NETWORK, RUN))))
    assert [row["shape"] for row in rows] == ["4x4x8", "4x4x8"]
    assert [list(row) for row in rows] == [list(x) for x in report.records(NETWORK, RUN)]
    empty: Any = SimpleNamespace(layers=())
    assert report.csv_text(empty) == "\n"


def shown(run: NetworkRun | None, width: int) -> list[str]:
    """The lines of the table on a screen of `width` characters."""
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(report.layer_table(NETWORK, run, width))
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def test_the_table_of_a_run() -> None:
    head, stem, add = shown(RUN, 160)
    assert head.split() == HEADINGS
    assert stem.split() == (
        "/stem/Conv conv 3×3 pe 4 × 4 × 8 9,216 700 750 300 array 12% 1,530 yes".split()
    )
    assert add.split() == (
        "/a/long/name/of/a/layer/Add sum vc 4 × 4 × 8 0 1,300 1,400 48 vc 0% 384 NO".split()
    )
    assert add.index("sum") == head.index("operation")  # text to the left, numbers to the right
    assert stem.index(" 300") == add.index("  48")
    assert shown(None, 160)[0].split() == [
        name for name in HEADINGS if name not in ("cycles", "used", "equal")
    ]


def test_a_table_takes_all_columns_that_fit_and_no_more() -> None:
    """The table has as many columns as fit in the width.

    A name of at most 28 characters is never cut, except if only the name's column fits.
    """
    counts = []
    for width in range(27, 140):
        lines = shown(RUN, width)
        assert max(len(line.rstrip()) for line in lines) <= width
        assert all("…" not in line for line in lines)
        counts.append(len(lines[0].split()))
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (1, len(HEADINGS))
    full = max(len(line.rstrip()) for line in shown(RUN, 160))
    assert counts[full - 27 - 1 : full - 27 + 1] == [len(HEADINGS) - 1, len(HEADINGS)]


def test_the_summary_in_words() -> None:
    plan = "2 layers, 9,216 products; 2,000 cycles predicted, 5.75 times the bound of 348"
    assert report.summary(NETWORK) == [plan]
    assert report.summary(NETWORK, RUN) == [
        plan,
        "2,400 cycles, 6.90 times the bound; 1 of 2 layers equal the reference",
        "the first that differs is /a/long/name/of/a/layer/Add",
        "idle: pe 71%, vc 42%",
    ]


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_reports_for_programs_are_printed_as_they_are(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report.print_report(NETWORK, RUN, kind)
    text = {"json": report.json_text, "csv": report.csv_text}[kind](NETWORK, RUN)
    assert capsys.readouterr().out == text


@pytest.mark.parametrize(
    ("a", "b", "product"),
    [
        ((2, 3, 4), (2, 4, 5), "2x3x5"),
        ((1, 2, 3, 4), (1, 2, 4, 5), "3x5x2"),
        ((3, 4), (4, 5), "3x5"),
    ],
)
def test_the_shape_of_a_layer_is_that_of_its_result_on_the_device(a, b, product) -> None:
    """Layers of vc have the shape of their tensor, not the one in which vc computes."""
    nodes = [NODE("MatMul", ["a", "b"], ["c"], "mm"), NODE("Exp", ["c"], ["y"], "exp")]
    made = macaw.compile(model(nodes, {"a": a, "b": b}), device="tiny")
    rows = list(csv.DictReader(io.StringIO(report.csv_text(made))))
    assert [(row["name"], row["shape"]) for row in rows] == [("mm", product), ("exp", product)]
