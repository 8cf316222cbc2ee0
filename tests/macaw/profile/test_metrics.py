"""The formulas of seed 001 for steps 420 and 430, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from macaw import api
from macaw.emu.device import Device
from macaw.errors import InputError
from macaw.isa.descriptors.nnp import vector_bytes
from macaw.profiling import metrics
from macaw.profiling.metrics import KEYS_WITH_THRESHOLD, METRICS, DeviceSizes
from macaw.profiling.model import Metric, Slice, Track
from macaw.profiling.replay import bandwidth
from macaw.profiling.timeline import CoreTraits, core_traits
from tests.macaw.profile.records import record

# m = 32 bytes; a core with arrays of 16 units, p = 2 bytes.
MACHINE = DeviceSizes(32, 16, 8, {"vc": CoreTraits("vc", "vc", 2, 16, 2, False)})


def found(limits: dict[str, float] | None = None, **counters: int) -> dict[str, Metric]:
    values = record(0, 0, 1000, **counters).counters
    made = metrics.measure("vc", values, MACHINE, metrics.thresholds(limits or {}))
    return {metric.key: metric for metric in made}


READING: dict[str, Any] = {
    "t_rd_begin": 100,
    "t_rd_end": 300,
    "e_bus": 50,
}  # m n / (t2 - t1) = 32 * 50 / 200 = 8


def test_what_never_occurred_has_no_metric() -> None:
    assert found() == {}


def test_characterising() -> None:
    """Metrics are bytes per cycle, computations per cycle and per byte.

    See seed 001 ¶89-91, ¶93-94.
    """
    made = found(**READING, t_cu_begin=200, t_cu_end=600, e_cu=4800, e_array=400)
    assert made["reads"].value == 8
    assert made["computes"].value == 2 * 4800 / 400 == 24
    match = made["match"]
    assert (match.value, match.ok, match.threshold) == (3, True, 0.1)
    assert "each byte that is read is computed on 3 times" in match.sentence


@pytest.mark.parametrize(
    ("uses", "value", "ok", "text"),
    [
        (1600, 1.0, True, "match"),
        (1500, 0.9375, True, "match"),
        (800, 0.5, False, "it reads 2 bytes for each one that it computes on"),
        (2400, 1.5, False, "it computes 1.5 times on each byte that it reads, no whole multiple"),
        (
            3400,
            2.125,
            False,
            "it computes 2.12 times on each byte that it reads, no whole multiple",
        ),
    ],
)
def test_equal_or_a_whole_multiple(uses: int, value: float, ok: bool, text: str) -> None:
    """Amounts match if equal, or if one is a whole multiple of the other (seed 001 ¶89, ¶92-94)."""
    match = found(**READING, t_cu_begin=200, t_cu_end=600, e_cu=uses, e_array=400)["match"]
    assert (match.value, match.ok) == (value, ok)
    assert text in match.sentence


def test_the_tolerance_can_be_set() -> None:
    """The tolerance of the match can be set (seed 001 ¶92-94)."""
    counters = {**READING, "t_cu_begin": 200, "t_cu_end": 600, "e_cu": 3400, "e_array": 400}
    assert found({"match": 0.2}, **counters)["match"].ok is True


def test_partial_writes() -> None:
    """A metric is the share of partial writes among external writes (seed 001 ¶95-97)."""
    made = found(e_xwr=20, e_xwr_partial=5)["partial"]
    assert (made.value, made.ok) == (0.25, False)
    assert made.sentence == "5 of 20 external writes are narrower than the memory's 32 bytes"
    good = found(e_xwr=20, e_xwr_partial=2)["partial"]
    assert (good.value, good.ok) == (0.1, True)
    one = found(e_xwr=1, e_xwr_partial=1)["partial"]
    assert one.sentence == "1 of 1 external write is narrower than the memory's 32 bytes"


@pytest.mark.parametrize(("store", "judged"), [(4, False), (16, False), (32, True), (64, True)])
def test_what_no_write_of_the_core_can_fill_is_no_fault(store: int, judged: bool) -> None:
    """Partial writes are not judged if the core cannot write a whole word (seed 001 ¶97).

    Here a word has 32 bytes, and the core's widest write 16.
    """
    cores = {"vc": CoreTraits("vc", "vc", 2, 16, 2, False, store=store)}
    counters = record(0, 0, 9, e_xwr=4, e_xwr_partial=4).counters
    (made,) = metrics.measure("vc", counters, DeviceSizes(32, 16, 8, cores), metrics.thresholds({}))
    assert made.value == 1
    assert (made.ok, made.threshold) == ((False, 0.1) if judged else (None, None))
    assert made.sentence.endswith(f", of which vc writes at most {store} at once") != judged


def test_the_widest_writes_of_the_cores() -> None:
    """Each core's widest write is a word, a vector register, a vector or a beat of the dma."""
    config = api.configuration("tiny")
    cores = core_traits(Device(config))
    assert {name: item.store for name, item in cores.items() if item.store} == {
        "cp": 4,
        "vc": 16,
        "nnp": vector_bytes(config),
        "dma": config["dma.width"],
    }


def test_blocked_accesses_of_both_kinds() -> None:
    """The metric is the share of blocked accesses; its sentence has the lost cycles.

    See seed 001 ¶99.
    """
    made = found(e_rd=60, e_wr=40, e_rd_blocked=10, e_wr_blocked=5)["blocked"]
    assert (made.value, made.ok) == (0.15, False)
    assert made.sentence == (
        "100 accesses of on-chip memory lost a bank to others for 15 cycles in all (a bank is 8"
        " bytes wide, and what lies 128 bytes apart is in the same one)"
    )


def test_blocked_accesses_of_a_memory_of_its_own() -> None:
    """Blocked accesses of an island name no cause (seed 001 ¶99).

    These accesses wait for banks, register files or data.
    """
    cores = {"fim[0]": CoreTraits("fim[0]", "fim", 8, 16, 2, False, has_own_memory=True)}
    counters = record(0, 0, 1000, e_rd=1, e_rd_blocked=5).counters
    (made,) = metrics.measure(
        "fim[0]", counters, DeviceSizes(32, 16, 8, cores), metrics.thresholds({})
    )
    assert made.value == 5
    assert made.sentence == "1 access of its own memory waited 5 cycles in all"


@pytest.mark.parametrize(
    ("blocked", "value", "ok"), [(300, 0, True), (330, 0.3, False), (90, 0, True)]
)
def test_waits_of_the_densest_stream_are_no_fault(blocked: int, value: float, ok: bool) -> None:
    """Waits that a stream of columns must have do not count as blocked.

    A column needs four cycles, three of which are a wait, in any program.
    """
    cores = {"fim[0]": CoreTraits("fim[0]", "fim", 8, 16, 2, False, 32, 3, has_own_memory=True)}
    counters = record(
        0, 0, 1000, e_rd=100, e_rd_blocked=blocked, e_bus=10, t_rd_begin=0, t_rd_end=64
    ).counters
    machine = DeviceSizes(16, 16, 8, cores)
    found = {x.key: x for x in metrics.measure("fim[0]", counters, machine, metrics.thresholds({}))}
    assert (found["blocked"].value, found["blocked"].ok) == (value, ok)
    usual = f"{min(blocked, 300)} of them as in the densest stream"
    assert found["blocked"].sentence.endswith(f"waited {blocked} cycles in all, {usual}")
    assert found["reads"].value == 5  # beats of 32 bytes, though external memory has 16


def test_utilisation() -> None:
    """A metric is the share of compute units at work while the array works (seed 001 ¶100-101)."""
    made = found(e_cu=4000, e_array=1000)["utilisation"]
    assert (made.value, made.ok) == (0.25, False)
    assert made.sentence == (
        "4 of 16 compute units of vc are at work on average, in the cycles in which its array works"
    )
    assert found({"utilisation": 0.25}, e_cu=4000, e_array=1000)["utilisation"].ok is True


def test_every_row_is_used_and_explained() -> None:
    """Each metric is computed and has a sentence (seed 001 ¶86-88)."""
    everything = found(
        **READING,
        t_cu_begin=1,
        t_cu_end=9,
        e_cu=9,
        e_array=9,
        e_xwr=9,
        e_xwr_partial=9,
        e_rd=9,
        e_rd_blocked=9,
    )
    assert [row.key for row in METRICS] == [*everything, "late"]
    assert all(metric.sentence for metric in everything.values())


def test_counters_together() -> None:
    """Over several records, counts are added; an event's times are its first begin and last end."""
    ones = [
        record(0, 0, 40),
        record(1, 40, 90, t_rd_begin=50, t_rd_end=80, e_bus=3, e_cu=5),
        record(2, 90, 99, t_rd_begin=91, t_rd_end=95, e_bus=4),
    ]
    total = metrics.sum_counters(
        Slice("vc", "vc", x.begin, x.end, x.first, 1, counters=x.counters) for x in ones
    )
    wanted = record(0, 0, 99, t_rd_begin=50, t_rd_end=95, e_bus=7, e_cu=5).counters
    assert total == wanted


def test_an_unknown_threshold() -> None:
    with pytest.raises(
        InputError, match="no metric with a threshold is called 'utilization'"
    ) as caught:
        metrics.thresholds({"utilization": 1})
    assert caught.value.hint == "did you mean 'utilisation'?"
    with pytest.raises(InputError, match="'reads'"):
        metrics.thresholds({"reads": 1})
    assert set(metrics.thresholds({})) == set(KEYS_WITH_THRESHOLD)


def test_bandwidth_is_bytes_over_cycles() -> None:
    """Bandwidth is bytes over cycles.

    5 beats of 16 bytes from cycle 0 to 10 give 8 bytes a cycle; 4 beats from 10 to 12 give 32.
    """
    read = {"t_rd_begin": 0, "t_rd_end": 10, "e_bus": 5, "t_wr_begin": 0, "t_wr_end": 0, "e_xwr": 0}
    written = {**read, "e_bus": 0, "t_wr_begin": 10, "t_wr_end": 12, "e_xwr": 4}
    slices = tuple(
        Slice("pe", "pe", 0, 12, n, 1, "exe", "", each) for n, each in enumerate((read, written))
    )
    reads, writes = bandwidth([Track("pe", "pe", slices, ((0, 12),))], 20, 16)
    assert (reads.points, writes.points) == (
        ((0, 8.0), (10, 0.0)),
        ((0, 0.0), (10, 32.0), (12, 0.0)),
    )
    assert (reads.most, writes.most) == (16, None)  # more than the shared channel moves


def test_the_last_sample_of_a_bandwidth_may_have_fewer_cycles() -> None:
    counters = dict.fromkeys(("t_rd_begin", "t_rd_end", "t_wr_begin", "t_wr_end", "e_xwr"), 0)
    counters |= {"t_rd_end": 321, "e_bus": 321}
    slices = (Slice("dma", "dma", 0, 321, 0, 1, "transfer", "", counters),)
    (reads,) = bandwidth([Track("dma", "dma", slices, ((0, 321),))], 321, 8)
    assert reads.points == ((0, 8.0),)  # 107 samples of 3 cycles, all alike
    counters |= {"t_rd_end": 323, "e_bus": 323}
    (reads,) = bandwidth([Track("dma", "dma", slices, ((0, 323),))], 323, 8)
    assert reads.points == ((0, 8.0),)  # the last one has 2 cycles
