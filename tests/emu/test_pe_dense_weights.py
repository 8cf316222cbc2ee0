"""Weights without indices: the loading unit numbers them. Sums, state, bytes and cycles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from macaw.emu.engines import ENGINES
from tests.emu.pe_builder import NAMES, SUMS, Machine, Unit

LAYER = ("ld activations base=0", "ld weights", "mac base=0 acc=0", "st base=0")
every_engine = pytest.mark.parametrize("engine", ENGINES)


def run(unit: Unit, engine: str, *segments: Any) -> tuple[Machine, list[float]]:
    unit.config_packet(0, *LAYER)
    out = unit.out(64, SUMS[unit.element].replace("float", "fp"))
    unit.exe(0, *segments, out=out, last=1)
    machine = unit.machine(engine=engine)
    machine.run()
    return machine, machine.read(out, 8).tolist()


@every_engine
@pytest.mark.parametrize("element", sorted(NAMES))
def test_each_weight_meets_the_activation_of_its_number(element: str, engine: str) -> None:
    """Dense weights give NumPy's sums; a weight of zero is an entry, too."""
    rng = np.random.default_rng(4)
    matrix = rng.integers(-9, 9, (8, 50)) * (rng.random((8, 50)) < 0.7)
    x = rng.integers(-9, 9, 50) * (rng.random(50) < 0.7)
    unit = Unit({"pe.element": element})
    machine, results = run(unit, engine, unit.dense(x), unit.numbered(matrix))
    assert results == (matrix @ x).tolist()
    assert (machine.row.state.weight_index[:, :, :50] == np.arange(50)).all()
    assert machine.row.state.weight_value[:, :, :50].reshape(8, 50).tolist() == matrix.tolist()
    counters = machine.row.counters()
    assert counters["weights_examined"] == 8 * 50
    assert counters["effectual_loads"] == counters["macs"] == 8 * np.count_nonzero(x)


@every_engine
@pytest.mark.parametrize("element", sorted(NAMES))
def test_bytes_and_cycles_against_records(element: str, engine: str) -> None:
    """A dense weight of int8 takes 1 byte; records take 3 bytes a weight, and 2 bytes a PE.

    The mac takes the same cycles in both forms, because the entries are equal.
    """
    matrix, x = np.ones((8, 64)), np.arange(1, 65) % 7 + 1
    size = np.dtype(NAMES[element]).itemsize
    machines = []
    for form in ("weights", "numbered"):
        unit = Unit({"pe.element": element})
        machine, results = run(unit, engine, unit.dense(x), getattr(unit, form)(matrix))
        assert results == [int(x.sum())] * 8
        machines.append(machine)
    records, dense = (machine.row.counters() for machine in machines)
    assert records["bus_bytes"] - dense["bus_bytes"] == 8 * 2 + 8 * 64 * 2
    for name in ("cycles_mac", "cycles_filling", "weights_examined", "output_writes"):
        assert records[name] == dense[name]
    fewer = -(-(1 + 64 * size + 8 * (2 + 64 * (2 + size))) // 32)
    fewer -= -(-(1 + 64 * size + 8 * 64 * size) // 32)
    assert records["cycles"] - dense["cycles"] == records["bus_beats"] - dense["bus_beats"] == fewer


@every_engine
def test_modes_and_several_segments(engine: str) -> None:
    """Two segments of one run are appended; the indices of each start at 0."""
    rng = np.random.default_rng(9)
    parts, x = rng.integers(-9, 9, (2, 8, 20)), rng.integers(-9, 9, 20)
    unit = Unit()
    lines = ("ld activations base=0", "ld weights", "ld weights", "mac base=0 acc=0", "st base=0")
    unit.config_packet(1, *lines)
    out = unit.out(64, "int32")
    first = unit.numbered(parts[0][::4], "by_cluster")
    unit.exe(1, unit.dense(x), first, unit.numbered(parts[1][:4], "by_pe"), out=out, last=1)
    machine = unit.machine(engine=engine)
    machine.run()
    wanted = np.repeat(parts[0][::4], 4, axis=0) @ x + np.tile(parts[1][:4], (2, 1)) @ x
    assert machine.read(out, 8).tolist() == wanted.tolist()


@every_engine
def test_a_sliding_window_takes_them_as_well(engine: str) -> None:
    """A sequence of state sw takes dense weights, with or without the word `dense`."""
    strip = np.arange(8 * 12).reshape(8, 12) % 11
    results = []
    for form in ("sliced", "sliced dense"):
        unit = Unit()
        lines = ("ld weights", "ld activations base=0", "mac base=0 acc=0", "st base=0")
        unit.config_packet(0, *lines, state=2, window=3, pop=3, inner=4)
        out = unit.out(8 * 16, "int32", stride=16)
        weights = ("weights", form, strip.astype(np.int8).tobytes())
        unit.exe(0, weights, unit.dense([1, 2, 3]), out=out, last=1)
        machine = unit.machine(engine=engine)
        machine.run()
        results.append(machine.read(out, 32).tolist())
    assert results[0] == results[1]
    assert results[0] == (strip.reshape(8, 4, 3) @ [1, 2, 3]).reshape(-1).tolist()


FAULTS = [
    (
        ("weights", "sliced dense", bytes(9)),
        "slice mismatch",
        "9 bytes are no whole number of int8",
    ),
    (("activations", "sliced dense", bytes(8)), "malformed packet", "dense is for weights"),
    (("weights", "broadcast dense", bytes(65537)), "index out of range", "65537 elements a slice"),
    (
        ("weights", "broadcast dense", bytes(1025)),
        "queue overflow",
        "1025 weights, the queue holds",
    ),
]


@pytest.mark.parametrize(("segment", "kind", "text"), FAULTS)
def test_faults(segment: tuple[str, str, bytes], kind: str, text: str) -> None:
    unit = Unit({"mem.unit_half_bytes": 1 << 18})
    unit.config_packet(0, "ld weights", "mac base=0 acc=0")
    unit.exe(0, segment)
    stop = unit.machine().device.run()
    assert stop.fault is not None
    assert (stop.fault.kind, text in stop.fault.message) == (kind, True), stop.fault.message


@pytest.mark.parametrize(
    ("element", "zeros"), [("int8", 2 / 3), ("int16", 1 / 2), ("fp16", 1 / 2), ("fp32", 1 / 3)]
)
def test_from_how_many_zeros_on_records_are_shorter(element: str, zeros: float) -> None:
    """Records are shorter than dense weights if more weights are zero than docs/format-pe.md says.

    The test goes 2% above and below this share: each record also has a count of two bytes.
    """
    unit = Unit({"pe.element": element})
    for share, is_shorter in ((zeros + 0.02, True), (zeros - 0.02, False)):
        matrix = np.ones((4, 600))
        matrix[:, : round(600 * share)] = 0
        assert (len(unit.weights(matrix)[2]) < len(unit.numbered(matrix)[2])) == is_shorter
