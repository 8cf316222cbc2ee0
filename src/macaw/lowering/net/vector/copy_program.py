"""Writes transfers of the dma, and loops around them, as code of cp and words of its data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from macaw.isa.dma import TRANSFER
from macaw.lowering.listing import Listing
from macaw.lowering.net.vector.boxes import Copies
from macaw.lowering.net.vector.kernel import place

_FEW = 4  # the most transfers that are written one by one, not as a loop
_COUNTERS = ("t3", "t4", "t5")  # registers of loops, innermost first


def expanded(item: Copies) -> Iterator[Copies]:
    """Yield the transfers of `item`: without loops if they are few, else with at most three."""
    total = prod(loop[0] for loop in item.loops)
    if not item.loops or (total > _FEW and len(item.loops) <= len(_COUNTERS)):
        yield item
        return
    count, dst, src = item.loops[0]
    for number in range(count):
        yield from expanded(
            replace(
                item,
                dst=(item.dst[0], item.dst[1] + number * dst),
                src=(item.src[0], item.src[1] + number * src),
                loops=item.loops[1:],
            )
        )


def data_of_copies(items: Sequence[Copies]) -> dict[str, list[str]]:
    """Return the words that describe the transfers, by the label of each group (`_groups`)."""
    tables: dict[str, list[str]] = {}
    for label, group in _groups(items):
        tables[label] = [word for item in group for word in _words(item)]
    return tables


def write_copies(out: Listing, items: Sequence[Copies]) -> None:
    """Write code that starts the transfers in their order and waits for them."""
    for label, group in _groups(items):
        out.put(f"la t0, {label}")
        if group[0].loops:
            _write_loops(out, group[0])
        elif len(group) == 1:
            out.put("dma.copy zero, t0")
        else:
            out.put(f"li t1, {len(group)}", "transfers")
            out.put("dma.copy zero, t0", label="1")
            out.put(f"addi t0, t0, {TRANSFER.size}")
            out.put("addi t1, t1, -1")
            out.put("bnez t1, 1b")
    out.put("dma.wait zero")


def _groups(items: Sequence[Copies]) -> list[tuple[str, list[Copies]]]:
    """Return groups of transfers with their labels.

    A group is several consecutive transfers without loops, or one with loops.
    """
    groups: list[list[Copies]] = []
    for item in items:
        if groups and not item.loops and not groups[-1][0].loops:
            groups[-1].append(item)
        else:
            groups.append([item])
    return [(f"vc_copy{number}", group) for number, group in enumerate(groups)]


def _words(item: Copies) -> list[str]:
    rows, dst_stride, src_stride = item.rows
    numbers = (item.row_bytes, rows, dst_stride, src_stride)
    return [place(*item.dst), place(*item.src), *map(str, numbers)]


def _write_loops(out: Listing, item: Copies) -> None:
    """Write a transfer in loops; t1 is its destination address, t2 its source address."""
    out.put(f"la t1, {place(*item.dst)}")
    out.put(f"la t2, {place(*item.src)}")
    loops = list(reversed(item.loops))  # innermost first
    counters = list(zip(_COUNTERS, loops, strict=False))
    for depth, (counter, loop) in reversed(list(enumerate(counters, 1))):
        out.put(f"li {counter}, {loop[0]}")
        out.put("", label=str(depth))
    out.put("sw t1, 0(t0)")
    out.put("sw t2, 4(t0)")
    out.put("dma.copy zero, t0")
    back = (0, 0)  # from the end of the inner loop to its start
    for depth, (counter, (count, dst, src)) in enumerate(counters, 1):
        for register, step in (("t1", dst - back[0]), ("t2", src - back[1])):
            if step:
                out.put(f"li t6, {step}")
                out.put(f"add {register}, {register}, t6")
        back = (count * dst, count * src)
        out.put(f"addi {counter}, {counter}, -1")
        out.put(f"bnez {counter}, {depth}b")
