"""Reorders instructions of the SIMD core vc so that fewer of them wait for results.

Within a sequence of instructions without a loop, later instructions move before an instruction that
would wait, if they do not depend on it. Two accesses to memory keep their order if at least one of
them is a store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from macaw.isa.config import load
from macaw.lowering.net.vector.kernel import (
    Instruction,
    Items,
    Loop,
    destination,
    is_store,
    kernel_cycles,
    latency_of,
    registers_of,
)

_AHEAD = 32  # number of instructions that are candidates for the next one


def fastest_order(items: Items) -> Items:
    """Return a kernel with its instructions reordered, or unchanged if that saves no cycles.

    The cycles are those on the device `base`.
    """
    config = load("base")
    return min(items, reordered(items), key=lambda some: kernel_cycles(some, config))


def reordered(items: Items) -> Items:
    """Return a kernel with the same effects whose instructions wait less."""
    result: list[Instruction | Loop] = []
    run: list[Instruction] = []
    for item in items:
        if isinstance(item, Instruction):
            run.append(item)
        else:
            result += _schedule(run)
            result.append(replace(item, body=tuple(reordered(item.body))))
            run = []
    return (*result, *_schedule(run))


def _schedule(run: Sequence[Instruction]) -> list[Instruction]:
    """Return a sequence of instructions in an order in which they wait less.

    The next instruction is always the one that can issue earliest; of several, the first in `run`.
    """
    needs = _dependences(run)
    issued: dict[int, int] = {}  # the cycle of issue, by index in the sequence
    left = list(range(len(run)))
    order: list[Instruction] = []
    time = 0
    while left:
        starts = {
            place: max([time, *(issued[other] + after for other, after in needs[place].items())])
            for place in left[:_AHEAD]
            if all(other in issued for other in needs[place])
        }
        place = min(starts, key=lambda place: (starts[place], place))
        issued[place] = starts[place]
        time = starts[place] + 1
        left.remove(place)
        order.append(run[place])
    return order


def _dependences(run: Sequence[Instruction]) -> list[dict[int, int]]:
    """Return, for each instruction, the earlier instructions that it must follow.

    An item maps the index of such an instruction to the least number of cycles between the two.
    """
    needs: list[dict[int, int]] = []
    written: dict[str, int] = {}  # by register: the last instruction that wrote it
    read: dict[str, list[int]] = {}  # by register: the instructions that have read it since
    stores: list[int] = []
    loads: list[int] = []
    for place, item in enumerate(run):
        need: dict[int, int] = {}
        target = destination(item)
        for name in registers_of(item):
            if name in written:
                other = written[name]
                need[other] = max(need.get(other, 0), latency_of(run[other]))
        if target:
            need |= {other: max(need.get(other, 0), 1) for other in read.get(target, ())}
            written[target], read[target] = place, []
        for name in registers_of(item):
            read.setdefault(name, []).append(place)
        if is_store(item):
            need |= {other: max(need.get(other, 0), 1) for other in (*loads, *stores)}
            stores.append(place)
        elif item.mnemonic.startswith(("vl", "l")) and item.mnemonic not in ("li", "la"):
            need |= {other: max(need.get(other, 0), 1) for other in stores}
            loads.append(place)
        need.pop(place, None)
        needs.append(need)
    return needs
