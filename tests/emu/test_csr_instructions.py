"""The six instructions of Zicsr: the value of rd and the value that the register gets."""

from __future__ import annotations

import pytest

from macaw.asm.assembler import assemble
from macaw.asm.source import Source
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.isa import config

OLD, OTHER = 12, 10


@pytest.mark.once
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("instruction", "new"),
    [
        ("csrrw a0, trace_begin, a1", OTHER),
        ("csrrs a0, trace_begin, a1", OLD | OTHER),
        ("csrrc a0, trace_begin, a1", OLD & ~OTHER),
        (f"csrrwi a0, trace_begin, {OTHER}", OTHER),
        (f"csrrsi a0, trace_begin, {OTHER}", OLD | OTHER),
        (f"csrrci a0, trace_begin, {OTHER}", OLD & ~OTHER),
        ("csrrs a0, trace_begin, zero", OLD),
        ("csrrc a0, trace_begin, zero", OLD),
        ("csrrsi a0, trace_begin, 0", OLD),
        ("csrrci a0, trace_begin, 0", OLD),
    ],
)
def test_the_old_value_goes_to_rd_and_the_new_one_is_written(
    instruction: str, new: int, engine: str
) -> None:
    text = f"""
        .core   cp
_start: csrrwi  zero, trace_begin, {OLD}
        li      a0, 99
        li      a1, {OTHER}
        {instruction}
        csrr    a2, trace_begin
        mv      s0, a0
        mv      s1, a2
        li      a0, 0
        li      a7, 93
        ecall
    """
    configuration = config.load("tiny")
    device = Device(configuration, engine=engine)
    device.load(assemble([Source(text, "csr.s")], device=configuration))
    assert device.run(max_cycles=1000).exit_code == 0
    cp = device.cores["cp"]
    cp.sync()
    assert (int(cp.state.x[8]), int(cp.state.x[9])) == (OLD, new)
