"""Loops, steps, triggers and the three weight queues: cycles by hand, convolutions by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from macaw.emu.engines import ENGINES
from macaw.isa.pe import THEN
from tests.emu.pe_builder import Unit, int_ones
from tests.emu.pe_rows import instruction_starts

pytestmark = pytest.mark.once

STATES = {"sq": 0, "rq": 1, "sw": 2}


def test_a_loop_of_two_stages_costs_nothing() -> None:
    """Repeating a loop of two pipeline stages costs no cycle (seed 000 ¶104, ¶110-111)."""
    unit = Unit()
    lines = ("ld weights", "ld activations base=0", "mac base=0 acc=0")
    unit.config_packet(0, *lines, state=STATES["rq"], inner=2, outer=2)
    unit.exe(0, unit.weights(int_ones(8, 3)), unit.dense([1, 1, 1]))
    # Config: 1 + 16 + 6 bytes in cycle 4, instructions in 5, 6, 7; exe: 1 + 8 * 11 + 3 bytes, 8 to 10.
    # ID 9, FO 10, ld weights 11 (till 11), ld activations 12, mac 13: n = 3 products take 5
    # cycles, 13 to 17. Loopback: both lds are skipped, 18 and 19; mac 20 to 24; and so on.
    machine = unit.machine()
    assert instruction_starts(machine) == [
        *((11, "ld"), (12, "ld"), (13, "mac")),
        *((18, "ld"), (19, "ld"), (20, "mac")),
        *((25, "ld"), (26, "ld"), (27, "mac")),
        *((32, "ld"), (33, "ld"), (34, "mac")),
    ]
    assert machine.row.counters()["cycles"] == 39 - 4
    assert machine.row.state.accumulators[0, 0].tolist() == [12, 0, 0, 0]
    assert not machine.row.state.weight_count.any()


def test_four_stages_fetch_after_the_write_back() -> None:
    """With four stages, iterations are fetched after the write-back (seed 000 ¶110, ¶112)."""
    unit = Unit()
    unit.config_packet(0, "ld weights", "ld activations base=0")
    unit.config_packet(
        1, "mac base=0 acc=0", "spu nonsf src=0 dst=0", state=1, pipeline=4, inner=3,
        steps=[(0, 0, 1, 0), (1, 1, 1, 0)],
    )  # fmt: skip
    unit.config_packet(
        2, "ld both base=0", "mac base=0 acc=0", "spu nonsf src=0 dst=0", state=1, pipeline=4,
        inner=3, steps=[(1, 0, 1, 0), (2, 1, 1, 0)],
    )  # fmt: skip
    out = unit.out(8 * 12, "int32", count=3)
    unit.config_packet(3, "st base=0")
    x = [1, 2, 3, 4, 5]
    unit.exe(2, unit.weights(int_ones(8, 3)), unit.dense(x), out=out, last=1)
    unit.exe(3, out=out, last=1)
    machine = unit.machine()
    found = instruction_starts(machine)
    # An issue of mac that starts in t has three products, t + 2 to t + 4; nonsf in t + 5, mac:
    # SU t + 5, WB t + 6, FO t + 7, so the next one starts in t + 8. nonsf: SU t + 6, WB t + 7.
    first = found[1][0]
    assert found == [
        (first - 1, "ld"),
        *((first, "mac"), (first + 5, "spu")),
        # The ld is skipped after the loopback in first + 5, when spu has started: in first + 6.
        *((first + 6, "ld"), (first + 8, "mac"), (first + 13, "spu")),
        *((first + 14, "ld"), (first + 16, "mac"), (first + 21, "spu")),
        (first + 22, "st"),  # its blocks are free
    ]
    assert machine.read(out, 3).tolist() == [6, 9, 12]
    # Behind the last iteration the operands are the first ones again.
    assert machine.row.state.registers[0, 2, :3, :, 0].tolist() == [[0, 0], [0, 0], [0, 0]]


def test_write_back_is_two_cycles_after_the_end() -> None:
    """The write-back is two cycles after the end of an instruction (seed 000 ¶104, ¶112)."""
    unit = Unit()
    unit.config_packet(
        0, "ld both base=0", "mac base=0 acc=0", state=1, pipeline=4, inner=2,
        steps=[(1, 0, 5, 0), (1, 1, 2, 0)],
    )  # fmt: skip
    unit.exe(0, unit.weights(int_ones(8, 1)), unit.dense(range(1, 9)))
    machine = unit.machine()
    # Config: 1 + 16 + 16 + 4 bytes, cycles 4 and 5; instructions 6, 7. Exe: 1 + 8 * 5 + 8 bytes, 8
    # and 9. ld: 11. mac: 12 to 14. SU 15, WB 16, FO 17, mac 18 to 20, WB 22 (the initial operands).
    entry = lambda s: s.registers[0, 0, 1, :, 0].tolist()  # noqa: E731
    seen = [entry(machine.at(cycle + 1)) for cycle in (15, 16, 21, 22)]
    assert seen == [[0, 0], [5, 2], [5, 2], [0, 0]]
    assert machine.row.state.accumulators[0, 0].tolist() == [1, 0, 6, 0]
    machine.run()
    assert machine.row.counters()["cycles"] == 23 - 4


def test_a_triggered_buffer_starts_three_cycles_after_the_end() -> None:
    """A buffer starts three cycles after the end of the buffer that triggers it (seed 000 ¶104)."""
    unit = Unit()
    unit.config_packet(4, "ld both base=0", "mac base=0 acc=0", then=THEN + 5)
    unit.config_packet(5, "spu nonsf src=0 dst=2", "st base=2")
    out = unit.out(32, "int32")
    unit.exe(4, unit.weights(int_ones(8, 2)), unit.dense([3, 4]), out=out, last=1)
    # Buffer 4 has no spu: its sequence moves accumulator 0 to block 0, and buffer 5 finds 0.
    machine = unit.machine()
    found = instruction_starts(machine)
    mac = found[1][0]
    # mac: 4 cycles, mac to mac + 3; the implied move in mac + 4 ends the run: ID, FO, mac + 7.
    assert found == [
        *((mac - 1, "ld"), (mac, "mac"), (mac + 4, "mac")),  # the move belongs to the mac
        *((mac + 7, "spu"), (mac + 8, "st")),
    ]
    assert machine.read(out, 8).tolist() == [0] * 8
    assert machine.row.state.output[0, 0, 0] == 7


def test_a_triggered_buffer_goes_on_with_segments_weights_and_stores() -> None:
    """A triggered buffer goes on with the exe's segments, weights and stores (seed 000 ¶104)."""
    unit = Unit()
    unit.config_packet(4, "ld both base=0", "mac base=0 acc=0", "st base=0", state=1, then=THEN + 9)
    unit.config_packet(9, "ld activations base=1", "mac base=1 acc=1", "st base=1", state=1)
    out = unit.out(64, "int32", stride=8, step=4)
    weights = np.arange(1, 9)[:, None] * int_ones(8, 2)
    unit.exe(4, unit.weights(weights), unit.dense([1, 2]), unit.dense([10, 20]), out=out, last=1)
    machine = unit.machine()
    machine.run()
    got = machine.read(out, 16).reshape(8, 2)
    assert got.tolist() == [[3 * n, 30 * n] for n in range(1, 9)]


def test_what_listeners_hear_of_loops_and_triggers() -> None:
    """For listeners, an exe begins once and ends once in a cluster, with all loops and triggers."""
    unit = Unit({"pe.clusters": 1})
    unit.config_packet(4, "ld both base=0", "mac base=0 acc=0", state=1, inner=3, then=THEN + 9)
    unit.config_packet(9, "spu nonsf src=0 dst=0")
    unit.exe(4, unit.weights(int_ones(4, 1)), unit.dense([1]), shift=1)
    machine = unit.machine()
    heard: list[tuple[str, Any, Any]] = []

    def hear(event: Any) -> None:
        if event.kind in ("begin", "loopback", "trigger", "end"):
            heard.append((event.kind, event.values["buffer"], event.values.get("iteration")))

    machine.row.listeners.append(hear)
    machine.run()
    assert heard == [
        ("begin", 4, None),
        ("loopback", 4, 1),
        ("loopback", 4, 2),
        ("trigger", 9, None),
        ("end", 9, None),
    ]


def test_new_activations_meet_rotating_weights() -> None:
    """Weights that rotate are multiplied with new activations (seed 000 ¶92, ¶122)."""
    rng = np.random.default_rng(3)
    unit = Unit()
    lines = ("ld weights", "ld activations base=0", "mac base=0 acc=0", "st base=0")
    unit.config_packet(0, *lines, state=1, inner=5)
    weights, x = rng.integers(-9, 9, (8, 20)), rng.integers(-3, 4, (5, 20))
    out = unit.out(8 * 5 * 4, "int32", stride=20, step=4)
    segments = [unit.dense(row) for row in x]
    unit.exe(0, unit.weights(weights), *segments, out=out, last=1)
    machine = unit.machine()
    machine.run()
    assert machine.read(out, 40).reshape(8, 5).tolist() == (weights @ x.T).tolist()


@pytest.mark.parametrize("flags", [{"last": 1}, {"last": 1, "shift": 1}, {"shift": 1}])
@pytest.mark.parametrize("design", ["5a", "5b"])
def test_convolution_by_loops_and_steps(design: str, flags: dict[str, int]) -> None:
    """A convolution by loops and steps equals NumPy's (seed 000 ¶104, ¶131).

    It is the example of docs/timing-pe.md: 14 x 14 outputs of a 3 x 3 kernel over a padded plane of 16 x 16.
    """
    rng = np.random.default_rng(7)
    plane, kernels = rng.integers(-8, 8, (16, 16)), rng.integers(-8, 8, (8, 3, 3))
    plane[rng.random((16, 16)) < 0.3] = 0
    kernels[rng.random((8, 3, 3)) < 0.5] = 0
    unit = Unit({"pe.design": design})
    weights = np.zeros((8, 3 * 16), int)
    for y in range(3):
        weights[:, 16 * y : 16 * y + 3] = kernels[:, y]
    unit.config_packet(
        4, "ld both base=0", "mac base=0 acc=0", "spu nonsf src=0 dst=0", state=1, pipeline=4,
        inner=14, outer=14, then=THEN + 5, steps=[(1, 0, 1, 2), (2, 1, 1, 0)],
    )  # fmt: skip
    unit.config_packet(5, "st base=0")
    count = 1 if "shift" in flags and "last" in flags else 196
    out = unit.out(8 * 196 * 4, "int32", count=count, stride=196 * 4, step=4)
    unit.exe(4, unit.weights(weights), unit.dense(plane.reshape(-1)), out=out, **flags)
    machine = unit.machine()
    if count == 1:  # streamed: each result goes out by itself, and the st of buffer 5 is left out
        unit.config_packet(5, "st base=0")
    machine.run()
    wanted = np.zeros((8, 14, 14), int)
    for y in range(3):
        for x in range(3):
            wanted += kernels[:, y, x, None, None] * plane[y : y + 14, x : x + 14]
    assert machine.read(out, 8 * 196).reshape(8, 14, 14).tolist() == wanted.tolist()


@pytest.mark.parametrize(("kernel", "stride"), [(3, 1), (3, 2), (2, 1), (2, 3), (1, 1)])
@pytest.mark.parametrize("element", ["int8", "int16", "fp16"])
def test_depthwise_by_sliding_windows(kernel: int, stride: int, element: str) -> None:
    """A depthwise convolution by sliding windows equals NumPy's (seed 000 ¶123, ¶131).

    Each PE has a channel: strips of `kernel` rows, column after column, and a dense kernel.
    """
    rng = np.random.default_rng(kernel * 10 + stride)
    height, width = 7, 9
    planes = rng.integers(-8, 8, (8, height, width))
    kernels = rng.integers(-8, 8, (8, kernel, kernel))
    kernels[rng.random(kernels.shape) < 0.4] = 0
    rows, columns = (height - kernel) // stride + 1, (width - kernel) // stride + 1
    used = (columns - 1) * stride + kernel
    strips = [
        planes[:, y * stride : y * stride + kernel, :used].transpose(0, 2, 1).reshape(8, -1)
        for y in range(rows)
    ]
    unit = Unit({"pe.element": element})
    unit.config_packet(
        0, "ld both base=0", "mac base=0 acc=0", "spu nonsf src=0 dst=0", "st base=0",
        state=2, window=kernel * kernel, pop=kernel * stride, inner=columns, outer=rows,
    )  # fmt: skip
    kind = {"int8": "int32", "int16": "int64", "fp16": "fp32"}[element]
    count = rows * columns
    out = unit.out(8 * count * 8, kind)
    out["stride"] = count * out["step"]
    data = unit.dense(np.concatenate(strips, axis=1), "sliced")
    window = ("weights", "sliced", data[2])
    taps = unit.dense(kernels.transpose(0, 2, 1).reshape(8, -1), "sliced")
    unit.exe(0, window, taps, out=out, last=1)
    machine = unit.machine()
    machine.run()
    wanted = np.zeros((8, rows, columns), int)
    for y in range(kernel):
        for x in range(kernel):
            part = planes[:, y::stride, x::stride][:, :rows, :columns]
            wanted += kernels[:, y, x, None, None] * part
    assert machine.read(out, 8 * count).reshape(8, rows, columns).tolist() == wanted.tolist()
    assert not machine.row.state.weight_count.any()
    # Zeros of the kernel are skipped.
    products = int((kernels != 0).sum()) * count
    assert machine.row.counters()["macs"] == products


def test_a_later_exe_waits_for_what_a_loop_still_needs() -> None:
    """An exe that fills a block waits until a loop has read this block in its last iteration."""
    unit = Unit({"pe.input_buffer": 64})  # blocks of 4
    unit.config_packet(
        0, "ld both base=0", "mac base=0 acc=0", "st base=0", state=1, pipeline=4, inner=5,
        steps=[(1, 0, 1, 0)],
    )  # fmt: skip
    unit.config_packet(1, "ld both base=1", "mac base=1 acc=1", "st base=1", state=1)
    first, second = unit.out(8 * 20, "int32", stride=20), unit.out(32, "int32")
    unit.exe(0, unit.weights(int_ones(8, 1)), unit.dense(range(1, 9)), out=first, last=1)
    unit.exe(1, unit.weights(int_ones(8, 1)), unit.dense([77]), out=second, last=1)
    machine = unit.machine()
    machine.run()
    assert machine.read(first, 5).tolist() == [1, 2, 3, 4, 5]
    assert machine.read(second, 8).tolist() == [77] * 8


def test_a_later_exe_overlaps_a_loop_that_needs_nothing_of_its_own() -> None:
    """Loads for buffer 1 overlap buffer 0's loop, if they use other blocks and accumulators."""
    unit = Unit()
    lines = ("ld both base={0}", "mac base={0} acc={0}", "st base={0}")
    unit.config_packet(0, *(line.format(0) for line in lines), state=1, inner=20)
    unit.config_packet(1, *(line.format(1) for line in lines), state=1)
    out = unit.out(8 * 80, "int32", stride=80)
    unit.exe(0, unit.weights(int_ones(8, 40)), unit.dense(int_ones(40)), out=out, last=1)
    other = unit.out(32, "int32")
    unit.exe(1, unit.weights(int_ones(8, 40)), unit.dense(int_ones(40)), out=other, last=1)
    machine = unit.machine()
    found = instruction_starts(machine)
    macs = [cycle for cycle, name in found if name == "mac"][::2]  # the others are their moves
    assert len(macs) == 21
    # mac of buffer 1 is right behind the last mac of buffer 0, which takes 42 cycles: its data are there.
    assert macs[20] - macs[19] == 42
    assert machine.read(other, 8).tolist() == [40] * 8


@pytest.mark.parametrize("engine", ENGINES)
def test_a_triggered_buffer_without_steps_ends(engine: str) -> None:
    """An exe without flags skips the st of a triggered buffer, and the chain ends."""
    unit = Unit()
    unit.config_packet(0, "ld weights", "ld activations", "mac", then=THEN + 1)
    unit.config_packet(1, "st base=0", inner=2)
    data = unit.weights(int_ones(8, 3)), unit.dense([1, 2, 3])
    out = unit.out(8 * 16, "int32", stride=16, step=4)
    unit.exe(0, *data)
    unit.exe(0, *data, out=out, last=1)
    machine = unit.machine(engine=engine)
    machine.run()
    assert machine.read(out, 3).tolist() == [12, 12, 0]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_loopback_without_steps_takes_a_cycle(engine: str) -> None:
    """After an iteration whose instructions are all left out, the loopback takes a cycle."""
    unit = Unit()
    unit.config_packet(0, "spu nonsf src=0", "st base=0", inner=2, outer=3)
    unit.exe(0)
    machine = unit.machine(engine=engine)
    machine.run()
    # Config: 1 + 16 + 4 bytes in cycle 4, instructions in 5 and 6; exe 7, ID 8, FO 9.
    # Five loopbacks: 10 to 14. The run ends at the start of 15.
    assert machine.row.counters()["cycles"] == 15 - 4
