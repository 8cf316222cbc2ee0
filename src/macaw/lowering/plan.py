"""The plan of a product: what each iteration of the array computes, and its sizes in memory.

In an iteration every cluster computes a tile of its own part. A tile has `groups` times `members`
rows of activations (one accumulator for each member), `n` outputs (one PE for each) and `k` inputs.
All iterations have the same size. The last tile of a part is as long as the others; if necessary it
begins earlier and overlaps them (`macaw.lowering.partition`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import ACCUMULATORS, BLOCKS, ENTRY, WEIGHTS_RECORD
from macaw.lowering.errors import LowerError
from macaw.lowering.mapping import INPUT, OUTPUT, Mapping
from macaw.lowering.operation import Product, Types
from macaw.lowering.partition import Partition

MOST_SEGMENTS = 250  # the greatest number of segments of an exe: their number has 8 bits


@dataclass(frozen=True)
class Tile:
    """What one cluster does in an iteration: `groups` · `members` rows, `n` outputs, `k` inputs."""

    groups: int  # groups of rows of activations; each group takes one run of the sequence
    members: int  # rows of a group, with one accumulator for each
    n: int
    k: int

    @property
    def m(self) -> int:
        """The number of rows of activations."""
        return self.groups * self.members

    def length(self, dim: str) -> int:
        """Return the length of the tile in dimension M, N or K."""
        return {"M": self.m, "N": self.n, "K": self.k}[dim]


@dataclass(frozen=True)
class ProductPlan:
    """The plan of a product on a device: its mapping, split and tile.

    `partition` is the division of the product among rows and clusters. With `balance`, a PE of a
    cluster can give work to its left neighbour (seed 000 ¶98-102). `computed` stores numbers that
    follow from the other fields.
    """

    product: Product
    config: Configuration
    mapping: Mapping
    partition: Partition
    tile: Tile
    balance: bool = False
    # Numbers that functions of other modules compute from the plan once, by the function's name.
    computed: dict[str, int] = field(default_factory=dict, init=False, compare=False, repr=False)

    # Counts

    @cached_property
    def pes(self) -> int:
        """The number of PEs of a cluster."""
        return int(self.config["pe.pes"])

    @cached_property
    def slots(self) -> int:
        """The number of PEs of a row, counted only in the clusters that take part."""
        return self.partition.clusters * self.pes

    @cached_property
    def types(self) -> Types:
        """The element types of activations, weights, sums and results."""
        return self.product.types(self.config)

    @property
    def operand_types(self) -> tuple[str, str]:
        """The element types of the numbers in the PEs' weight queues and in their input buffers."""
        return self.types.weight, self.types.activation

    def count(self, dim: str) -> int:
        """Return the number of tiles into which dimension M, N or K of a cluster's part is cut."""
        return -(-self.partition.length(dim) // self.tile.length(dim))

    @property
    def input_tiles(self) -> int:
        """The number of tiles into which dimension K of a part is divided.

        If the kernel of a convolution is cut, it is the number for one part of the kernel.
        """
        return -(-self.partition.length("K") // self.tile.k)

    @property
    def steps(self) -> int:
        """The number of iterations in which the array computes the whole product."""
        return self.count("M") * self.count("N") * self.count("K")

    def tile_start(self, dim: str, index: int) -> int:
        """Return where tile `index` of dimension `dim` begins, counted from its part's start."""
        length, tile = self.partition.length(dim), self.tile.length(dim)
        return min(index * tile, length - tile)

    # Places of tiles in x and y

    @property
    def columns(self) -> int:
        """The number of tiles side by side in an image; 0 if the product is not a convolution."""
        return 0

    @property
    def images(self) -> int:
        """The number of images that the iterations process, one after the other."""
        return 1

    @property
    def pitches(self) -> dict[str, int]:
        """The distances, in elements, between neighbouring rows and between neighbouring columns.

        The result has these distances for the tensors `x` (input) and `y` (output). The keys are
        the names of the constants in cp's code (`X_ROW`, `X_DEPTH`, ...).
        """
        return {"X_ROW": self.product.k, "X_DEPTH": 1, "Y_ROW": self.product.y_pitch, "Y_DEPTH": 1}

    @property
    def copies_input(self) -> bool:
        """Whether the dma first copies x to another place in external memory."""
        return self.product.copies_input

    @property
    def constants(self) -> dict[str, int]:
        """Further constants of cp's code that only some kinds of operations need, by name."""
        return {}

    @property
    def depth(self) -> str:
        """The dimension whose tile selects the inputs to load: "K" for a matrix product."""
        return "K"

    @property
    def input_offsets(self) -> list[int]:
        """The offsets of the tiles of inputs (k) in x: empty, because cp computes them itself."""
        return []

    @property
    def products(self) -> int:
        """The number of packets in a packet list that multiply by weights."""
        return self.tile.groups

    @property
    def weight_segment(self) -> int:
        """The number of data segments before the weights in a packet that multiplies.

        Those segments are activations, one for each row, unless the PEs already have them.
        """
        return 0 if self.holds_activations else self.tile.members

    @property
    def variant(self) -> str:
        """The text that reports add to the mapping's name, such as ", balanced"; may be empty."""
        return self.product.form + (", balanced" if self.balance else "")

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions of spu that turn sums into results, in their order."""
        return self.product.functions(self.config)

    @property
    def header(self) -> str:
        """The operands of `.seq` for the sequence that turns sums into results."""
        product, words = self.product, ""
        if product.activation != "none":
            words += f", activation={product.activation}"
        if product.table is not None:
            words += ", activation=table"
        return words + (f", shift={product.shift}" if product.shift is not None else "")

    @property
    def mac_options(self) -> str:
        """The operands of the instruction `mac` in the text of a sequence."""
        return ", balance" if self.balance else ""

    # What stays where

    @property
    def blocks(self) -> int:
        """The number of blocks (sixteenths) of the input buffer for one row of activations."""
        return -(-self.tile.k // (int(self.config["pe.input_buffer"]) // BLOCKS))

    @property
    def buffered_rows(self) -> int:
        """The number of rows of activations that are in the input buffer at once."""
        return self.tile.m

    @property
    def holds_activations(self) -> bool:
        """Whether the PEs load activations once and keep them for all tiles of outputs."""
        return self.mapping is INPUT

    @property
    def in_accumulators(self) -> bool:
        """Whether sums stay in the accumulators from iteration to iteration."""
        return self.mapping is OUTPUT

    @property
    def reduces_clusters(self) -> bool:
        """Whether the clusters of a row compute parts of the same sums."""
        return self.partition.dims[1] == "K" and self.partition.clusters > 1

    @property
    def reduces_rows(self) -> bool:
        """Whether the rows compute parts of the same sums."""
        return self.partition.dims[0] == "K" and self.partition.rows > 1

    @cached_property
    def returns_sums(self) -> bool:
        """Whether partial sums are stored, and loaded again in a later iteration."""
        return self.count("K") > 1 and not self.in_accumulators

    @property
    def keeps_sums_on_chip(self) -> bool:
        """Whether partial sums stay on chip for the next iteration.

        Then the dma copies them to the other half of the on-chip units.
        """
        return self.returns_sums and self.count(self.mapping.inner) == 1

    @cached_property
    def has_start_sums(self) -> bool:
        """Whether sums start with a bias, or with partial sums of an earlier iteration."""
        return self.returns_sums or self.product.bias is not None

    @property
    def adds_start_sums(self) -> bool:
        """Whether the packets that multiply also add the bias or the earlier partial sums.

        They do not if there is no bias and no earlier sum, or if cluster 0 adds these values later,
        together with the sums of the clusters.
        """
        return self.has_start_sums and not self.reduces_clusters

    @property
    def reduces_sums(self) -> bool:
        """Whether clusters or rows compute parts of the same sums."""
        return self.reduces_clusters or self.reduces_rows

    @property
    def positions(self) -> int:
        """The number of positions of a tile, one for each group of rows of activations.

        At each position a PE has `lanes` sums, in its output queue or in its accumulators.
        """
        return self.tile.groups

    @property
    def by_columns(self) -> bool:
        """Whether the results of one PE are adjacent in memory: never for a matrix product."""
        return False

    @property
    def shares_activations(self) -> bool:
        """Whether all clusters of a row use the same activations."""
        return self.partition.dims[1] == "N" or self.partition.clusters == 1

    @property
    def shares_weights(self) -> bool:
        """Whether all clusters of a row use the same weights."""
        return self.partition.dims[1] == "M" or self.partition.clusters == 1

    @property
    def rows_share_weights(self) -> bool:
        """Whether all rows use the same weights."""
        return self.partition.dims[0] == "M" or self.partition.rows == 1

    @property
    def rows_share_activations(self) -> bool:
        """Whether all rows use the same activations."""
        return self.partition.dims[0] == "N" and self.partition.rows > 1

    @property
    def start_rows(self) -> int:
        """The number of rows with separate biases or partial sums to start with.

        It is 1 if a multicast brings the same values to all rows.
        """
        away = self.returns_sums and not self.keeps_sums_on_chip
        return self.partition.rows if self.partition.dims[0] != "M" or away else 1

    @property
    def partial_bytes(self) -> int:
        """The bytes of the partial sums of one row of the array in an iteration."""
        return self.tile.groups * self.summing_clusters * self.pes * self.lanes * self.sum_size

    @property
    def start_positions(self) -> int:
        """The number of positions of a tile for which start values of sums are stored."""
        return self.positions

    @property
    def start_bytes(self) -> int:
        """The bytes of the biases or partial sums with which the sums of a row start."""
        return self.partial_bytes

    @property
    def lanes(self) -> int:
        """The number of sums that a PE has at one position: one in each accumulator."""
        return ACCUMULATORS

    @property
    def summing_clusters(self) -> int:
        """The number of clusters of a row that have sums after the clusters' sums have been added.

        It is 1 if clusters compute parts of the same sums, because cluster 0 gets the totals.
        """
        return 1 if self.reduces_clusters else self.partition.clusters

    @property
    def sum_size(self) -> int:
        """The number of bytes of a sum."""
        return Types.size(self.types.sum)

    # Weights

    @property
    def dense(self) -> bool:
        """Whether weights are stored element by element, with zeros and without indices."""
        return False

    @property
    def weight_owners(self) -> tuple[int, int]:
        """The numbers of rows, and of clusters in a row, whose weights differ: (rows, clusters).

        The first is 1 if all rows use the same weights, the second if all clusters of a row do.
        """
        rows = 1 if self.rows_share_weights else self.partition.rows
        return rows, 1 if self.shares_weights else self.partition.clusters

    @cached_property
    def weight_rounds(self) -> NDArray[np.generic]:
        """The weights in the order in which the table of weights lists them; cp reads this table.

        The shape is (n tiles, k tiles, rows, PEs of a row, k). There are zeros for PEs without an
        output. If parts or tiles overlap in K, the later one has zeros for the inputs that an
        earlier one has. If all rows use the same weights, the axis of rows has length 1. If all
        clusters of a row use the same weights, the axis of PEs has only the PEs of one cluster.
        """
        tile, (rows, clusters) = self.tile, self.weight_owners
        shape = (self.count("N"), self.count("K"), rows, clusters, self.pes, tile.k)
        rounds = np.zeros(shape, self.product.weights.dtype)
        for p, q, i, n, j, k, own in self._rounds():
            rounds[i, j, p, q, : tile.n, own - k :] = self.product.weights[
                n : n + tile.n, own : k + tile.k
            ]
        return rounds.reshape(*shape[:3], clusters * self.pes, tile.k)

    @property
    def weight_counts(self) -> NDArray[np.int64]:
        """The numbers of nonzero weights, in shape (n tiles, k tiles, rows, PEs of a row).

        Plans with the same tiles of weights share this array.
        """
        kept = self.product.weight_counts
        key = (self.partition, self.tile.n, self.tile.k, self.weight_owners, self.pes)
        if key not in kept:
            kept[key] = self.count_weights(self.product.weights_before)
        return kept[key]

    def count_weights(self, before: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of nonzero weights: (n tiles, input tiles, rows, PEs of a row).

        `before` has, for each output and each input, the number of nonzero weights for earlier
        inputs; its shape is (outputs, k + 1).
        """
        tile, part, (rows, clusters) = self.tile, self.partition, self.weight_owners
        shape = (self.count("N"), self.input_tiles, rows, clusters, self.pes)
        counts = np.zeros(shape, np.int64)
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
        """The bytes of weights that a row loads for a tile, in shape (n tiles, k tiles, rows).

        The axes count tiles in dimensions N and K, and rows of the PE array.
        """
        entry = ENTRY.size + Types.size(self.types.weight)
        return np.asarray((WEIGHTS_RECORD.size + entry * self.weight_counts).sum(axis=-1))

    @cached_property
    def mean_weight_bytes(self) -> float:
        """The mean number of bytes of weights that a row of the array loads for a tile."""
        return float(self.weight_bytes.mean())

    def _rounds(self) -> Iterator[tuple[int, int, int, int, int, int, int]]:
        """Yield one tuple for each tile of weights that a cluster loads.

        It has the row, cluster, n tile, first output, k tile, first input and first own input. Own
        inputs are those that no earlier part or tile contains; weights of other inputs are zero.
        """
        rows, clusters = self.weight_owners
        part, tile = self.partition, self.tile
        for p in range(rows):
            for q in range(clusters):
                index, start = part.index("K", p, q), part.start("K", p, q)
                before = min(
                    index * part.length("K"), part.extent("K")
                )  # the inputs of earlier parts
                for j in range(self.input_tiles):
                    k = start + self.tile_start("K", j)
                    own = min(max(before, start + j * tile.k, k), k + tile.k)
                    for i in range(self.count("N")):
                        yield p, q, i, part.start("N", p, q) + self.tile_start("N", i), j, k, own

    # Start sums

    def start_sums(self) -> NDArray[np.generic]:
        """Return the sums with which a tile starts: the bias, or zeros.

        The shape is (n tiles, start rows, groups, summing clusters · PEs, accumulators), see
        `start_rows` and `summing_clusters`. Without a bias the first axis has length 1. If rows
        compute parts of the same sums, only row 0 has the bias.
        """
        tiles = 1 if self.product.bias is None else self.count("N")
        shape = (
            tiles,
            self.start_rows,
            self.tile.groups,
            self.summing_clusters,
            self.pes,
            self.lanes,
        )
        sums = np.zeros(shape, np.dtype(self.types.sum).newbyteorder("<"))
        if self.product.bias is not None:
            rows = 1 if self.reduces_rows else self.start_rows
            for i in range(tiles):
                for p in range(rows):
                    for q in range(self.summing_clusters):
                        n = self.partition.start("N", p, q) + self.tile_start("N", i)
                        bias = self.product.bias[n : n + self.tile.n, None]
                        sums[i, p, :, q, : self.tile.n, : self.tile.members] = bias
        return sums.reshape(*shape[:3], self.summing_clusters * self.pes, self.lanes)

    # Parts

    def part(self, dim: str, p: int, q: int) -> tuple[int, int]:
        """Return the range [first, end) of a dimension that cluster q of row p computes."""
        start = self.partition.start(dim, p, q)
        return start, start + self.partition.length(dim)

    # Limits

    def check(self) -> None:
        """Raise `LowerError` if the tile does not fit the device."""
        tile, config = self.tile, self.config
        for dim in "MNK":
            length, part = tile.length(dim), self.partition.length(dim)
            if not 1 <= length <= part:
                raise LowerError(f"a tile of {length} in {dim}, a part has {part}")
        if tile.n > self.pes or tile.members > ACCUMULATORS:
            raise LowerError(f"a tile of {tile.n} outputs, {tile.members} rows at once")
        if self.in_accumulators and tile.groups > 1:
            raise LowerError("sums stay in the accumulators: one group of rows at a time")
        if self.buffered_rows * self.blocks > BLOCKS:
            raise LowerError(
                f"{self.buffered_rows} rows of {tile.k} activations take"
                f" {self.buffered_rows * self.blocks} blocks of the input buffer, it has {BLOCKS}"
            )
        entries = int(self.weight_counts.max(initial=0))
        if entries > config["pe.weight_queue"]:
            raise LowerError(f"{entries} weights of an output, the weight queue holds fewer")


def _starts(
    part: Partition, tile: Tile, dim: str, rows: int, clusters: int, count: int
) -> NDArray[np.int64]:
    """Return the first element of each of `count` tiles in dimension `dim`.

    The result has shape (rows, clusters, tiles).
    """
    length = part.length(dim)
    parts = np.minimum(part.indices(dim, rows, clusters) * length, part.extent(dim) - length)
    tiles = np.minimum(np.arange(count) * tile.length(dim), length - tile.length(dim))
    return np.asarray(parts[..., None] + tiles)
