"""A product's tiles: what an iteration of the array computes, and where it lies.

An iteration gives every cluster a tile of its own part: `groups` times `members` rows of
activations (an accumulator each), `n` outputs (a PE each), `k` inputs. All iterations are of one
size; the last tile of a part begins earlier rather than being shorter
(src/macaw/lowering/partition.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.isa.pe import ACCUMULATORS, BLOCKS, ENTRY, WEIGHTS_RECORD
from macaw.lowering.errors import LowerError
from macaw.lowering.mapping import INPUT, OUTPUT, Mapping
from macaw.lowering.operation import Product, Types
from macaw.lowering.partition import Partition

MOST_SEGMENTS = 250  # of an exe: its number has 8 bits


@dataclass(frozen=True)
class Tile:
    """What one cluster computes in an iteration."""

    groups: int  # of rows that share a run of the sequence
    members: int  # rows of a group, an accumulator each
    n: int
    k: int

    @property
    def m(self) -> int:
        """Rows of activations."""
        return self.groups * self.members

    def length(self, dim: str) -> int:
        """Its length in dimension M, N or K."""
        return {"M": self.m, "N": self.n, "K": self.k}[dim]


@dataclass(frozen=True)
class Plan:
    """A product on a device by one mapping, split and tile. All numbers follow from these."""

    product: Product
    config: Configuration
    mapping: Mapping
    partition: Partition
    tile: Tile

    # Counts

    @property
    def pes(self) -> int:
        """PEs of a cluster."""
        return int(self.config["pe.pes"])

    @property
    def slots(self) -> int:
        """PEs of the clusters of a row that take part."""
        return self.partition.clusters * self.pes

    @property
    def types(self) -> Types:
        """Element types."""
        return self.product.types(self.config)

    def count(self, dim: str) -> int:
        """Tiles of a part in a dimension."""
        return -(-self.partition.length(dim) // self.tile.length(dim))

    @property
    def steps(self) -> int:
        """Iterations."""
        return self.count("M") * self.count("N") * self.count("K")

    def tile_start(self, dim: str, index: int) -> int:
        """Where tile `index` begins in its part."""
        length, tile = self.partition.length(dim), self.tile.length(dim)
        return min(index * tile, length - tile)

    # Places of tiles in x and y

    @property
    def columns(self) -> int:
        """Tiles that lie side by side in a row of the image; 0: rows are no rows of images."""
        return 0

    @property
    def pitches(self) -> dict[str, int]:
        """Elements from one to the next: of x by M and K, of y by M and N."""
        return {"X_ROW": self.product.k, "X_DEPTH": 1, "Y_ROW": self.product.n, "Y_DEPTH": 1}

    @property
    def pads(self) -> bool:
        """x is copied into a frame of zeros first."""
        return False

    @property
    def constants(self) -> dict[str, int]:
        """What the cp code of a kind of operation has to know besides."""
        return {}

    @property
    def depth(self) -> str:
        """The dimension that says which inputs of a row a tile takes."""
        return "K"

    @property
    def products(self) -> int:
        """Exes of a list that take weights."""
        return self.tile.groups

    @property
    def weight_segment(self) -> int:
        """Segments of a product's exe before its weights."""
        return 0 if self.holds else self.tile.members

    @property
    def manner(self) -> str:
        """What is to be said besides mapping and split."""
        return ""

    # What is where

    @property
    def blocks(self) -> int:
        """Blocks of the input buffer that a row of activations takes."""
        return -(-self.tile.k // (int(self.config["pe.input_buffer"]) // BLOCKS))

    @property
    def buffered(self) -> int:
        """Rows of activations that lie in the input buffer at once."""
        return self.tile.m

    @property
    def holds(self) -> bool:
        """Activations are loaded into the PEs apart from the products, once for all n."""
        return self.mapping is INPUT

    @property
    def in_accumulators(self) -> bool:
        """Sums stay in the accumulators from iteration to iteration."""
        return self.mapping is OUTPUT

    @property
    def joins_clusters(self) -> bool:
        """The clusters of a row compute parts of the same sums."""
        return self.partition.dims[1] == "K" and self.partition.clusters > 1

    @property
    def joins_rows(self) -> bool:
        """The rows compute parts of the same sums."""
        return self.partition.dims[0] == "K" and self.partition.rows > 1

    @property
    def returns(self) -> bool:
        """Partial sums leave the array and come back: k is no innermost loop."""
        return self.count("K") > 1 and not self.in_accumulators

    @property
    def carries(self) -> bool:
        """Partial sums are needed in the very next iteration: they go from half to half."""
        return self.returns and self.count(self.mapping.inner) == 1

    @property
    def begins(self) -> bool:
        """Sums begin with something: a bias, or partial sums of an earlier iteration."""
        return self.returns or self.product.bias is not None

    @property
    def begins_here(self) -> bool:
        """They do where they are computed, not where clusters are joined."""
        return self.begins and not self.joins_clusters

    @property
    def joined(self) -> bool:
        """Clusters or rows have parts of the same sums."""
        return self.joins_clusters or self.joins_rows

    @property
    def positions(self) -> int:
        """Sums of a PE that wait in the output queue, or groups of its accumulators."""
        return self.tile.groups

    @property
    def by_columns(self) -> bool:
        """Results lie PE by PE, not position by position."""
        return False

    @property
    def shares_activations(self) -> bool:
        """All clusters of a row take the same activations."""
        return self.partition.dims[1] == "N" or self.partition.clusters == 1

    @property
    def shares_weights(self) -> bool:
        """All clusters of a row take the same weights."""
        return self.partition.dims[1] == "M" or self.partition.clusters == 1

    @property
    def rows_share_weights(self) -> bool:
        """All rows take the same weights."""
        return self.partition.dims[0] == "M" or self.partition.rows == 1

    @property
    def partial_bytes(self) -> int:
        """Bytes of a row's partial sums of an iteration."""
        return self.tile.groups * self.summing * self.pes * self.lanes * self.sum_size

    @property
    def starts(self) -> int:
        """Positions whose sums begin with something of their own."""
        return self.positions

    @property
    def start_bytes(self) -> int:
        """Bytes of what a row's sums of an iteration begin with."""
        return self.partial_bytes

    @property
    def lanes(self) -> int:
        """Sums of a PE that lie side by side: its accumulators."""
        return ACCUMULATORS

    @property
    def summing(self) -> int:
        """Clusters of a row that hold sums after those of a row are joined."""
        return 1 if self.joins_clusters else self.partition.clusters

    @property
    def sum_size(self) -> int:
        """Bytes of a sum."""
        return Types.size(self.types.sum)

    # Weights

    @property
    def dense(self) -> bool:
        """Weights lie element by element, zeros included, not as index and value."""
        return False

    @property
    def weight_owners(self) -> tuple[int, int]:
        """How many rows and clusters have weights of their own."""
        rows = 1 if self.rows_share_weights else self.partition.rows
        return rows, 1 if self.shares_weights else self.partition.clusters

    @cached_property
    def weight_rounds(self) -> NDArray[np.generic]:
        """Weights in the order of the table that cp reads: (n tiles, k tiles, rows, slots, k).

        A slot without an output has zeros; so have inputs that another part or tile counts.
        Rows that share weights have one entry, clusters too.
        """
        tile, (rows, clusters) = self.tile, self.weight_owners
        shape = (self.count("N"), self.count("K"), rows, clusters, self.pes, tile.k)
        rounds = np.zeros(shape, self.product.weights.dtype)
        for p, q, i, n, j, k, own in self._rounds():
            rounds[i, j, p, q, : tile.n, own - k :] = self.product.weights[
                n : n + tile.n, own : k + tile.k
            ]
        return rounds.reshape(*shape[:3], clusters * self.pes, tile.k)

    @cached_property
    def weight_counts(self) -> NDArray[np.int64]:
        """Weights that are not zero: (n tiles, k tiles, rows, slots)."""
        tile, part, (rows, clusters) = self.tile, self.partition, self.weight_owners
        shape = (self.count("N"), self.count("K"), rows, clusters, self.pes)
        counts = np.zeros(shape, np.int64)
        before = self.product.weights_before
        outputs = _starts(part, tile, "N", rows, clusters, shape[0])
        inputs = _starts(part, tile, "K", rows, clusters, shape[1])
        index = part.indices("K", rows, clusters)
        earlier = np.minimum(index * part.length("K"), part.extent("K"))[..., None]
        own = inputs.min(axis=-1, keepdims=True) + tile.k * np.arange(shape[1])
        own = np.maximum(np.maximum(earlier, own), inputs)
        own = np.minimum(own, inputs + tile.k)
        lanes = np.moveaxis(outputs, -1, 0)[:, None, :, :, None] + np.arange(tile.n)
        first, end = (np.moveaxis(x, -1, 0)[None, ..., None] for x in (own, inputs + tile.k))
        counts[..., : tile.n] = before[lanes, end] - before[lanes, first]
        return counts.reshape(*shape[:3], clusters * self.pes)

    @cached_property
    def weight_bytes(self) -> NDArray[np.int64]:
        """Bytes of each round of weights: (n tiles, k tiles, rows)."""
        entry = ENTRY.size + Types.size(self.types.operand)
        return np.asarray((WEIGHTS_RECORD.size + entry * self.weight_counts).sum(axis=-1))

    def _rounds(self) -> Iterator[tuple[int, int, int, int, int, int, int]]:
        """Of each round row, cluster, n tile, its first output, k tile, its first input, the first
        of its inputs that no part or tile before it has.
        """
        rows, clusters = self.weight_owners
        part, tile = self.partition, self.tile
        for p in range(rows):
            for q in range(clusters):
                index, start = part.index("K", p, q), part.start("K", p, q)
                before = min(index * part.length("K"), part.extent("K"))  # earlier parts have them
                for j in range(self.count("K")):
                    k = start + self.tile_start("K", j)
                    own = min(max(before, start + j * tile.k, k), k + tile.k)
                    for i in range(self.count("N")):
                        yield p, q, i, part.start("N", p, q) + self.tile_start("N", i), j, k, own

    # Sums' beginnings

    def start_sums(self) -> NDArray[np.generic]:
        """What sums begin with: (n tiles or 1, rows, groups, summing · PEs, lanes)."""
        tiles = 1 if self.product.bias is None else self.count("N")
        shape = (
            tiles,
            self.partition.rows,
            self.tile.groups,
            self.summing,
            self.pes,
            self.lanes,
        )
        sums = np.zeros(shape, np.dtype(self.types.sum).newbyteorder("<"))
        if self.product.bias is not None:
            rows = 1 if self.joins_rows else self.partition.rows
            for i in range(tiles):
                for p in range(rows):
                    for q in range(self.summing):
                        n = self.partition.start("N", p, q) + self.tile_start("N", i)
                        bias = self.product.bias[n : n + self.tile.n, None]
                        sums[i, p, :, q, : self.tile.n, : self.tile.members] = bias
        return sums.reshape(*shape[:3], self.summing * self.pes, self.lanes)

    # Where results are

    def part(self, dim: str, p: int, q: int) -> tuple[int, int]:
        """The elements [from, to) of a dimension that a cluster has over all iterations."""
        start = self.partition.start(dim, p, q)
        return start, start + self.partition.length(dim)

    # Limits

    def check(self) -> None:
        """Raise `LowerError` for a tile that the device cannot hold."""
        tile, config = self.tile, self.config
        for dim in "MNK":
            length, part = tile.length(dim), self.partition.length(dim)
            if not 1 <= length <= part:
                raise LowerError(f"a tile of {length} in {dim}, a part has {part}")
        if tile.n > self.pes or tile.members > ACCUMULATORS:
            raise LowerError(f"a tile of {tile.n} outputs, {tile.members} rows at once")
        if self.in_accumulators and tile.groups > 1:
            raise LowerError("sums stay in the accumulators: one group of rows at a time")
        if self.buffered * self.blocks > BLOCKS:
            raise LowerError(
                f"{self.buffered} rows of {tile.k} activations take"
                f" {self.buffered * self.blocks} blocks of the input buffer, it has {BLOCKS}"
            )
        entries = int(self.weight_counts.max(initial=0))
        if entries > config["pe.weight_queue"]:
            raise LowerError(f"{entries} weights of an output, the weight queue holds fewer")


def _starts(
    part: Partition, tile: Tile, dim: str, rows: int, clusters: int, count: int
) -> NDArray[np.int64]:
    """Where each tile of each part begins: (rows, clusters, tiles)."""
    length = part.length(dim)
    parts = np.minimum(part.indices(dim, rows, clusters) * length, part.extent(dim) - length)
    tiles = np.minimum(np.arange(count) * tile.length(dim), length - tile.length(dim))
    return np.asarray(parts[..., None] + tiles)
