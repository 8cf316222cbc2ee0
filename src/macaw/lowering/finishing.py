"""Describes how sums become results: the special-function unit's steps, and their factors.

Factors are scales (a float32 for each output), a table of 256 entries, or both. A config packet
stores an instruction sequence in the PEs. The config packet of the sequence that turns sums into
results has the factors as segments. So each packet list that turns sums into results contains
this config packet. The dma brings the factors of a tile's outputs to each row (docs/format-pe.md).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import DATA_ALIGN, ELEMENT_TYPES, OPERAND_DTYPES, PACKET, SEGMENT
from macaw.lowering.operation import ENTRIES
from macaw.lowering.plan import ProductPlan

SCALE, TABLE = "y_scales", "y_table"  # names of the arrays in an on-chip unit
SCALE_BYTES = 4
_NAMES = {row.dtype: row.name for row in ELEMENT_TYPES}  # of element types, by NumPy's names


@dataclass(frozen=True)
class Finish:
    """The end of an instruction sequence; it turns sums into results before they are stored.

    `header` has the operands of the sequence's `.seq` line, `options` the further lines, such as
    `.types`. `body` has the instructions for the special-function unit (spu). `data` has the
    segments of the packet that stores the sequence in the PEs.
    """

    header: str
    options: tuple[str, ...]
    body: tuple[str, ...]
    data: tuple[str, ...]


def finish(plan: ProductPlan, blocks: Iterable[int]) -> Finish:
    """Return the instructions that turn sums in the output queue into results.

    `blocks` are the numbers of the queue's blocks with these sums.
    """
    options, data = tuple[str, ...](), tuple[str, ...]()
    words = type_words(plan, activations=plan.types.result) if plan.product.requantises else []
    if plan.product.scales is not None:
        words, data = [*words, "requantise=scale"], (f"scales {SCALE} sliced",)
    if words:
        options = (f".types {', '.join(words)}",)
    if plan.product.table is not None:
        data = (*data, f"table {TABLE}")
    places = list(blocks)
    body = (f"spu {name}, src={block}, dst={block}" for name in plan.functions for block in places)
    return Finish(plan.header, options, tuple(body), data)


def type_words(plan: ProductPlan, **dtypes: str) -> list[str]:
    """Return the operands of `.types` for the NumPy types in `dtypes`, such as `weights=int4`.

    The list is empty if activations, weights and requantised results all have the type
    `pe.element`.
    """
    types, element = plan.types, OPERAND_DTYPES[plan.config["pe.element"]]
    named = {types.activation, types.weight, *([types.result] * plan.product.requantises)}
    if named == {element}:
        return []
    return [f"{name}={_NAMES[dtype]}" for name, dtype in dtypes.items()]


def factor_slots(plan: ProductPlan) -> int:
    """Return the number of PEs of a row that turn sums into results."""
    return plan.summing_clusters * plan.pes


def table_offset(plan: ProductPlan) -> int:
    """Return the offset of the table in the factors of a row: the bytes of the scales before it."""
    if plan.product.scales is None:
        return 0
    return -(-factor_slots(plan) * SCALE_BYTES // DATA_ALIGN) * DATA_ALIGN


def factor_bytes(plan: ProductPlan) -> int:
    """Return the number of bytes of factors (scales and table) of a row for one tile of outputs."""
    if plan.product.table is not None:
        return table_offset(plan) + ENTRIES
    return factor_slots(plan) * SCALE_BYTES if plan.product.scales is not None else 0


def config_size(plan: ProductPlan) -> int:
    """Return the number of bytes of the config packet for the sequence that makes the results."""
    segments = (plan.product.scales is not None) + (plan.product.table is not None)
    return PACKET.size + (1 + segments) * SEGMENT.size


def factors(plan: ProductPlan) -> NDArray[np.uint8]:
    """Return the factors of all tiles of outputs, as bytes: (n tiles, rows, bytes of a row)."""
    product, tile, part = plan.product, plan.tile, plan.partition
    tiles, rows, size = plan.count("N"), part.rows, factor_bytes(plan)
    scales = np.zeros((tiles, rows, plan.summing_clusters, plan.pes), "<f4")
    if product.scales is not None:
        for i, p, q in np.ndindex(*scales.shape[:3]):
            n = part.start("N", p, q) + plan.tile_start("N", i)
            scales[i, p, q, : tile.n] = product.scales[n : n + tile.n]
    data = np.zeros((tiles, rows, size), np.uint8)
    if product.scales is not None:
        flat = scales.reshape(tiles, rows, -1).view(np.uint8)
        data[..., : flat.shape[-1]] = flat
    if product.table is not None:
        data[..., table_offset(plan) :] = product.table.view(np.uint8)
    return data
