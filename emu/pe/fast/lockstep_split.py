"""Splitting a lockstep group (`lockstep_group`) before its clusters are done.

The control units repeat their cycles from the one in which the group formed to the present one. The
calls of the bus that were recorded meanwhile are made again, and the results of macs come from the
group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.emu.core import NEVER

if TYPE_CHECKING:
    from macaw.emu.pe.control_unit import Control
    from macaw.emu.pe.fast.lockstep_group import Gang, Heard


def break_up(gang: Gang, now: dict[int, int], computed: int) -> list[tuple[int, int]]:
    """Bring the clusters that have not left to the start of a cycle, `now` by cluster.

    Their PEs have had the cycles before `computed`. Of clusters that multiply then: the
    cluster, and when its mac began; their PEs have that state.
    """
    left, gang.left = sorted(gang.left), set()
    found = []
    for cluster in left:
        place = gang.clusters.index(cluster)
        number = _replay(gang, place, now[cluster], computed)
        if gang.state.computing[cluster]:
            found.append((cluster, int(gang.mac_times[number][0][place])))
    return found


def _replay(gang: Gang, place: int, now: int, computed: int) -> int:
    """A cluster's cycles; how many of its macs are over then."""
    state, c, control = gang.state, gang.clusters[place], gang.controls[place]
    state.due[c] = gang.due[place]
    macs, heard = 0, list(gang.heard)

    def end() -> int:
        return int(gang.mac_times[macs][1][place]) if state.computing[c] else NEVER

    while True:
        acts = state.due[c] if state.due[c] < now else NEVER
        cycle = min(acts, end() if end() < computed else NEVER, *(at for at, *_ in heard[:1]))
        if cycle == NEVER:
            break
        while heard and heard[0][:2] == (cycle, True):
            _tell(control, heard.pop(0))
        if state.due[c] <= cycle < now:
            state.due[c] = NEVER
            control.step(cycle)
            state.reached = max(state.reached, cycle + 1)
        if end() == cycle < computed:
            gang.sums.apply(place, macs)
            macs += 1
            control.mac_ended(cycle)
            state.reached = max(state.reached, cycle + 1)
        while heard and heard[0][0] == cycle:
            _tell(control, heard.pop(0))
    begun = macs + int(state.computing[c])
    if begun:  # since then the bus may have brought more
        state.mac_limit[c] = gang.sums.macs[begun - 1].limit[place]
    return macs


def _tell(control: Control, heard: Heard) -> None:
    _, _, what, values = heard
    getattr(control, what)(*values)
