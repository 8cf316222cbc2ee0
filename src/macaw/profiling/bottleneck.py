"""Finds the bottleneck: the row without whose work the run would end soonest.

The run is a graph of intervals of work. An interval starts when everything for which it waited is
done: the core's own earlier work, the cores that a wait names, or the instruction of the commander
(cp) that started the core. The simulation sets the time of one row's work to zero, and starts all
other work as early as that allows. The cost of the row is the number of cycles by which the run
then ends earlier.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from macaw.phrases import plural
from macaw.profiling.model import Bottleneck, Slice, Track
from macaw.profiling.recording import Wait
from macaw.profiling.timeline import CoreTraits, Start, core_tracks


class _WorkGraph:
    """The intervals of work of all cores, and for each interval the work for which it waited."""

    def __init__(
        self,
        tracks: Sequence[Track],
        waits: Mapping[str, Sequence[Wait]],
        cores: Mapping[str, CoreTraits],
    ) -> None:
        self.cores = cores
        self.busy = {item.core: item.busy for item in core_tracks(tracks) if item.busy}
        self.begins = {core: [begin for begin, _ in busy] for core, busy in self.busy.items()}
        self.waits = {core: sorted(waits.get(core, ()), key=lambda x: x[1]) for core in self.busy}
        self.commander = next((name for name, x in cores.items() if x.commands), "")
        self.numbers = {cores[core].number: core for core in self.busy}
        self.end = max((busy[-1][1] for busy in self.busy.values()), default=0)
        order = [(busy[place][0], cores[core].number, core, place)
                 for core, busy in self.busy.items() for place in range(len(busy))]  # fmt: skip
        self.nodes = [(core, place) for _, _, core, place in sorted(order)]
        self.after = {node: self._causes(*node) for node in self.nodes}

    def _causes(self, core: str, place: int) -> list[tuple[str, int]]:
        """Return pairs (other core, cycle): an interval waited until that core reached the cycle.

        `place` is the index of the interval in the work of `core`.
        """
        begin = self.busy[core][place][0]
        idle = self.busy[core][place - 1][1] if place else 0
        waits = self.waits[core]
        last = bisect_right([end for _, end, _ in waits], begin) - 1
        if last >= 0 and waits[last][1] > idle:
            _, until, mask = waits[last]
            names = [name for number, name in self.numbers.items() if mask >> number & 1]
            return [(name, until) for name in names] or self._nearest(core, until)
        if core == self.commander:
            return []
        there = self.busy.get(self.commander, ())
        last = bisect_right(self.begins.get(self.commander, []), begin) - 1
        # After the commander's last work, a core continues by itself with queued work.
        return [(self.commander, begin)] if last >= 0 and there[last][1] >= idle else []

    def _nearest(self, core: str, time: int) -> list[tuple[str, int]]:
        """Return a list with the likeliest cause of a wait of `core` that names no core.

        The cause is a pair, (other core, `time`). The other core is the one that works at cycle
        `time` or, if none does, the one that worked last before it. `core` itself and the commander
        are not considered. The list is empty if no other core worked.
        """
        candidates = []
        for name, busy in self.busy.items():
            place = bisect_left(self.begins[name], time) - 1
            if name != core and name != self.commander and place >= 0:
                candidates.append((min(busy[place][1], time), name))
        return [(max(candidates)[1], time)] if candidates else []

    def end_without(self, row: str) -> int:
        """Return the cycle in which the run would end if the work of a row took no time."""
        return self._simulate(lambda core, place: self.cores[core].row == row, {})

    def end_without_between(self, row: str, other: str) -> int:
        """Return the cycle in which the run would end if some work of `row` took no time.

        It is the work of `row` that lies between the first and the last work of row `other`.
        """
        busy = [item for core, items in self.busy.items() for item in items
                if self.cores[core].row == other]  # fmt: skip
        first, last = min(begin for begin, _ in busy), max(end for _, end in busy)

        def is_gone(core: str, place: int) -> bool:
            begin, end = self.busy[core][place]
            return self.cores[core].row == row and first <= begin and end <= last

        return self._simulate(is_gone, {})

    def end_without_delays(self, starts: Sequence[Start], row: str) -> int:
        """Return the cycle in which the run would end if no start of `row` were late."""
        late = {
            (start.core, bisect_left(self.begins[start.core], start.begin)): start.late
            for start in starts
            if start.row == row
        }
        return self._simulate(lambda core, place: False, late)

    def _simulate(
        self, is_gone: Callable[[str, int], bool], early: Mapping[tuple[str, int], int]
    ) -> int:
        """Return the cycle in which the run would end with changed intervals of work.

        Intervals for which `is_gone(core, index)` is true take no time. `early` has by interval,
        (core, index), the number of cycles by which the interval starts earlier.
        """
        spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for core, place in self.nodes:
            begin, end = self.busy[core][place]
            before = spans[core][-1][1] if place else 0
            idle = self.busy[core][place - 1][1] if place else 0
            bounds = [before]
            causes = [(name, time) for name, time in self.after[core, place] if spans[name]]
            for name, time in causes:
                there, lag = self._map_time(name, spans[name], time)
                bounds.append(there + lag)
            if not causes:
                bounds.append(before + begin - idle)
            now = max(before, max(bounds) - early.get((core, place), 0))
            length = 0 if is_gone(core, place) else end - begin
            spans[core].append((now, now + length))
        return max((span[-1][1] for span in spans.values()), default=0)

    def _map_time(self, core: str, spans: Sequence[tuple[int, int]], time: int) -> tuple[int, int]:
        """Convert cycle `time` of the recorded run to the simulated run: return (cycle, delay).

        The simulated cycle is `cycle` + `delay`. There are three cases. If the core worked at
        `time`, `cycle` is at the same place in the simulated work, and `delay` is 0. If the core
        paused at `time`, `cycle` is the simulated end of its work before the pause, and `delay` is
        0 in the first cycle of the pause, else 1. If the core had not begun to work, `cycle` is 0
        and `delay` is `time`. `spans` has the simulated (begin, end) of the core's intervals so
        far.
        """
        place = min(bisect_left(self.begins[core], time), len(spans)) - 1
        if place < 0:
            return 0, time
        begin, end = self.busy[core][place]
        low, high = spans[place]
        if time >= end:
            return high, min(time - end, 1)
        return low + (time - begin) * (high - low) // (end - begin), 0


def find_bottleneck(
    tracks: Sequence[Track],
    waits: Mapping[str, Sequence[Wait]],
    cores: Mapping[str, CoreTraits],
    starts: Sequence[Start],
) -> Bottleneck | None:
    """Return the row with the highest cost, and its instruction that takes longest.

    `waits` has the waits of each core, `cores` the properties of each core, both by name. `starts`
    are the results of `macaw.profiling.timeline.starts`. Returns None without records.
    """
    work = _WorkGraph(tracks, waits, cores)
    if not work.busy:
        return None
    rows = [item for item in tracks if item.core == item.row and item.busy]
    whole = work.end_without("")
    saved = {item.row: max(0, whole - work.end_without(item.row)) for item in rows}
    row = max(rows, key=lambda item: (saved[item.row], item.busy_cycles))
    heaviest = heaviest_slice(row.slices)
    share = row.busy_cycles / max(work.end, 1)
    why = (
        f"{row.core} is at work for {plural(row.busy_cycles, 'cycle')}, {share:.0%} of the run;"
        f" without its work the run would be about {plural(saved[row.row], 'cycle')} shorter"
    )
    more = [item for item in rows if item is not row and saved[item.row]]
    if more:
        second = max(more, key=lambda item: saved[item.row])
        why += f" (without that of {second.core}: {saved[second.row]:,})"
    between = {
        item.row: max(0, whole - work.end_without_between(item.row, row.row))
        for item in rows
        if item is not row
    }
    sooner = {
        name: max(0, whole - work.end_without_delays(starts, name))
        for name in dict.fromkeys(start.row for start in starts)
    }
    return Bottleneck(row.core, heaviest, why, saved, between, sooner)


def heaviest_slice(slices: Sequence[Slice]) -> Slice | None:
    """Return the longest slice of the instruction on which `slices` spend most busy cycles.

    Slices belong to the same instruction if they have the same source position. Returns None
    without slices.
    """
    cycles_by_place: dict[tuple[str, str], int] = defaultdict(int)
    for item in slices:
        cycles_by_place[place_key(item)] += item.busy
    return max(slices, key=lambda item: (cycles_by_place[place_key(item)], item.busy), default=None)


def place_key(item: Slice) -> tuple[str, str]:
    """Return a key that is equal for all slices of an instruction.

    It is (row, source position), or (core, text) if the position is unknown.
    """
    return (item.row, item.place) if item.place else (item.core, item.where)
