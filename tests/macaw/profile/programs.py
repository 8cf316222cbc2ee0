"""Small programs to profile."""

from __future__ import annotations

from functools import cache

from macaw import api
from macaw.asm.program import Program
from macaw.asm.source import Source
from macaw.profiling.model import Profile
from macaw.profiling.profiler import ProfileOptions, profile
from tests.programs.profiled import SIX_CORES, make_six_cores


@cache
def six_profile() -> Profile:
    """The profile of the sample `six_cores`, in which all six kinds of cores work."""
    inputs = {name: make_six_cores.tensors()[name] for name in ("x", "d", "e")}
    return profile(SIX_CORES / "six_cores.s", inputs, ProfileOptions(findings=False))


def vector_loop(turns: int, name: str) -> Program:
    """A program of vc: `turns` times it loads, adds and loads with a stride; then it stores."""
    return api.assemble(
        Source(
            f"""
        .device tiny
        .input x, int8, 1024
        .output y, int32, 4
        .core vc
        la s0, x
        li s1, 0x10000000
        li s3, 128
        li s2, {turns}
1:      vld vr0, (s0)
        vadd.b vr1, vr0, vr0
        vlds.b vr2, s1, s3
        addi s0, s0, 16
        addi s2, s2, -1
        bnez s2, 1b
        la t0, y
        vst vr1, (t0)
        li a0, 0
        li a7, 93
        ecall
""",
            name,
        )
    )


def copies(turns: int, size: int = 2048, work: int = 40, start: int = 0) -> Program:
    """A program of cp: `turns` times it copies to on-chip memory, then works during a copy back.

    The loop of the work has `work` rounds. The program begins with `start` cycles of work.
    """
    return api.assemble(
        Source(
            f"""
        .device tiny
        .core   cp
_start: .rept   {start}
        nop
        .endr
        li      s0, {turns}
turn:   la      a0, inwards
        dma.copy zero, a0
        dma.wait zero
        la      a0, outwards
        dma.copy zero, a0
        li      t0, {work}
work:   addi    t0, t0, -1
        bnez    t0, work
        dma.wait zero
        addi    s0, s0, -1
        bnez    s0, turn
        li      a0, 0
        li      a7, 93
        ecall
        .section .data.cp
        .balign 4
inwards: .word  0x10000000, 0x80010000, {size}, 1, 0, 0
outwards: .word 0x80020010, 0x10000000, {size}, 1, 0, 0
""",
            "copies.s",
        )
    )
