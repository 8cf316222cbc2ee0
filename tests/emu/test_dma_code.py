"""cp sees what the dma has written so far, in code, in output and in descriptions of transfers."""

from __future__ import annotations

import struct

import pytest

from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from tests.emu.cp_machine import code, machine, register
from tests.emu.toys import EXTERNAL, UNIT, describe

AT = 0x8000  # of the first description
BYTES = 512

# Start a transfer, do so much else, then go to the code that it writes over.
START = """
    lui a1, 8
    dma.copy a2, a1
    addi a3, x0, {wait}
    addi a3, a3, -1
    bne a3, x0, -4
    lui a1, {place:#x}
    jalr x0, 0(a1)
"""
OLD = code("addi a0, a0, 1") * (BYTES // 4 - 1) + code(f"jal x0, {4 - BYTES}")
NEW = code("addi a0, a0, 16") * (BYTES // 4 - 2) + code("addi a7, x0, 93") + code("ecall")


def both(source: str | bytes, *data: tuple[int, bytes]) -> tuple[Device, Device]:
    """Run the program on each engine to its end; fail unless both devices are equal."""
    fast, reference = (machine(source, data=data, engine=engine) for engine in ENGINES)
    said: list[list[bytes]] = [[], []]
    for device, to in zip((fast, reference), said, strict=True):
        device.stdout = to.append
    stops = [device.run(max_cycles=100_000) for device in (fast, reference)]
    assert stops[0] == stops[1]
    assert said[0] == said[1]
    assert not fast.diff(reference.snapshot())
    assert fast.hash() == reference.hash()
    return fast, reference


@pytest.mark.parametrize("place", [UNIT, EXTERNAL + 4096])
@pytest.mark.parametrize("wait", [1, 3, 7, 9, 11, 14, 30])
def test_code_is_written_while_it_runs(place: int, wait: int) -> None:
    """Code that the dma overwrites while it runs changes in the same cycle in both engines.

    Old instructions add 1, new instructions add 16, so the sum shows when each was replaced.
    """
    source = EXTERNAL if place == UNIT else UNIT + 4096
    copy = describe(place, source, BYTES)
    text = START.format(wait=wait, place=place >> 12)
    fast, _ = both(text, (place, OLD), (source, NEW), (AT, copy))
    assert register(fast, "a0") % 16 or wait > 5 or place != UNIT


@pytest.mark.parametrize("wait", [1, 3, 5, 9, 30])
def test_decoded_code_is_written_over(wait: int) -> None:
    """Code that was executed before is decoded again after the dma has written over it."""
    text = f"""
        lui a1, {UNIT >> 12:#x}
        lui s0, 8
        jalr ra, 0(a1)
        dma.copy a2, s0
        addi a3, x0, {wait}
        addi a3, a3, -1
        bne a3, x0, -4
        jalr ra, 0(a1)
        ebreak
    """
    old = code("addi a0, a0, 1") * 100 + code("jalr x0, 0(ra)")
    new = code("addi a0, a0, 16") * 100 + code("jalr x0, 0(ra)")
    copy = describe(UNIT, EXTERNAL, len(new))
    fast, _ = both(text, (UNIT, old), (EXTERNAL, new), (AT, copy))
    total = register(fast, "a0")
    assert 100 < total <= 1700
    assert total == 1700 or wait < 9


@pytest.mark.parametrize("wait", [1, 4, 8, 12, 16, 30])
def test_bytes_are_printed_while_they_come(wait: int) -> None:
    text = START.rpartition("lui")[0].format(wait=wait)
    text += f"""
        addi a0, x0, 1
        lui a1, {UNIT >> 12:#x}
        addi a2, x0, {BYTES}
        addi a7, x0, 64
        ecall
        addi a7, x0, 93
        ecall
    """
    fast, _ = both(text, (EXTERNAL, NEW), (AT, describe(UNIT, EXTERNAL, BYTES)))
    assert fast.counters()["dma"]["beats"] == BYTES // 32 or wait < 20


@pytest.mark.parametrize("wait", [1, 6, 10, 14, 30])
def test_a_description_comes_with_the_transfer_before(wait: int) -> None:
    """A description is read in the cycle of its `dma.copy`, while another transfer writes it."""
    text = START.rpartition("lui")[0].format(wait=wait)
    text += f"""
        lui a1, {UNIT >> 12:#x}
        dma.copy a3, 288(a1)
        dma.wait a3
        ebreak
    """.replace("dma.copy a3, 288(a1)", "addi a1, a1, 288\n dma.copy a3, a1")
    old, new = describe(UNIT + 4096, EXTERNAL, 64), describe(UNIT + 4096, EXTERNAL + 64, 96)
    coming = bytes(288) + new + bytes(BYTES - 288 - len(new))
    data = [(UNIT + 288, old), (EXTERNAL, coming), (AT, describe(UNIT, EXTERNAL, BYTES))]
    fast, _ = both(text, *data)
    done = struct.unpack("<I", fast.memory.peek(UNIT + 288 + 12, 4))
    assert done == (1,)


def test_a_breakpoint_in_the_middle() -> None:
    """At a breakpoint during a transfer, both engines have the same state.

    The stop comes in the next cycle; other cores have not acted in that cycle.
    """
    for wait in range(1, 20):
        text = START.rpartition("lui")[0].format(wait=wait) + "\nebreak\n" * 9
        both(text, (EXTERNAL, NEW), (AT, describe(UNIT, EXTERNAL, BYTES)))
