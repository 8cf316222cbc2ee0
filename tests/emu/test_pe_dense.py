"""A dense product on one row takes the cycles of docs/timing-pe.md's formula, for all shapes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emu.pe_builder import NAMES, SUMS, Unit

LAYER = ("ld activations base=0", "ld weights", "mac base=0 acc=0", "st base=0")


def cycles(clusters: int, pes: int, inputs: int, rounds: int, size: int, width: int) -> int:
    """The cycles by the formula: a config, then rounds one after another."""
    sums = {1: 4, 2: 8}[size]
    payload = 1 + inputs * size + clusters * pes * (2 + inputs * (2 + size))
    beats = -(-payload // width)
    stores = clusters * -(-pes * sums // width)
    return 5 + rounds * (max(beats, 4) + inputs + 4 + stores)


@pytest.mark.once
@settings(max_examples=40, deadline=None)
@given(
    clusters=st.integers(1, 4),
    pes=st.integers(1, 8),
    inputs=st.integers(1, 60),
    rounds=st.integers(1, 3),
    element=st.sampled_from(["int8", "int16"]),
    width=st.sampled_from([32, 64, 128]),
)
def test_formula(
    clusters: int, pes: int, inputs: int, rounds: int, element: str, width: int
) -> None:
    """A dense product takes the cycles of the formula (seed 000 ¶87)."""
    rng = np.random.default_rng(inputs)
    # As many banks as a beat touches words, so that stores never need one twice.
    unit = Unit(
        {
            "pe.clusters": clusters,
            "pe.pes": pes,
            "pe.element": element,
            "dist.bus_bytes": width,
            "mem.banks": 64,
        }
    )
    unit.config_packet(0, *LAYER)
    matrix = rng.integers(1, 100, (rounds, clusters * pes, inputs))
    x = rng.integers(1, 100, inputs)
    out = unit.out(rounds * clusters * pes * 8, SUMS[element])
    width_of = out["step"]
    for number, rows in enumerate(matrix):
        where = out | {"offset": out["offset"] + number * clusters * pes * width_of}
        unit.exe(0, unit.dense(x), unit.weights(rows), out=where, last=1)
    machine = unit.machine()
    machine.run()
    size = np.dtype(NAMES[element]).itemsize
    wanted = cycles(clusters, pes, inputs, rounds, size, width)
    assert machine.row.counters()["cycles"] == wanted
    got = machine.read(out, rounds * clusters * pes)
    assert got.tolist() == (matrix.reshape(-1, inputs) @ x).tolist()


@pytest.mark.parametrize("inputs", [40, 100])
def test_loads_of_the_next_round_hide_behind_the_macs_of_this_one(inputs: int) -> None:
    """With two buffers in turn, the loads of a round overlap the macs of the round before.

    R rounds take the cycles of R macs and of the first round's loads (seed 000 ¶146).
    """
    unit = Unit({"pe.clusters": 1, "pe.pes": 2, "dist.bus_bytes": 128})
    rounds = 10
    for ib in (0, 1):
        lines = (f"ld activations base={8 * ib}", "ld weights", f"mac base={8 * ib} acc={ib}")
        unit.config_packet(ib, *lines, f"st base={ib}")
    ones = np.ones((2, inputs), int)
    out = unit.out(8, "int32")
    for number in range(rounds):
        unit.exe(number % 2, unit.dense(ones[0]), unit.weights(ones), out=out, last=1)
    machine = unit.machine()
    machine.run()
    beats = -(-(1 + inputs + 2 * (2 + inputs * 3)) // 128)
    mac = inputs + 2
    assert beats < mac  # the loads would fit behind the macs
    total = machine.row.counters()["cycles"]
    assert total <= rounds * mac * 1.05 + beats + 30
    assert total >= rounds * mac
