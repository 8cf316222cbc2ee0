"""Each fault of the PE rows: its kind, its place and its message."""

from __future__ import annotations

import pytest

from macaw.isa.common import FAULTS as COMMON
from macaw.isa.pe import FAULTS
from tests.emu import pe_faults_of_packets, pe_faults_of_runs
from tests.emu.pe_builder import Unit
from tests.emu.pe_faults import BASE, CASES, fault_of

WRITTEN_IN = (pe_faults_of_packets, pe_faults_of_runs)  # importing them fills CASES


@pytest.mark.parametrize("name", CASES)
def test_fault(name: str) -> None:
    make, kind, address, text = CASES[name]
    fault = fault_of(make())
    assert fault.kind == kind
    assert text in fault.message
    assert fault.address == address, hex(fault.address or 0)
    assert fault.cycle is not None
    assert fault.cycle >= 4


def test_a_case_for_every_kind() -> None:
    kinds = {kind for _, kind, _, _ in CASES.values()}
    declared, shared = ({row.name for row in rows} for rows in (FAULTS, COMMON))
    assert shared <= declared
    assert declared - shared <= kinds <= declared


def test_a_list_that_leaves_the_half() -> None:
    machine = Unit().machine()
    machine.device.memory.poke(machine.half, bytes(0x80000))
    machine.device.reset()
    machine.device.memory.poke(machine.half + 0x7FFFC, b"\x00\x00\x00\x00")
    machine.device.dispatch(1, 0x7FFFC, 0)
    fault = machine.device.run().fault
    assert fault is not None
    assert fault.kind == "out-of-range access"
    machine.device.reset()
    machine.device.dispatch(1, 2, 0)
    fault = machine.device.run().fault
    assert fault is not None
    assert fault.kind == "misaligned access"
    assert fault.address == BASE + 2
