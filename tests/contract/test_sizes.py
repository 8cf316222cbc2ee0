"""The sizes of the product's modules: each can be read in one sitting."""

from __future__ import annotations

from statistics import median

from tests.contract import imports

MOST = 500  # lines
MEDIAN = 160


def test_no_module_is_long() -> None:
    lengths = {
        name: len(path.read_text("utf-8").splitlines()) for name, path in imports.modules().items()
    }
    assert {name: length for name, length in lengths.items() if length >= MOST} == {}
    assert median(lengths.values()) < MEDIAN
