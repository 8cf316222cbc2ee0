"""Computes when a run would end if some of its cycles vanished.

The run is a graph of intervals of work. An interval starts when everything for which it waited is
done: the core's own earlier work, the cores that a wait was for, or the instruction of the
commander (cp) that started the core. In the simulation the intervals lose a share of the cycles of
some charges, at the times of these charges, and some waits do not take place. Everything else
starts as early as its own waits allow. If no cycles vanish and all waits take place, the simulation
ends in the same cycle as the run.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from macaw.emu.charges import IDLE, Charge, CoreLog
from macaw.emu.moves import Move
from macaw.profiling.model import Interval

Shares = Mapping[Charge, float]  # by charge: the share of its cycles that vanishes, 0 to 1


@dataclass(frozen=True)
class _Edge:
    """A dependence: an interval of work of one core cannot start before work of another core.

    The other core does this work in its interval `node`, up to cycle `time` of the recorded run. In
    the simulation, where the same work may be done earlier, the dependent interval starts at least
    `lag` cycles after this work.
    """

    node: int  # number of the earlier interval
    time: int  # in the earlier interval, or its end
    lag: int  # cycles


@dataclass(frozen=True)
class _Transfer:
    """A transfer, and the work that made the data which the transfer reads.

    The transfer ended in interval of work number `node`, an interval of the core that does
    transfers. `begin` and `end` count cycles from the start of this interval; `begin` is negative
    if the transfer started earlier. `makers` has a pair (interval, cycles) for each core that wrote
    data for the transfer: the number of the interval with the core's last such write, and the
    cycles from the start of that interval to the write. `sources` are the numbers of the earlier
    transfers that wrote data for this one.
    """

    node: int
    begin: int
    end: int
    makers: tuple[tuple[int, int], ...]
    sources: tuple[int, ...]


class LoggedWait(NamedTuple):
    """A wait of a core for other cores, from cycle `begin` to cycle `end`.

    `charge` has the cause of the wait, and the cores that the core waited for.
    """

    begin: int
    end: int
    charge: Charge  # has the cause of the wait, and the cores that the core waited for


class CoreWork:
    """The intervals of work of a core, and its waits, in a run of `cycles` cycles."""

    def __init__(self, log: CoreLog, cycles: int) -> None:
        times = np.minimum([*log.begins, cycles], cycles)
        numbers = np.asarray(log.numbers)
        waits = np.array([*(charge.is_wait for charge in log.charges), False])
        is_work = (numbers != IDLE) & ~waits[numbers] & (times[1:] > times[:-1])
        is_wait = waits[numbers] & (times[1:] > times[:-1])
        self.charges = log.charges
        self.waits = [
            LoggedWait(begin, end, log.charges[number])
            for begin, end, number in zip(
                times[:-1][is_wait].tolist(),
                times[1:][is_wait].tolist(),
                numbers[is_wait].tolist(),
                strict=True,
            )
        ]
        self.wait_ends = [wait.end for wait in self.waits]
        edges = np.flatnonzero(np.diff([False, *is_work, False]))
        self.begins, self.ends = times[edges[::2]].tolist(), times[edges[1::2]].tolist()
        self.busy: list[Interval] = list(zip(self.begins, self.ends, strict=True))
        self._times, self._numbers = times, numbers
        self._lengths = np.where(is_work, np.diff(times), 0)
        self.busy_cycles = int(self._lengths.sum())

    def lengths(self) -> dict[Charge, list[int]]:
        """Return the periods that the core spent on each charge: a list of their lengths in cycles.

        A charge is a cause with the instruction that is responsible.
        """
        found: dict[Charge, list[int]] = {charge: [] for charge in self.charges}
        lengths = np.diff(self._times).tolist()
        for number, length in zip(self._numbers.tolist(), lengths, strict=True):
            if number != IDLE and length:
                found[self.charges[number]].append(length)
        return found

    def openings(self) -> dict[Charge, float]:
        """Return, for each charge, which share of its cycles is at the start of intervals of work.

        The start of an interval is its part before the first cycle whose cause is `work`.
        """
        works = np.array([*(charge.cause == "work" for charge in self.charges), False])
        numbers, lengths = self._numbers, self._lengths
        intervals = np.searchsorted(self.begins, self._times[:-1], "right")
        first = np.full(len(self.begins) + 1, len(numbers))
        np.minimum.at(first, intervals[works[numbers]], np.flatnonzero(works[numbers]))
        before = np.arange(len(numbers)) < first[intervals]
        count = len(self.charges)
        opening = np.bincount(numbers + 1, lengths * before, count + 1)[1:]
        whole = np.bincount(numbers + 1, lengths, count + 1)[1:]
        shares = np.divide(opening, whole, out=np.zeros(count), where=whole > 0)
        return dict(zip(self.charges, shares.tolist(), strict=True))

    def taken(self, shares: Shares, times: Sequence[int]) -> NDArray[np.float64]:
        """Return how many cycles of the core's work before each of `times` vanish.

        `shares` has the share of each charge's cycles that vanishes. The result has the shape
        (number of times,).
        """
        weights = np.array([*(shares.get(charge, 0.0) for charge in self.charges), 0.0])
        gone = np.concatenate([[0.0], (self._lengths * weights[self._numbers]).cumsum()])
        found: NDArray[np.float64] = np.interp(times, self._times, gone)
        return found


class RunGraph:
    """The intervals of work of all cores of a run, and for each the work for which it waited.

    `logs` are the logs of the cores by name, in the order of their numbers; the first core starts
    the others. `cycles` is the length of the run. `moves` are the transfers by core. `readers` has,
    by core with transfers, the cores that announce when they read the data.
    """

    def __init__(
        self,
        logs: Mapping[str, CoreLog],
        cycles: int,
        moves: Mapping[str, Sequence[Move]] | None,
        readers: Mapping[str, Collection[str]] | None,
    ) -> None:
        self.commander = next(iter(logs), "")
        works = {name: CoreWork(log, cycles) for name, log in logs.items()}
        self.work = {name: work for name, work in works.items() if work.busy}
        names = list(self.work)
        order = sorted(
            (begin, names.index(core), place)
            for core, work in self.work.items()
            for place, begin in enumerate(work.begins)
        )
        self._nodes = [(names[number], place) for _, number, place in order]
        self._numbers = {node: number for number, node in enumerate(self._nodes)}
        # by node: the wait that ended before it, as an index, or -1
        self._wait = [self._wait_before(*node) for node in self._nodes]
        self._after = [self._edges(number) for number in range(len(self._nodes))]
        self._places = {core: self._edge_places(core) for core in self.work}
        self._transfers: list[_Transfer] = []
        # by node: the transfers in it, and the transfers whose data it used, with the cycles from
        # its start to the use
        self._moved: dict[int, list[int]] = {}
        self._uses: dict[int, list[tuple[int, int]]] = {}
        self.movers = {name for name, of_core in (moves or {}).items() if of_core} & set(names)
        for mover in sorted(self.movers):
            self._find_transfers(mover, (moves or {})[mover], (readers or {})[mover])
        self.cycles = max((work.ends[-1] for work in self.work.values()), default=0)

    # The graph

    def _wait_before(self, core: str, place: int) -> int:
        work = self.work[core]
        idle = work.ends[place - 1] if place else 0
        last = bisect_right(work.wait_ends, work.begins[place]) - 1
        return last if last >= 0 and work.wait_ends[last] > idle else -1

    def _edges(self, number: int) -> list[_Edge]:
        """Return the dependences of interval of work number `number` on work of other cores.

        The interval depends on the cores for which its core waited just before, or on the commander
        if the core was idle before. A core that continues with queued work depends on no other.
        """
        core, place = self._nodes[number]
        work = self.work[core]
        begin = work.begins[place]
        if self._wait[number] >= 0:
            wait = work.waits[self._wait[number]]
            return self._edges_to(self._awaited(core, wait), wait.end, begin)
        commander = self.work.get(self.commander)
        if core == self.commander or commander is None:
            return []
        idle = work.ends[place - 1] if place else 0
        last = bisect_left(commander.begins, begin) - 1
        # after the commander's last work, a core continues by itself with queued work
        if last < 0 or commander.ends[last] < idle:
            return []
        return self._edges_to([self.commander], begin, begin)

    def _awaited(self, core: str, wait: LoggedWait) -> list[str]:
        """Return the cores for which a core waited.

        If the wait names no core, the result is the likeliest one (`_nearest`).
        """
        names = [name for name in wait.charge.whom.split(", ") if name in self.work]
        return names or self._nearest(core, wait.end)

    def _edges_to(self, names: Sequence[str], time: int, begin: int) -> list[_Edge]:
        """Return the dependences of an interval, which starts at `begin`, on the cores `names`.

        For each core in `names`, the interval depends on the core's last work before cycle `time`.
        If the core waited for others between this work and `time`, the interval depends on their
        last work, too. The `lag` of all these dependences is the time from the latest end of these
        pieces of work to `begin`.
        """
        found = []
        left = list(names)
        for name in left:
            there = self.work[name]
            place = bisect_left(there.begins, time) - 1
            end = min(there.ends[place], time) if place >= 0 else 0
            if place >= 0:
                found.append((self._numbers[name, place], end))
            last = bisect_right(there.wait_ends, time) - 1
            if last >= 0 and there.wait_ends[last] > end:
                left += [one for one in self._awaited(name, there.waits[last]) if one not in left]
        if not found:
            return []
        latest = max(end for _, end in found)
        return [_Edge(node, end, begin - latest) for node, end in found]

    def _nearest(self, core: str, time: int) -> list[str]:
        """Return, as a list of one name, the core for which `core` probably waited until `time`.

        The caller uses it for a wait that names no core. The result is the core that works at
        `time` or, if none does, the core that worked last before `time`; `core` itself and the
        commander do not count. The list is empty if no other core has worked.
        """
        ends: list[tuple[Interval, str]] = []
        for name, work in self.work.items():
            place = bisect_left(work.begins, time) - 1
            if name not in (core, self.commander) and place >= 0:
                ends.append(((min(work.ends[place], time), work.begins[place]), name))
        return [max(ends)[1]] if ends else []

    def _edge_places(self, core: str) -> tuple[list[tuple[int, int]], list[int]]:
        """Return the dependences of all intervals on work of a core, as two lists.

        For each dependence, the first list has a pair: the number of the dependent interval, and
        the index of the dependence in that interval's list. The second list has the cycle that the
        core must have reached (`_Edge.time`).
        """
        places, times = [], []
        for number, edges in enumerate(self._after):
            for index, edge in enumerate(edges):
                if self._nodes[edge.node][0] == core:
                    places.append((number, index))
                    times.append(edge.time)
        return places, times

    def _find_transfers(self, mover: str, moves: Sequence[Move], readers: Collection[str]) -> None:
        """Add the transfers of a core, and find out who made and who used their data.

        Often the events of the run tell this. If not, the data of a transfer onto the chip are
        assumed to be used by the next work of each silent core, and the data of a transfer from
        the chip to be made by the last work of each silent core. A core is silent if it does not
        announce its reads. If there is no silent core, the commander is treated as one.
        """
        unknown = [name for name in self.work if name not in (*readers, mover, self.commander)]
        unknown = unknown or [self.commander]
        numbers: dict[Move, int] = {}
        for move in (move for move in moves if move.end):  # not one that the end of the run cut
            node = self._node_at(mover, move.end - 1)
            made = move.made
            if not (made or move.sources or move.is_inward):
                made = self._last_work(unknown, move.begin)
            makers = [(self._node_at(core, time), time) for core, time in made.items()]
            number = numbers[move] = len(self._transfers)
            transfer = _Transfer(
                node,
                move.begin - self._begin(node),
                move.end - self._begin(node),
                tuple((maker, time - self._begin(maker)) for maker, time in makers if maker < node),
                tuple(numbers[item] for item in move.sources if item in numbers),
            )
            self._transfers.append(transfer)
            self._moved.setdefault(node, []).append(number)
            used = move.used
            if not (used or move.is_outward):
                used = self._next_work(unknown, move.end)
            for core, time in used.items():
                user = self._node_at(core, time)
                if user > node:
                    # 0: an interval that began after the transfer begins after it in any run
                    since = self._begin(user)
                    at = time - since if core == self.commander or since < move.end else 0
                    self._uses.setdefault(user, []).append((number, at))

    def is_for_data(self, wait: LoggedWait) -> bool:
        """Return whether a core waited only for transfers, and it is known who used their data."""
        return bool(wait.charge.whom) and self.movers.issuperset(wait.charge.whom.split(", "))

    def _begin(self, number: int) -> int:
        core, place = self._nodes[number]
        begin: int = self.work[core].begins[place]
        return begin

    def _node_at(self, core: str, time: int) -> int:
        """Return the number of the last interval of a core that starts at or before `time`.

        If none does, return the number of the core's first interval.
        """
        place = bisect_right(self.work[core].begins, time) - 1
        return self._numbers[core, max(place, 0)]

    def _next_work(self, cores: Iterable[str], time: int) -> dict[str, int]:
        """Return, by core, the first cycle from `time` on in which work of the core starts.

        Cores without such work are left out.
        """
        found = {}
        for core in cores:
            begins = self.work[core].begins
            place = bisect_left(begins, time)
            if place < len(begins):
                found[core] = begins[place]
        return found

    def _last_work(self, cores: Iterable[str], time: int) -> dict[str, int]:
        """Return, by core, the cycle in which the core's last work before `time` ended.

        This is the last work that began before `time`. If it ended after `time`, the result is
        `time`. Cores without such work are left out.
        """
        found = {}
        for core in cores:
            place = bisect_left(self.work[core].begins, time) - 1
            if place >= 0:
                found[core] = min(self.work[core].ends[place], time)
        return found

    # The simulation

    def end(
        self,
        shares: Mapping[str, Shares] | None = None,
        dropped: Collection[tuple[str, int]] = (),
    ) -> float:
        """Return the cycle in which the run would end if cycles vanished or waits were dropped.

        `shares` has by core, for some charges, the share of their cycles that vanishes. `dropped`
        are waits that do not take place, as pairs (core, index of the wait). The work after such a
        wait may start earlier, but no earlier than the awaited cores could have done their work
        without any pause. If the wait was for transfers, the work after it may start at once; only
        the work that used the data waits for the transfers. The length of this wait is computed as
        if the core that does transfers never paused: each transfer begins as soon as the bytes that
        it reads have been made.
        """
        shares = shares or {}
        length = [0.0] * len(self._nodes)
        offsets = [[0.0] * len(edges) for edges in self._after]
        for core, work in self.work.items():
            places, times = self._places[core]
            gone = work.taken(shares.get(core, {}), [*work.begins, *work.ends, *times]).tolist()
            count = len(work.busy)
            for place, (begin, end) in enumerate(work.busy):
                node = self._numbers[core, place]
                length[node] = end - begin - (gone[count + place] - gone[place])
            for (number, index), time, taken in zip(places, times, gone[2 * count :], strict=True):
                edge = self._after[number][index]
                there = self._nodes[edge.node][1]
                offsets[number][index] = (
                    time - work.begins[there] - (taken - gone[there]) + edge.lag
                )
        return self._simulate(length, offsets, set(dropped))

    def _simulate(
        self, length: list[float], offsets: list[list[float]], dropped: set[tuple[str, int]]
    ) -> float:
        """Return the cycle in which the last interval of work ends in the simulation.

        `length` has the cycles of each interval. `offsets` has, for each interval and each of its
        dependences, the cycles from the start of the earlier interval to the earliest start of the
        dependent one. `dropped` are the waits that do not take place: (core, index of the wait).
        """
        starts = [0.0] * len(self._nodes)
        is_freed = any(self.is_for_data(self.work[core].waits[wait]) for core, wait in dropped)
        last_end = dict.fromkeys(self.work, 0.0)
        pauses = dict.fromkeys(self.work, 0.0)  # by core: cycles between its work so far
        paused = [0.0] * len(self._nodes)  # by node: this number of its core when the node starts
        there = [0.0] * len(self._transfers)  # when the data of transfers could be there
        for number, (core, place) in enumerate(self._nodes):
            before = last_end[core]
            edges = zip(self._after[number], offsets[number], strict=True)
            bounds = [starts[edge.node] + offset for edge, offset in edges]
            wait = self._wait[number]
            if wait >= 0 and (core, wait) in dropped:
                start = before
                if not self.is_for_data(self.work[core].waits[wait]):
                    edges = zip(self._after[number], bounds, strict=True)
                    bounds = [bound - edge.lag - paused[edge.node] for edge, bound in edges]
                    start = max([before, *bounds])
            elif bounds:
                start = max([before, *bounds])
            else:
                work = self.work[core]
                start = before + work.begins[place] - (work.ends[place - 1] if place else 0)
            for item in self._moved.get(number, ()) if is_freed else ():
                transfer = self._transfers[item]
                made = [starts[maker] + time for maker, time in transfer.makers]
                start = max([start, *(time - transfer.begin for time in made)])
            for item, at in self._uses.get(number, ()) if is_freed else ():
                start = max(start, there[item] - at)
            starts[number] = start
            if place:
                pauses[core] += start - before
            paused[number] = pauses[core]
            for item in self._moved.get(number, ()):
                transfer = self._transfers[item]
                made = [starts[maker] + time for maker, time in transfer.makers]
                made += [there[source] for source in transfer.sources]
                length_of = transfer.end - transfer.begin
                soonest = start + transfer.end - (0.0 if transfer.makers else paused[number])
                there[item] = max([soonest, *(time + length_of for time in made)])
            last_end[core] = start + length[number]
        return max(last_end.values(), default=0.0)
