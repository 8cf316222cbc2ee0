"""Writes transfers of the dma, and loops around them, as code of cp and words of its data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from macaw.isa.dma import TRANSFER
from macaw.lowering.listing import Listing
from macaw.lowering.net.vector.boxes import Copies, copy_cycles
from macaw.lowering.net.vector.kernel import instructions_of_load, place
from macaw.lowering.processor_cycles import ProcessorCycles

_FEW = 4  # the most transfers that are written one by one, not as a loop
_COUNTERS = ("t3", "t4", "t5")  # registers of loops, innermost first
SETUP = 3  # instructions for the first transfer: `la` (two) and `dma.copy`


def expanded(item: Copies) -> Iterator[Copies]:
    """Yield the transfers of `item` as items that each have at most three loops.

    If `item` has at most `_FEW` transfers, each becomes an item without loops. If there are more
    than three loops, each pass of the outermost loops becomes an item of its own.
    """
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


def cycles_of_copies(items: Sequence[Copies], config: Mapping[str, Any], counted: int) -> int:
    """Predict the device cycles of transfers, from the code that starts them to their end.

    The dma makes one transfer after the other. If cp takes longer for the instructions that start
    the next transfer, the dma waits for cp. The prediction includes the longest possible time from
    the end of the last transfer to the next cycle of cp, in which cp sees this end.

    Of the instructions before the first transfer, the caller has already counted the first
    `counted`. For each of the others, the estimate of the transfer (`copy_cycles`) includes one
    device cycle; the function adds the rest of the cycles that the instruction takes.
    """
    if not items:
        return 0
    cp = ProcessorCycles.of(config)
    end = queued = late = 0  # `queued`: the cycle in which cp could start the next transfer
    for number, (_, group) in enumerate(_groups(items)):
        before, count, issue = _start_cycles(group, cp)
        if number:
            queued += before * cp.instruction
        else:
            late = (before - counted) * (cp.instruction - 1)
        moving = sum(copy_cycles(item, config) for item in group)
        alone = queued + issue - issue // count + moving // count  # if each transfer waits for cp
        end = max(max(end, queued) + moving, alone)
        queued += issue
    return late + max(end, queued + cp.instruction) + cp.cycle - 1


def _start_cycles(group: Sequence[Copies], cp: ProcessorCycles) -> tuple[int, int, int]:
    """Return three numbers about the code that starts the transfers of a group.

    They are the number of instructions before the first transfer, the number of transfers, and the
    cycles of cp from the first transfer to the end of the group's code.
    """
    count, loops = len(group), group[0].loops
    if count == 1 and not loops:
        return SETUP, 1, cp.instruction
    if not loops:
        return SETUP + 1, count, count * (3 * cp.instruction + cp.jump)
    times = count = prod(loop[0] for loop in loops)
    cycles = count * (cp.instruction + 2 * cp.cycle)  # `dma.copy` and two stores
    for (length, _, _), steps in zip(reversed(loops), _steps(group[0]), strict=True):
        loads = sum(instructions_of_load(f"li t6, {step}") for _, step in steps)
        cycles += times * ((loads + len(steps) + 1) * cp.instruction + cp.jump)
        times //= length
    return SETUP + 4 + len(loops), count, cycles


def _steps(item: Copies) -> Iterator[list[tuple[str, int]]]:
    """Yield the steps of the addresses at the end of each loop, the innermost loop first.

    A step is (register, bytes to add), and is left out if it is 0.
    """
    back = (0, 0)  # from the end of the inner loop to its start
    for count, dst, src in reversed(item.loops):
        yield [row for row in (("t1", dst - back[0]), ("t2", src - back[1])) if row[1]]
        back = (count * dst, count * src)


def _groups(items: Sequence[Copies]) -> list[tuple[str, list[Copies]]]:
    """Divide transfers into groups; return each group with the label of its data.

    A transfer with loops is a group by itself. Consecutive transfers without loops form a group.
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
    for depth, ((counter, _), steps) in enumerate(zip(counters, _steps(item), strict=True), 1):
        for register, step in steps:
            out.put(f"li t6, {step}")
            out.put(f"add {register}, {register}, t6")
        out.put(f"addi {counter}, {counter}, -1")
        out.put(f"bnez {counter}, {depth}b")
