"""Lockstep groups of the fast engine: state, cycles and counters are those of the reference.

Some programs are loops over weights that stay in the queues, like the loops that `lower` writes.
The tests stop, restore or listen at any moment.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from macaw.emu.faults import Stop
from macaw.emu.pe.fast import resident_weights
from macaw.emu.pe.fast.resident_balanced import BalancedResidentWeights
from macaw.emu.pe.fast.resident_weights import ResidentMacs, ResidentWeights
from macaw.emu.pe.fast.row import FastRow
from macaw.isa.pe import REDUCTIONS
from tests.emu.pe_adding_loops import ADD, FINAL, AddingLoop
from tests.emu.pe_builder import Machine, Unit
from tests.emu.pe_engine_pairs import machines_of_engines, state_differences, stop_summary
from tests.emu.pe_random_lists import content_hashes
from tests.emu.pe_resident_loops import (
    HOLD,
    JOIN,
    LOOP_ORDERS,
    LOOP_SUMS,
    PRODUCT,
    RQ,
    LoopMaker,
)

pytestmark = pytest.mark.once

EXAMPLES = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SEEDS = st.integers(0, 2**32 - 1)


def interrupted(unit: Unit, looks: list[tuple[str, int]]) -> tuple[Machine, Machine]:
    """Run both engines and interrupt them; the engines must agree.

    Each of `looks` is a kind of interruption, and the number of cycles before it.
    """
    fast, reference = pair = machines_of_engines(unit)
    heard: tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]] = ([], [])
    for kind, cycles in looks:
        stops = [machine.device.run(max_cycles=cycles) for machine in pair]
        assert stop_summary(stops[0]) == stop_summary(stops[1])
        if stops[0].reason != "cycle limit":
            break
        if kind == "state":
            assert not state_differences(fast.device, reference.device)
        elif kind == "counters":
            assert fast.device.counters() == reference.device.counters()
        elif kind == "place":
            assert fast.row.next_address == reference.row.next_address
        elif kind == "step":
            stops = [machine.device.step_core("pe[0]") for machine in pair]
            assert stops[0] == stops[1]
        else:
            for machine, events in zip(pair, heard, strict=True):
                note = lambda event, to=events: to.append((event.kind, event.time, event.values))  # noqa: E731
                machine.device.listen(note)
                machine.device.run(max_cycles=cycles)
                machine.device.unlisten(note)
    stops = [machine.device.run(max_cycles=100_000) for machine in pair]
    agree_at_end(pair, stops)
    assert heard[0] == heard[1]
    return pair


def agree_at_end(pair: tuple[Machine, Machine], stops: list[Stop]) -> None:
    fast, reference = (machine.device for machine in pair)
    assert stop_summary(stops[0]) == stop_summary(stops[1])
    assert content_hashes(fast) == content_hashes(reference)
    assert fast.counters() == reference.counters()


@pytest.mark.parametrize("stride", [0, 16, -16])
def test_pes_that_have_loaded_other_places_form_no_group(stride: int) -> None:
    """PEs whose activations were loaded with a stride form no lockstep group."""
    config = {"pe.clusters": 2, "pe.pes": 3, "pe.input_buffer": 256, "pe.output_queue": 64}
    unit = Unit(config, data_at=0x800)
    unit.config_packet(HOLD, "ld activations base=4", strides=[(0, 0, stride, 0)])
    lines = "ld weights", "mac base=4 acc=0", "spu nonsf src=0 dst=0"
    unit.config_packet(PRODUCT, *lines, steps=[(2, 1, 1, 0)], state=RQ, pipeline=4, inner=4)
    unit.exe(HOLD, unit.dense(np.arange(1, 17)))
    unit.exe(PRODUCT, unit.weights(np.arange(1, 49).reshape(3, 16), "by_pe"), last=1)
    stop = interrupted(unit, [])[0].device.stopped
    assert stop is not None
    assert stop.reason == ("fault" if stride else "exit")  # PE 0 alone has something at the base


@pytest.mark.parametrize("inner", [1, 12])
def test_raw_sums_of_chained_functions(inner: int) -> None:
    """Raw sums come from the accumulators that mac names, not from what src names."""
    config = {"pe.clusters": 2, "pe.pes": 3, "pe.input_buffer": 256, "pe.output_queue": 256}
    unit = Unit(config, data_at=0x800)
    unit.config_packet(HOLD, "ld activations base=0")
    macs = [f"mac base={base} acc={base % 2 + 2} sfu" for base in range(4)]
    lines = ["ld weights", *macs, "spu activation src=9 dst=0", "spu activation src=9 dst=1"]
    steps = [(len(lines) - 2, 1, 1, 0), (len(lines) - 1, 1, 1, 0)] if inner > 1 else []
    unit.config_packet(
        PRODUCT, *lines, steps=steps, state=RQ, pipeline=4, inner=inner, activation=1
    )
    unit.exe(HOLD, unit.dense(np.arange(1, 65)))
    weights = np.arange(1, 97).reshape(6, 16)
    unit.exe(PRODUCT, unit.weights(weights), shift=1)
    fast, _ = interrupted(unit, [])
    assert isinstance(fast.row, FastRow)
    assert (fast.row.controls.groups, fast.row.controls.splits) == (1, 0)
    x = np.arange(1, 65)
    sums = [weights @ x[base * 16 :][:16] for base in range(4)]
    found = fast.row.state.output
    for block, wanted in enumerate([sums[0] + sums[2], sums[1] + sums[3]]):
        np.testing.assert_array_equal(found[..., block * 16].reshape(6), wanted)


LOOKS = st.lists(
    st.tuples(
        st.sampled_from(["state", "state", "counters", "place", "step", "listen"]),
        st.integers(1, 150),
    ),
    max_size=6,
)


@EXAMPLES
@given(SEEDS, LOOP_ORDERS, st.booleans(), LOOP_SUMS, st.booleans(), LOOKS)
def test_looks_at_any_moment(
    seed: int, order: str, balance: bool, sums: str, join: bool, looks: list[tuple[str, int]]
) -> None:
    interrupted(LoopMaker(seed, order, balance, sums, join).loop().unit, looks)


@EXAMPLES
@given(SEEDS, st.integers(2, 20), st.sampled_from([1, 1, 300_000]), st.booleans(), LOOKS)
def test_looks_at_loops_of_additions(
    seed: int, iterations: int, large: int, moves_all: bool, looks: list[tuple[str, int]]
) -> None:
    """Both engines agree, even if sums stay in their accumulators or leave their range."""
    loop = AddingLoop(seed, iterations, large, moves_all)
    for _ in range(2):
        loop.exe()
    interrupted(loop.unit, looks)


@EXAMPLES
@given(SEEDS, LOOP_ORDERS, st.booleans(), LOOP_SUMS, st.booleans())
def test_nobody_looks(seed: int, order: str, balance: bool, sums: str, join: bool) -> None:
    """Without interruption, clusters stay one group until the last mac, with NumPy's results."""
    loop = LoopMaker(seed, order, balance, sums, join).loop()
    pair = machines_of_engines(loop.unit)
    agree_at_end(pair, [machine.device.run() for machine in pair])
    row = pair[0].row
    assert isinstance(row, FastRow)
    assert (row.controls.groups, row.controls.splits) == (1, 0)
    results = pair[0].read(loop.out, loop.expected().size)
    np.testing.assert_array_equal(results, loop.expected().reshape(-1))
    if loop.joined is not None and loop.added is not None:
        wanted = results[: loop.added.size] + loop.added
        np.testing.assert_array_equal(pair[0].read(loop.joined, wanted.size), wanted)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("order", "balance", "sums"),
    [
        ("first", False, "bias"),
        ("turns", False, "each"),
        ("first", True, "each"),
        ("turns", True, "none"),
        ("once", False, "each"),
    ],
)
def test_every_cycle(order: str, balance: bool, sums: str) -> None:
    """If a run stops in any cycle of a group, it shows the reference's state."""
    unit = LoopMaker(7, order, balance, sums, join=True).loop().unit
    last = machines_of_engines(unit)[1].device.run().cycle
    fast, reference = machines_of_engines(unit)
    assert isinstance(fast.row, FastRow)
    begin = fast.device.snapshot()
    for cycle in range(0, last, 3):
        fast.device.restore(begin)  # a stop before would end a group
        for machine in (fast, reference):
            machine.device.run(until=cycle)
        assert not state_differences(fast.device, reference.device)
    assert fast.row.controls.groups > 5


@EXAMPLES
@given(SEEDS, LOOP_ORDERS, st.booleans(), LOOP_SUMS, st.booleans())
def test_a_fault_in_the_middle(seed: int, order: str, balance: bool, sums: str, join: bool) -> None:
    """A fault in the middle of a group (index or sum out of range) is the reference engine's."""
    config: dict[str, Any] = {"pe.overflow": "fault", "pe.element": "int8"}
    made = LoopMaker(seed, order, balance, sums, join, **config)
    unit = made.unit
    loop = made.loop()
    area = unit.data
    for _ in range(made.random.randrange(1, 4)):
        area[made.random.randrange(len(area))] = made.random.choice([0, 1, 0xFF, 0x7F])
    interrupted(loop.unit, [("state", made.random.randrange(1, 200))])


@pytest.mark.parametrize("seed", range(12))
def test_iterations_after_the_last_segment(seed: int) -> None:
    """The next packet follows the last segment at once, although the loop has not ended."""
    made = LoopMaker(seed, "two places", join=True)
    made.iterations += 8  # these take no segments
    fast, reference = interrupted(made.loop().unit, [])
    assert fast.row.state.packets == reference.row.state.packets > 3


@pytest.mark.parametrize("count", range(127, 133))
def test_additions_after_the_last_segment(count: int) -> None:
    """As above, but with sums, and as many segments as a group computes at once."""
    config = {"pe.pes": 2, "pe.clusters": 1, "pe.output_queue": 256}
    unit = Unit(config, data_at=0x1000)
    lines = "ld psums base=15", "spu nonsf src=0 dst=0"
    unit.config_packet(ADD, *lines, steps=[(1, 1, 1, 0)], inner=140, pipeline=4)
    unit.config_packet(FINAL, "ld psums base=0")
    segments = [unit.psums(np.arange(2).reshape(1, 2, 1) + number) for number in range(count)]
    unit.exe(ADD, *segments, last=1)
    unit.exe(FINAL, unit.psums(np.ones((1, 2, 1), int)))
    fast, reference = interrupted(unit, [])
    assert fast.row.state.packets == reference.row.state.packets == 4
    assert isinstance(fast.row, FastRow)
    assert fast.row.controls.groups > 0


@pytest.mark.parametrize("extra", [1, 2, 5])
def test_segments_that_no_ld_takes(extra: int) -> None:
    """Segments of sums are left over at the end of a loop without `ld psums`: a fault."""
    config = {"pe.clusters": 2, "pe.pes": 2, "pe.element": "int8"}
    unit = Unit(config, data_at=0x800)
    lines = "ld activations base=0", "ld weights", "mac base=0 acc=0", "spu nonsf src=0 dst=0"
    unit.config_packet(PRODUCT, *lines, steps=[(3, 1, 1, 0)], state=RQ, pipeline=4, inner=6)
    x, weights = unit.dense(np.arange(16)), unit.weights(np.arange(1, 65).reshape(4, 16))
    sums = [unit.psums(np.ones((2, 2, 1), int)) for _ in range(extra)]
    unit.exe(PRODUCT, x, weights, *sums, last=1)
    stop = interrupted(unit, [])[0].device.stopped
    assert stop is not None
    assert stop.fault is not None
    assert stop.fault.kind == "segment mismatch"


@pytest.mark.parametrize("order", ["first", "two places"])
@pytest.mark.parametrize("looked_up", [1, 1 << 20])
def test_activations_are_gathered_in_parts(
    order: str, looked_up: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each mac alone, as in long rows, or all macs at once."""
    monkeypatch.setattr(resident_weights, "_GATHERED", looked_up)
    for seed in range(6):
        fast, _ = interrupted(LoopMaker(seed, order).loop().unit, [])
        assert isinstance(fast.row, FastRow)
        assert fast.row.controls.groups > 0


def test_floating_sums_form_no_group() -> None:
    """Floating sums form no group, because they depend on the order of additions."""
    config: dict[str, Any] = {"pe.element": "fp16"}
    unit = LoopMaker(1, "first", **config).loop().unit
    pair = machines_of_engines(unit)
    agree_at_end(pair, [machine.device.run() for machine in pair])
    assert isinstance(pair[0].row, FastRow)
    assert pair[0].row.controls.groups == 0


def test_sums_that_may_leave_their_range_form_no_group() -> None:
    """If sums may leave their range, no lockstep group forms; both engines have the same fault."""
    unit = Unit({"pe.overflow": "fault"})
    unit.config_packet(
        PRODUCT,
        "ld psums base=2",
        "ld activations base=0",
        "ld weights",
        "mac base=0 acc=0",
        state=RQ,
        inner=9,
        pipeline=4,
    )
    sums = np.full(8, 2**31 - 400)
    x, weights = np.full(9, 7), np.full((8, 9), 1)
    unit.exe(PRODUCT, unit.psums(sums), unit.dense(x), unit.weights(weights))
    pair = machines_of_engines(unit)
    stops = [machine.device.run() for machine in pair]
    agree_at_end(pair, stops)
    assert stops[0].fault is not None
    assert stops[0].fault.kind == "accumulator overflow"


@pytest.mark.parametrize("overflow", ["fault", "saturate", "wrap"])
def test_partial_sums_that_leave_their_range(overflow: str) -> None:
    """Sums that overflow in the third iteration saturate, wrap or fault as in the reference."""
    unit = Unit({"pe.overflow": overflow})
    lines = "ld activations base=0", "ld weights", "ld psums base=2", "mac base=0 acc=0"
    unit.config_packet(PRODUCT, *lines, state=RQ, inner=4, pipeline=4)
    sums = np.full(8, 900_000_000)
    x, weights = np.full(9, 7), np.full((8, 9), 1)
    data = unit.dense(x), unit.weights(weights), *(unit.psums(sums) for _ in range(4))
    unit.exe(PRODUCT, *data)
    fast, _ = pair = machines_of_engines(unit)
    stops = [machine.device.run() for machine in pair]
    agree_at_end(pair, stops)
    assert (stops[0].fault is not None) == (overflow == "fault")
    assert isinstance(fast.row, FastRow)
    assert fast.row.controls.groups == 1
    assert fast.row.controls.splits == (overflow != "wrap")  # else all sums are right modulo 2^32


@pytest.mark.parametrize("has_segment", [False, True])
def test_no_group_forms_that_the_next_packet_would_split(has_segment: bool) -> None:
    """If the next exe has no segments, it can start during the macs of the group."""
    config = {"pe.clusters": 2, "pe.pes": 2, "pe.input_buffer": 64, "pe.element": "int8"}
    unit = Unit(config, data_at=0x800)
    lines = ["ld activations base=0", "ld weights", *(f"mac base={n} acc={n}" for n in range(4))]
    unit.config_packet(PRODUCT, *lines, "spu nonsf src=0 dst=0")
    unit.config_packet(HOLD, "ld psums base=1" if has_segment else "st base=0")
    x, weights = unit.dense(np.arange(64)), unit.weights(np.arange(1, 65).reshape(4, 16))
    unit.exe(PRODUCT, x, weights, last=1)
    segments = [unit.psums(np.ones((2, 2, 1), int))] if has_segment else []
    unit.exe(HOLD, *segments, out=unit.out(64, "int32"))
    fast, _ = interrupted(unit, [])
    assert isinstance(fast.row, FastRow)
    assert fast.row.controls.groups == has_segment


@pytest.mark.parametrize("cluster", [0, 1])
def test_an_exe_without_steps_during_a_loop(cluster: int) -> None:
    """An exe may run during a loop though its only instruction, a reduction, is left out.

    The row leaves the reduction out because the exe stores raw sums.
    """
    config: dict[str, Any] = {"pe.clusters": 2}
    made = LoopMaker(3, "first", **config)
    made.clusters = 2
    reduction = REDUCTIONS.index("scalar_add")
    made.unit.config_packet(JOIN, "spu reduce src=0 dst=0", reduction=reduction)
    loop = made.loop()
    loop.unit.exe(JOIN, shift=1, clusters=1 << cluster)
    pair = machines_of_engines(loop.unit)
    agree_at_end(pair, [machine.device.run() for machine in pair])
    results = pair[0].read(loop.out, loop.expected().size)
    np.testing.assert_array_equal(results, loop.expected().reshape(-1))


@pytest.mark.parametrize("balance", [False, True])
@pytest.mark.parametrize(
    ("changed", "batches"),
    [(None, [8]), (5, [8, 3]), (6, [8, 1, 1]), (7, [8, 1])],
)
def test_macs_are_computed_before_their_segments_arrive(
    changed: int | None, batches: list[int], balance: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fast engine computes macs before their segments arrive.

    If a segment then changes in memory, the engine computes its mac again.
    """
    rng = np.random.default_rng(4)
    rows, weights = rng.integers(-5, 6, (8, 16)), rng.integers(-5, 6, (6, 16))
    config = {"pe.pes": 3, "pe.input_buffer": 256, "pe.output_queue": 64, "dist.bus_bytes": 3}
    unit = Unit(config, data_at=0x800)
    unit.config_packet(HOLD, "ld activations base=0")
    mac = "mac base=0 acc=0" + " balance" * balance
    lines = "ld weights", mac, "ld activations base=1", "spu nonsf src=0 dst=0"
    steps = [(1, 0, 16, 0), (2, 0, 16, 0), (3, 1, 1, 0)]
    unit.config_packet(PRODUCT, *lines, steps=steps, state=RQ, pipeline=4, inner=len(rows))
    places = [unit.put(row.astype(np.int8).tobytes()) for row in rows]
    segments = [("activations", "broadcast", range(at, at + 16)) for at in places]
    unit.exe(HOLD, segments[0])
    unit.exe(PRODUCT, unit.weights(weights), *segments[1:], last=1)
    fast, reference = pair = machines_of_engines(unit)
    assert isinstance(fast.row, FastRow)

    def change(machine: Machine) -> None:
        if changed is not None:
            rows[changed] = 1 + np.arange(16) % 3
            memory, data = machine.row.memory, rows[changed].astype(np.int8).tobytes()
            memory.memory.poke(memory.base + places[changed], data)

    kind = BalancedResidentWeights if balance else ResidentWeights
    computed, multiply = list[int](), kind.multiply

    def count(self: ResidentWeights, activations: NDArray[Any]) -> ResidentMacs:
        computed.append(activations.shape[1])
        macs = multiply(self, activations)
        change(fast)
        return macs

    monkeypatch.setattr(kind, "multiply", count)
    change(reference)  # it reads the segment later, too
    agree_at_end(pair, [machine.device.run() for machine in pair])
    assert (fast.row.controls.groups, fast.row.controls.splits) == (1, 0)
    assert computed == batches
    sums = fast.row.state.output[..., : len(rows)]
    np.testing.assert_array_equal(sums.reshape(6, -1), weights @ rows.T)


def test_later_segments_of_a_wrong_length() -> None:
    """A later segment of wrong length faults in its own iteration."""
    config = {"pe.element": "int16", "pe.pes": 3, "pe.input_buffer": 256, "pe.output_queue": 64}
    unit = Unit(config, data_at=0x800)
    lines = "ld activations base=0", "ld weights", "mac base=0 acc=0", "spu nonsf src=0 dst=0"
    steps = [(3, 1, 1, 0)]
    unit.config_packet(PRODUCT, *lines, steps=steps, state=RQ, pipeline=4, inner=4)
    row = unit.dense(np.arange(16))
    later = [("activations", "broadcast", bytes(33)) for _ in range(3)]
    unit.exe(PRODUCT, row, unit.weights(np.arange(1, 97).reshape(6, 16)), *later, last=1)
    stop = interrupted(unit, [])[0].device.stopped
    assert stop is not None
    assert stop.fault is not None
    assert stop.fault.kind == "slice mismatch"
