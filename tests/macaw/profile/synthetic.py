"""Profiles made by hand or at random, for tests of reports."""

from __future__ import annotations

import random

from macaw.profiling.model import (
    Bottleneck,
    Difference,
    Finding,
    Goal,
    Group,
    Interval,
    Merge,
    Metric,
    MissedThreshold,
    Profile,
    Series,
    Slice,
    Step,
    Track,
)

ROWS = ("cp", "dma", "pe", "vc", "nnp", "fim")
ODD = "[bold]é</script><b>&\"'"  # as a name in a source might be: no markup, no HTML


def union(intervals: list[Interval]) -> tuple[Interval, ...]:
    """The union of the intervals, as separate intervals in order."""
    found: list[Interval] = []
    for begin, end in sorted(intervals):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        elif begin < end:
            found.append((begin, end))
    return tuple(found)


def track(core: str, row: str, slices: list[Slice]) -> Track:
    """A track that is busy during its slices."""
    return Track(core, row, tuple(slices), union([(item.begin, item.end) for item in slices]))


def by_hand() -> Profile:
    """A profile of six rows, with something to show in each."""
    cp = [
        Slice("cp", "cp", 0, 40, 0, 4, "li s0, 1", "net.s:10"),
        Slice("cp", "cp", 950, 1000, 4, 1),
    ]
    dma = [
        Slice("dma", "dma", 30, 230, 0, 1, "transfer 1", "net.s:40", {"e_bus": 200, "e_wr": 200}),
        Slice("dma", "dma", 230, 330, 1, 1, "transfer 2"),
    ]
    rows = [
        [Slice("pe[0]", "pe", 240, 640, 0, 1, "exe ib=0", "net.s:60", {"e_cu": 900})],
        # Two exe commands of a row overlap without one holding the other.
        [
            Slice("pe[1]", "pe", 300, 700, 0, 1, "exe ib=0", "net.s:60"),
            Slice("pe[1]", "pe", 500, 900, 1, 1, "exe ib=1", f"net.s:61 {ODD}"),
            Slice("pe[1]", "pe", 700, 800, 2, 1, "exe ib=2", "net.s:62"),
        ],
    ]
    fim = [Slice("fim[0]", "fim", 100, 101, 0, 1, "fim 2, col=3")]
    pes = [item for row in rows for item in row]
    tracks = (
        track("cp", "cp", cp),
        track("dma", "dma", dma),
        track("pe", "pe", pes),
        track("pe[0]", "pe", rows[0]),
        track("pe[1]", "pe", rows[1]),
        track(
            "vc", "vc", [Slice("vc", "vc", 600 + n, 610 + n, n, 1, f"pmac {n}") for n in range(5)]
        ),
        track("nnp", "nnp", [Slice("nnp", "nnp", 400, 400, 0, 1, "chain")]),
        track("fim", "fim", fim),
        track("fim[0]", "fim", fim),
    )
    use = Metric("unit_use", 0.22, 0.5, False, "fill the PEs: more rows of weights")
    partial = Metric("partial_writes", None, 0.1, None, "")
    rate = Metric("read_rate", 12.5)
    return Profile(
        program="net.s",
        device="tiny",
        cycles=1000,
        tracks=tracks,
        groups=(Group(rows[0][0], (use, partial, rate)), Group(rows[1][1], (use, rate))),
        missed_thresholds=(
            MissedThreshold("pe[0]", f"net.s:60: exe {ODD}", use, "The array computes with 22% of its units.", 400, 3),
        ),
        findings=(
            Finding("vc", "loads", f"net.s:7: add {ODD}", 260, 300, "load earlier", ("net.s:6: lw",)),
        ),
        series=(
            Series("net in", "vectors", ((0, 0), (100, 3), (900, 1)), "nnp", 8),
            Series("external reads", "bytes a cycle", ((0, 32.5), (500, 0.25))),
        ),
        bottleneck=Bottleneck("pe", rows[1][0], "pe is busy for 660 of 1,000 cycles.", {"pe": 500, "dma": 20}),
        merge=Merge(1003, 1001.5, 0.0015, (1000, 1003), 1000, (0.0, 2.5), 0.7, "cp"),
        goals=(
            Goal("cycles", 900, 1000, False, "1,000 cycles, wanted at most 900"),
            Goal("unit_use", 0.1, 0.22, True, "unit use 0.22, wanted at least 0.1"),
        ),
        step=Step(718, "trace back", "Look at net.s:60."),
        differences=(Difference("cycles", 1200, 1000, True, "1,200 → 1,000 cycles"),),
        against="old.json",
        mode="auto",
    )  # fmt: skip


def by_chance(seed: int) -> Profile:
    """A random profile of six rows with up to three cores each.

    Slices overlap, nest, touch and are empty.
    """
    chance = random.Random(seed)
    cycles = chance.choice((1, 10, 1000, 123_456_789))
    tracks = []
    for row in ROWS:
        cores = (
            [row]
            if row not in ("pe", "fim")
            else [f"{row}[{n}]" for n in range(chance.randint(0, 3))]
        )
        members = []
        for core in cores:
            slices = []
            for first in range(chance.randint(0, 8)):
                begin, end = sorted(chance.choices(range(cycles + 1), k=2))
                slices.append(Slice(core, row, begin, end, first, 1, f"instruction {first}"))
            slices.sort(key=lambda item: (item.begin, item.first))
            members.append(track(core, row, slices))
        everything = [item for member in members for item in member.slices]
        tracks.append(track(row, row, everything))
        tracks += [member for member in members if member.core != row]
    return Profile(f"{ODD}.s", "base", cycles, tuple(tracks))


def exe_slice(
    first: int, busy: int, place: str = "a.s:9", row: str = "pe", core: str = "pe[0]"
) -> Slice:
    return Slice(core, row, 10 * first, 10 * first + busy, first, 1, "exe", place)


PE_BOTTLENECK = Bottleneck("pe", exe_slice(0, 100), "why", {"pe": 90, "dma": 70}, {"dma": 49})
