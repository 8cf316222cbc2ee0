"""A chain that is complete: what of it derives from its rows and the registers of s_wr."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from macaw.isa.codec import Decoded
from macaw.isa.nnp_chains import follow, step
from macaw.isa.nnp_entries import Access, Volume, accesses, flow, volume
from macaw.isa.nnp_layouts import TILE

Addresses = NDArray[np.int64]
_KEPT = 16  # results of `Chain.addresses`
PADDING = -1  # instead of an address: a vector of zeros


class Operation:
    """An instruction of a chain in an MFU: what it does, and from where its operand comes."""

    def __init__(self, at: int, found: Decoded, unit: str, operand: Access | None) -> None:
        self.at = at
        self.does = step(found).does
        self.block = step(found).block
        self.unit = unit
        self.operand = operand


class Chain:
    """A complete chain. `scalars` are the registers' values by name."""

    def __init__(self, rows: Sequence[Decoded], scalars: Mapping[str, int]) -> None:
        self.rows = rows
        self.scalars = dict(scalars)
        self.iterations = scalars["iterations"]
        self.is_tiles = step(rows[0]).elements == TILE
        self.units = follow(rows)
        self.volume: Volume | None = None if self.is_tiles else volume(scalars)
        found = {access.at: access for access in accesses(rows, scalars)}
        self.source = found[0]
        self.writes = [access for access in found.values() if access.writes]
        self.product: Access | None = None
        self.operations: list[Operation] = []
        for at, (row, unit) in enumerate(zip(rows, self.units, strict=True)):
            if step(row).block == "product":
                self.product = found[at]
            elif unit:
                self.operations.append(Operation(at, row, unit, found.get(at)))
        counts = flow(rows, scalars)
        assert counts[0] is not None
        assert counts[-1] is not None
        self.taken = self.source.count if self.is_tiles else counts[0]  # vectors or tiles read
        self.given = self.source.count if self.is_tiles else counts[-1]  # of them written
        self._places: dict[tuple[int, int, int], Addresses] = {}
        self.pushed = sum(self.given for access in self.writes if access.memory.queue)
        self._ordered = False

    def is_ordered(self, first: int, count: int) -> bool:
        """Whether one of `count` iterations may read, or write again, what one before it wrote.

        Once it is so, it is said of all iterations that follow. A single write may go where
        it has gone before: the last one counts.
        """
        if not self._ordered:
            accesses = [self.source, *self.writes]
            self._ordered = any(
                self._meet(one, other, first, count)
                for one, other in combinations(accesses, 2)
                if one.memory is other.memory
            )
        return self._ordered

    def _meet(self, one: Access, write: Access, first: int, count: int) -> bool:
        """Whether the order of iterations shows in an access and a write to the same memory."""
        if one.memory.queue:
            return True
        places = self.addresses(one, first, count)
        entries, earliest = np.unique(self.addresses(write, first, count), return_index=True)
        if one.writes:
            return bool(np.isin(entries, places, assume_unique=False).any())
        near = np.minimum(np.searchsorted(entries, places), len(entries) - 1)
        written = np.where(entries[near] == places, earliest[near] // write.count, count)
        return bool((written < np.arange(count)[:, None]).any())

    def of_unit(self, unit: str) -> list[Operation]:
        """What happens in an MFU."""
        return [operation for operation in self.operations if operation.unit == unit]

    def addresses(self, access: Access, first: int, count: int) -> Addresses:
        """The entries of an access in `count` iterations from `first` on: (count, vectors)."""
        key = access.at, first, count
        found = self._places.get(key)
        if found is None:
            found = self._addresses(access, first, count)
            if len(self._places) < _KEPT:
                self._places[key] = found
        return found

    def _addresses(self, access: Access, first: int, count: int) -> Addresses:
        iterations = np.arange(first, first + count, dtype=np.int64)
        if access.window and self.volume is not None:
            return self._windows(access.base, self.volume, iterations)
        steps = iterations
        if access.sliding and self.volume is not None:
            y, x = np.divmod(iterations, self.volume.across)
            steps = (y * self.volume.width + x) * self.volume.stride
        begins = access.base + access.inc * steps
        return np.asarray(begins[:, None] + np.arange(access.count))

    def _windows(self, base: int, volume: Volume, iterations: Addresses) -> Addresses:
        """A window each iteration, in the order y, x, depth."""
        down, over = np.divmod(iterations, volume.across)
        kernel = np.arange(volume.kernel)
        y = (down * volume.stride - volume.pad)[:, None, None] + kernel[:, None]
        x = (over * volume.stride - volume.pad)[:, None, None] + kernel
        inside = (y >= 0) & (y < volume.height) & (x >= 0) & (x < volume.width)
        position = np.where(inside, (y * volume.width + x) * volume.depth, 0)
        found = base + position[..., None] + np.arange(volume.depth)
        found = np.where(inside[..., None], found, PADDING)
        return np.asarray(found.reshape(len(iterations), -1))
