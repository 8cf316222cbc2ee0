"""The trace block of a row: records of both engines equal a log of the reference engine."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from macaw.emu.core import Event
from macaw.emu.device import Device
from macaw.emu.endpoints import Endpoint
from macaw.emu.pe import ENGINES
from macaw.emu.pe.fast.feed_stream import FeedStream
from macaw.emu.pe.fast.return_burst import ReturnBurst
from macaw.emu.pe.fast.row import FastRow
from macaw.emu.pe.reference.macs import CycleMacs
from macaw.emu.pe.reference.row import ReferenceRow
from macaw.emu.pe.state import MAC, RUNNING, STORE
from macaw.isa.codec import encode
from macaw.isa.memory_map import CORE_SHIFT, REGISTERS
from macaw.isa.pe import CORE
from macaw.isa.trace import MAPPED_GROUPS
from tests.emu.pe_builder import Machine, Unit
from tests.emu.pe_engine_pairs import state_differences, stop_summary
from tests.emu.pe_random_layers import Layer, build_layer, random_layers
from tests.emu.pe_random_lists import content_hashes, random_packet_list
from tests.emu.pe_resident_loops import LOOP_ORDERS, LOOP_SUMS, LoopMaker, long_loop
from tests.emu.toys import HALF, UNIT, toy
from tests.emu.trace_witness import Done, by_window, configure, expected, spilled

pytestmark = pytest.mark.once

EXAMPLES = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SEEDS = st.integers(0, 2**32 - 1)
PAUSES = st.lists(st.integers(1, 80), max_size=4)
PARAMETERS = st.fixed_dictionaries(
    {
        "mode": st.just(1),
        "begin": st.integers(0, 2),
        "num": st.integers(1, 3),
        "step": st.integers(0, 2),
        "overhead": st.integers(0, 5),
        "loops": st.integers(0, 3),
    }
)
CYCLING = {"mode": 1, "begin": 0, "num": 1, "step": 1, "overhead": 4, "loops": 0}
WHOLE = {"mode": 1, "begin": 0, "num": 1000, "step": 1000}


class WatchedMacs:
    """Macs that call `multiply` for each of their cycles."""

    def __init__(self, macs: CycleMacs, multiply: Callable[[CycleMacs, int], None]) -> None:
        self.macs, self.multiply = macs, multiply

    def cycle(self, now: int) -> None:
        self.multiply(self.macs, now)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.macs, name)


class Watched(ReferenceRow):
    """A row of the reference engine that logs its exes, from what is visible outside."""

    def __init__(self, device: Device, row: int) -> None:
        super().__init__(device, row)
        self.log: dict[int, Done] = {}  # by the packet's order
        self.before: dict[int, list[tuple[str, int, int, int]]] = defaultdict(list)
        self.mac_starts: dict[int, Any] = {}  # by cluster: the mac at work
        macs: Any = WatchedMacs(self.macs, self._multiply)  # in the place of what it watches
        self.macs = macs
        self.listeners.append(self.heard)

    @property
    def done(self) -> list[Done]:
        """The exes in their order, each with the events of its ports."""
        for order, events in self.before.items():
            if order in self.log:
                self.log[order].events += events
        self.before.clear()
        return [self.log[order] for order in sorted(self.log)]

    def _running(self) -> set[int]:
        return {run["order"] for runs in self.state.runs for run in runs}

    def cycle(self, now: int) -> None:
        there = self._running()
        super().cycle(now)
        packet = self.state.packet
        if packet is not None and packet["mnemonic"] == "exe" and packet["opened"]:
            self.log.setdefault(packet["order"], Done(now * self.divider))
        for order in there - self._running():
            self.log[order].end = now * self.divider

    def _multiply(self, macs: CycleMacs, now: int) -> None:
        state = self.state
        for cluster in np.flatnonzero(state.computing).tolist():
            if cluster not in self.mac_starts:
                runs = state.runs[cluster]
                ops = ((run, op) for run in runs for op in run["ops"])
                owner = next(r for r, op in ops if (op["unit"], op["state"]) == (MAC, RUNNING))
                self.mac_starts[cluster] = owner["order"], now, 0
            self.log[self.mac_starts[cluster][0]].cycles.add(now)
        before = state.macs.sum(axis=1)
        macs.cycle(now)
        gained = state.macs.sum(axis=1) - before
        for cluster, (order, begin, count) in list(self.mac_starts.items()):
            self.mac_starts[cluster] = order, begin, count + int(gained[cluster])
            if not state.computing[cluster]:
                order, begin, count = self.mac_starts.pop(cluster)
                if count:
                    event = "unit", begin * self.divider, (now + 1) * self.divider, count
                    self.log[order].events.append(event)

    # On-chip memory

    def _storing(self) -> int:
        cluster = self.state.returning
        buffer = self.state.units[cluster][STORE]
        (run,) = (run for run in self.state.runs[cluster] if run["buffer"] == buffer)
        return int(run["order"])

    def _memory(self, what: str) -> None:
        writes = what.startswith("writes")
        order = self._storing() if writes else self.state.packet["order"]
        self.before[order].append((what, 0, 0, 1))

    def granted(self, port: Endpoint, data: bytes, time: int, ready: int) -> None:
        self._memory("reads" if port is self.memory.read_port else "writes")
        super().granted(port, data, time, ready)

    def heard(self, event: Event) -> None:
        if event.kind == "blocked":
            self._memory(str(event.values["of"]))


def watched(unit: Unit, *others: Any) -> Machine:
    """The unit in a device of the reference engine with a log."""
    usual, ENGINES["reference"] = ENGINES["reference"], lambda: Watched
    try:
        return unit.machine(*others, engine="reference")
    finally:
        ENGINES["reference"] = usual


def logged(unit: Unit, parameters: dict[str, int], *others: Any) -> Any:
    """The records that the log of a run demands; None if the run does not end."""
    machine = watched(unit, *others)
    row = machine.row
    assert isinstance(row, Watched)
    with np.errstate(all="ignore"):
        stop = machine.device.run(max_cycles=200_000)
    if stop.reason != "exit":
        return None
    return expected(row.number, parameters, row.trace.groups, row.done)


def check(
    unit: Unit, parameters: dict[str, int], pauses: list[int], *others: Any
) -> tuple[Machine, Machine]:
    """Run both engines with pauses: equal states of the trace, and the log's records at the end."""
    fast, reference = pair = [unit.machine(*others, engine=engine) for engine in ENGINES]
    for machine in pair:
        configure(machine.device, "pe[0]", parameters)
    with np.errstate(all="ignore"):
        for pause in pauses:
            stops = [machine.device.run(max_cycles=pause) for machine in pair]
            assert stop_summary(stops[0]) == stop_summary(stops[1])
            if stops[0].reason != "cycle limit":
                break
            assert not state_differences(fast.device, reference.device)
        stops = [machine.device.run(max_cycles=200_000) for machine in pair]
    assert stop_summary(stops[0]) == stop_summary(stops[1])
    assert content_hashes(fast.device) == content_hashes(reference.device)
    found = [spilled(machine.device, "pe[0]") for machine in pair]
    assert found[0] == found[1]
    wanted = logged(unit, parameters, *others)
    if wanted is not None:
        assert by_window(found[0]) == wanted
    return fast, reference


@EXAMPLES
@given(random_layers(), PARAMETERS, PAUSES)
def test_layers(layer: Layer, parameters: dict[str, int], pauses: list[int]) -> None:
    """Records of random layers are right: all element types and designs, two buffers in turn."""
    with np.errstate(all="ignore"):
        unit = build_layer(layer).machine.unit
    check(unit, parameters, pauses)


@EXAMPLES
@given(SEEDS, PARAMETERS, PAUSES)
def test_programs(seed: int, parameters: dict[str, int], pauses: list[int]) -> None:
    """Records of random lists are right: several buffers at once, chains, windows, overlaps."""
    check(random_packet_list(seed).unit, parameters, pauses)


@EXAMPLES
@given(SEEDS, LOOP_ORDERS, st.booleans(), PARAMETERS, PAUSES)
def test_lockstep_groups(
    seed: int, order: str, balance: bool, parameters: dict[str, int], pauses: list[int]
) -> None:
    check(LoopMaker(seed, order, balance).loop().unit, parameters, pauses)


def test_recording_splits_no_group() -> None:
    fast, _ = check(LoopMaker(3, "turns").loop().unit, CYCLING, [])
    assert isinstance(fast.row, FastRow)
    assert (fast.row.controls.groups, fast.row.controls.splits) == (1, 0)


@EXAMPLES
@given(SEEDS, st.booleans(), LOOP_SUMS, PARAMETERS, PAUSES)
def test_streams(
    seed: int, balance: bool, sums: str, parameters: dict[str, int], pauses: list[int]
) -> None:
    """Records are right if a group uses segments before the bus sends them."""
    check(long_loop(seed, balance, sums), parameters, pauses)


def test_recording_ends_no_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    write = FeedStream.write

    def noted(self: FeedStream, *args: Any) -> int:
        written.append(write(self, *args))
        return written[-1]

    monkeypatch.setattr(FeedStream, "write", noted)
    check(long_loop(0), CYCLING, [])
    assert len(written) == 1
    assert written[0] >= 11  # beats of 14 segments without the first and the last two


@pytest.mark.parametrize("pause", [1, 2, 3, 200])
def test_a_return_burst_of_two_exes(pause: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two exes store in one burst; each beat is a write of its own exe."""
    unit = Unit({"dist.bus_bytes": 2})
    unit.config_packet(
        0, "ld both base=0", "mac base=0 acc=0", "spu nonsf src=0 dst=0", "st base=0"
    )
    for cluster, count in enumerate((20, 1)):  # the mac of cluster 0 is longer
        weights, out = unit.weights(np.ones((4, count))), unit.out(16, "int32")
        unit.exe(0, weights, unit.dense(np.ones(20)), out=out, last=1, clusters=1 << cluster)
    seen: list[list[int]] = []
    count_by_cluster = ReturnBurst.count_by_cluster

    def noted(self: ReturnBurst, now: int) -> dict[int, int]:
        found = count_by_cluster(self, now)
        seen.append(list(found.values()))
        return found

    monkeypatch.setattr(ReturnBurst, "count_by_cluster", noted)
    check(unit, CYCLING, [pause] * 100)
    assert max(map(len, seen)) == 2


@EXAMPLES
@given(SEEDS, PAUSES)
def test_others_in_the_half(seed: int, pauses: list[int]) -> None:
    """Records are right while another core uses banks of the half and reads trace registers."""
    pick = random.Random(seed)
    unit = Unit({"mem.banks": pick.choice([2, 5]), "pe.divider": pick.choice([1, 1, 2, 3])})
    unit.config_packet(
        0, "ld both base=0", "mac base=0 acc=0", "spu nonsf src=0 dst=0", "st base=0"
    )
    rng = np.random.default_rng(seed)
    for number in range(4):
        weights = unit.weights(rng.integers(-1, 2, (8 >> number % 2, 40)))
        out = unit.out(64, "int32")
        clusters = 0b11 if number % 2 == 0 else pick.choice([0b01, 0b10])
        unit.exe(
            0, weights, unit.dense(rng.integers(-1, 2, 40)), out=out, last=1, clusters=clusters
        )
    page = REGISTERS + (CORE.number << CORE_SHIFT)
    script: list[tuple[Any, ...]] = []
    for _ in range(25):
        script.append(("work", pick.choice([1, 1, 3, 20])))
        at = HALF + UNIT + unit.data_at + 4 * pick.randrange(200)
        register = page + MAPPED_GROUPS + 4 * pick.randrange(17)
        script.append(pick.choice([("load", at, 4), ("beat", [(at, 16)]), ("load", register, 4)]))
    other = toy(pick.choice([3, 90]), [*script, ("end",)])
    pair = check(unit, WHOLE | {"num": pick.choice([1, 2, 9])}, pauses, other)
    logs = [next(x for x in m.device.order if x is not m.row).state.log for m in pair]
    assert logs[0] == logs[1]


# A row by hand. dist.bus_bytes 32, onchip latency and dispatch: the list begins in cycle 6 (start
# of docs/timing-pe.md); see `test_by_hand` for the rest.
def by_hand() -> Unit:
    """A program for two clusters of four PEs: an exe for both, then one for cluster 0 only."""
    unit = Unit({"pe.design": "5a"})
    unit.config_packet(0, "ld activations base=0", "ld weights", "mac base=0 acc=0")
    marker = [encode(CORE.by_mnemonic[f"trace_{way}"], {"g": 2}) for way in ("begin", "end")]
    unit.exe(0, unit.dense(np.ones(8)), unit.weights(np.ones((8, 2))))
    unit.packet(marker[0], [])
    unit.exe(0, unit.dense(np.ones(8)), unit.weights(np.ones((8, 3))))
    unit.exe(0, unit.dense(np.ones(8)), unit.weights(np.ones((4, 4))), clusters=0b01)
    unit.packet(marker[1], [])
    unit.exe(0, unit.dense(np.ones(8)), unit.weights(np.ones((8, 1))))
    return unit


@pytest.mark.parametrize("engine", ENGINES)
def test_marked_exes_by_hand(engine: str) -> None:
    """Exes 1 and 2, which markers surround, are recorded in group 2; markers are not counted.

    Bytes: 1 for the command, 8 for activations, 2 + 3 n for a record of n weights of a PE. Exe 1
    has 1 + 8 + 8 * 11 = 97, four beats of 32; exe 2 has 1 + 8 + 4 * 14 = 65, three beats. Products:
    8 * 3 and 4 * 4. Design 5a examines an entry a cycle and adds its product in the next, so a mac
    of n weights takes n + 1.
    """
    machine = by_hand().machine(engine=engine)
    configure(machine.device, "pe[0]", {"mode": 0})
    machine.run()
    (record,) = spilled(machine.device, "pe[0]")
    counts = {name: record[name] for name in ("group", "first", "instructions", "e_cu", "e_array")}
    assert counts == {
        "group": 2,
        "first": 1,
        "instructions": 2,
        "e_cu": 8 * 3 + 4 * 4,
        "e_array": 4 + 5,
    }
    assert record["e_rd"] == 4 + 3
    assert record["e_wr"] == record["e_xwr"] == record["e_bus"] == record["e_rd_blocked"] == 0
    assert record["t_cu_end"] <= record["t_end"]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_exe_that_ends_during_a_longer_mac_counts_no_cycle_twice(engine: str) -> None:
    """Cycles in which two exes multiply are counted once.

    Cluster 1 multiplies for 41 cycles. Meanwhile cluster 0 multiplies and stores its results.
    """
    unit = Unit({"pe.design": "5a"})
    unit.config_packet(
        0, "ld activations base=0", "ld weights", "mac base=0 acc=0", "spu nonsf src=0 dst=0",
        "st base=0",
    )  # fmt: skip
    for clusters, weights, last in ((0b10, 40, 0), (0b01, 4, 1)):
        rows, out = unit.weights(np.ones((4, weights))), unit.out(64, "int32") if last else None
        unit.exe(0, unit.dense(np.ones(40)), rows, out=out, last=last, clusters=clusters)
    machine = unit.machine(engine=engine)
    configure(machine.device, "pe[0]", WHOLE)
    machine.run()
    counters = {name: machine.row.read_trace(f"{name}0") for name in ("e_cu", "e_array")}
    assert counters == {"e_cu": 4 * 40 + 4 * 4, "e_array": 40 + 1}


def test_a_marker_of_a_group_that_is_not_there() -> None:
    unit = Unit()
    unit.packet(encode(CORE.by_mnemonic["trace_begin"], {"g": 4}), [])
    for engine in ENGINES:
        stop = unit.machine(engine=engine).device.run()
        assert stop.fault is not None
        assert (stop.fault.kind, stop.fault.address) == ("bad mask", UNIT)
        assert "register group 4: the trace block of pe[0] has 4" in stop.message


def test_units() -> None:
    """`units()` gives 8 MACs, and 4 bytes for a weight and an activation, with int16 on tiny."""
    row = Unit({"pe.element": "int16"}).machine().row
    assert row.units()[:2] == (2 * 4, 4)


def test_a_record_under_way_is_saved(tmp_path: Path) -> None:
    """A record that has begun is saved with its spans.

    A device restored from the file completes the record in the same way.
    """
    unit = LoopMaker(5, "turns").loop().unit
    first, second = unit.machine(), unit.machine()
    configure(first.device, "pe[0]", WHOLE)
    while not first.row.read_trace("e_array0"):
        first.device.run(max_cycles=20)
    (record, *_) = first.row.trace.recordings
    assert record is not None
    assert record.work is not None
    assert record.work.begins
    first.device.save(tmp_path / "state.npz")
    second.device.load_state(tmp_path / "state.npz")
    for machine in (first, second):
        machine.device.run()
    assert not state_differences(first.device, second.device)
    assert spilled(second.device, "pe[0]") == spilled(first.device, "pe[0]")
