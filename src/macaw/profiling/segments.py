"""Merges segments of several runs into one timeline (seed 001, Fig. 6).

Each run records one segment of the program: one loop over all register groups. Adjacent segments
share groups, so the same instructions are recorded in both runs. The times of the later segment are
shifted by dt = (dt1 + dt2) / 2. A shared group starts dt1 cycles later in the earlier run than in
the later run, and ends dt2 cycles later. The merged timeline has only one record for a shared
group: the record of the earlier run.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from statistics import fmean

from macaw.errors import InputError
from macaw.isa.trace import GROUP
from macaw.profiling.recording import Parameters, Record, Wait, segment_parameters

_TIMES = {row.name: row.of for row in GROUP if row.takes != "count"}
_COUNTS = {row.of: row.name for row in GROUP if row.takes == "count"}


def record_size(instructions: int, count: int, groups: int, shared: int) -> int:
    """Return how many instructions a record must have so that `count` segments cover a program.

    The program executes `instructions`. A segment has one record for each of `groups` register
    groups; adjacent segments share `shared` of them.
    """
    places = (count - 1) * (groups - shared) + groups
    return max(1, -(-instructions // places))


def check_segments(count: int, groups: int, shared: int) -> None:
    """Raise `InputError` if `count` segments with these numbers of records cannot be merged.

    A segment has `groups` records; adjacent segments share `shared` of them.
    """
    if groups < 2:
        text = "segments need at least 2 register groups: adjacent segments share some, but not all"
        raise InputError(text, "2 or more groups")
    if not 1 <= shared < groups:
        possible = "1" if groups == 2 else f"1 to {groups - 1}"
        text = f"segments cannot share {shared} of {groups} register groups, only {possible}"
        raise InputError(text, "share fewer groups, or take more of them")
    if count < 2:
        raise InputError(f"{count} segment is nothing to merge", "2 or more segments")


def parameters_of_segments(
    instructions: Mapping[str, int], count: int, groups: int, shared: int
) -> list[dict[str, Parameters]]:
    """Return for each of `count` segments the trace parameters by core.

    `instructions` has the number of executed instructions by core. Cores that execute nothing are
    left out. A segment has `groups` records; adjacent segments share `shared` of them.
    """
    return [
        {
            core: segment_parameters(
                record_size(executed, count, groups, shared), groups, shared, number
            )
            for core, executed in instructions.items()
            if executed
        }
        for number in range(count)
    ]


def mean_records(runs: Sequence[Sequence[Record]]) -> list[Record]:
    """Return records with the rounded means of the counters that several runs recorded.

    The runs recorded the same segment. Records that one of the runs does not have are left out,
    because loops that wait may have different numbers of iterations.
    """
    if len(runs) == 1:
        return list(runs[0])
    records_by_key = [{record.instruction_range: record for record in run} for run in runs]
    common = [key for key in records_by_key[0] if all(key in run for run in records_by_key)]
    result = []
    for key in common:
        each = [run[key] for run in records_by_key]
        counters = {name: round(fmean(x.counters[name] for x in each)) for name in each[0].counters}
        result.append(each[0]._replace(counters=counters))
    return result


def merge_segments(core: str, runs: Sequence[Sequence[Record]]) -> tuple[list[Record], list[float]]:
    """Return one list of a core's records, and the cycles added to the times of each segment.

    `runs` has the records of each segment. Segments after the program's end are empty; they add
    nothing to either list. Raises `InputError` if a segment shares no record with those before it.
    """
    timeline: list[Record] = list(runs[0]) if runs else []
    offsets = [0.0] if runs else []
    records_by_first = {record.first: record for record in timeline}
    for number, records in enumerate(runs[1:], 1):
        if not records:
            continue
        pairs = [
            (records_by_first[later.first], later)
            for later in records
            if later.first in records_by_first
        ]
        if not pairs:
            text = (
                f"segments {number} and {number + 1} of {core} share no record: nothing to move by"
            )
            raise InputError(text, "take fewer segments, or share more groups")
        offset = fmean(_offset(earlier, later) for earlier, later in pairs)
        offsets.append(offset)
        for record in records:
            if record.first not in records_by_first:
                records_by_first[record.first] = shifted = _move(record, offset)
                timeline.append(shifted)
    return timeline, offsets


def _offset(earlier: Record, later: Record) -> float:
    """Return the number of cycles to add to the times of the later of two runs.

    `earlier` and `later` are the records of the same instructions in the two runs. The result is
    the mean of two differences: `earlier` minus `later` for the begin, and for the end.
    """
    return ((earlier.begin - later.begin) + (earlier.end - later.end)) / 2


def _move(record: Record, offset: float) -> Record:
    """Return a record with `offset` added to its times.

    The time of an event that did not occur remains 0.
    """
    counters = dict(record.counters)
    for name, of in _TIMES.items():
        if _COUNTS.get(of) is None or counters[_COUNTS[of]]:
            counters[name] = max(0, round(counters[name] + offset))
    return record._replace(counters=counters)


def move_waits(
    waits: Sequence[Wait], run: Sequence[Record], target: Sequence[Record]
) -> list[Wait]:
    """Return a core's waits with their times in the merged timeline.

    `run` has the core's records in the run with these waits, `target` its merged records. Merging
    has shifted each record of `run` by some cycles. The begin and the end of a wait are shifted by
    as many cycles as the last record of `run` that began at or before them.
    """
    there = {record.instruction_range: record for record in target}
    begins, lags = [0], [0]
    for record in run:
        other = there.get(record.instruction_range)
        if other is not None:
            begins.append(record.begin)
            lags.append(other.begin - record.begin)

    def at(time: int) -> int:
        return time + lags[bisect_right(begins, time) - 1]

    return [(at(begin), at(end), cores) for begin, end, cores in waits]


def mean_shift(merged: Sequence[Record], true: Sequence[Record]) -> float:
    """Return the mean distance between merged records and true records, in cycles.

    The distance of two records is the mean of the distances of their starts and of their ends.
    """
    there = {record.instruction_range: record for record in true}
    pairs = [
        (record, there[record.instruction_range])
        for record in merged
        if record.instruction_range in there
    ]
    if not pairs:
        return 0.0
    return fmean((abs(a.begin - b.begin) + abs(a.end - b.end)) / 2 for a, b in pairs)
