"""A profile with as many records as a test wants, on all six rows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from macaw.profiling.model import CoreWait, Group, Metric, Profile, Slice, Track
from tests.macaw.profile.synthetic import ROWS, union

CORES = ("cp", "dma", "pe[0]", "pe[1]", "vc", "nnp", "fim[0]")
NAMES = ("lw t0, 4(a0)", "exe ib=0, last", "transfer 7", "v_rd_inc Dram", "", "ADD t1, t1, t2")


def with_waits(track: Track) -> Track:
    """Return a core's track with a wait in each gap between its records."""
    gaps = [(a.end, b.begin) for a, b in zip(track.slices, track.slices[1:], strict=False)]
    waits = [
        CoreWait(begin, end, (("pe[0]",), ("dma", "nnp"), ())[place % 3])
        for place, (begin, end) in enumerate(gaps)
        if end > begin
    ]
    return replace(track, waits=tuple(waits))


def many_records(count: int, seed: int = 1, gaps: Sequence[int] = (0, 0, 1, 6)) -> Profile:
    """Return a profile of about `count` records, which overlap in vc and wait in cp.

    The cycles between two records are drawn from `gaps`.
    """
    chance = random.Random(seed)
    each = -(-count // len(CORES))
    per_core: dict[str, list[Slice]] = {}
    for core in CORES:
        time, slices = chance.randrange(50), []
        for first in range(each):
            cycles = chance.choice((1, 1, 2, 5, 9, 40))
            name, line = chance.choice(NAMES), chance.randrange(1, 90)
            slices.append(
                Slice(
                    core,
                    core.partition("[")[0],
                    time,
                    time + cycles,
                    3 * first,
                    3,
                    name,
                    f"net.s:{line}" if name else "",
                    {"t_begin": time, "e_rd": chance.randrange(4), "e_bus": 2 * (first % 3)},
                    waited=cycles // 2 if core == "cp" else 0,
                )
            )
            time += 1 if core == "vc" and first % 5 else cycles + chance.choice(gaps)
        per_core[core] = slices
    tracks = []
    for row in ROWS:
        cores = [core for core in CORES if core.partition("[")[0] == row]
        members = [
            Track(
                core, row, tuple(per_core[core]), union([(x.begin, x.end) for x in per_core[core]])
            )
            for core in cores
        ]
        if cores == [row]:
            tracks += members
            continue
        busy = union([item for member in members for item in member.busy])
        joined = tuple(item for member in members for item in member.slices)
        tracks += [Track(row, row, joined, busy), *members]
    groups = tuple(
        Group(item, (Metric("utilisation", chance.random(), 0.5, chance.random() < 0.5),))
        for item in chance.sample(per_core["pe[0]"], min(200, each))
    )
    cycles = max(item.end for slices in per_core.values() for item in slices)
    return Profile("net.s", "tiny", cycles, tuple(tracks), groups)
