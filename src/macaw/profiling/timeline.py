"""Builds the timeline: the slices of each core, the busy intervals of rows, and late starts.

A row of the timeline is a kind of core. Rows have the order COP0 to COP5 of seed 001, Fig. 5.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from macaw.emu.device import Device
from macaw.errors import InputError
from macaw.phrases import suggestion
from macaw.profiling.model import CoreWait, Interval, Slice, Track
from macaw.profiling.recording import Record, Wait


@dataclass(frozen=True)
class CoreTraits:
    """The properties of a core that a profile needs.

    `units` is the number of its compute units, `width` the greatest number of bytes that a unit
    processes in one use. `commands` is true for the core that starts the others. `beat` is the
    number of bytes that the core reads in a bus cycle (beat), `store` the number of bytes of its
    widest write to external memory; 0 in `beat` or `store` stands for the width of external memory.
    `spacing` is the number of cycles that each access waits even in the densest possible stream of
    accesses. The trace counts these cycles as blocked, too.
    """

    name: str
    row: str  # of the timeline
    number: int  # of the core in the device
    units: int  # c: compute units of the array
    width: int  # p: most bytes that a unit processes in one use
    commands: bool  # whether it starts the work of the other cores
    beat: int = 0  # m: bytes of a beat that it reads; 0: the width of external memory
    # cycles that count as blocked even if accesses follow each other as closely as possible
    spacing: int = 0
    store: int = 0  # bytes of its widest external write; 0: the width of that memory
    has_own_memory: bool = False  # whether it does not use the banks of on-chip memory


def core_traits(device: Device) -> dict[str, CoreTraits]:
    """Return the properties of all cores by name, in the order of the timeline."""
    cores = sorted(device.order, key=lambda core: (core.table.row, core.number))
    return {
        core.name: CoreTraits(
            core.name,
            core.table.name,
            core.number,
            commands=core.number == 0,
            has_own_memory=bool(core.table.memories),
            **{name.replace("of_array", "units"): n for name, n in core.units()._asdict().items()},
        )
        for core in cores
    }


def check_core_names(names: Iterable[str], cores: Mapping[str, CoreTraits]) -> None:
    """Raise `InputError` for a name that is neither one of `cores` nor a row of the timeline."""
    known = dict.fromkeys(name for core in cores.values() for name in (core.row, core.name))
    for name in names:
        if name not in known:
            raise InputError(f"no core is called '{name}'", suggestion(name, known))


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """Return sorted intervals that have the same cycles as `intervals`, without overlaps.

    Intervals that overlap or touch are joined; empty ones are left out.
    """
    joined: list[Interval] = []
    for begin, end in sorted(item for item in intervals if item[0] < item[1]):
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((begin, end))
    return joined


def subtract(intervals: Sequence[Interval], gaps: Sequence[Interval]) -> list[Interval]:
    """Return the parts of `intervals` outside of all `gaps`. Both must be results of `union`."""
    remaining: list[Interval] = []
    ends = [end for _, end in gaps]
    for begin, end in intervals:
        for place in range(bisect_right(ends, begin), len(gaps)):
            low, high = gaps[place]
            if low >= end:
                break
            if low > begin:
                remaining.append((begin, low))
            begin = high
        if begin < end:
            remaining.append((begin, end))
    return remaining


class IntervalSet:
    """A union of intervals, in which `within` can count cycles quickly."""

    def __init__(self, intervals: Iterable[Interval]) -> None:
        self.intervals = union(intervals)
        self._ends = [end for _, end in self.intervals]

    def within(self, begin: int, end: int) -> int:
        """Return the number of cycles from `begin` to `end` that are in the intervals."""
        total = 0
        for place in range(bisect_right(self._ends, begin), len(self.intervals)):
            low, high = self.intervals[place]
            if low >= end:
                break
            total += max(0, min(high, end) - max(low, begin))
        return total


def tracks(
    cores: Mapping[str, CoreTraits],
    records: Mapping[str, Sequence[Record]],
    waits: Mapping[str, Sequence[Wait]],
    lost_records: Mapping[str, int],
) -> tuple[Track, ...]:
    """Return the tracks of the timeline's rows, and of the cores in rows with several cores.

    The tracks of the cores follow the track of their row; cores with neither slices nor lost
    records have none. All mappings are by core.
    """
    all_tracks: list[Track] = []
    names = {member.number: member.name for member in cores.values()}
    for row in dict.fromkeys(member.row for member in cores.values()):
        here = [member for member in cores.values() if member.row == row]
        each = [
            track(
                member,
                records.get(member.name, ()),
                waits.get(member.name, ()),
                lost_records.get(member.name, 0),
                names,
            )
            for member in here
        ]
        if len(each) == 1 and each[0].core == row:
            all_tracks += each
            continue
        slices = sorted((x for item in each for x in item.slices), key=lambda x: (x.begin, x.core))
        busy = union(item for one in each for item in one.busy)
        all_tracks.append(
            Track(row, row, tuple(slices), tuple(busy), sum(item.lost for item in each))
        )
        all_tracks += [item for item in each if item.slices or item.lost]
    return tuple(all_tracks)


def track(
    member: CoreTraits,
    records: Sequence[Record],
    waits: Sequence[Wait],
    lost_records: int,
    names: Mapping[int, str],
) -> Track:
    """Return the track of a core: its slices, busy intervals and waits.

    `member` has the properties of the core. `lost_records` is the number of records that are
    missing. `names` has the names of all cores by number.
    """
    gaps = IntervalSet((begin, end) for begin, end, _ in waits)
    slices = [
        Slice(
            member.name,
            member.row,
            record.begin,
            record.end,
            record.first,
            record.instructions,
            counters=record.counters,
            waited=gaps.within(record.begin, record.end),
        )
        for record in records
    ]
    busy = subtract(union((item.begin, item.end) for item in slices), gaps.intervals)
    core_waits = tuple(
        CoreWait(begin, end, tuple(name for number, name in names.items() if mask >> number & 1))
        for begin, end, mask in sorted(waits)
    )
    return Track(member.name, member.row, tuple(slices), tuple(busy), lost_records, core_waits)


# Starts ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Start:
    """The start of a core's work after a pause, in cycle `begin`.

    `earliest` is the first cycle in which the core could have started, after all work that it may
    have waited for. `row` is the core's row of the timeline.
    """

    core: str
    row: str
    begin: int
    earliest: int  # first cycle after all work that it may have waited for

    @property
    def late(self) -> int:
        """The number of cycles between the earliest possible start and the actual start."""
        return self.begin - self.earliest


def starts(
    all_tracks: Sequence[Track], commander: str, waits: Mapping[str, Sequence[Wait]]
) -> list[Start]:
    """Return all starts of cores, each with the earliest cycle that was possible for it.

    The starts of the commander (cp) are left out; its row is `commander`. A core may have waited
    for its own earlier work, and for work of any other core except the commander. The earliest
    possible cycle is the latest end of such work before the start, because after this end only the
    commander delayed the core. Work that had not ended at the start is ignored. If the core waited
    for other cores (`waits`), it could not start before that wait ended. A core that starts during
    a record of several instructions could not start earlier: any of these may just have ended.
    """
    others = [item for item in core_tracks(all_tracks) if item.row != commander]
    coarse = IntervalSet(
        (x.begin, x.end) for item in others for x in item.slices if x.instructions > 1
    )
    ends = sorted(end for item in others for _, end in item.busy)
    result = []
    for item in others:
        over = sorted(end for _, end, _ in waits.get(item.core, ()))
        before = [(0, 0), *item.busy]
        for (_, own), (begin, _) in pairwise(before):
            place = bisect_right(ends, begin)
            waited = bisect_right(over, begin)
            could = max(own, ends[place - 1] if place else 0, over[waited - 1] if waited else 0)
            if coarse.within(begin - 1, begin):
                could = begin
            result.append(Start(item.core, item.row, begin, could))
    return sorted(result, key=lambda start: (start.begin, start.core))


def _is_joined(item: Track, all_tracks: Sequence[Track]) -> bool:
    """Return whether a track shows a row of several cores, each of which also has its own track."""
    return item.core == item.row and any(x.row == item.row and x.core != x.row for x in all_tracks)


def core_tracks(all_tracks: Sequence[Track]) -> list[Track]:
    """Return the tracks of single cores, without the tracks that join the cores of a row."""
    return [item for item in all_tracks if not _is_joined(item, all_tracks)]
