"""Prepared tiles change with the register file, and their number is limited."""

from __future__ import annotations

import numpy as np
import pytest

from macaw.emu.nnp.fast.prepared import PreparedTiles
from macaw.emu.nnp.numbers import Quantised, Quantiser, Tiles
from tests.emu.nnp.exact_numbers import bits_of

EIGHT = Quantiser("bfp", 8)
NATIVE = 3


@pytest.fixture
def file() -> tuple[np.ndarray, np.ndarray]:
    """A register file of 12 tiles."""
    random = np.random.default_rng(4)
    codes = random.integers(-128, 128, (12, NATIVE, NATIVE)).astype(np.int16)
    return codes, random.integers(0, 32, (12, NATIVE)).astype(np.uint8)


def vectors(cols: int) -> Quantised:
    codes = np.arange(1, 2 * cols * NATIVE + 1, dtype=np.int16).reshape(2, cols, NATIVE)
    return Quantised(codes, np.zeros((2, cols), np.int8))


def fresh(file: tuple[np.ndarray, np.ndarray], first: int, rows: int, cols: int) -> list[int]:
    """The bits of the product of a file's tiles, computed without prepared tiles."""
    codes, exponents = (x[first : first + rows * cols] for x in file)
    tiles = Quantised(
        codes.reshape(rows, cols, NATIVE, NATIVE),
        (exponents.astype(int) - 15).astype(np.int8).reshape(rows, cols, NATIVE),
    )
    return bits_of(Tiles(tiles, EIGHT, EIGHT).times(vectors(cols), np.float32))


def test_products_are_those_of_the_file_after_each_write(
    file: tuple[np.ndarray, np.ndarray],
) -> None:
    prepared = PreparedTiles(*file, EIGHT, EIGHT)
    shapes = [(0, 2, 3), (4, 1, 2), (6, 3, 2), (0, 3, 2), (11, 1, 1)]
    random = np.random.default_rng(5)
    for _ in range(30):
        for first, rows, cols in shapes:
            found = prepared.tiles(first, rows, cols).times(vectors(cols), np.float32)
            assert bits_of(found) == fresh(file, first, rows, cols)
        first, count = int(random.integers(12)), int(random.integers(1, 4))
        file[0][first : first + count] += 1
        file[1][first : first + count] = random.integers(0, 32)
        prepared.invalidate(first, count)


def test_what_is_not_written_stays(file: tuple[np.ndarray, np.ndarray]) -> None:
    prepared = PreparedTiles(*file, EIGHT, EIGHT)
    left, right = prepared.tiles(0, 2, 2), prepared.tiles(4, 2, 2)
    prepared.invalidate(3, 1)
    assert prepared.tiles(4, 2, 2) is right
    assert prepared.tiles(0, 2, 2) is not left
    prepared.invalidate_all()
    assert prepared.tiles(4, 2, 2) is not right


def test_no_more_is_kept_than_the_whole_file_takes(file: tuple[np.ndarray, np.ndarray]) -> None:
    prepared = PreparedTiles(*file, EIGHT, EIGHT)
    first = prepared.tiles(0, 12, 1)
    for shape in ((6, 2), (4, 3), (2, 6), (3, 4)):  # binary32: four times the file fit
        prepared.tiles(0, *shape)
    assert prepared.tiles(0, 2, 6) is prepared.tiles(0, 2, 6)
    assert prepared.tiles(0, 12, 1) is not first
