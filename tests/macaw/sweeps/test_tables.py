"""The table, the CSV and the JSON of a sweep, from outcomes that the test makes itself."""

from __future__ import annotations

import csv
import io
import json

import pytest

from macaw.errors import InputError
from macaw.sweeps import tables
from macaw.sweeps.points import MOST_POINTS, Outcome, Point, points
from macaw.sweeps.results import Sweep, pareto, plain_number


def outcome(
    width: int,
    turn: int = 0,
    refused: str = "",
    reused: bool = False,
    instructions: int | None = None,
    **more: float,
) -> Outcome:
    point = Point((("dma.width", width), ("pe.element", "int8")), turn, 7 + turn)
    counters = {} if instructions is None else {"cp.instructions": float(instructions)}
    return Outcome(point, {} if refused else {**more, **counters}, refused, reused=reused)


SWEEP = Sweep(
    "layer.s",
    (
        outcome(4, 0, instructions=12, cycles=1000, macs=64),
        outcome(4, 1, cycles=1003, macs=64),
        outcome(8, 0, cycles=900, predicted=899.5, reused=True),
        outcome(8, 1, cycles=901, predicted=0.25),
        outcome(16, refused="no"),
    ),
)


def test_a_table_has_a_line_for_each_device() -> None:
    assert tables.table(SWEEP).splitlines() == [
        "dma.width  pe.element   cycles  predicted  macs  cycles from to",
        '        4      "int8"    1,002          0    64     1,000 1,003',
        '        8      "int8"  900.500    449.875     0         900 901',
        "refused: 1 point",
        '  dma.width=16, pe.element="int8", seed 7: no',
        "5 points of layer.s; 1 of an earlier sweep",
    ]


def test_columns_lines_and_front_that_were_asked_for() -> None:
    text = tables.table(SWEEP, ["cp.instructions"], ["dma.width", "cycles"], 1)
    assert text.splitlines()[:3] == [
        "dma.width  pe.element  cp.instructions  cycles from to",
        '        4      "int8"                6     1,000 1,003  *',
        "1 more point not shown",
    ]
    assert "* no other point is better in one and worse in none of: dma.width, cycles" in text
    assert "* no other" not in tables.table(SWEEP, front=["cycles"], limit=1)  # shows no star
    assert "not shown" not in tables.table(SWEEP, limit=2)
    assert len(tables.table(SWEEP, limit=0).splitlines()) == 5
    lines = tables.table(SWEEP, front=["cycles"], plain=True).splitlines()
    assert [line.endswith("*") for line in lines[:2]] == [False, True]
    with pytest.raises(InputError, match="no point has a metric 'cycle'"):
        tables.table(SWEEP, ["cycle"])
    with pytest.raises(
        InputError, match=r"dma\.width is a setting, of which the table has a column"
    ):
        tables.table(SWEEP, ["dma.width"])
    with pytest.raises(InputError, match=r"the values of pe\.element are no numbers"):
        tables.table(SWEEP, front=["cycles", "pe.element"])
    with pytest.raises(InputError, match="no point has a metric 'mac'"):
        tables.table(SWEEP, front=["mac"])


@pytest.mark.parametrize("count", [1, tables.MOST_REFUSED, tables.MOST_REFUSED + 1, 1500])
def test_refused_points_are_listed_up_to_a_number(count: int) -> None:
    found = Sweep("a.s", tuple(outcome(number, refused="no") for number in range(count)))
    lines = tables.table(found, front=["dma.width"]).splitlines()
    assert not any("* no other" in line for line in lines)
    begin = lines.index(f"refused: {count:,} point{'s' * (count > 1)}") + 1
    shown = min(count, tables.MOST_REFUSED)
    assert lines[begin : begin + shown] == [
        f'  dma.width={number}, pe.element="int8", seed 7: no' for number in range(shown)
    ]
    more = count - shown
    assert lines[begin + shown :] == [
        *([f"  {more:,} more"] if more else []), f"{count:,} point{'s' * (count > 1)} of a.s"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (999.0, "999"), (999.9994, "999.999"), (1000.5, "1,000"), (-1000.25, "-1,000"),
     (-999.25, "-999.250"), (0.5, "0.500"), (1234567.0, "1,234,567"), (0.00097140, "0.000971"),
     (-0.01, "-0.01"), (2.5e-7, "2.5e-07")],
)  # fmt: skip
def test_digits_of_a_number(value: float, text: str) -> None:
    found = Sweep("a.s", (outcome(1, cycles=value),))
    assert tables.table(found).splitlines()[1].split()[-1] == text
    assert tables.table(found, plain=True).splitlines()[0].rstrip().endswith(text)


def test_csv_and_json_have_the_same_numbers() -> None:
    rows = list(csv.DictReader(io.StringIO(tables.csv_text(SWEEP))))
    found = json.loads(tables.json_text(SWEEP))
    assert found["metrics"] == ["cycles", "macs", "cp.instructions", "predicted"]
    assert [row["refused"] for row in rows] == ["", "", "", "", "no"]
    assert [row["repeat"] for row in rows] == ["0", "1", "0", "1", "0"]
    assert [row["predicted"] for row in rows] == ["0", "0", "899.5", "0.25", ""]
    assert [row["cp.instructions"] for row in rows] == ["12", "0", "0", "0", ""]
    assert [point["seed"] for point in found["points"]] == [7, 8, 7, 8, 7]
    assert [point["refused"] for point in found["points"]] == [None] * 4 + ["no"]
    assert found["points"][0]["metrics"] == {"cycles": 1000, "macs": 64, "cp.instructions": 12}
    assert found["points"][0]["settings"] == {"dma.width": 4, "pe.element": "int8"}
    assert SWEEP.to_dict()["predicted"] == [0, 0, 899.5, 0.25]
    assert SWEEP.to_dict()["repeat"] == [0, 1, 0, 1]
    assert [type(plain_number(value)) for value in (2.0, 2.5, 3)] == [int, float, int]


def test_the_front_of_three_columns() -> None:
    rows = [(1, 2, 3), (1, 2, 3), (1, 2, 4), (2, 1, 9), (0, 5, 5), (0, 5, 6), (3, 3, 3)]
    assert pareto(rows) == [True, True, False, True, True, False, False]
    assert pareto([(3,), (1,), (1,)]) == [False, True, True]
    assert pareto([]) == []


def test_the_greatest_sweep() -> None:
    axes = [("dma.width", tuple(range(10))), ("dma.queue", tuple(range(100)))]
    assert len(points(axes, repeat=MOST_POINTS // 1000, seed=3, zipped=False)) == MOST_POINTS
    with pytest.raises(InputError, match=f"a sweep has {MOST_POINTS:,} at most"):
        points(axes, repeat=MOST_POINTS // 1000 + 1, seed=3, zipped=False)
    pair = points([("a", (1, 2)), ("b", (3, 4))], zipped=True, repeat=2, seed=5)
    assert [(dict(x.settings), x.repeat, x.seed) for x in pair] == [
        ({"a": 1, "b": 3}, 0, 5), ({"a": 1, "b": 3}, 1, 6),
        ({"a": 2, "b": 4}, 0, 5), ({"a": 2, "b": 4}, 1, 6),
    ]  # fmt: skip
