"""Cells: models the memories of a traced nnp program, and finds the value that a read returns.

A cell is a native vector of N numbers; in MatrixRf it is a native tile. Each cell stores which node
of the graph was written to it. A tile in Dram takes N cells, one for each of its rows. The tiles of
a matrix are consecutive.

If possible, a read is expressed as a whole value, as rows or columns of a value, or as several
values side by side or stacked. Otherwise it is put together cell by cell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.concord.chains import SourceInstruction
from macaw.lowering.concord.graph import Graph, Node

Ints = NDArray[np.int64]
NOTHING = -1


class Cells:
    """A traced memory of nnp: for each cell, the graph node that was written there.

    `owner` has the node's number, or `NOTHING` for a cell that was never written. `index` says
    which cell of the node's value it is.
    """

    def __init__(self) -> None:
        self.owner: Ints = np.full(64, NOTHING, np.int64)
        self.index: Ints = np.zeros(64, np.int64)

    def reserve(self, end: int) -> None:
        """Extend the memory to at least `end` cells."""
        if end > len(self.owner):
            more = max(end, 2 * len(self.owner)) - len(self.owner)
            self.owner = np.concatenate([self.owner, np.full(more, NOTHING, np.int64)])
            self.index = np.concatenate([self.index, np.zeros(more, np.int64)])

    def copy(self, addresses: Ints, owner: Ints, index: Ints) -> None:
        """Write to the cells at `addresses`: each gets a node's number and an index in its value.

        `addresses`, `owner` (node numbers) and `index` have the same shape, with one row for each
        iteration. If an address occurs several times, the last write counts.
        """
        self.reserve(int(addresses.max()) + 1)
        self.owner[addresses] = owner
        self.index[addresses] = index

    def read(self, addresses: Ints) -> tuple[Ints, Ints]:
        """Return what the cells at `addresses` store: node numbers, and indices in their values.

        Both arrays have the shape of `addresses`.
        """
        self.reserve(int(addresses.max()) + 1)
        return self.owner[addresses], self.index[addresses]


def indices(node: Node, rows: int) -> Ints:
    """Return the indices of the cells of a node's value, in shape (iterations, blocks).

    `rows` is the number of iterations. If the value has a single row, all iterations have its
    cells.
    """
    cells = np.arange(node.rows * node.blocks, dtype=np.int64).reshape(node.rows, node.blocks)
    return cells if node.rows == rows else np.repeat(cells[:1], rows, axis=0)


def as_vectors(graph: Graph, owner: Ints) -> Ints:
    """Return `owner`, the node numbers of cells, with nodes of vectors in place of matrices.

    For each matrix in `owner`, the graph gets a node whose vectors are the rows of the matrix's
    tiles. Then vectors can be read from memory to which a matrix was written.
    """
    for number in np.unique(owner[owner != NOTHING]).tolist():
        node = graph.nodes[number]
        if node.is_matrix:
            if number not in graph.as_vectors:
                count = node.rows * node.blocks * graph.native
                graph.as_vectors[number] = graph.add("rows_of_tiles", (node,), count, 1)
            owner = np.where(owner == number, graph.as_vectors[number].number, owner)
    return owner


def as_tiles(
    graph: Graph, owner: Ints, index: Ints, rows: int, place: SourceInstruction
) -> tuple[Ints, Ints]:
    """Return, for each tile of a read, the number of its matrix node and its index in the matrix.

    `owner` and `index` have one row for each tile, with its N cells (N rows of N numbers). Cells
    that are not a whole tile of one matrix become tiles of a new matrix, which is assembled from
    these rows. The new matrix gets `place` as its instruction in the source. `rows` is the number
    of rows of tiles that are read.
    """
    count, native = owner.shape
    first = index[:, 0]
    matrices = [number for number in np.unique(owner).tolist() if graph.nodes[number].is_matrix]
    whole = (owner == owner[:, :1]).all(axis=1) & np.isin(owner[:, 0], matrices)
    whole &= (first % native == 0) & (index == first[:, None] + np.arange(native)).all(axis=1)
    owners, indices = owner[:, 0].copy(), first // native
    rest = np.flatnonzero(~whole)
    if len(rest):
        cells = [part[rest].reshape(-1, 1) for part in (as_vectors(graph, owner), index)]
        lines = _repeat(graph, vectors(graph, *cells), len(rest) * native)
        down = rows if len(rest) == count else 1
        matrix = graph.add("matrix_of_rows", (lines,), down, len(rest) // down, place)
        owners[rest], indices[rest] = matrix.number, np.arange(len(rest))
    return owners, indices


def vectors(graph: Graph, owner: Ints, index: Ints) -> Node:
    """Return the node for a read of vectors. Cells that were never written are zeros.

    For each cell that is read, `owner` has the number of the node that was written there, and
    `index` the cell's index in that node's value. Both have shape (iterations, native vectors).
    """
    if len(owner) > 1 and (owner == owner[0]).all() and (index == index[0]).all():
        return vectors(graph, owner[:1], index[:1])  # the cells are the same for every iteration
    rows, blocks = owner.shape
    if (owner == owner[0, 0]).all():
        if owner[0, 0] == NOTHING:
            return graph.add("zeros", (), rows, blocks)
        return _of_one(graph, graph.nodes[int(owner[0, 0])], index)
    whole = _whole(graph, owner.ravel(), index.ravel())
    if whole:
        width = whole[0].blocks
        stack = graph.add("stack", whole, owner.size // width, width)
        return _regroup(graph, stack, rows, blocks)
    edges = np.flatnonzero((owner[:, 1:] != owner[:, :-1]).any(axis=0)) + 1
    if _constant(owner, [0, *edges]):
        pieces = [
            vectors(graph, part, where)
            for part, where in zip(
                np.split(owner, edges, axis=1), np.split(index, edges, axis=1), strict=True
            )
        ]
        most = max(piece.rows for piece in pieces)
        pieces = [_repeat(graph, piece, most) for piece in pieces]
        return graph.add("join", pieces, most, blocks)
    ends = np.flatnonzero((owner[1:] != owner[:-1]).any(axis=1)) + 1
    if len(ends) and all((owner[row] == owner[row, 0]).all() for row in [0, *ends]):
        pieces = []
        for part, where in zip(np.split(owner, ends), np.split(index, ends), strict=True):
            pieces.append(_repeat(graph, vectors(graph, part, where), len(part)))
        return graph.add("stack", pieces, rows, blocks)
    if rows > 1:
        lines = zip(owner, index, strict=True)
        pieces = [vectors(graph, line[None], where[None]) for line, where in lines]
        return graph.add("stack", pieces, rows, blocks)
    raise AssertionError("one row is made of columns")


def _whole(graph: Graph, owner: Ints, index: Ints) -> list[Node]:
    """Return nodes whose values, one after the other, are the value of a read.

    `owner` and `index` have the node number and the index of each cell that is read. The list is
    empty unless the read takes all cells of each node in their order, and all nodes have the same
    number of native vectors in a row.
    """
    nodes: list[Node] = []
    at = 0
    while at < len(owner):
        if owner[at] == NOTHING:
            return []
        node = graph.nodes[int(owner[at])]
        size = node.rows * node.blocks
        here = slice(at, at + size)
        if at + size > len(owner) or (nodes and node.blocks != nodes[0].blocks):
            return []
        if (owner[here] != node.number).any() or (index[here] != np.arange(size)).any():
            return []
        nodes.append(node)
        at += size
    return nodes


def _constant(owner: Ints, edges: list[int]) -> bool:
    return all((owner[:, edge] == owner[0, edge]).all() for edge in edges)


def _repeat(graph: Graph, node: Node, rows: int) -> Node:
    """Return a node with `rows` rows: `node` itself, or one that repeats the only row of `node`."""
    if node.rows == rows:
        return node
    return graph.add("take", (node,), rows, node.blocks, lines=(0,) * rows)


def _of_one(graph: Graph, node: Node, index: Ints) -> Node:
    """Return the node for a read whose cells all belong to `node`.

    `index` has shape (iterations, native vectors): the indices of the cells in the node's value.
    """
    rows, blocks = index.shape
    if (
        np.array_equal(index.ravel(), np.arange(index.size))
        and index.size == node.rows * node.blocks
    ):
        if (node.rows, node.blocks) == (rows, blocks):
            return node
        return _regroup(graph, node, rows, blocks)
    lines, columns = np.divmod(index, node.blocks)
    first = int(columns[0, 0])
    straight = first + np.arange(blocks)
    if (lines == lines[:, :1]).all() and (columns == straight).all():
        line_node = _rows(graph, node, [int(line) for line in lines[:, 0]])
        if blocks == node.blocks:
            return line_node
        return graph.add("columns", (line_node,), rows, blocks, start=first, stop=first + blocks)
    cells = _regroup(graph, node, node.rows * node.blocks, 1)
    single = _rows(graph, cells, [int(cell) for cell in index.ravel()])
    return graph.add("regroup", (single,), rows, blocks)


def _regroup(graph: Graph, node: Node, rows: int, blocks: int) -> Node:
    """Return a node with the cells of `node` in `rows` rows of `blocks` cells.

    If `node` is an input, later calls with the same shape return the same node.
    """
    if (node.rows, node.blocks) == (rows, blocks):
        return node
    if node.operation != "input":
        return graph.add("regroup", (node,), rows, blocks)
    key = node.number, rows, blocks
    if key not in graph.regroups:
        graph.regroups[key] = graph.add("regroup", (node,), rows, blocks)
    return graph.regroups[key]


def _rows(graph: Graph, node: Node, lines: list[int]) -> Node:
    """Return a node that selects the rows of `node` with the numbers `lines`."""
    count = len(lines)
    if lines == list(range(node.rows)):
        return node
    if lines == list(range(lines[0], lines[0] + count)):
        return graph.add("rows", (node,), count, node.blocks, start=lines[0], stop=lines[0] + count)
    return graph.add("take", (node,), count, node.blocks, lines=tuple(lines))


def tiles(graph: Graph, owner: Ints, index: Ints) -> Node:
    """Return the matrix node for a read of tiles. Tiles that were never written are zeros.

    For each tile that is read, `owner` has the number of the matrix node that was written there,
    and `index` the tile's index in that matrix. Both have shape (rows, columns) of tiles.
    """
    rows, columns = owner.shape
    if (owner == NOTHING).all():
        return graph.add("zero_tiles", (), rows, columns)
    if (owner == owner[0, 0]).all():
        node = graph.nodes[int(owner[0, 0])]
        down, across = np.divmod(index, node.blocks)
        top, left = int(down[0, 0]), int(across[0, 0])
        if (down == top + np.arange(rows)[:, None]).all() and (
            across == left + np.arange(columns)
        ).all():
            if (rows, columns) == (node.rows, node.blocks):
                return node
            ends = {"top": top, "bottom": top + rows, "left": left, "right": left + columns}
            return graph.add("part", (node,), rows, columns, **ends)
    for axis, name in ((1, "join_tiles"), (0, "stack_tiles")):
        edges = np.flatnonzero((np.diff(owner, axis=axis) != 0).any(axis=1 - axis)) + 1
        cuts = list(edges) if len(edges) else list(range(1, owner.shape[axis]))
        if not cuts:
            continue
        parts = zip(np.split(owner, cuts, axis), np.split(index, cuts, axis), strict=True)
        return graph.add(name, [tiles(graph, *part) for part in parts], rows, columns)
    raise AssertionError("one tile is a part of its matrix")
