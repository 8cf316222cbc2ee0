"""Operands with strides: the operand that the parser makes for each PE, and its use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from macaw.emu.engines import ENGINES
from macaw.emu.pe.sequence import make_op
from macaw.emu.pe.state import NO_UNIT
from tests.emu.pe_builder import Unit

PES, CLUSTERS, BLOCK = 4, 2, 256  # of the tiny row; elements of a block of its input buffer
PE, CLUSTER = np.arange(PES), np.arange(CLUSTERS)[:, None]
every_engine = pytest.mark.parametrize("engine", ENGINES)


def entries(machine: Any, place: int, operand: int) -> list[list[int]]:
    machine.row.sync()
    found: list[list[int]] = machine.row.state.registers[:, 0, place, operand].tolist()
    return found


@every_engine
def test_the_parser_makes_the_operand_of_each_pe(engine: str) -> None:
    """The parser computes the operand of each PE from that of PE 0 (seed 000 ¶8, ¶106)."""
    unit = Unit()
    lines = "ld activations base=1", "mac base=2 acc=3", "st base=5"
    unit.config_packet(0, *lines, strides=[(1, 0, 7, 100), (2, 0, -1, 0), (0, 0, 0, 256)])
    machine = unit.machine(engine=engine)
    machine.run()
    assert entries(machine, 0, 0) == (BLOCK + 256 * CLUSTER + 0 * PE).tolist()
    assert entries(machine, 1, 0) == (2 * BLOCK + 7 * PE + 100 * CLUSTER).tolist()
    assert entries(machine, 1, 1) == [[3] * PES] * CLUSTERS
    assert entries(machine, 2, 0) == (5 * 16 - PE + 0 * CLUSTER).tolist()


def test_a_step_without_operands_has_zeros() -> None:
    step = make_op(3, "skip", NO_UNIT)
    assert (step["base"], step["stride"], step["lane"]) == (0, 0, 0)
    assert (step["sums"], step["blocks"], step["writes"]) == (0, 0, 0)


@every_engine
def test_each_pe_reads_its_own_activations(engine: str) -> None:
    """PEs with different base addresses read different activations (seed 000 ¶88)."""
    unit = Unit()
    lines = "ld weights", "ld activations base=0", "mac base=0 acc=0"
    unit.config_packet(0, *lines, strides=[(2, 0, 2, 8)])
    x = np.arange(1, 33)
    unit.exe(0, unit.weights(np.array([[3, 0, 5]]), "broadcast"), unit.dense(x))
    machine = unit.machine(engine=engine)
    machine.run()
    at = 2 * PE + 8 * CLUSTER
    sums = machine.row.state.accumulators[:, :, 0]
    assert sums.tolist() == (3 * x[at] + 5 * x[at + 2]).tolist()


@every_engine
def test_steps_and_strides_add_up(engine: str) -> None:
    """Steps and strides add up when the scalar unit writes operands back (seed 000 ¶104, ¶112)."""
    unit = Unit()
    lines = "ld weights", "ld activations base=0", "mac base=0 acc=0", "spu nonsf src=0 dst=0"
    steps, strides = [(2, 0, 8, 0), (3, 1, 1, 0)], [(2, 0, 1, 4)]
    header: dict[str, Any] = {"state": 1, "pipeline": 4, "inner": 3}
    unit.config_packet(0, *lines, steps=steps, strides=strides, **header)
    x = np.arange(1, 33)
    segments = unit.weights(np.array([[1, 2]]), "broadcast"), unit.dense(x)
    unit.exe(0, *segments, last=1)
    machine, seen = unit.machine(engine=engine), set()
    for cycle in range(1, 80):
        machine.run(until=cycle)
        seen.add(str(entries(machine, 2, 0)))
    at = PE + 4 * CLUSTER
    wanted = {str((n * 8 + at).tolist()) for n in range(3)}
    assert seen - {str([[0] * PES] * CLUSTERS)} == wanted  # zeros: before the config
    output = machine.row.state.output[:, :, :3]
    for n in range(3):
        assert output[:, :, n].tolist() == (x[at + 8 * n] + 2 * x[at + 8 * n + 1]).tolist()


@every_engine
def test_each_pe_fills_and_moves_places_of_its_own(engine: str) -> None:
    """With strides of ld, spu and st, each PE uses its own blocks and places (seed 000 ¶88)."""
    unit = Unit()
    unit.config_packet(
        0,
        *("ld weights", "ld activations base=0", "mac base=0 acc=0"),
        *("spu nonsf src=0 dst=0", "spu activation src=0 dst=4", "st base=4"),
        strides=[(1, 0, BLOCK, 0), (2, 0, BLOCK, 0), (3, 1, 17, 1), (4, 0, 17, 1), (4, 1, 1, 0),
                 (5, 0, 1, 0)],
        activation=1,
    )  # fmt: skip
    x = np.arange(24).reshape(8, 3) - 12
    weights = unit.weights(np.array([[1, 1, 1]]), "broadcast")
    out = unit.out(32, "int32")
    unit.exe(0, weights, unit.dense(x, "sliced"), last=1, out=out)
    machine = unit.machine(engine=engine)
    machine.run()
    state, sums = machine.row.state, x.sum(axis=1).reshape(CLUSTERS, PES)
    for cluster in range(CLUSTERS):
        for pe in range(PES):
            loaded = state.block_loaded[cluster, pe].tolist()
            assert loaded == [3 if block == pe else 0 for block in range(16)]
            assert state.output[cluster, pe, 17 * pe + cluster] == sums[cluster, pe]
            assert state.output_written[cluster, pe, 64 + pe]
    assert machine.read(out, 8).tolist() == np.maximum(sums, 0).reshape(-1).tolist()


def test_an_operand_of_the_last_pe_that_leaves_its_buffer() -> None:
    unit = Unit()
    unit.config_packet(0, "ld weights", "mac base=15 acc=0", strides=[(1, 0, 86, 0)])
    unit.exe(0, unit.weights(np.array([[1]]), "broadcast"))
    stop = unit.machine().device.run()
    assert stop.fault is not None
    assert stop.fault.kind == "index out of range"
    assert "mac: its operand has become 4098, not 0 to 4095" in stop.fault.message


def test_what_one_pe_reads_is_not_filled_meanwhile() -> None:
    """An ld into a block that only PE 3 reads waits for the mac that reads it."""
    ends = []
    for stride in (0, BLOCK):
        unit = Unit()
        unit.config_packet(0, "ld weights", "ld activations base=0", "mac base=0 acc=0",
                           strides=[(2, 0, stride, 0)])  # fmt: skip
        unit.config_packet(1, "ld activations base=3")
        x, w = np.ones(4 * BLOCK, int), np.ones((1, 200), int)
        unit.exe(0, unit.weights(w, "broadcast"), unit.dense(x))
        unit.exe(1, unit.dense(x[:BLOCK]))
        machine = unit.machine()
        machine.run()
        ends.append(machine.row.counters()["bus_waits"])
    assert ends[1] > ends[0] + 150
