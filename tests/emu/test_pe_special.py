"""The special-function unit: chained, decoupled, reductions, functions; cycles and traffic by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from macaw.emu.numerics import fixed_point, sigmoid
from macaw.isa.pe import ACTIVATIONS
from tests.emu.pe_builder import NAMES, SUMS, Machine, Unit, int_ones
from tests.emu.pe_rows import instruction_starts

ADD, MAX, SCALAR_ADD, SCALAR_MAX = 1, 2, 3, 4
RELU, SIGMOID, TANH = (ACTIVATIONS.index(name) for name in ("relu", "sigmoid", "tanh"))


def layer(lines: tuple[str, ...], **header: Any) -> tuple[Machine, dict[str, int]]:
    """A row of eight PEs whose sums are 3 times -4 to 3, and the out record of its results."""
    unit = Unit()
    unit.config_packet(0, "ld both base=0", *lines, **header)
    out = unit.out(64, "int32", stride=8)
    unit.exe(0, unit.weights(np.arange(-4, 4)[:, None]), unit.dense([3]), out=out, last=1)
    return unit.machine(), out


CHAINED = ("mac base=0 acc=2 sfu", "spu activation src=9 dst=1", "st base=1")
DECOUPLED = ("mac base=0 acc=2", "spu nonsf src=2 dst=0", "spu activation src=0 dst=1", "st base=1")


def test_chained_mode_needs_a_third_of_the_traffic() -> None:
    """Chained mode needs a third of the accesses to the output queue (seed 000 ¶97, ¶121)."""
    counters = []
    for lines in (CHAINED, DECOUPLED):
        machine, out = layer(lines, activation=RELU)
        machine.run()
        assert machine.read(out, 16).tolist()[::2] == [0, 0, 0, 0, 0, 3, 6, 9]
        found = machine.row.counters()
        # Without the eight that st reads: decoupled 8 + 8 + 8, chained 8.
        counters.append(found["output_reads"] - 8 + found["output_writes"])
    assert counters == [8, 24]


def test_a_chained_function_frees_its_accumulators_in_the_next_cycle() -> None:
    unit = Unit()
    lines = ("ld both base=0", "mac base=0 acc=0 sfu", "spu activation src=0 dst=0")
    unit.config_packet(0, *lines, state=1, inner=2)
    unit.exe(0, unit.weights(int_ones(8, 2)), unit.dense([1, 2]), last=1)
    machine = unit.machine()
    found = instruction_starts(machine)
    mac = found[1][0]
    # mac: 4 cycles, mac to mac + 3. spu: mac + 4; four of four PEs enter then, and leave with mac + 6.
    # All is started, so the loopback is in mac + 5: ld (skipped); mac + 6: the accumulators are free.
    # Its results are there in mac + 9, the SFU has long been free: spu in mac + 10.
    assert found[1:] == [
        *((mac, "mac"), (mac + 4, "spu"), (mac + 5, "ld"), (mac + 6, "mac"), (mac + 10, "spu")),
    ]
    last = mac + 10 + 3 - 1
    assert machine.row.counters()["cycles"] == last - 4 + 1
    assert machine.row.state.sfu_results == 2 * 8


def test_a_sequence_without_spu_sends_chained_sums_through_the_activation() -> None:
    machine, out = layer(("mac base=0 acc=0 sfu", "st base=0"), activation=RELU)
    machine.run()
    assert machine.read(out, 16).tolist()[::2] == [0, 0, 0, 0, 0, 3, 6, 9]


def test_two_accumulators_stand_in_line() -> None:
    """Two accumulators wait in a FIFO for the special-function unit (seed 000 ¶95-97)."""
    unit = Unit()
    unit.config_packet(
        0, "ld both base=0", "ld activations base=1", "mac base=0 acc=3 sfu", "mac base=1 acc=1 sfu",
        "spu requantise src=0 dst=4", "spu activation src=0 dst=5", "st base=4", "st base=5",
        activation=RELU, shift=1,
    )  # fmt: skip
    out = unit.out(64, "int32", stride=8, step=4)
    unit.exe(0, unit.weights(int_ones(8, 1)), unit.dense([-5]), unit.dense([-7]), out=out, last=1)
    machine = unit.machine()
    machine.run()
    # Accumulator 3 comes first: -5 / 2 to even; then accumulator 1.
    assert machine.read(out, 16).tolist() == [-2, 0] * 8


@pytest.mark.parametrize(("reduction", "wanted"), [(ADD, [-30, 18]), (MAX, [-3, 9])])
def test_reductions_go_to_the_first_pe(reduction: int, wanted: list[int]) -> None:
    """A reduction over the PEs of a cluster is stored in its first PE (seed 000 ¶97)."""
    for lines in (
        ("mac base=0 acc=0 sfu", "spu reduce src=0 dst=3", "st base=3"),
        ("mac base=0 acc=0", "spu nonsf src=0 dst=7", "spu reduce src=7 dst=3", "st base=3"),
    ):
        machine, out = layer(lines, reduction=reduction)
        machine.run()
        got = machine.read(out, 16).tolist()[::2]
        # PEs 1 to 3 of each cluster hold nothing there, so nothing of them is stored.
        assert got == [wanted[0], 0, 0, 0, wanted[1], 0, 0, 0]
        assert machine.row.counters()["return_bytes"] == 8


def test_a_reduction_takes_as_long_as_its_results() -> None:
    machine, _out = layer(
        ("mac base=0 acc=0 sfu", "spu reduce src=0 dst=3", "st base=3"), reduction=ADD
    )
    found = instruction_starts(machine)
    spu = next(cycle for cycle, name in found if name == "spu")
    assert found[-1] == (spu + 3, "st")  # four values enter in spu and leave with spu + 2


@pytest.mark.parametrize("reduction", [SCALAR_ADD, SCALAR_MAX])
def test_the_scalar_unit_accumulates_over_a_loop(reduction: int) -> None:
    """The scalar unit accumulates a sum or maximum over a loop's iterations (seed 000 ¶104)."""
    rng = np.random.default_rng(11)
    unit = Unit()
    unit.config_packet(
        0, "ld weights", "ld activations base=0", "mac base=0 acc=0 sfu", "spu reduce src=0 dst=6",
        state=1, inner=4, then=128 + 1, reduction=reduction,
    )  # fmt: skip
    unit.config_packet(1, "spu nonsf src=14 dst=0", "st base=0")
    weights, x = rng.integers(-9, 9, (8, 10)), rng.integers(-9, 9, (4, 10))
    segments = [unit.dense(row) for row in x]
    unit.exe(0, unit.weights(weights), *segments, last=1)
    machine = unit.machine()
    stop = machine.device.run()
    # Buffer 1 has its own scalar accumulators, and nothing was sent there.
    assert stop.fault is not None
    assert "nothing was sent to scalar accumulator 6 of buffer 1" in stop.fault.message
    products = (weights @ x.T).reshape(2, 4, 4)
    wanted = products.sum(axis=(1, 2)) if reduction == SCALAR_ADD else products.max(axis=(1, 2))
    assert machine.row.state.scalar_sums[:, 0, 6].tolist() == wanted.tolist()


def test_scalar_accumulators_leave_by_nonsf() -> None:
    """`nonsf` with sources from 8 on moves scalar accumulators out (seed 000 ¶104)."""
    unit = Unit()
    unit.config_packet(
        0, "ld both base=0", "mac base=0 acc=0 sfu", "spu reduce src=0 dst=0",
        "mac base=0 acc=1 sfu", "spu reduce src=0 dst=0", "spu nonsf src=8 dst=2", "st base=2",
        reduction=SCALAR_ADD,
    )  # fmt: skip
    out = unit.out(8, "int32", stride=1)
    unit.exe(0, unit.weights(int_ones(8, 1)), unit.dense([5]), out=out, last=1)
    machine = unit.machine()
    machine.run()
    assert machine.read(out, 2).tolist() == [40, 40]  # PEs 0 and 4, a byte a PE apart
    assert not machine.row.state.scalar_held.any()


@pytest.mark.parametrize("element", sorted(NAMES))
@pytest.mark.parametrize("name", ["sigmoid", "tanh"])
def test_sigmoid_and_tanh(element: str, name: str) -> None:
    unit = Unit({"pe.element": element, "pe.clusters": 4})
    lines = ("ld psums base=0", "spu nonsf src=0 dst=0", "spu activation src=0 dst=0", "st base=0")
    shift = 3
    unit.config_packet(0, *lines, activation=ACTIVATIONS.index(name), shift=shift)
    sums = np.array([0, 1, -1, 2, -3, 5, -8, 13, 21, -34, 55, -89, 1000, -1000, 2**30, -(2**30)])
    out = unit.out(16 * 8, SUMS[element].replace("float", "fp"))
    unit.exe(0, unit.psums(sums), out=out, last=1)
    machine = unit.machine()
    machine.run()
    got = machine.read(out, 16)

    def curve(x: float) -> float:
        if name == "tanh":
            return math.tanh(x)
        return 1 / (1 + math.exp(-x)) if x > -700 else 0.0

    if element.startswith("fp"):
        wanted = [np.float32(curve(float(x))) for x in sums]
        assert np.allclose(got, wanted, rtol=2e-7, atol=0 if name == "tanh" else 1e-38)
    else:
        one = 1 << (8 * np.dtype(NAMES[element]).itemsize - 1)
        exact = [min(round(curve(x / 2**shift) * one), one - 1) for x in sums.tolist()]
        assert got.tolist() == exact


@pytest.mark.parametrize("shift", [0, 2, 4, 7])
def test_fixed_point_curves_of_all_sums_of_twelve_bits(shift: int) -> None:
    x = np.arange(-2048, 2048)
    assert fixed_point(sigmoid, x, shift, 8).tolist() == [
        min(round(128 / (1 + math.exp(-n / 2**shift))), 127) if n / 2**shift > -700 else 0
        for n in x.tolist()
    ]
    assert fixed_point(np.tanh, x, shift, 8).tolist() == [
        min(round(128 * math.tanh(n / 2**shift)), 127) for n in x.tolist()
    ]


def test_an_overflow_of_a_reduction_is_a_fault_of_its_spu() -> None:
    unit = Unit()
    unit.config_packet(
        0, "ld psums base=0", "spu nonsf src=0 dst=0", "spu reduce src=0 dst=1", reduction=ADD
    )
    unit.exe(0, unit.psums([2**31 - 1], "broadcast"), last=1)
    fault = unit.machine().device.run().fault
    assert fault is not None
    assert (fault.kind, fault.address) == ("accumulator overflow", 0x1000_2000 + 16 + 4)
    assert "the reduction holds 2147483647, and 2147483647 is to be added" in fault.message
