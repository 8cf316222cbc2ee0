"""A row of the array in a device of each engine; both are run in the same way and compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.emu.faults import Stop
from macaw.emu.pe.fast.row import FastRow
from macaw.emu.pe.reference.row import ReferenceRow
from macaw.emu.state import Change
from tests.emu.pe_builder import Machine, Unit
from tests.emu.pe_random_lists import content_hashes
from tests.emu.trace_witness import configure

ENGINE_PAIRS = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
SEEDS = st.integers(0, 2**32 - 1)
PAUSES = st.lists(st.integers(1, 80), min_size=0, max_size=6)
TRACE = {"mode": 1, "num": 1, "step": 1, "overhead": 4}  # each exe, in four groups by turns


def machines_of_engines(unit: Unit) -> tuple[Machine, Machine]:
    """The unit in a device of each engine, the fast one first."""
    fast, reference = (unit.machine(engine=engine) for engine in ENGINES)
    assert type(fast.row) is FastRow
    assert type(reference.row) is ReferenceRow
    if sum(unit.packets) % 2:  # its trace is part of the state, and has to be the same
        for machine in (fast, reference):
            configure(machine.device, "pe[0]", TRACE)
    return fast, reference


def state_differences(fast: Device, reference: Device) -> list[tuple[str, Change]]:
    """The differences between the states of two devices."""
    return fast.diff(reference.snapshot())


def stop_summary(stop: Stop) -> tuple[Any, ...]:
    """What must be equal in the stops of both engines: reason, fault, and the cycle of a fault."""
    fault = stop.fault
    found = None if fault is None else (fault.kind, fault.message, fault.values, fault.address)
    return stop.reason, found, None if fault is None else stop.cycle


def run_and_compare(
    unit: Unit, pauses: list[int], pair: tuple[Machine, Machine] | None = None
) -> tuple[Machine, Machine]:
    """Run both engines to the end; stop after each of `pauses` cycles and compare their states."""
    fast, reference = pair or machines_of_engines(unit)
    with np.errstate(all="ignore"):
        for pause in pauses:
            stops = [machine.device.run(max_cycles=pause) for machine in (fast, reference)]
            assert stop_summary(stops[0]) == stop_summary(stops[1])
            if stops[0].reason != "cycle limit":
                break
            assert not state_differences(fast.device, reference.device)
            assert fast.device.hash() == reference.device.hash()
        # What is counted while macs are at work, without a look at the rest of the state.
        stops = [machine.device.run(max_cycles=37) for machine in (fast, reference)]
        assert fast.device.counters() == reference.device.counters()
        stops = [machine.device.run(max_cycles=200_000) for machine in (fast, reference)]
    assert stop_summary(stops[0]) == stop_summary(stops[1])
    assert content_hashes(fast.device) == content_hashes(reference.device)
    assert fast.device.counters() == reference.device.counters()
    return fast, reference
