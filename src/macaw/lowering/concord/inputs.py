"""Finds the inputs of a program and their names: from hints, declarations or addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.concord.cells import NOTHING, Cells, Ints
from macaw.lowering.concord.graph import Graph, Node, Tensor
from macaw.lowering.concord.hints import Hint

# Hints of a load's destination, each with the index of its first cell in the load.
Pieces = Sequence[tuple[int, Hint]]

# The names of hints in Dram, each with the unit in which it counts: True for tiles, else vectors.
Units = Mapping[str, bool]


class Inputs:
    """Makes the inputs of a traced program, when a chain reads cells that no chain has written.

    `dividing` has those hints in Dram that divide a read in whose middle they are.
    """

    def __init__(self, graph: Graph, hints: Sequence[Hint], native: int, dividing: Units) -> None:
        self.graph, self.hints, self.native, self.dividing = graph, hints, native, dividing
        self.names_used: set[str] = set()  # hints that are inputs already
        self._in_middle: dict[str, bool] = {}  # hints in Dram in the middle of other inputs

    def left_out(self) -> Units:
        """Return the hints in Dram that are in the middle of another input and name nothing.

        The result is for the argument `dividing` of another trace of the same program. Only a
        whole trace finds these hints, because a hint in Dram may count the vectors or the tiles of
        another read.
        """
        return {name: unit for name, unit in self._in_middle.items() if name not in self.names_used}

    def fill(
        self, name: str, memory: Cells, addresses: Ints, pieces: Pieces, *, tiles: bool
    ) -> None:
        """Make input tensors for those cells at `addresses` that were never written.

        `name` and `memory` are the memory's name and cells. `addresses` count native vectors, or
        native tiles with `tiles`. If the chain copies the cells to other places, `pieces` has the
        hints for these places: pairs (index of the first cell that the hint names, hint).
        """
        self._pieces(name, memory, addresses.ravel(), pieces, tiles=tiles)
        flat = np.unique(addresses)
        while True:
            free = self._free(memory, self._cells(flat, tiles=tiles))
            missing = flat[free.any(axis=1)]
            if not len(missing):
                return
            first = int(missing[0])
            lines = self._cells(missing[:1], tiles=tiles).ravel()
            lines = lines[self._free(memory, lines)]
            hint = self.hint_at(name, first, tiles=tiles)
            if hint is not None:
                self.make(hint, memory, tiles=tiles)
                continue
            hint = self._declared_hint_at(name, memory, int(lines[0]))
            if hint is None and not free[flat == first].all():
                hint = self._unnamed_rows(name, lines)
            if hint is not None:  # also for tiles, whose rows are vectors
                self._note_hints_in(hint, tiles=False)
                self.make(hint, memory, tiles=False)
                continue
            end = self._end_before_hint(name, first, int(flat[-1]) + 1, tiles=tiles)
            whole = flat[free.all(axis=1) & (flat < end)]
            hint = self._make_unnamed(name, addresses, whole, tiles=tiles)
            self._note_hints_in(hint, tiles=tiles)
            self.make(hint, memory, tiles=tiles)

    def _cells(self, addresses: Ints, *, tiles: bool) -> Ints:
        """Return an array with one row for each address: the cells of that vector or tile."""
        size = self.native if tiles else 1
        return np.add.outer(addresses * size, np.arange(size))

    def _pieces(self, name: str, memory: Cells, flat: Ints, pieces: Pieces, *, tiles: bool) -> None:
        """Make an input of copied cells if a hint names the place to which a chain copies them.

        The input gets the hint's name. `flat` has the addresses of the copied cells, and `pieces`
        the pairs (index in `flat` of the first cell, hint for its destination). Cells that have a
        hint at their own address are left out.
        """
        for offset, hint in pieces:
            place = flat[offset : offset + self._size(hint, tiles=tiles)]
            first = int(place[0])
            if hint.name in self.names_used or any(
                self.hint_at(name, int(address), tiles=tiles) for address in place
            ):
                continue
            run = np.array_equal(place, first + np.arange(self._size(hint, tiles=tiles)))
            if run and self._free(memory, self._cells(place, tiles=tiles)).all():
                self.make(replace(hint, memory=name, address=first), memory, tiles=tiles)

    def of_queue(self, name: str, begin: int, rows: int, columns: int, pieces: Pieces) -> Cells:
        """Make inputs of the tiles that a chain reads from a queue, and return a memory with them.

        The chain reads `rows` × `columns` tiles. `begin` is the position of the first tile in the
        queue's stream, in native vectors. `pieces` has hints for the places to which the chain
        copies the tiles.
        """
        memory, count, n = Cells(), rows * columns, self.native
        memory.reserve(count)
        here = [
            ((hint.address - begin) // n, hint)
            for hint in self.hints
            if hint.memory == name and hint.explicit and (hint.address - begin) % n == 0
        ]
        for offset, hint in [*here, *pieces]:
            end = offset + hint.tiles(n)
            if hint.name in self.names_used or offset < 0 or end > count:
                continue
            if self._free(memory, np.arange(offset, end)).all():
                segment = replace(hint, memory=name, address=begin + offset * n)
                self.make(segment, memory, tiles=True, at=offset)
        while True:
            missing = np.flatnonzero(memory.owner[:count] == NOTHING)
            if not len(missing):
                return memory
            run = 1
            while run < len(missing) and missing[run] == missing[0] + run:
                run += 1
            sides = (rows, columns) if run == count else (1, run)
            first = int(missing[0])
            label = f"matrix_{name.lower()}_{begin + first * n}"
            hint = Hint(label, name, begin + first * n, sides[0] * n, sides[1] * n)
            self.make(hint, memory, tiles=True, at=first)

    def _size(self, hint: Hint, *, tiles: bool) -> int:
        return hint.tiles(self.native) if tiles else hint.vectors(self.native)

    def hint_at(
        self, name: str, address: int, *, tiles: bool, explicit: bool = True
    ) -> Hint | None:
        """Return the first unused hint whose tensor contains the cell at `address`, or None.

        With `explicit`, only hints from `.hint tensor` are searched; otherwise only declared
        tensors.
        """
        for hint in self.hints:
            inside = 0 <= address - hint.address < self._size(hint, tiles=tiles)
            if (
                hint.memory == name
                and inside
                and hint.explicit == explicit
                and hint.name not in self.names_used
            ):
                return hint
        return None

    def _declared_hint_at(self, name: str, memory: Cells, address: int) -> Hint | None:
        """Return the declared tensor that contains the cell at `address`, or None.

        If a part of the tensor is already an input, or an explicit hint names a later part of it,
        the result is a hint for the part from `address` on that has no other name. In Dram, the
        result is None if the explicit hint is not in `dividing`.
        """
        hint = self.hint_at(name, address, tiles=False, explicit=False)
        if hint is None:
            return None
        whole = hint.address + self._size(hint, tiles=False)
        end = self._end_before_hint(name, address, whole, tiles=False)
        if end < whole or any(
            tensor.memory == name and hint.address <= self._begin(tensor) < end
            for tensor, _ in self.graph.inputs
        ):  # a part of the tensor
            return replace(hint, address=address, rows=end - address, columns=self.native)
        for other in self.hints:
            if other.explicit and other.memory == name:
                last = other.address + self._size(other, tiles=False)
                if other.address < end and hint.address < last:
                    return None
        cells_of = hint.address + np.arange(end - hint.address)
        return hint if self._free(memory, cells_of).all() else None

    def _end_before_hint(self, name: str, address: int, end: int, *, tiles: bool) -> int:
        """Return where the next unused explicit hint after `address` begins, or `end`.

        The result is at most `end`. In Dram, hints count vectors or tiles, and a hint that no chain
        has used yet may count the other ones; so for Dram only the hints in `dividing` count.
        """
        begins = [
            hint.address
            for hint in self.hints
            if hint.explicit
            and hint.memory == name
            and hint.address > address
            and hint.name not in self.names_used
            and (name != "Dram" or self.dividing.get(hint.name) == tiles)
        ]
        return min([end, *begins])

    def _note_hints_in(self, whole: Hint, *, tiles: bool) -> None:
        """Note the explicit hints in Dram that are in the middle of the tensor `whole`."""
        last = whole.address + self._size(whole, tiles=tiles) - 1
        for hint in self.hints:
            inside = whole.address < hint.address <= last
            if inside and hint.explicit and hint.memory == whole.memory == "Dram":
                self._in_middle[hint.name] = tiles

    def _begin(self, tensor: Tensor) -> int:
        """Return the address of a tensor, counted in cells; a tile of Dram has several cells."""
        tiles = tensor.memory == "Dram" and tensor.kind == "matrix"
        return tensor.address * (self.native if tiles else 1)

    def _make_unnamed(self, memory: str, addresses: Ints, missing: Ints, *, tiles: bool) -> Hint:
        """Return a hint for vectors (tiles if `tiles`) that the program does not name.

        The hint's name is made from their address, such as `dram_64`. A chain reads the places
        `addresses` (rows, columns) of `memory`; `missing` are those places that were never written,
        in ascending order. If `missing` is one consecutive range as large as `addresses`, the hint
        has the shape of `addresses`. Otherwise it covers the first consecutive range.
        """
        native = self.native
        rows, columns = addresses.shape
        first = int(missing[0])
        whole = np.array_equal(missing, first + np.arange(addresses.size))
        if not whole:
            breaks = np.flatnonzero(np.diff(missing) != 1)
            rows, columns = 1, int(breaks[0]) + 1 if len(breaks) else len(missing)
        label = f"{memory.lower()}_{first}"
        if tiles:
            return Hint(f"matrix_{label}", memory, first, rows * native, columns * native)
        return Hint(label, memory, first, rows, columns * native)

    def _unnamed_rows(self, memory: str, lines: Ints) -> Hint:
        """Return a new hint for the cells of `memory` from `lines[0]` to the first gap in `lines`.

        `lines` are the addresses of unwritten cells, in ascending order.
        """
        first, run = int(lines[0]), 1
        while run < len(lines) and lines[run] == first + run:
            run += 1
        return Hint(f"{memory.lower()}_{first}", memory, first, run, self.native)

    def make(self, hint: Hint, memory: Cells, *, tiles: bool, at: int | None = None) -> Node:
        """Add an input tensor to the graph and return its node.

        Write the node to each of the tensor's unwritten cells in `memory`. The cells begin at the
        hint's address, or at `at` if it is given. With `tiles`, the tensor is a matrix.
        """
        kind = "matrix" if tiles else "vectors"
        tensor = Tensor(hint.name, hint.rows, hint.columns, kind, hint.memory, hint.address)
        rows = -(-hint.rows // self.native) if tiles else hint.rows
        blocks = -(-hint.columns // self.native)
        node = self.graph.add("input", (), rows, blocks, kind=kind, name=hint.name)
        node.name = hint.name
        self.graph.inputs.append((tensor, node))
        self.names_used.add(hint.name)
        begin = hint.address if at is None else at
        addresses = begin + np.arange(rows * blocks, dtype=np.int64)
        if tiles and at is None:
            addresses = self._cells(addresses, tiles=True).ravel()
        where = np.flatnonzero(self._free(memory, addresses))
        memory.owner[addresses[where]] = node.number
        memory.index[addresses[where]] = where
        return node

    @staticmethod
    def _free(memory: Cells, addresses: Ints) -> NDArray[np.bool_]:
        memory.reserve(int(addresses.max()) + 1)
        return np.asarray(memory.owner[addresses] == NOTHING)
