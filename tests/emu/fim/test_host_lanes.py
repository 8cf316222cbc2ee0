"""Strided accesses of vc to an island's banks: they wait for all banks before the first lane.

In docs/timing-fim.md, an access to a bank in which a block runs waits for the block's `end`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from macaw.asm.assembler import Source, assemble
from macaw.asm.program import Program
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.isa import config
from tests.emu.trace_witness import configure, spilled

BANKS, BANK_BYTES, COLUMN_BYTES = 0x4000_0000, 0x1_0000, 32  # island 0 of tiny
LANES = 4  # words of a vector register
OLD = np.arange(100, 100 + LANES, dtype=np.uint32)  # lane i is word 0 of bank i
# The block in bank 2 writes column 1 until it ends. While vc waits, cp reads lane 0 and writes
# lane 1, which are in banks without a block.
PROGRAM = f"""
        .device tiny
        .core   cp
_start: li      a0, 8
        la      a1, blocks
        core.start a0, a1
        li      a0, 2
        la      a1, access
        core.start a0, a1
        li      t0, 200
pause:  addi    t0, t0, -1
        bnez    t0, pause
        la      a2, early
        li      s0, {BANKS:#x}
        lw      t1, 0(s0)
        sw      t1, 0(a2)
        li      s1, {BANKS + BANK_BYTES:#x}
        li      t2, 77
        sw      t2, 0(s1)
        csrr    t3, cycle
        sw      t3, 4(a2)
        li      a0, 1 << 2 | 1 << 8
        core.wait a0
        li      a0, 0
        li      a7, 93
        ecall
        .data
        .balign 4
early:  .space  8
        .core   fim, island=0
blocks: .block  banks=2
          mmr   op, vssqr
          act   0
          loop  100
          rz <- vssqr(iosa[0])
          iosa[1] <- rz
          endloop
        end
        .core   vc
access: li      a3, {BANKS:#x}
        li      a4, {BANK_BYTES:#x}
        la      a5, new
        vld     vr1, 0(a5)
        WHAT.w  vr1, a3, a4
        li      a0, 0
        li      a7, 93
        ecall
        .data
        .balign 16
new:    .word   1, 2, 3, 4
"""
ALWAYS = {"mode": 1, "begin": 0, "num": 1, "step": 1}


@dataclass
class Run:
    """What is left of a run: the device, and the accesses of vc to the banks."""

    device: Device
    program: Program
    ended: int = 0  # the cycle of the last announcement of the island
    accesses: list[tuple[str, int, int]] = field(default_factory=list)  # kind, time, address

    def word(self, address: int) -> int:
        return int.from_bytes(self.device.memory.peek(address, 4), "little")

    def lanes(self) -> list[int]:
        return [self.word(BANKS + bank * BANK_BYTES) for bank in range(LANES)]

    def facts(self) -> dict[str, Any]:
        """What both engines must agree on."""
        state = self.device
        state.sync()
        return {
            "cycle": state.cycle,
            "counters": state.counters(),
            "vr1": state.cores["vc"].state.vr[1].tolist(),
            "lanes": self.lanes(),
            "trace": spilled(state, "vc"),
        }


def run(what: str, engine: str, listens: bool) -> Run:
    device = Device(config.load("tiny"), engine=engine)
    program = assemble(Source(PROGRAM.replace("WHAT", what), "lanes.s"))
    device.load(program)
    for bank in range(LANES):
        device.memory.poke(BANKS + bank * BANK_BYTES, OLD[bank].tobytes())
    found = Run(device, program)
    configure(device, "vc", ALWAYS, start=False)

    def hear(event) -> None:
        if event.core.name == "fim[0]":
            found.ended = max(found.ended, event.time)
        elif event.kind in ("read", "write") and BANKS <= event.values["address"] < 2 * BANKS:
            found.accesses.append((event.kind, event.time, event.values["address"]))

    if listens:
        device.listen(hear, ["fim[0]", "vc"])
    stop = device.run(1_000_000)
    assert stop.reason == "exit", stop.message
    return found


@pytest.mark.parametrize("what", ["vlds", "vsts"])
@pytest.mark.parametrize("engine", ENGINES)
def test_lanes_wait_for_all_banks_before_the_first_lane(what: str, engine: str) -> None:
    """While a block runs in the bank of lane 2, lanes 0 and 1 are neither read nor written.

    cp reads lane 0 and overwrites lane 1 meanwhile: it reads the old value, and a load of vc gets
    the new one. Each lane is announced once, after the block has ended, and is one column of
    `host_columns`, as are the two accesses of cp.
    """
    found = run(what, engine, listens=True)
    early = found.program.symbol("early").value
    assert found.word(early) == OLD[0]
    assert found.word(early + 4) < found.ended
    loaded = [100, 77, 102, 103]
    assert found.lanes() == (loaded if what == "vlds" else [1, 2, 3, 4])
    facts = found.facts()
    assert np.array(facts["vr1"], np.uint8).view(np.uint32).tolist() == found.lanes()
    assert [address for _, _, address in found.accesses] == [
        BANKS + bank * BANK_BYTES for bank in range(LANES)
    ]
    assert all(time >= found.ended for _, time, _ in found.accesses)
    assert facts["counters"]["fim[0]"]["host_columns"] == LANES + 2


@pytest.mark.parametrize("what", ["vlds", "vsts"])
def test_engines_agree_about_lanes_that_wait(what: str) -> None:
    """Engines, with and without listeners, agree on cycles, counters, data and the trace."""
    first, *others = [run(what, engine, one).facts() for engine in ENGINES for one in (True, False)]
    assert first["trace"]
    for other in others:
        assert other == first
