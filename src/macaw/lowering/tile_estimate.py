"""Computes numbers and sizes of tiles, which the estimates of all kinds of tiles use."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import ENTRY, WEIGHTS_RECORD
from macaw.lowering.operation import Types
from macaw.lowering.partition import Partition
from macaw.lowering.plan import ProductPlan
from macaw.lowering.widths import bus_width, copy_widths

Numbers = NDArray[np.int64]
Reals = NDArray[Any]  # of a grid: one number for each tile


@dataclass(frozen=True)
class TileEstimate(ABC):
    """The numbers from which the cycles of tiles of many sizes are estimated at once.

    An array has one number for each tile. In one iteration each cluster computes one tile. `part`
    is the division of the operation among rows and clusters. `density` is the share of activations
    that are not zero.
    """

    config: Configuration
    part: Partition  # the partition of the operation
    density: float

    @property
    @abstractmethod
    def some(self) -> ProductPlan:
        """The plan of an arbitrary tile, for the numbers that are the same for all tiles."""

    # Numbers of tiles

    @property
    @abstractmethod
    def n(self) -> int:
        """The number of outputs (N) of a tile; tile sizes differ only in their other numbers."""

    @property
    @abstractmethod
    def tiles_k(self) -> Reals:
        """The number of tiles whose sums add up to one result."""

    @property
    def tiles_n(self) -> int:
        """The number of tiles of outputs."""
        return -(-self.part.length("N") // self.n)

    @property
    def several(self) -> NDArray[np.bool_]:
        """For each tile size, whether partial sums are stored and loaded again.

        They are if several tiles of inputs add up to one result.
        """
        return self.tiles_k > 1

    # Sizes of a tile

    @property
    @abstractmethod
    def entries(self) -> Reals:
        """The mean number of nonzero weights that one output has in a tile."""

    @property
    def width(self) -> int:
        """The bytes that the bus to the rows of the array moves in a cycle."""
        return bus_width(self.config)

    @property
    def size(self) -> int:
        """The bytes of an activation."""
        return Types.size(self.some.types.activation)

    @property
    def result(self) -> int:
        """The bytes of a result."""
        return Types.size(self.some.types.result)

    @cached_property
    def weights(self) -> Reals:
        """The size in bytes of the weights that a row of the array loads in one iteration."""
        owners = 1 if self.some.shares_weights else self.part.clusters
        entry = ENTRY.size + Types.size(self.some.types.weight)
        return owners * self.some.pes * (WEIGHTS_RECORD.size + entry * self.entries)

    # Cycles

    @property
    def start(self) -> int:
        """The cycles of a transfer of the dma in addition to those of its bytes."""
        latency = self.config["mem.external_latency"] + self.config["mem.onchip_latency"]
        return int(latency + (self.config["dma.setup"] + 1) * self.config["dma.divider"])

    def moving(self, size: Reals) -> Reals:
        """Return the cycles in which the dma moves `size` adjacent bytes to or from a unit."""
        cycles: Reals = size * max(cycles / width for width, cycles in copy_widths(self.config))
        return cycles

    def moving_row(self, size: Reals | int) -> Reals:
        """Return the cycles in which the dma moves a row of `size` bytes, at any address."""
        rows = (
            cycles * (1 + (size - np.gcd(size, width)) / width)
            for width, cycles in copy_widths(self.config)
        )
        found: Reals = np.maximum.reduce(list(rows))
        return found

    @property
    def loads(self) -> Reals:
        """The cycles in which a PE processes weights for one row of activations or one position."""
        if self.config["pe.design"] != "5b":
            return self.entries
        return np.maximum(self.entries * self.density, self.entries / 2)
