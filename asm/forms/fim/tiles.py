"""Converts a matrix to tiles in the order in which circuits read them (seed 004 Fig. 3), and back.

A matrix consists of groups of 4 x 4 tiles. The groups, the tiles of a group, and the numbers of a
tile are each in row-major order. If the matrix ends inside of a group, zeros complete the group.
"""

from __future__ import annotations

from collections.abc import Iterator

from macaw.isa.fim_circuit import GROUP_SIDE, tile_shape


def padded_shape(shape: tuple[int, int], layout: str, side: str, lanes: int) -> tuple[int, int]:
    """Return the shape (rows, columns) of a matrix, rounded up to whole groups of tiles.

    `layout` and `side` ("a", "b" or "c") determine the shape of a tile; `lanes` is the number of
    elements in a column of memory.
    """
    height, width = (GROUP_SIDE * x for x in tile_shape(layout, side, lanes))
    return -(-shape[0] // height) * height, -(-shape[1] // width) * width


def _lines(
    shape: tuple[int, int], layout: str, side: str, lanes: int
) -> Iterator[tuple[int, int, int]]:
    """Yield (matrix row, first matrix column, width) for each line of each tile, tile by tile.

    A line is the part of a matrix row that is in one tile. Lines in the padding, outside of the
    matrix, are included. The arguments are those of `padded_shape`.
    """
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
    """Return the tiles of the row-major matrix `data` as bytes, with zeros outside of the matrix.

    `shape` is (rows, columns), `item` the size of an element in bytes. `layout` and `side` ("a",
    "b" or "c") determine the shape of a tile; `lanes` is the number of elements in a column of
    memory.
    """
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
    """Return the row-major matrix whose tiles are `data`, the inverse of `tiled`.

    The other arguments are those of `tiled`. Raises `ValueError` if `data` has the wrong length.
    """
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
