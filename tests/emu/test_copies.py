"""If a row executes the part of another row, its faults name lines of that part."""

from __future__ import annotations

import pytest

from macaw import api
from macaw.asm.source import Source
from macaw.emu.copies import original
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.execution import configuration_of

TEXT = """
        .device tiny
        .core   pe, row=0
        .seq    one
          {instruction}
        .endseq
        .list   first
        config  ib=0, one
        exe     ib=0, last
        .endlist
        .core   cp
_start: la      a0, copy
        dma.copy zero, a0
        dma.wait zero
        li      s0, 2                   # row 1 alone
        mem.swap s0
        la      a1, first
        dispatch s0, a1
        li      s1, 1 << 17
        core.wait s1
        li      a7, 93
        ecall
        .section .data.cp
        .balign 4
copy:   .word   0x10100000, load_address(first), 128, 1, 0, 0
"""


def device_of(instruction, engine):
    program = api.assemble(Source(TEXT.format(instruction=instruction), "test.s"), device="tiny")
    device = Device(configuration_of(program), engine=engine)
    device.load(program)
    return device


@pytest.mark.parametrize("engine", ENGINES)
def test_a_fault_in_a_copy_has_the_line_of_the_original(engine):
    device = device_of("mac   base=0, acc=0", engine)
    stop = device.run()
    assert stop.fault.core == "pe[1]"
    one = device.program.symbol("one").value + 16
    assert stop.fault.address == one + (1 << 20)
    assert stop.fault.place[:2] == ("test.s", 5)
    assert device.place(one) == device.place(one + (1 << 20), device.cores["pe[1]"])


def test_what_is_no_copy_stays_where_it_is():
    device = device_of("spu   nonsf, src=0, dst=0", ENGINES[0])
    program, (first, second) = device.program, (device.cores[f"pe[{row}]"] for row in (0, 1))
    begin = program.symbol("first").value
    assert original(program, second, begin + (1 << 20)) == begin + (1 << 20)  # not copied yet
    assert device.run().reason == "exit"
    assert original(program, second, begin + (1 << 20)) == begin
    assert original(program, first, begin) == begin
    assert original(program, first, begin + (1 << 20)) == begin + (1 << 20)  # of another unit
    assert original(program, second, begin + (1 << 20) + 128) == begin + (1 << 20) + 128
    cp = device.cores["cp"]
    assert original(program, cp, 0x4000) == 0x4000
