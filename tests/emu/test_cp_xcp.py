"""Xcp: transfers, swaps, dispatches, starts and waits; the reasons of waits."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from macaw.emu.core import Event
from tests.emu.cp_machine import TEXT, machine, processor, register
from tests.emu.toys import EXTERNAL, HALF, UNIT, describe, make, times, toy

TABLE = 0x30000  # where the tests keep descriptions of transfers


def test_a_copy_gives_tickets_and_wait_waits_for_them():
    """`dma.copy` returns tickets; `dma.wait` waits for a ticket's transfer (seed 000 ¶48)."""
    rows = bytes(range(128))
    device = machine(
        f"""
        lui      s0, {TABLE >> 12:#x}
        dma.copy a0, s0
        addi     s0, s0, 24
        dma.copy a1, s0
        dma.wait a0
        csrrs    a2, cycle, zero
        dma.wait zero
        csrrs    a3, cycle, zero
        dma.wait a1
        csrrs    a4, cycle, zero
        ebreak
        """,
        data=(
            (EXTERNAL, rows),
            (
                TABLE,
                describe(UNIT, EXTERNAL, 64) + describe(UNIT + 256, EXTERNAL + 64, 16, 4, 32, 16),
            ),
        ),
    )
    assert device.run().reason == "breakpoint"
    assert (register(device, "a0"), register(device, "a1")) == (1, 2)
    assert device.memory.peek(UNIT, 64) == rows[:64]
    for row in range(4):
        assert device.memory.peek(UNIT + 256 + 32 * row, 16) == rows[64 + 16 * row :][:16]
    first, second, third = (register(device, name) for name in ("a2", "a3", "a4"))
    assert 20 < first < second
    assert third == second + 2  # a wait for what is done costs its cycle
    assert device.counters()["cp"]["cycles_waiting"] > 20


def test_a_copy_waits_for_room_in_the_queue():
    device = machine(
        f"lui s0, {TABLE >> 12:#x}\n" + "dma.copy a0, s0\n" * 3 + "ebreak",
        data=((TABLE, describe(UNIT, EXTERNAL, 32)),),
        dma__queue=1,
    )
    device.run()
    # 4 of setup, 20 of latency and the beat; then the next one begins.
    assert register(device, "a0") == 3
    assert device.counters()["cp"]["cycles_waiting"] > 40


def test_a_ticket_that_never_was_is_a_fault():
    stop = machine("addi a0, zero, 9\ndma.wait a0").run()
    assert str(stop) == (
        "cp: bad mask at 0x00010004, cycle 1: there is no transfer 9, none was started yet"
    )


def test_swap_exchanges_the_halves():
    """`mem.swap` exchanges the feeding half and the other half (seed 000 ¶146)."""
    device = machine("addi a0, zero, 1\nmem.swap a0\nebreak")
    assert device.memory.feeding == [1, 1]
    stop = device.run()
    assert device.memory.feeding == [0, 1]
    assert stop.cycle == 3


def test_swap_and_dispatch_wait_for_the_row():
    """`mem.swap` and `dispatch` wait until the row has finished its list (seed 000 ¶48)."""
    row = [("work", 100), ("end",)]
    device = machine(
        """
        addi     a0, zero, 1
        dispatch a0, zero
        mem.swap a0
        csrrs    a1, cycle, zero
        dispatch a0, zero
        dispatch a0, zero
        csrrs    a2, cycle, zero
        ebreak
        """,
        toy(16, row, idle=True, unit=0),
    )
    assert device.run().reason == "breakpoint"
    # Dispatched at 1, the toy starts 4 later, works 100 and ends at 105; cp goes on at 106.
    assert register(device, "a1") == 107
    # Dispatched at 108, done at 212; dispatched again at 213.
    assert register(device, "a2") == 214
    assert device.counters()["cp"]["cycles_waiting"] == (106 - 2) + (213 - 109)


def test_dispatch_takes_the_place_in_the_half():
    device = machine(
        f"""
        addi     a0, zero, 1
        lui      a1, {(UNIT + HALF) >> 12:#x}
        addi     a1, a1, 2
        dispatch a0, a1
        addi     a2, zero, 1
        slli     a2, a2, 16
        core.wait a2
        ebreak
        """,
        toy(16, [("work", 1), ("work", 2), ("mark",), ("end",)], idle=True, unit=0),
    )
    device.run()
    assert [result for _, result in times(device, "toy16")] == ["mark"]


def test_start_and_wait_for_cores():
    """`core.start` starts a core at an address, `core.wait` waits for its end (seed 000 ¶48)."""
    device = machine(
        """
        addi       a0, zero, 5
        addi       a1, zero, 1
        core.start a0, a1
        core.start a0, zero
        addi       a2, zero, 32
        core.wait  a2
        csrrs      a3, cycle, zero
        ebreak
        """,
        toy(5, [("work", 10), ("end",)], idle=True),
    )
    device.run()
    # Entry 1 is the end: done at 2, so the second start is at 3; the work ends at 13.
    assert register(device, "a3") == 15


def test_a_core_that_waits_for_itself():
    stop = machine("addi a0, zero, 1\ncore.wait a0").run()
    assert stop.reason == "deadlock"
    assert str(stop) == (
        "deadlock: cp at 0x00010004 waits for core.wait 0x1 since cycle 1 (cp is the one that waits)"
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("mem.swap a0", "mem.swap with the mask 0x7ff: there is no unit 10, the device has 2"),
        ("dispatch a0, zero", "dispatch with the mask 0x7ff: there is no unit 10, the device has 2"),
        ("core.start a0, zero", "core.start of core 2047: there is no such core, only 0 cp, 1 dma, 30 toy30, 31 toy31"),
        ("core.wait a0", "the mask 0x7ff has bit 10 set: there is no such core, only 0 cp, 1 dma, 30 toy30, 31 toy31"),
    ],
)  # fmt: skip
def test_masks_that_name_nothing(source, message):
    device = machine(f"addi a0, zero, 2047\n{source}")
    stop = device.run()
    assert str(stop.fault) == f"cp: bad mask at 0x00010004, cycle 1: {message}"
    assert processor(device).next_address == TEXT + 4


def test_start_of_a_core_without_programs():
    stop = machine("addi a0, zero, 1\ncore.start a0, zero").run()
    assert str(stop.fault) == (
        "cp: bad mask at 0x00010004, cycle 1: core 1, dma, has no program of its own to start"
    )


@pytest.mark.parametrize("source", ["dma.copy a0, a1", "dma.wait zero"])
def test_a_device_without_dma(source):
    import macaw.emu.cp
    from tests.emu.cp_machine import COSTS, code, program

    settings: dict[str, Any] = {name.replace(".", "__"): value for name, value in COSTS.items()}
    device = make(macaw.emu.cp.build, dma=False, **settings)
    device.load(program(code(source)))
    stop = device.run()
    assert str(stop.fault) == "cp: bad mask at 0x00010000, cycle 0: this device has no dma"


def test_a_description_that_is_not_aligned():
    stop = machine("addi a0, zero, 2\ndma.copy a1, a0").run()
    assert stop.fault is not None
    assert stop.fault.kind == "misaligned access"
    assert (stop.core, stop.address) == ("cp", TEXT + 4)


def test_waiting_while_somebody_listens_is_announced_once():
    device = machine(
        f"lui s0, {TABLE >> 12:#x}\ndma.copy a0, s0\ndma.wait a0\nebreak",
        data=((TABLE, describe(UNIT, EXTERNAL, 32)),),
    )
    events: list[Event] = []
    device.listen(events.append, ["cp"])
    device.run()
    places = [event.values["address"] for event in events if event.kind == "instruction"]
    assert places == [TEXT, TEXT + 4, TEXT + 8, TEXT + 12]


def test_registers_of_cores_are_read():
    device = machine(
        f"""
        lui   a0, 0x20005
        lw    a1, 0(a0)
        lw    a2, 4(a0)
        lui   a3, 0x20000
        lw    a4, 8(a3)
        lw    a5, 12(a3)
        ebreak
        # {struct.calcsize("I")} bytes each
        """,
        toy(5, [("work", 100), ("end",)]),
    )
    device.run()
    assert register(device, "a1") == 5
    assert register(device, "a2") == 1
    assert register(device, "a4") == TEXT + 16
    assert register(device, "a5") == 1 + 2 + 2 + 1 + 2
