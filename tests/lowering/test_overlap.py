"""Loads and stores overlap the computation (seed 000 ¶146)."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest

import macaw
from macaw import execution
from macaw.emu.core import Event
from macaw.emu.device import Device
from macaw.isa import memory_map
from macaw.layer_lowering import lower
from macaw.lowering.mapping import MAPPINGS

Span = tuple[int, int]  # first and last cycle


def half(address: int) -> int | None:
    """The half of a unit in which an address lies, or None."""
    if not memory_map.UNITS <= address < memory_map.REGISTERS:
        return None
    return address >> memory_map.HALF_SHIFT & 1


def spans(times: list[tuple[int | None, Span]]) -> list[Span]:
    """Return (first, last) of each group of consecutive times in the same half of a unit."""
    groups = [list(group) for _, group in groupby(times, key=lambda item: item[0])]
    return [(group[0][1][0], max(last for _, (_, last) in group)) for group in groups]


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_transfers_lie_within_the_computation(mapping: str) -> None:
    """While iteration k computes, inputs of k + 1 come and results of k - 1 leave."""
    rng = np.random.default_rng(1)
    weights, x = rng.integers(1, 10, (12, 96)), rng.integers(1, 10, (48, 96))
    found = lower("spmm", weights.astype(np.int8), rows=48, device="tiny", mapping=mapping)
    steps = found.choice.selection.plan.steps
    assert steps > 2
    events: list[Event] = []

    def listen(_item: int, device: Device) -> None:
        device.listen(events.append, ["dma", "pe[0]", "pe[1]"])

    run = execution.run(found.assemble(), {"x": x.astype(np.int8)}, on_start=listen)
    np.testing.assert_array_equal(run.outputs["y"], x @ weights.T)

    loads: list[tuple[int | None, Span]] = []
    stores: list[tuple[int | None, Span]] = []
    begun = {}
    reads: list[tuple[int | None, Span]] = []
    for event in events:
        values = event.values
        if event.core.name != "dma":
            if event.kind == "read":
                reads.append((half(int(values["address"])), (event.time, event.time)))
            elif reads:  # an instruction, a write, the end of a run: of the list that was read
                reads.append((reads[-1][0], (event.time, event.time)))
        elif event.kind == "begin":
            begun = dict(values)
            since = event.time
        elif event.kind == "end":
            into, out_of = half(int(begun["dst"])), half(int(begun["src"]))
            if into is not None:
                loads.append((into, (since, event.time)))
            if out_of is not None:
                stores.append((out_of, (since, event.time)))
    computing, coming, going = spans(reads), spans(loads)[2:], spans(stores)  # without the fills
    assert [len(computing), len(coming), len(going)] == [steps] * 3
    for k in range(steps - 1):
        for first, last in (coming[k + 1], *going[max(k - 1, 0) : k]):
            assert computing[k][0] <= first
            assert last < computing[k][1]
    assert going[-1][0] > computing[-1][1]


def test_a_program_takes_little_more_than_its_computation() -> None:
    """If rows compute longer than the dma loads, a program takes at most 5% longer than the rows.

    Without overlap the transfers would add more than a tenth.
    """
    rng = np.random.default_rng(1)
    weights, x = rng.integers(1, 10, (96, 64)), rng.integers(1, 10, (64, 64))
    found = lower("spmm", weights.astype(np.int8), rows=64, device="tiny")
    assert found.choice.selection.plan.steps == 6
    run = macaw.run(found.assemble(), x=x.astype(np.int8))
    np.testing.assert_array_equal(run.outputs["y"], x @ weights.T)
    rows = max(counters["cycles"] for counters in run.counters.values() if "macs" in counters)
    dma = run.counters["dma"]["cycles_busy"]
    assert 0.1 * rows < dma < rows
    assert run.cycles <= 1.05 * rows
    # The rows' own work is little more than multiplying, 64 × 96 × 64 products on 16 PEs: five
    # cycles in addition to the 64 of a row of activations, and the stores.
    assert rows <= 1.12 * weights.size * len(x) / 16
