"""Lookups of rows on vc: bits, cycles and refused operations."""

from __future__ import annotations

import numpy as np
import pytest

from macaw.isa.config import load
from macaw.lowering.errors import LowerError
from macaw.lowering.net.vector.reference import compute
from macaw.lowering.net.vector.row_lookup import RowLookup
from macaw.lowering.net.vector.source import cycles
from tests.lowering.net.vector.programs import run

TYPES = [("int8", 1), ("int8", 64), ("int8", 13), ("int16", 6), ("float32", 4), ("float32", 53)]


@pytest.mark.parametrize(("to", "width"), TYPES)
def test_rows(to, width):
    rng = np.random.default_rng(width)
    table = rng.integers(-99, 99, (7, width)).astype(to)
    x = np.array([0, 6, -1, 5, 7, 1, 2**31 - 1, -(2**31), 3], np.int32)
    operation = RowLookup("int32", len(x), table.tobytes(), width, to)
    found, measured = run(operation, x)
    np.testing.assert_array_equal(found, table[[0, 6, 6, 5, 6, 1, 6, 6, 3]])
    np.testing.assert_array_equal(found, compute(operation, x))
    assert abs(cycles(operation, load("tiny")) - measured) <= 0.15 * measured


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (RowLookup("int8", 2, b"1234", 2, "int8"), "elements of type int8"),
        (RowLookup("int32", 2, b"123", 2, "int8"), "a table of 3 bytes"),
        (RowLookup("int32", 2, b"", 2, "int8"), "a table of 0 bytes"),
    ],
)
def test_refusals(operation, message):
    with pytest.raises(LowerError) as error:
        operation.check()
    assert str(error.value).startswith(message)
