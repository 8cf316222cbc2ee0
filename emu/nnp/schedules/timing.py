"""Timing rules of nnp: when the vectors of a chain pass the units, in device cycles.

docs/timing-nnp.md explains them. A vector enters a unit when three conditions are true: the unit is
free, the vector's first elements have come from the previous unit, and the operands are ready. The
vector occupies the unit for its rate, a number of cycles. A unit may be faster than the previous
unit. Then the vector enters later, so that its last elements arrive when the unit needs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.nnp.schedules.chain import Chain, Operation
from macaw.isa.descriptors.nnp import tile_bytes, vector_bytes

Times = NDArray[np.int64]

READ, MULTIPLY, FIRST, SECOND, WRITE, TILES = range(6)
"""The units, in the order in which a chain passes them; tiles have a manager of their own."""
MFUS = ((FIRST, "mfu0"), (SECOND, "mfu1"))
"""The multi-function units by number and name."""
UNITS = ("reading", "the multiplier", "MFU0", "MFU1", "writing", "the matrix memory manager")

_DEPTHS = {
    "add": "nnp.add_depth",
    "multiply": "nnp.multiply_depth",
    "activate": "nnp.activation_depth",
    "quantise": "nnp.quantise_depth",
}


class Timing:
    """The depths and rates of the units in a configuration, in device cycles."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.divider = int(config["nnp.divider"])

        def cycles(name: str) -> int:
            return int(config[name]) * self.divider

        native = int(config["nnp.native"])
        self.native = native
        self.issue = cycles("nnp.issue_cycles")
        self.read = cycles("nnp.read_depth")
        self.multiplier = cycles("nnp.multiplier_depth")
        self.crossbar = cycles("nnp.crossbar_depth")
        self.write = cycles("nnp.write_depth")
        self.softmax = cycles("nnp.softmax_depth")
        self.blocks = {block: cycles(name) for block, name in _DEPTHS.items()}
        self.rate = -(-native // int(config["nnp.vector_lanes"])) * self.divider
        self.pass_cycles = -(-native // int(config["nnp.lanes"])) * self.divider
        self.engines = int(config["nnp.engines"])
        self.mapping = str(config["nnp.mapping"])
        self.tile_passes = lru_cache(maxsize=256)(self._tile_passes)
        self.lanes = int(config["nnp.lanes"])
        self.latency = self._aligned(int(config["mem.external_latency"]))
        self.width = int(config["mem.external_width"])
        self.channels = int(config["nnp.vector_channels"])
        self.matrix_channels = int(config["nnp.matrix_channels"])
        self.vector_bytes = vector_bytes(config)
        self.tile_bytes = tile_bytes(config)

    def _aligned(self, cycles: int) -> int:
        return -(-cycles // self.divider) * self.divider

    def depth(self, operations: list[Operation]) -> int:
        """Return the depth of a multi-function unit (MFU) that executes `operations`.

        The depth is the number of cycles from a vector's start in the unit to its start in the next
        unit.
        """
        depth = self.crossbar
        for item in operations:
            depth += self.softmax if item.does == "v_softmax" else self.blocks[item.block]
        return depth

    def _tile_passes(self, rows: int, cols: int) -> NDArray[np.int64]:
        """Return in which pass each tile of a matrix is multiplied, in shape (rows, cols).

        Passes are numbered from 0. In a pass each tile engine multiplies one tile by one vector; it
        takes the tiles that are mapped to it in row-major order.
        """
        row, column = np.arange(rows)[:, None], np.arange(cols)
        if self.mapping == "rows":
            return np.asarray(row // self.engines * cols + column)
        if self.mapping == "columns":
            of_engine = (cols - 1 - column % self.engines) // self.engines + 1
            return np.asarray(row * of_engine + column // self.engines)
        return np.asarray((row * cols + column) // self.engines)

    def passes(self, chain: Chain) -> NDArray[np.int64]:
        """Return, for each row of a chain's tiles, in which pass its last tile is multiplied.

        The result has the numbers of these passes, in shape (rows,).
        """
        scalars = chain.scalars
        return np.asarray(self.tile_passes(scalars["rows"], scalars["cols"]).max(axis=1))

    def product(self, chain: Chain) -> int:
        """Return the cycles for which the product of a chain occupies the multiplier."""
        return (int(self.passes(chain).max()) + 1) * self.pass_cycles

    def beats(self, addresses: NDArray[np.int64], length: int) -> NDArray[np.int64]:
        """Return the beats that an access of `length` bytes at each of `addresses` takes.

        The addresses are in external memory. The result has the shape of `addresses`.
        """
        return np.asarray((addresses + length - 1) // self.width - addresses // self.width + 1)

    def channel(self, beats: NDArray[np.int64], tiles: bool) -> Times:
        """Return for how many cycles accesses of `beats` beats each occupy a memory manager.

        Its channels move several beats in one cycle. With `tiles` this is the matrix memory
        manager, else the vector memory manager.
        """
        channels = self.matrix_channels if tiles else self.channels
        return np.asarray(-(-beats // channels) * self.divider)


def handover(depth: int, rate: int | Times, following: int | Times) -> int | Times:
    """Return the cycles from a vector's start in a unit to its earliest start in the next unit.

    `depth` is the depth of the unit; `rate` and `following` are the vector's rates in the two
    units.
    """
    return depth + np.maximum(0, rate - following)


def enter(arrivals: Times, rates: Times, free: int) -> Times:
    """Return the cycles in which vectors enter a unit one after the other.

    Each vector occupies the unit for its rate; the first one can enter at `free`. The entry times t
    are defined by t[k] = max(arrivals[k], t[k - 1] + rates[k - 1]), with t[-1] + rates[-1] = free.
    The code uses an equal formula without a loop. Let R[k] be the sum of all rates before k. Then
    t[k] - R[k] is the maximum of free and of arrivals[j] - R[j] for all j <= k.
    """
    before = np.cumsum(rates) - rates
    return np.asarray(np.maximum.accumulate(np.maximum(arrivals - before, free)) + before)
