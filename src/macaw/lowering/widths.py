"""The widths of buses and memories, which limit how many bytes move in a cycle, for predictions.

docs/memory.md and docs/timing-pe.md have the rules. A device may have banks that together serve
fewer bytes in a cycle than a beat of the dma, or of a row's bus, has.
"""

from __future__ import annotations

from math import ceil, gcd
from typing import Any, TypeVar

from numpy.typing import NDArray

from macaw.isa.config import Configuration

Size = TypeVar("Size", float, NDArray[Any])


def unit_width(config: Configuration) -> int:
    """Return the bytes that the banks of half of a unit serve in a device cycle."""
    return int(config["mem.banks"]) * int(config["mem.bank_width"])


def bus_width(config: Configuration) -> int:
    """Return the bytes that the bus of a row moves in a cycle of the row.

    The return bus moves as many.
    """
    served = int(config["pe.divider"]) * unit_width(config)
    return min(int(config["dist.bus_bytes"]), served)


def copy_widths(config: Configuration) -> list[tuple[int, float]]:
    """Return the widths that limit a transfer between external memory and a unit.

    Each is a number of bytes, with the device cycles for a piece of so many bytes. A beat of the
    dma takes a whole number of the dma's own cycles.
    """
    beat, divider = int(config["dma.width"]), int(config["dma.divider"])
    widths = [(beat, float(divider))]
    narrow = {int(config["mem.external_width"]), unit_width(config)}
    if min(narrow) >= beat:
        return widths
    for width in narrow:
        if width < beat:
            cycles = ceil(ceil(beat / width) / divider) * divider
            widths.append((width, cycles * width / beat))
    # Without those that never limit a transfer, because another width is narrower and as slow.
    return [item for item in widths if not any(_slower(other, item) for other in widths)]


def _slower(first: tuple[int, float], second: tuple[int, float]) -> bool:
    """Return whether rows of any length take as many cycles with the first width, or more."""
    return first != second and first[0] <= second[0] and first[1] >= second[1]


def moving_cycles(config: Configuration, rows: float, row_bytes: float, *, stores: bool) -> float:
    """Return the device cycles in which a transfer moves its bytes, without its first latency.

    The transfer copies `rows` rows of `row_bytes` bytes from external memory to a unit, or with
    `stores` from a unit to external memory.
    """
    pieces = [cycles * _pieces(row_bytes, width) for width, cycles in copy_widths(config)]
    least = float(rows * max(pieces))
    # A beat has a place in the dma's buffer from its read to its write.
    beats, buffer = rows * _pieces(row_bytes, int(config["dma.width"])), int(config["dma.buffer"])
    if beats <= buffer:
        return least
    latency = config["mem.onchip_latency"] if stores else config["mem.external_latency"] + 1
    full = ceil(beats / buffer) - 1  # how often the dma waits with a full buffer
    own = full * ceil(latency / config["dma.divider"]) + beats - full * buffer  # the dma's cycles
    return max(least, float(own * config["dma.divider"]))


def _pieces(size: float, width: int) -> float:
    """Return the number of aligned blocks of `width` bytes that a row of `size` bytes touches.

    The number is the mean over all places where the row may begin.
    """
    return 1 + max(0.0, size - gcd(round(size), width)) / width


def onchip_cycles(config: Configuration, size: Size) -> Size:
    """Return the device cycles in which the dma copies `size` bytes from one unit to another."""
    beat = int(config["dma.divider"]) / int(config["dma.width"])
    return size * max(beat, 1 / unit_width(config))
