"""The dma's transfers of one iteration by their shapes: their bytes and cycles, for predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.processor_cycles import IterationCycles
from macaw.lowering.transfers import Transfer
from macaw.lowering.widths import moving_cycles


@dataclass(frozen=True)
class TransferShape:
    """Dma transfers of one shape: `times` transfers of `rows` rows of `row_bytes` bytes each."""

    times: float
    rows: float
    row_bytes: float


def grouped(times: int, transfers: Sequence[Transfer]) -> list[TransferShape]:
    """Group transfers by their shape: return each shape with the number of its transfers.

    Each item of `transfers` stands for `times` transfers, which differ in their addresses.
    """
    kinds = Counter((int(item.rows), int(item.row_bytes)) for item in transfers)
    return [TransferShape(times * count, *kind) for kind, count in kinds.items()]


def bytes_of_transfers(shapes: Sequence[TransferShape]) -> int:
    """Return the number of bytes in all transfers."""
    return sum(round(shape.times * shape.rows * shape.row_bytes) for shape in shapes)


def cycles_of_transfers(
    config: Configuration, shapes: Iterable[TransferShape], *, stores: bool = False
) -> float:
    """Return the cycles of transfers to units, or with `stores` from them (docs/memory.md)."""
    cycles = 0.0
    latency = config["mem.external_latency"] + config["mem.onchip_latency"]
    latency += (config["dma.setup"] + 1) * config["dma.divider"]
    for shape in shapes:
        moving = moving_cycles(config, shape.rows, shape.row_bytes, stores=stores)
        cycles += shape.times * (latency + moving)
    return float(cycles)


def start_cycles(
    config: Configuration,
    control: IterationCycles,
    shapes: Sequence[TransferShape],
    earlier: float = 0.0,
    code: float = 0.0,
    *,
    stores: bool = False,
) -> float:
    """Return the cycles of transfers that cp starts one by one while the rows wait for them.

    The dma is busy with other transfers in the first `earlier` cycles. `code` has the cycles of
    cp's code that starts no transfers. The last transfer begins after all of this code.
    """
    number = sum(shape.times for shape in shapes)
    moving = cycles_of_transfers(config, shapes, stores=stores)
    return max(earlier + moving, code + control.transfer * number + moving / max(1.0, number))
