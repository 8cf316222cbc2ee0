"""The grid panel: its rows, the unit of each cell, and cells of announcements."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macaw.debugger.event_fields import place_of
from macaw.debugger.frame import Grid
from macaw.debugger.places import Place
from macaw.debugger.values import AccessError, fit
from macaw.debugger.views import grid
from macaw.debugger.views.area import Area
from macaw.emu.device import Device
from macaw.isa.config import load
from tests.fuzzing import properties


def frame_of(rows: int, columns: int, focus: str) -> Any:
    places = tuple(tuple(f"{y}.{x}" for x in range(columns)) for y in range(rows))
    values = tuple((f"row {y}", tuple(float(x) for x in range(columns))) for y in range(rows))
    return SimpleNamespace(parts={"grid": Grid("busy", values, places, focus)})


@properties
@given(st.integers(1, 12), st.integers(1, 9), st.integers(2, 9), st.integers(9, 40), st.data())
def test_the_row_of_the_focus_is_seen_and_each_cell_is_its_unit(
    rows: int, columns: int, height: int, width: int, data: st.DataObject
) -> None:
    y, x = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
    frame, area = frame_of(rows, columns, f"{y}.{x}"), Area(width, height)
    legend, *lines = (line.plain for line in grid.view(frame, area))
    assert len(lines) == min(rows, height - 1)
    names = [int(line.split()[1]) for line in lines]
    assert names == list(range(names[0], names[0] + len(lines)))
    assert names[0] == max(0, y - len(lines) + 1), "no more rows are passed over than needed"
    seen = f"rows {names[0] + 1} to {names[-1] + 1} of {rows}"
    assert (seen[: width - 30] in legend) == (len(lines) < rows) or width < 40
    name = len("row 10") if rows > 10 else len("row 1")
    wide = max(1, min(2, (width - name - 1) // columns))
    for row, number in enumerate(names, 1):
        for column in range(columns):
            for cell in range(wide):
                at = name + 1 + column * wide + cell
                assert grid.place_at(frame, area, at, row) == f"{number}.{column}"
        assert grid.place_at(frame, area, name, row) is None
        assert grid.place_at(frame, area, name + 1 + columns * wide, row) is None
    assert grid.place_at(frame, area, name + 1, 0) is None
    assert grid.place_at(frame, area, name + 1, len(lines) + 1) is None


def test_cells_without_a_value_and_grids_without_cells() -> None:
    part = Grid("busy", (("a", (None, 1.0)), ("b", (2.5, 0.0))), (("p", "q"), ("r", "s")), "p")
    frame: Any = SimpleNamespace(parts={"grid": part})
    legend, first, second = grid.view(frame, Area(20, 5))
    assert legend.plain == "busy: 0 to 2.5"
    assert first.plain.startswith("a ??")
    assert first.spans[-2].style == "reverse"
    assert second.plain.startswith("b ██")
    frame.parts["grid"] = replace(part, message="nothing here")
    assert [line.plain for line in grid.view(frame, Area(8, 5))] == ["nothing…"]
    assert grid.place_at(frame, Area(20, 5), 2, 1) is None


def test_a_row_with_more_units_than_fit_ends_in_a_sign() -> None:
    area = Area(20, 5)
    _, row = grid.view(frame_of(1, 30, "0.0"), area)
    cells = row.plain.removeprefix("row 0 ")
    assert len(cells) == 20 - len("row 0 ") + len(area.signs.more)
    assert cells.endswith(area.signs.more)
    _, row = grid.view(frame_of(1, 14, "0.0"), area)
    assert len(row.plain) == 20
    assert area.signs.more not in row.plain


def test_the_place_of_an_announcement_has_the_units_that_it_names() -> None:
    core = Device(load("tiny")).cores["pe[0]"]
    first, second = core.table.levels
    assert place_of(core, {}) == Place("pe[0]", ())
    assert place_of(core, {first: 1}) == Place("pe[0]", (1,))
    assert place_of(core, {first: 1, second: 3}) == Place("pe[0]", (1, 3))
    assert place_of(core, {second: 3}) == Place("pe[0]", ()), "a PE of no cluster"


@pytest.mark.parametrize(
    ("value", "dtype", "message"),
    [
        ("a", "float32", "y holds numbers"),
        (1.5, "int8", "y holds whole numbers"),
        (256, "int8", "256 does not fit y, -128 to 127"),
        (-129, "uint8", "-129 does not fit y, 0 to 255"),
    ],
)
def test_values_that_do_not_fit_a_type(value: Any, dtype: str, message: str) -> None:
    with pytest.raises(AccessError, match=f"^{message}$"):
        fit(value, np.dtype(dtype), "y")
    assert fit(255, np.dtype("int8"), "y") == -1
    assert fit(-128, np.dtype("uint8"), "y") == 128
