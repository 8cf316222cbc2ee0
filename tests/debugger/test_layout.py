"""The layout that a terminal gets by its size."""

from __future__ import annotations

import pytest

from macaw.debugger.layout import layout_for


@pytest.mark.parametrize(
    ("width", "height", "name"),
    [
        (180, 45, "large"), (400, 100, "large"), (179, 45, "medium"), (180, 44, "medium"),
        (110, 34, "medium"), (109, 34, "small"), (110, 33, "small"), (400, 33, "small"),
        (109, 100, "small"), (20, 5, "small"),
    ],
)  # fmt: skip
def test_layouts_by_columns_and_rows(width: int, height: int, name: str) -> None:
    assert layout_for(width, height) == name
