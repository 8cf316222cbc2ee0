"""The fast engine of the array has the reference's state, counters and faults at any moment."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from macaw.emu.core import Event
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.emu.faults import DeviceError, Stop
from macaw.emu.pe import build
from macaw.emu.pe.fast.row import FastRow
from macaw.emu.system import Startable
from macaw.isa.codec import unpack
from macaw.isa.memory_map import UNITS
from macaw.isa.pe import OUT, PACKET, SEGMENT, THEN
from tests.emu.pe_builder import Machine, Unit
from tests.emu.pe_engine_pairs import (
    ENGINE_PAIRS,
    PAUSES,
    SEEDS,
    machines_of_engines,
    run_and_compare,
    state_differences,
    stop_summary,
)
from tests.emu.pe_random_layers import Layer, build_layer, random_layers
from tests.emu.pe_random_lists import content_hashes, random_packet_list
from tests.emu.toys import HALF, UNIT, Step, toy

Heard = tuple[str, int, object]  # kind, cycle and values of an event

pytestmark = pytest.mark.once


@ENGINE_PAIRS
@given(random_layers(), PAUSES)
def test_layers(layer: Layer, pauses: list[int]) -> None:
    """Both engines agree on random layers: all element types, overflow modes and designs."""
    with np.errstate(all="ignore"):
        built = build_layer(layer)
    run_and_compare(built.machine.unit, pauses)


@ENGINE_PAIRS
@given(SEEDS, PAUSES)
def test_programs(seed: int, pauses: list[int]) -> None:
    """Both engines agree on random lists: loops, windows, steps, chains, buffers at once."""
    run_and_compare(random_packet_list(seed).unit, pauses)


@settings(ENGINE_PAIRS, max_examples=20)
@given(SEEDS, PAUSES)
def test_corrupted_units(seed: int, pauses: list[int]) -> None:
    """Lists with random wrong bytes have faults in the same cycle, with the same state."""
    made = random_packet_list(seed)
    pick = random.Random(seed)
    for _ in range(pick.randrange(1, 6)):
        area = made.unit.packets if pick.random() < 0.3 else made.unit.data
        area[pick.randrange(len(area))] = pick.choice([0, 1, 2, 0x20, 0x80, pick.randrange(256)])
    run_and_compare(made.unit, pauses)


@settings(ENGINE_PAIRS, max_examples=15)
@given(SEEDS)
def test_steps(seed: int) -> None:
    """Each step ends in the same cycle and state on both engines."""
    fast, reference = machines_of_engines(random_packet_list(seed).unit)
    for _ in range(60):
        stops = [machine.device.step_core("pe[0]") for machine in (fast, reference)]
        if stops[1].reason != "step":
            break
        assert stops[0] == stops[1]
        assert fast.device.hash() == reference.device.hash()
    assert stop_summary(stops[0]) == stop_summary(stops[1])
    assert content_hashes(fast.device) == content_hashes(reference.device)


@settings(ENGINE_PAIRS, max_examples=20)
@given(random_layers(), st.lists(st.integers(1, 60), min_size=1, max_size=6))
def test_snapshots_go_from_engine_to_engine(layer: Layer, pauses: list[int]) -> None:
    with np.errstate(all="ignore"):
        unit = build_layer(layer).machine.unit
        _, reference = machines_of_engines(unit)
        devices = [Device(unit.configuration, [build], engine) for engine in ENGINES]
        start, _ = machines_of_engines(unit)
        devices[0].restore(start.device.snapshot())
        for number, pause in enumerate(pauses):
            here, there = devices[number % 2], devices[1 - number % 2]
            here.run(max_cycles=pause)
            there.restore(here.snapshot())
        devices[len(pauses) % 2].run(max_cycles=200_000)
        reference.device.run(max_cycles=200_000)
    assert content_hashes(devices[len(pauses) % 2]) == content_hashes(reference.device)


def one_mac(config: dict[str, Any], weights: Any, x: Any) -> Unit:
    """A row that loads and multiplies once."""
    unit = Unit(config)
    unit.config_packet(0, "ld activations base=0", "ld weights", "mac base=0 acc=0")
    unit.exe(0, unit.dense(x), unit.weights(weights))
    return unit


# Stretches of activations without zeros, and of zeros: the comparator is far ahead of the MAC, then
# stands still, then finds nothing. What it finds late is late for the MAC too.
STRETCHES = [(24, 48, 1), (3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8), (0, 7, 30, 16, 30)]


@pytest.mark.few(6)
@pytest.mark.parametrize("stretches", STRETCHES)
@pytest.mark.parametrize("depths", [(2, 1), (2, 2), (3, 1), (3, 3), (8, 2), (40, 2)])
def test_every_cycle_of_a_mac(stretches: tuple[int, ...], depths: tuple[int, int]) -> None:
    x = np.concatenate([np.full(n, 1 - k % 2) for k, n in enumerate(stretches)])
    rng = np.random.default_rng(3)
    weights = (rng.random((8, x.size)) < np.linspace(0, 1, 8)[:, None]).astype(int)
    config = {"pe.load_queue_1": depths[0], "pe.load_queue_2": depths[1]}
    fast, reference = machines_of_engines(one_mac(config, weights, x))
    while fast.row.running:
        for machine in (fast, reference):
            machine.run(max_cycles=1)
        assert not state_differences(fast.device, reference.device)
    assert int(reference.row.state.macs.sum()) > 50


LONG = 150  # a cycle of the row in which the macs of `long_macs` are at work


def long_macs(unit: Unit, clusters: int = 0b11, *, compress: bool = False) -> None:
    """Add packets with which clusters begin a mac of many cycles."""
    unit.config_packet(0, "ld both base=0", "mac base=0 acc=0", "st base=0")
    matrix = np.ones((4 * clusters.bit_count(), 100))
    if compress:  # the bus carries far fewer bytes than are read
        matrix[:, np.arange(100) % 9 > 0] = 0
    weights = unit.compressed(matrix) if compress else unit.weights(matrix)
    unit.exe(0, weights, unit.dense(np.ones(100)), clusters=clusters)


def many_results(unit: Unit, stride: int) -> None:
    """Add packets with which both clusters store eight results of each PE at the same time."""
    lines = "ld both base=0", "mac base=0 acc=0", "spu nonsf src=0 dst=0"
    header: dict[str, Any] = {"state": 1, "pipeline": 4, "inner": 8, "then": THEN + 2}
    out = unit.out(8 * 40 * 8, "int32", count=8, step=8 * stride, stride=stride)
    unit.config_packet(1, *lines, steps=[(2, 1, 1, 0)], **header)
    unit.config_packet(2, "st base=0")
    unit.exe(1, unit.weights(np.arange(1, 17).reshape(8, 2)), unit.dense([3, 5]), out=out, last=1)


def both_stop_alike(unit: Unit) -> Stop:
    """Run both engines until they stop; assert the same stop and state."""
    fast, reference = machines_of_engines(unit)
    stops = [machine.device.run() for machine in (fast, reference)]
    assert stop_summary(stops[0]) == stop_summary(stops[1])
    assert not state_differences(fast.device, reference.device)
    assert fast.device.hash() == reference.device.hash()
    assert fast.row.state.computing.any()  # the long macs are not over
    return stops[0]


def test_a_fault_of_an_instruction_while_others_multiply() -> None:
    """If an instruction faults while PEs multiply, the PEs have not multiplied in that cycle."""
    unit = Unit({"pe.overflow": "wrap"})
    unit.config_packet(1, "mac base=0 acc=0", clusters=0b10)
    long_macs(unit, 0b01)
    unit.exe(1, clusters=0b10)
    stop = both_stop_alike(unit)
    assert stop.fault is not None
    assert "mac without weights" in stop.message


def test_a_fault_on_the_bus_while_clusters_multiply() -> None:
    """If the bus faults while PEs multiply, the PEs have multiplied in that cycle."""
    unit = Unit()
    long_macs(unit)
    unit.config_packet(3, "st base=0")
    unit.exe(30)
    stop = both_stop_alike(unit)
    assert stop.fault is not None
    assert stop.fault.kind == "uninitialised instruction buffer"


@pytest.mark.parametrize("number", [3, 90])
@pytest.mark.parametrize("divider", [1, 3])
@pytest.mark.parametrize("cycle", [40, LONG])
def test_another_core_stops_at_work(number: int, divider: int, cycle: int) -> None:
    """When another core has stepped in a cycle, a row with a lower number has acted in it.

    A row with a higher number has not acted yet.
    """
    unit = Unit({"pe.divider": divider})
    long_macs(unit)
    script = [("work", 1)] * 40 + [("end",)]
    pair = [unit.machine(toy(number, script, idle=True), engine=engine) for engine in ENGINES]
    fast, reference = pair
    for machine in pair:
        machine.device.run(until=divider * cycle)
        other = machine.device.cores[f"toy{number}"]
        assert isinstance(other, Startable)
        other.start(0, machine.device.cycle)
    for _ in range(12):
        stops = [machine.device.step_core(f"toy{number}") for machine in pair]
        assert stops[0] == stops[1]
        assert stops[0].reason == "step"
        assert not state_differences(fast.device, reference.device)
        # In cycle 40 a segment is on the bus, later the clusters multiply.
        assert fast.row.state.computing.any() if cycle == LONG else fast.row.state.beat is not None


@settings(ENGINE_PAIRS, max_examples=20)
@given(st.data(), PAUSES)
def test_others_in_the_half(data: st.DataObject, pauses: list[int]) -> None:
    """Both engines agree if another core accesses the row's half, before or after the row acts."""
    draw = data.draw
    divider = draw(st.sampled_from([1, 1, 2, 3]))
    unit = Unit(
        {
            "pe.divider": divider,
            "dist.bus_bytes": draw(st.sampled_from([4, 12, 32])),
            "mem.banks": draw(st.sampled_from([2, 5, 16])),
            "mem.bank_width": draw(st.sampled_from([4, 8])),
        }
    )
    stores = draw(st.booleans())
    if stores:
        many_results(unit, draw(st.sampled_from([4, 12, 36])))
    else:
        long_macs(unit, compress=draw(st.sampled_from([False, False, True])))
    space = unit.space(64)
    rng = random.Random(draw(SEEDS))
    script: list[Step] = [("work", 50)] if stores else []
    for _ in range(rng.randrange(1, 30)):
        script.append(("work", rng.choice([1, 1, 2, 5, 15] if stores else [1, 1, 2, 30, 100])))
        place = rng.choice([unit.data_at + 4 * rng.randrange(200), 0x4_0000 + 4 * rng.randrange(9)])
        at = HALF + UNIT + place
        bank = 8 * unit.configuration["mem.banks"] * unit.configuration["mem.bank_width"]
        script += rng.choice(
            [
                [("load", at, 4)],
                [("load", at - HALF, 4)],  # the other half: no conflict
                [("beat", [(at, 4), (at + bank, 4)])],  # two cycles: one bank twice
                [("store", HALF + UNIT + space, 4, rng.randrange(1 << 32))],
            ]
        )
    script.append(("end",))
    number = draw(st.sampled_from([3, 90]))
    fast, reference = (unit.machine(toy(number, script), engine=engine) for engine in ENGINES)
    assert fast.half == UNIT + HALF
    for pause in pauses:
        stops = [machine.run(max_cycles=pause) for machine in (fast, reference)]
        if stops[0].reason != "cycle limit":
            break  # the engines may notice the end in different cycles
        assert not state_differences(fast.device, reference.device)
    for step in range(5):
        core = rng.choice(["pe[0]", f"toy{number}"])
        stops = [machine.device.step_core(core) for machine in (fast, reference)]
        assert stop_summary(stops[0]) == stop_summary(stops[1])
        assert fast.device.hash() == reference.device.hash() or stops[0].reason != "step", step
    for machine in (fast, reference):
        machine.run()
    assert content_hashes(fast.device) == content_hashes(reference.device)
    assert fast.device.counters() == reference.device.counters()
    log = f"toy{number}"
    assert fast.device.cores[log].state.log == reference.device.cores[log].state.log


@settings(ENGINE_PAIRS, max_examples=15)
@given(SEEDS, PAUSES)
@example(5000, [])  # a special function ends
@example(587, [])  # the bus sends a segment for another run while a group forms
def test_listeners_hear_the_same(seed: int, pauses: list[int]) -> None:
    """A listener hears the same events of both engines, from any moment on."""
    heard: list[tuple[list[Heard], tuple[str, str]]] = []
    for machine in machines_of_engines(random_packet_list(seed).unit):
        machine.device.run(max_cycles=sum(pauses))
        events: list[Heard] = []
        note = lambda event, to=events: to.append((event.kind, event.time, event.values))  # noqa: E731
        machine.device.listen(note)
        machine.device.run(max_cycles=150)
        machine.device.unlisten(note)
        machine.device.run(max_cycles=200_000)
        heard.append((events, content_hashes(machine.device)))
    assert heard[0] == heard[1]


def walked(unit: Unit) -> list[int]:
    """The addresses of a unit's packets, found header by header."""
    found, at = [], 0
    while at < len(unit.packets):
        found.append(UNITS + at)
        head = unpack(PACKET, bytes(unit.packets), at)
        exe = head["command"] >> 7
        at += PACKET.size + head["segments"] * SEGMENT.size + exe * OUT.size
    return found


@settings(ENGINE_PAIRS, max_examples=5)
@given(SEEDS)
def test_every_packet_is_heard_once_and_every_exe_ends_once(seed: int) -> None:
    unit = random_packet_list(seed).unit
    machine, _ = machines_of_engines(unit)
    heard: list[Event] = []
    machine.device.listen(heard.append)
    stop = machine.device.run(max_cycles=200_000)
    packets = [event.values["address"] for event in heard if event.kind == "packet"]
    where = walked(unit)
    assert packets == where[: len(packets)]
    if stop.fault is None:
        assert packets == where
        exes = [event.values["order"] for event in heard if event.kind == "begin"]
        ends = [x.values["order"] for x in heard if x.kind == "end" and not x.values["left"]]
        assert sorted(ends) == sorted(set(exes))


@pytest.mark.parametrize(("source", "target"), [(0, 0), (0, 1), (1, 0), (0, 2)])
@pytest.mark.parametrize("rate", [1, 3])
def test_results_that_go_over_each_other(source: int, target: int, rate: int) -> None:
    """Engines agree if some of eight results overwrite sums before the row reads these sums."""
    unit = Unit({"pe.output_queue": 64, "sfu.rate": rate, "sfu.latency": 2, "pe.clusters": 1})
    loads = [f"ld psums base={block}" for block in range(4)]
    unit.config_packet(0, *loads, f"spu requantise src={source} dst={target}", shift=1)
    sums = [unit.psums(100 * block + np.arange(16)) for block in range(4)]
    unit.exe(0, *sums, out=unit.out(128, "int32", count=8), last=1)
    run_and_compare(unit, [30, *[1] * 20])


def special_unit() -> Unit:
    """A unit: cluster 0 sends 16 results through the SFU; meanwhile a mac of cluster 1 faults."""
    unit = Unit({"sfu.rate": 1, "sfu.latency": 3})
    lines = "ld psums base=0", "spu activation src=0 dst=1"
    unit.config_packet(0, *lines, clusters=0b01, activation=1)
    unit.config_packet(1, "mac base=0 acc=0", clusters=0b10)
    unit.exe(0, unit.psums(np.arange(16)), out=unit.out(64, "int32", count=4), clusters=1, last=1)
    unit.exe(1, clusters=0b10)
    return unit


def test_a_fault_while_a_special_function_works() -> None:
    fast, reference = machines_of_engines(special_unit())
    stops = [machine.device.run() for machine in (fast, reference)]
    assert stop_summary(stops[0]) == stop_summary(stops[1])
    assert stops[0].fault is not None
    assert fast.row.state.sfu_jobs[0] is not None
    assert not state_differences(fast.device, reference.device)


def test_a_special_function_goes_on_after_a_restore() -> None:
    """A special function goes on after a restore, in a used device and in a new one."""
    unit = special_unit()
    fast, reference = machines_of_engines(unit)
    fresh = Device(unit.configuration, [build])
    while reference.row.state.sfu_jobs[0] is None:
        reference.run(max_cycles=1)
    snapshot = reference.device.snapshot()
    mark = reference.device.hash()
    fast.device.run()
    for device in (fast.device, fresh):
        device.restore(snapshot)
        assert device.hash() == mark


def test_bytes_that_somebody_changes_from_outside() -> None:
    """Bytes changed by the host do not change data that the bus has brought before."""
    unit = Unit()
    long_macs(unit)
    fast, reference = machines_of_engines(unit)
    for machine in (fast, reference):
        machine.run(until=60)
        machine.device.memory.poke(machine.half + unit.data_at, bytes(len(unit.data)))
        machine.run(until=65)
    assert not state_differences(fast.device, reference.device)
    assert any(any(chunk) for chunk in fast.row.state.packet["chunks"])


def test_a_long_segment_takes_few_acts() -> None:
    """The fast engine skips most beats of a long segment."""
    unit = Unit()
    long_macs(unit)
    fast, reference = machines_of_engines(unit)
    calls = hook(fast_row(fast), "cycle")
    for machine in (fast, reference):
        machine.run()
    assert reference.row.state.bus_beats > 70
    assert len(calls) < 35
    assert content_hashes(fast.device) == content_hashes(reference.device)


@pytest.mark.parametrize("number", [3, 90])
@pytest.mark.parametrize("half", [0, HALF])
@pytest.mark.parametrize("divider", [1, 3])
def test_another_core_reads_while_a_segment_comes(number: int, half: int, divider: int) -> None:
    """Both engines agree after each step of another core that loads while a segment arrives."""
    unit = Unit({"pe.divider": divider})
    long_macs(unit)
    script: list[Step] = [("work", 20 * divider)]
    script += [("load", UNIT + half + 4 * place, 4) for place in range(20)]
    pair = [unit.machine(toy(number, [*script, ("end",)]), engine=engine) for engine in ENGINES]
    fast, reference = pair
    for step in range(20):
        stops = [machine.device.step_core(f"toy{number}") for machine in pair]
        assert stops[0] == stops[1]
        assert not state_differences(fast.device, reference.device)
        assert not step or fast.row.state.beat is not None


def hook(owner: object, name: str) -> list[int]:
    """A list to which each call of a method adds its cycle."""
    calls: list[int] = []
    method: Callable[[int], None] = getattr(owner, name)

    def called(now: int) -> None:
        calls.append(now)
        method(now)

    setattr(owner, name, called)
    return calls


def fast_row(machine: Machine) -> FastRow:
    assert isinstance(machine.row, FastRow)
    return machine.row


def test_a_long_mac_takes_three_acts() -> None:
    """The fast engine computes a long mac in three calls: two at its start, one at its end."""
    fast, reference = machines_of_engines(one_mac({}, np.ones((8, 400), int), np.ones(400)))
    calls = hook(fast_row(fast).macs, "_compute")
    for machine in (fast, reference):
        machine.run()
    first = calls[0]
    # 400 products, the first one two cycles after the start.
    assert calls == [first, first + 1, first + 401]
    assert content_hashes(fast.device) == content_hashes(reference.device)


# Element, operands, and a sum to begin with from which one product more fits, and two do not.
TIGHT = {
    "int8": (127, 2**31 - 1 - 127 * 127),
    "int16": (1000, 2**63 - 1 - 1000 * 1000),
    "fp32": (1e19, float(np.finfo(np.float32).max) / 3 * 2),
}


@pytest.mark.parametrize("overflow", ["fault", "wrap", "saturate"])
@pytest.mark.parametrize("element", TIGHT)
def test_sums_at_the_end_of_the_range(element: str, overflow: str) -> None:
    x, first = TIGHT[element]
    unit = Unit({"pe.element": element, "pe.overflow": overflow})
    macs = "mac base=0 acc=0", "mac base=0 acc=1"
    unit.config_packet(0, "ld psums base=0", "ld both base=0", *macs)
    weights = np.zeros((8, 9)) + x
    weights[3] *= -1
    weights[4] = 0
    sums = np.full(8, first, "int64" if element.startswith("int") else "float64")
    unit.exe(0, unit.psums(sums), unit.weights(weights), unit.dense(np.full(9, x)))
    fast, _ = run_and_compare(unit, [40, 3, 3, 3])
    stop = fast.device.stopped
    assert stop is not None
    assert (stop.fault is not None) == (overflow == "fault")


def test_numbers_that_are_none() -> None:
    """Infinities and NaN among operands give the same bits on both engines."""
    for element in ("fp16", "fp32"):
        unit = Unit({"pe.element": element})
        unit.config_packet(0, "ld both base=0", "mac base=0 acc=0")
        weights = np.full((8, 6), 1.0)
        weights[:, 1] = [np.inf, -np.inf, np.nan, -np.nan, 2, 3, 4, 5]
        unit.exe(0, unit.weights(weights), unit.dense(np.array([1, 1, np.inf, -np.inf, 2, np.nan])))
        run_and_compare(unit, [8, 1, 1, 1, 1])


def test_engines_are_called_by_their_names() -> None:
    with pytest.raises(DeviceError, match="no engine is called 'quick', there are fast, reference"):
        Device(Unit().configuration, engine="quick")
    assert type(Device(Unit().configuration).cores["pe[0]"]) is FastRow
