"""A complete chain: data that follow from its instructions and the scalar registers."""

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
_CACHED = 16  # the greatest number of results of `Chain.addresses` that a chain keeps
PADDING = -1  # in place of an entry: a vector of zeros


class Operation:
    """An instruction of a chain that a multi-function unit (MFU) executes.

    `at` is its index in the chain and `unit` the name of the MFU. `operand` is the access that
    reads its second operand, or None.
    """

    def __init__(self, at: int, instruction: Decoded, unit: str, operand: Access | None) -> None:
        self.at = at
        self.does = step(instruction).does
        self.block = step(instruction).block
        self.unit = unit
        self.operand = operand


class Chain:
    """A complete chain of decoded instructions (`rows`), ready for execution.

    `scalars` has the values, by name, of the registers that s_wr sets.
    """

    def __init__(self, rows: Sequence[Decoded], scalars: Mapping[str, int]) -> None:
        self.rows = rows
        self.scalars = dict(scalars)
        self.iterations = scalars["iterations"]
        self.is_tiles = step(rows[0]).elements == TILE
        self.units = follow(rows)
        self.volume: Volume | None = None if self.is_tiles else volume(scalars)
        by_place = {access.at: access for access in accesses(rows, scalars)}
        self.source = by_place[0]
        self.writes = [access for access in by_place.values() if access.writes]
        self.product: Access | None = None
        self.operations: list[Operation] = []
        for at, (row, unit) in enumerate(zip(rows, self.units, strict=True)):
            if step(row).block == "product":
                self.product = by_place[at]
            elif unit:
                self.operations.append(Operation(at, row, unit, by_place.get(at)))
        counts = flow(rows, scalars)
        assert counts[0] is not None
        assert counts[-1] is not None
        # The number of vectors or tiles in an iteration: read from the source, written by each
        # write.
        self.input_count = self.source.count if self.is_tiles else counts[0]
        self.output_count = self.source.count if self.is_tiles else counts[-1]
        self.push_count = sum(self.output_count for access in self.writes if access.memory.queue)
        self._addresses: dict[tuple[int, int, int], Addresses] = {}
        self._depends_on_order = False

    def depends_on_order(self, first: int, count: int) -> bool:
        """Return whether an iteration may read or overwrite what an earlier iteration wrote.

        Only iterations `first` to `first` + `count` - 1 are tested, but after a True all later
        calls return True without a test. Two writes of one instruction to the same entry do not
        make the result True, because the later value remains in either case.
        """
        if not self._depends_on_order:
            accesses = [self.source, *self.writes]
            self._depends_on_order = any(
                self._conflict(one, other, first, count)
                for one, other in combinations(accesses, 2)
                if one.memory is other.memory
            )
        return self._depends_on_order

    def _conflict(self, one: Access, write: Access, first: int, count: int) -> bool:
        """Return whether the order of iterations matters for two accesses to the same memory.

        The iterations are `first` to `first` + `count` - 1. `one` is the chain's source or a write;
        `write` is a write by another instruction.
        """
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
        """Return the operations that the multi-function unit `unit` executes."""
        return [operation for operation in self.operations if operation.unit == unit]

    def addresses(self, access: Access, first: int, count: int) -> Addresses:
        """Return the addresses of the memory entries that `access` reads or writes.

        The result has shape (count, vectors), with a row for each of `count` iterations from
        iteration `first` on. Entries of a window that are outside of the volume are PADDING.
        """
        key = access.at, first, count
        addresses = self._addresses.get(key)
        if addresses is None:
            addresses = self._compute_addresses(access, first, count)
            if len(self._addresses) < _CACHED:
                self._addresses[key] = addresses
        return addresses

    def _compute_addresses(self, access: Access, first: int, count: int) -> Addresses:
        iterations = np.arange(first, first + count, dtype=np.int64)
        if access.window and self.volume is not None:
            return self._windows(access.base, self.volume, iterations)
        steps = iterations
        if access.sliding and self.volume is not None:
            y, x = np.divmod(iterations, self.volume.across)
            steps = y * self.volume.stride_y * self.volume.width + x * self.volume.stride
        begins = access.base + access.inc * steps
        return np.asarray(begins[:, None] + np.arange(access.count))

    def _windows(self, base: int, volume: Volume, iterations: Addresses) -> Addresses:
        """Return the entries of each iteration's convolution window, (iterations, vectors).

        `base` is the entry of the volume's first vector, `iterations` has the numbers of the
        iterations. Within a window the vectors are sorted by y, then x, then depth. `PADDING`
        stands for a vector outside the volume.
        """
        down, over = np.divmod(iterations, volume.across)
        lines = volume.dilation_y * np.arange(volume.kernel_y)
        columns = volume.dilation * np.arange(volume.kernel)
        y = (down * volume.stride_y - volume.pad_y)[:, None, None] + lines[:, None]
        x = (over * volume.stride - volume.pad)[:, None, None] + columns
        inside = (y >= 0) & (y < volume.height) & (x >= 0) & (x < volume.width)
        position = np.where(inside, (y * volume.width + x) * volume.depth, 0)
        entries = base + position[..., None] + np.arange(volume.depth)
        entries = np.where(inside[..., None], entries, PADDING)
        return np.asarray(entries.reshape(len(iterations), -1))
