"""Splits a lockstep group (`lockstep_group`) before the runs of its clusters have ended.

The control units repeat their cycles, from the cycle in which the group formed to the present one.
This module repeats the recorded calls of the bus for them; the results of macs come from the group.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.control_unit import ControlUnit
from macaw.emu.pe.fast.lockstep_group import BusCall, LockstepGroup
from macaw.emu.waits import NEVER


def sums_call(
    group: LockstepGroup, target: int, sums: NDArray[Any]
) -> Callable[[ControlUnit], None]:
    """Return a function that writes a segment of partial sums to the PEs of a control unit.

    The function writes from entry `target` of the output queues on. `sums` has the shape (clusters,
    PEs, sums), in the order of the group's clusters.
    """
    targets = np.full(sums.shape[1], target)

    def fill(unit: ControlUnit) -> None:
        number = unit.cluster.number
        unit.units.loading.fill_psums(number, targets, sums[group.clusters.index(number)])

    return fill


def split(group: LockstepGroup, now: dict[int, int], computed: int) -> list[tuple[int, int]]:
    """Bring the clusters that are still in the group to the start of cycle `now[cluster]`.

    The macs of the row have been simulated up to (excluding) cycle `computed`. Return a pair for
    each cluster that then executes a mac: its number, and the cycle in which this mac began. The
    PEs of such a cluster are left in the state of that cycle.
    """
    members, group.members = sorted(group.members), set()
    calls = list(chain.from_iterable(group.bus_calls))
    multiplying = []
    for cluster in members:
        place = group.clusters.index(cluster)
        number = _replay(group, place, now[cluster], computed, calls.copy())
        if group.state.computing[cluster]:
            multiplying.append((cluster, int(group.macs.times[number][0][place])))
    return multiplying


def _replay(group: LockstepGroup, place: int, now: int, computed: int, calls: list[BusCall]) -> int:
    """Repeat the cycles of cluster `group.clusters[place]` from the group's start up to `now`.

    Macs that ended before cycle `computed` are completed. Return the number of these macs. `calls`
    are the calls of the bus since the group formed.
    """
    state, c, unit = group.state, group.clusters[place], group.units[place]
    state.due[c] = group.due[place]
    macs = 0

    def end() -> int:
        return int(group.macs.times[macs][1][place]) if state.computing[c] else NEVER

    while True:
        acts = state.due[c] if state.due[c] < now else NEVER
        first_call = calls[0].cycle if calls else NEVER
        cycle = min(acts, end() if end() < computed else NEVER, first_call)
        if cycle == NEVER:
            break
        while calls and calls[0].cycle == cycle and calls[0].before_control:
            calls.pop(0).call(unit)
        if state.due[c] <= cycle < now:
            state.due[c] = NEVER
            unit.step(cycle)
            state.reached = max(state.reached, cycle + 1)
        if end() == cycle < computed:
            group.sums.apply(place, macs)
            macs += 1
            unit.end_mac(cycle)
            state.reached = max(state.reached, cycle + 1)
        while calls and calls[0].cycle == cycle:
            calls.pop(0).call(unit)
    started = macs + int(state.computing[c])
    if started:  # the bus may have brought more activations since the mac began
        state.mac_limit[c] = group.sums.macs[started - 1].limit[place]
    return macs
