"""Reorder instructions of vc so that fewer wait for the results of others.

Within a run of instructions without a loop, an instruction that would wait lets later ones pass
that do not depend on it. Loads and stores of external memory keep their order when one of two
is a store.
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

_AHEAD = 32  # instructions among which the next one is chosen


def fastest_order(items: Items) -> Items:
    """Return a kernel, or the same with its instructions reordered: which takes fewer cycles.

    The cycles are those of the device `base`.
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
    """Return a run of instructions in another order: always the first one that need not wait."""
    needs = _dependences(run)
    issued: dict[int, int] = {}  # the cycle of issue, by the place in the run
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
    """Return which earlier instructions each one must follow, and after how many cycles."""
    needs: list[dict[int, int]] = []
    written: dict[str, int] = {}  # the last instruction that writes a register
    read: dict[str, list[int]] = {}  # those that read it since
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
