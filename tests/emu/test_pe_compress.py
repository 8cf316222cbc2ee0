"""Compression by the distribution unit at run time: it keeps the weights; its cycles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.emu.pe_builder import NAMES, SUMS, Machine, Unit

LAYER = ("ld activations base=0", "ld weights", "mac base=0 acc=0", "st base=0")


def run(matrix: Any, x: Any, compress: bool, **config: Any) -> tuple[Machine, list[float]]:
    unit = Unit(config)
    unit.config_packet(0, *LAYER)
    out = unit.out(64, SUMS[unit.element].replace("float", "fp"))
    segment = unit.compressed(matrix) if compress else unit.weights(matrix)
    unit.exe(0, unit.dense(x), segment, out=out, last=1)
    machine = unit.machine()
    machine.run()
    return machine, machine.read(out, 8).tolist()


@pytest.mark.once
@pytest.mark.few(12)
@pytest.mark.parametrize("element", sorted(NAMES))
@pytest.mark.parametrize("density", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("width", [3, 32])
def test_the_array_gets_the_same_weights(element: str, density: float, width: int) -> None:
    """The array gets the same weights, compressed at run time or before (seed 000 ¶91)."""
    rng = np.random.default_rng(4)
    matrix = rng.integers(-9, 9, (8, 50)) * (rng.random((8, 50)) < density)
    x = rng.integers(-9, 9, 50)
    config = {"pe.element": element, "dist.bus_bytes": width}
    given, results = run(matrix, x, False, **config)
    made, same = run(matrix, x, True, **config)
    assert same == results == (matrix @ x).tolist()
    for name in ("weight_index", "weight_value", "cycles_mac", "weights_examined", "bus_bytes"):
        left, right = getattr(given.row.state, name), getattr(made.row.state, name)
        assert np.array_equal(left, right), name
    # The bus carries the same bytes; a beat takes up to its width of dense ones.
    size = np.dtype(NAMES[element]).itemsize
    packed = 8 * 2 + int((matrix != 0).sum()) * (2 + size)
    dense = 8 * 50 * size
    slots = 1 + 50 * size + max(packed, dense)
    config_beats = -(-(1 + 16 + 8) // width)
    assert made.row.counters()["bus_beats"] == config_beats + -(-slots // width)


def test_a_segment_that_is_nearly_empty_takes_its_dense_beats() -> None:
    """A segment takes the beats of its dense bytes, even if few of them are left after compression.

    128 dense bytes are four beats of 32 bytes; 2 * 8 + 3 bytes would take one beat.
    """
    matrix = np.zeros((8, 16), int)
    matrix[3, 5] = 7
    machine, results = run(matrix, np.arange(16), True)
    assert results == [0, 0, 0, 35, 0, 0, 0, 0]
    # Exe: 1 + 16 + 128 bytes: 5 beats; config one. Of 128 dense bytes 19 come out.
    assert machine.row.counters()["bus_beats"] == 1 + 5
    assert machine.row.counters()["bus_bytes"] == 25 + 1 + 16 + 19


def test_a_dense_segment_takes_the_beats_of_its_entries() -> None:
    machine, results = run(np.ones((8, 16)), np.ones(16), True)
    assert results == [16] * 8
    # 1 + 16 + 8 * (2 + 3 * 16) = 417 bytes: 14 beats.
    assert machine.row.counters()["bus_beats"] == 1 + 14


def test_results_of_a_layer_are_compressed_for_the_next_one() -> None:
    """A segment of weights that an exe stores is compressed after the store."""
    unit = Unit({"pe.clusters": 1})
    unit.config_packet(0, *LAYER)
    unit.config_packet(1, *LAYER)
    stored = unit.out(4, "int8", stride=1)
    out = unit.out(16, "int32")
    first = np.array([[1], [0], [3], [0]])
    unit.exe(0, unit.dense([2]), unit.weights(first), out=stored, last=1)
    at = len(unit.packets) + 8 + 12 + 4
    unit.exe(1, unit.dense([5]), ("weights", "sliced compress", bytes(4)), out=out, last=1)
    unit.packets[at : at + 4] = stored["offset"].to_bytes(4, "little")
    machine = unit.machine()
    machine.run()
    assert machine.read(out, 4).tolist() == [10, 0, 30, 0]
