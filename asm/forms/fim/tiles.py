"""A matrix as tiles, in the order in which circuits take them (seed 004 Fig. 3), and back.

Groups of 4 x 4 tiles follow one another row by row; so do the tiles of a group, and the numbers of
a tile. Where the matrix ends inside of a group, zeros fill it.
"""

from __future__ import annotations

from collections.abc import Iterator

from macaw.isa.fim_circuit import GROUP_SIDE, tile_shape


def padded_shape(shape: tuple[int, int], layout: str, side: str, lanes: int) -> tuple[int, int]:
    """Return the rows and columns of whole groups that hold a matrix."""
    height, width = (GROUP_SIDE * x for x in tile_shape(layout, side, lanes))
    return -(-shape[0] // height) * height, -(-shape[1] // width) * width


def _lines(
    shape: tuple[int, int], layout: str, side: str, lanes: int
) -> Iterator[tuple[int, int, int]]:
    """Row, first column and width of each piece of a row, in the order of the tiles."""
    height, width = tile_shape(layout, side, lanes)
    rows, columns = padded_shape(shape, layout, side, lanes)
    for group_row in range(0, rows, GROUP_SIDE * height):
        for group_column in range(0, columns, GROUP_SIDE * width):
            for tile in range(GROUP_SIDE * GROUP_SIDE):
                down, right = divmod(tile, GROUP_SIDE)
                first = group_row + down * height
                for row in range(first, first + height):
                    yield row, group_column + right * width, width


def tiled(
    data: bytes, shape: tuple[int, int], item: int, layout: str, side: str, lanes: int
) -> bytes:
    """The tiles of a row-major matrix: `item` bytes an element, `lanes` elements a column."""
    rows, columns = shape
    tiles = bytearray()
    for row, column, width in _lines(shape, layout, side, lanes):
        size = width * item
        if row >= rows or column >= columns:
            tiles += bytes(size)
            continue
        start = (row * columns + column) * item
        run = data[start : start + min(width, columns - column) * item]
        tiles += run.ljust(size, b"\0")
    return bytes(tiles)


def untiled(
    data: bytes, shape: tuple[int, int], item: int, layout: str, side: str, lanes: int
) -> bytes:
    """The row-major matrix whose tiles are `data`. Raises `ValueError` for another length."""
    rows, columns = shape
    whole = padded_shape(shape, layout, side, lanes)
    if len(data) != whole[0] * whole[1] * item:
        raise ValueError(
            f"tiles of a {rows} x {columns} matrix are {whole[0] * whole[1] * item} bytes,"
            f" not {len(data)}"
        )
    matrix = bytearray(rows * columns * item)
    place = 0
    for row, column, width in _lines(shape, layout, side, lanes):
        count = min(width, columns - column)
        if row < rows and count > 0:
            start = (row * columns + column) * item
            matrix[start : start + count * item] = data[place : place + count * item]
        place += width * item
    return bytes(matrix)
