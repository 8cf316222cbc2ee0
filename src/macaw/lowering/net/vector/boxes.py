"""Describes copies of boxes of elements between arrays as transfers of the dma.

A box has a shape, and strides in both arrays. A transfer of the dma moves rows of contiguous bytes;
further dimensions are loops of cp around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from macaw.emu.rules.transfers import beat_length, channel_beats
from macaw.isa.lazy_dataclass import dataclass

_SAMPLE = 32  # number of rows whose beats are counted; each other row counts as their mean


@dataclass(frozen=True)
class Box:
    """A copy of a box: the addresses of its first element, and its axes.

    Each axis is (length, dst stride, src stride). Addresses are (symbol, offset); offsets and
    strides are in bytes. `size` is the size of an element.
    """

    dst: tuple[str, int]
    src: tuple[str, int]
    axes: tuple[tuple[int, int, int], ...]
    size: int


@dataclass(frozen=True)
class Copies:
    """Transfers of one form: rows of `row_bytes` bytes, and loops around them, the outermost first.

    `rows` and each of `loops` are (count, dst stride, src stride).
    """

    dst: tuple[str, int]
    src: tuple[str, int]
    row_bytes: int
    rows: tuple[int, int, int]
    loops: tuple[tuple[int, int, int], ...]


def copies(box: Box) -> Copies:
    """Return the transfers of a box, as few and as long as possible."""
    merged: list[tuple[int, int, int]] = [(box.size, 1, 1)]  # innermost axis first; in bytes
    for length, dst, src in reversed(box.axes):
        if length == 1:
            continue
        inner = merged[-1]
        if dst == inner[0] * inner[1] and src == inner[0] * inner[2]:
            merged[-1] = (inner[0] * length, inner[1], inner[2])
        else:
            merged.append((length, dst, src))
    row_bytes, *outer = merged[0][0], *merged[1:]
    outer.sort(key=lambda axis: axis[0])
    rows = outer.pop() if outer else (1, 0, 0)
    return Copies(box.dst, box.src, row_bytes, rows, tuple(outer))


def strides(shape: Sequence[int], size: int) -> tuple[int, ...]:
    """Return the strides in bytes of a contiguous array whose elements have `size` bytes."""
    result = [size]
    for length in reversed(shape[1:]):
        result.append(result[-1] * length)
    return tuple(reversed(result)) if shape else ()


def copy_cycles(item: Copies, config: Mapping[str, Any]) -> int:
    """Return an estimate of the device cycles of transfers inside external memory.

    Reads and writes share the channel, which is busy until the last write.
    """
    width, line = int(config["dma.width"]), int(config["mem.external_width"])
    divider, latency = int(config["dma.divider"]), int(config["mem.external_latency"])
    count, dst_stride, src_stride = item.rows
    sample = min(count, _SAMPLE)
    beats = channel = 0
    for row in range(sample):
        dst, src = item.dst[1] + row * dst_stride, item.src[1] + row * src_stride
        position = 0
        while position < item.row_bytes:
            length = beat_length(dst, position, item.row_bytes, width)
            beats += 1
            channel += channel_beats(src + position, length, line)
            channel += channel_beats(dst + position, length, line)
            position += length
    beats, channel = beats * count // sample, channel * count // sample
    busy = max(channel, latency + beats * divider)
    transfers = 1
    for loop in item.loops:
        transfers *= loop[0]
    return transfers * (int(config["dma.setup"]) * divider + busy + latency + 2)
