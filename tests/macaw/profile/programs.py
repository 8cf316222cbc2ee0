"""Small programs to profile."""

from __future__ import annotations

from functools import cache
from typing import Any

from numpy.typing import NDArray

from macaw import api
from macaw.asm.program import Program
from macaw.asm.source import Source
from macaw.networks import compiler
from macaw.networks.compiled import CompiledNetwork
from macaw.profiling.model import Profile
from macaw.profiling.profiler import ProfileOptions, profile
from tests.lowering.net.models import ModelBuilder
from tests.programs.profiled import SIX_CORES, make_six_cores

Inputs = dict[str, NDArray[Any]]


def six_cores(rounds: int = 2, without: str = "") -> tuple[Program, Inputs]:
    """The sample `six_cores`, in which all six kinds of cores work, with fewer than its 8 rounds.

    It has the same lines. `without` is the kind of core whose work is left out.
    """
    path, items, vectors = SIX_CORES / "six_cores.s", 4 * rounds, 16 * rounds
    text = path.read_text("utf-8")
    for before, after in (
        ("ROUNDS, 8", f"ROUNDS, {rounds}"),
        ("x, int8, 32, 256", f"x, int8, {items}, 256"),
        ("d, float16, 128, 8", f"d, float16, {vectors}, 8"),
        ("e, float16, 32, 16", f"e, float16, {items}, 16"),
        ("y, int32, 32, 4", f"y, int32, {items}, 4"),
        ("best, int32, 32", f"best, int32, {items}"),
        ("n, float16, 128, 8", f"n, float16, {vectors}, 8"),
        ("f, float16, 32, 16", f"f, float16, {items}, 16"),
    ):
        assert text.count(before) == 1
        text = text.replace(before, after)
    defines = {f"WITHOUT_{without}": 1} if without else {}
    program = api.assemble(Source(text, str(path), SIX_CORES), defines=defines)
    tensors = make_six_cores.tensors()
    return program, {
        "x": tensors["x"][:items], "d": tensors["d"][:vectors], "e": tensors["e"][:items]
    }  # fmt: skip


@cache
def six_profile(rounds: int = 2) -> Profile:
    """The profile of `six_cores`, without findings."""
    return profile(*six_cores(rounds), ProfileOptions(findings=False))


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


@cache
def small_network() -> CompiledNetwork:
    """A network of two layers: the array computes the first one, vc the second one."""
    builder = ModelBuilder(0, (1, 2, 4, 4))
    builder.conv("stem", 2, 1)
    builder.add("sum", "in_dq")
    return compiler.compile(builder.model(), device="tiny", name="net")
