"""When the vectors of a chain pass its units (docs/timing-nnp.md). All times are device cycles.

A vector enters a unit when the unit is free, the unit before it has handed over its first
elements, and the operands are there; the unit is free again after the vector's rate. A unit
that is slower than the one before it does not wait for it at the end, a faster one does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.nnp.chain import Chain, Operation
from macaw.isa.nnp import HOST_BYTES, vector_bytes

Times = NDArray[np.int64]

_DEPTHS = {
    "add": "nnp.add_depth",
    "multiply": "nnp.multiply_depth",
    "activate": "nnp.activation_depth",
}


class Timing:
    """The depths and rates of a configuration, in device cycles."""

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
        self.a_pass = -(-native // int(config["nnp.lanes"])) * self.divider
        self.engines = int(config["nnp.engines"])
        self.lanes = int(config["nnp.lanes"])
        self.latency = self._aligned(int(config["mem.external_latency"]))
        self.width = int(config["mem.external_width"])
        self.channels = int(config["nnp.vector_channels"])
        self.matrix_channels = int(config["nnp.matrix_channels"])
        self.vector_bytes = vector_bytes(config)
        self.tile_bytes = native * native * HOST_BYTES[config["nnp.host_format"]]

    def _aligned(self, cycles: int) -> int:
        return -(-cycles // self.divider) * self.divider

    def depth(self, operations: list[Operation]) -> int:
        """Of an MFU, from a vector's begin in it to its begin in the next unit."""
        depth = self.crossbar
        for item in operations:
            depth += self.softmax if item.does == "v_softmax" else self.blocks[item.block]
        return depth

    def passes(self, chain: Chain) -> NDArray[np.int64]:
        """The pass of each row's last tile, relative to the first one: (rows,)."""
        rows, cols = chain.scalars["rows"], chain.scalars["cols"]
        return ((np.arange(rows) + 1) * cols - 1) // self.engines

    def product(self, chain: Chain) -> int:
        """Cycles that a product takes the multiplier."""
        tiles = chain.scalars["rows"] * chain.scalars["cols"]
        return -(-tiles // self.engines) * self.a_pass

    def beats(self, addresses: NDArray[np.int64], length: int) -> NDArray[np.int64]:
        """Aligned runs of mem.external_width bytes that are touched at byte addresses."""
        return np.asarray((addresses + length - 1) // self.width - addresses // self.width + 1)

    def channel(self, beats: NDArray[np.int64], tiles: bool = False) -> Times:
        """Cycles that accesses of so many beats take the channels of a memory manager."""
        channels = self.matrix_channels if tiles else self.channels
        return np.asarray(-(-beats // channels) * self.divider)


def handed(depth: int, rate: int | Times, following: int | Times) -> int | Times:
    """From a vector's begin in a unit to the first cycle in which the next one may begin."""
    return depth + np.maximum(0, rate - following)


def through(arrivals: Times, rates: Times, free: int) -> Times:
    """The cycles in which vectors enter a unit one after the other, each for its rate.

    t[k] = max(arrivals[k], t[k - 1] + rates[k - 1]), t[-1] + rates[-1] = free: with the sum R[k]
    of all rates before k, t[k] - R[k] is the greatest of arrivals[j] - R[j], j <= k, and free.
    """
    before = np.cumsum(rates) - rates
    return np.asarray(np.maximum.accumulate(np.maximum(arrivals - before, free)) + before)
