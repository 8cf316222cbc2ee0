"""Small programs for tests that record outcomes: one for each kind of core, one for several cores.

No sample of programs/ is used, so that recorded outcomes change only if Macaw or this file changes.
Each program has device tiny and ends after at most some thousand cycles.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from macaw import api
from macaw.asm.program import Program

PROCESSOR = """\
# cp.s - calls, a recursion, a macro, an included file, a loop that stores, a copy, a text
        .device tiny
        .output y, int16, 2, 3
        .output copied, int16, 2, 3
        .equ    ROUNDS, 6

        .core   cp
        .macro  twice reg, other=a1
        add     \\reg, \\reg, \\reg
        mv      \\other, \\reg
        .endm

_start: li      a0, 3
        call    double
        twice   a0
        call    outer
        la      s3, y
        li      s0, ROUNDS
loop:   sh      a0, 0(s3)
        addi    a0, a0, -5
        addi    s3, s3, 2
        addi    s0, s0, -1
        bnez    s0, loop
        la      a0, copy
        dma.copy zero, a0
        dma.wait zero
        li      a0, 4
        call    factorial
        la      t0, last
        sw      a0, 0(t0)
        lw      s4, 0(t0)
        li      a7, 64                  # write
        li      a0, 1
        la      a1, text
        li      a2, sizeof(text)
        ecall
        li      a7, 93
        li      a0, 3
        ecall

        .include "inner.s"

        .section .data.cp
text:   .ascii  "six numbers\\n"
        .balign 4
copy:   .word   copied, y, 12, 1, 0, 0
last:   .word   0, -1
        .data
halves: .half   0x3c00, 0xc000, 0x7bff, 0, 0x3800, 0x7e00, 0xfc00, 1
wide:   .float  1.5, -0.0, 1e30
"""
INNER = """\
# inner.s - functions
double: slli    a0, a0, 1
        ret
outer:  addi    sp, sp, -16
        sw      ra, 0(sp)
        call    double
        addi    t1, a0, 1
        call    double
        lw      ra, 0(sp)
        addi    sp, sp, 16
        ret
factorial:
        addi    sp, sp, -16
        sw      ra, 0(sp)
        sw      s1, 4(sp)
        mv      s1, a0
        li      t0, 2
        blt     a0, t0, 1f
        addi    a0, a0, -1
        call    factorial
        mul     a0, a0, s1
1:      lw      s1, 4(sp)
        lw      ra, 0(sp)
        addi    sp, sp, 16
        ret
"""
VECTOR = """\
# vc.s - sums of bytes, four vectors a round
        .device tiny
        .input  x, int8, 64
        .output y, int32, 4
        .output cycles, uint32, 2

        .core   vc
        la      s0, y
        la      s1, cycles
        csrr    s10, cycle
        call    sums
        csrr    t0, cycle
        sub     t0, t0, s10
        sw      t0, (s1)
        li      a0, 0
        li      a7, 93
        ecall

sums:   la      t0, x
        la      t2, order
        vld     vr2, (t2)
        vsplat.w vr3, zero
        li      t1, 4
round:  vld     vr0, (t0)
        vadd.b  vr1, vr0, vr0
        pmac.s8 vr3, vr0, vr1, vr2, acc
        addi    t0, t0, 16
        addi    t1, t1, -1
        bnez    t1, round
        vst     vr3, (s0)
        vsum.w  vr3, vr3
        vext.w  a0, vr3, 0
        sw      a0, 4(s1)
        ret

        .data
        .balign 16
order:  .byte   0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
"""
ARRAY = """\
# pe.s - two images through a sparse layer, one after the other
        .device tiny
        .input  x, int8, 2, 64
        .output y, int32, 2, 8

        .core   pe, row=0
w:      .sparse "weights.npy"[0:8]
        .seq    first, state=sq
          ld    activations, base=0
          ld    weights
          mac   base=0, acc=0
          spu   nonsf, src=0, dst=0
          st    base=0
        .endseq
        .seq    second, state=sq
          ld    activations, base=1
          ld    weights
          mac   base=1, acc=1
          spu   nonsf, src=1, dst=1
          st    base=1
        .endseq
        config  ib=0, first
        config  ib=1, second
        exe     ib=0, last, data=(x[0], w[0]), out=y[0]
        exe     ib=1, last, data=(x[1], w[0]), out=y[1]
"""
NETWORK = """\
# nnp.s - a layer with bias and ReLU, then softmax, three vectors
        .device tiny
        .equ    ITEMS, 3
        .input  x, float16, ITEMS * 2, 4, at=netin
        .output y, float16, ITEMS * 2, 4, at=netout

        .core   nnp
        .hint   tensor W, MatrixRf, 0, 8, 8
        .hint   tensor b, AddSubVrf0, 0, 1, 8

        SetRowsCols(2, 2)
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        v_rd    Dram, 4 * 4
        v_wr    AddSubVrf0, 0
        SetIterations(ITEMS)
        v_rd    NetInQ
        mv_mul  0
        vv_add  AddSubVrf0, 0
        v_relu
        v_wr    NetOutQ
        end_chain

        .data
        .npy    "matrix.npy"
        .npy    "bias.npy"
"""
ISLAND = """\
# fim.s - one bank computes rows of products and pushes them, another one adds them up
        .device tiny
        .output c, float16, 4, 16

        .core   cp
        .macro  copy what
        la      a0, \\what
        dma.copy zero, a0
        .endm

_start: copy    load_a
        copy    load_b
        dma.wait zero
        li      a0, 8                   # island 0
        la      a1, blocks
        core.start a0, a1
        copy    store
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall

        .data
        .balign 4
load_a: .word   BANK, a, 128, 1, 0, 0
load_b: .word   BANK + 512, b, 512, 1, 0, 0
store:  .word   c, OTHER, 128, 1, 0, 0
        .balign 64
a:      .npy    "a.npy"
b:      .npy    "b.npy"
        .set    BANK, 0x40000000
        .set    OTHER, BANK + 2 * 64 * 1024
        .set    BUFFER, BANK + 3 * 64 * 1024

        .core   fim, island=0
blocks: .block  banks=0
          mmr   b0_low, BUFFER
          mmr   b0_high, BUFFER + 8 * 32
          mmr   op, mul
          mmr   arrange, dot
          act   0
        .irp    r, 0, 1, 2, 3
          rop <- iosa[\\r]
          mmr   rz_slot, 0
          rz <- rop * iosa[16:32]
          push  rz
        .endr
        end
        .block  banks=2
          act   0
        .irp    r, 0, 1, 2, 3
          pull  rop
          mmr   op, relu
          rz <- relu(rop)
          iosa[\\r] <- rz
        .endr
        end
"""
SEVERAL = """\
# several.s - cp lets the array, vc and an island work at the same time
        .device tiny
        .input  x, int8, 64
        .output y, int32, 8
        .output v, int8, 16
        .output c, float16, 2, 16
        .equ    ROW0, 1
        .equ    VC, 2
        .equ    ISLAND0, 8
        .equ    ALL, 1 << VC | 1 << ISLAND0 | 1 << 16

        .core   pe, row=0
items:  .array  int8, 64
        .balign 32
sums:   .array  int32, 8
w:      .sparse "weights.npy"[0:8]
        .seq    layer, state=sq
          ld    activations, base=0
          ld    weights
          mac   base=0, acc=0
          spu   nonsf, src=0, dst=0
          st    base=0
        .endseq
        .list   work
        config  ib=0, layer
        exe     ib=0, last, data=(items, w[0]), out=sums
        .endlist

        .core   vc
double: la      t0, x
        vld     vr0, (t0)
        vadd.b  vr1, vr0, vr0
        la      t0, v
        vst     vr1, (t0)
        li      a0, 0
        li      a7, 93
        ecall

        .core   fim, island=0
blocks: .block  banks=0
          mmr   op, add
          act   0
          rop <- iosa[0]
          rz <- rop + iosa[1]
          iosa[2] <- rz
        end
        endall

        .core   cp
_start: la      a0, load
        dma.copy zero, a0
        la      a0, list
        dma.copy zero, a0
        la      a0, images
        dma.copy zero, a0
        dma.wait zero
        li      t0, ROW0
        mem.swap t0
        la      t1, work
        dispatch t0, t1
        li      t0, VC
        la      t1, double
        core.start t0, t1
        li      t0, ISLAND0
        la      t1, blocks
        core.start t0, t1
        li      s0, 5
busy:   addi    s0, s0, -1
        bnez    s0, busy
        li      t0, ALL
        core.wait t0
        li      t0, ROW0
        mem.swap t0
        la      a0, results
        dma.copy zero, a0
        la      a0, give
        dma.copy zero, a0
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall

        .section .data.cp
        .balign 4
list:   .word   work, load_address(work), w + sizeof(w) - work, 1, 0, 0
images: .word   items, x, 64, 1, 0, 0
results: .word  y, sums, 32, 1, 0, 0
load:   .word   0x40000000, numbers, 64, 1, 0, 0
give:   .word   c, 0x40000020, 64, 1, 0, 0
        .data
        .balign 64
numbers: .npy   "a.npy"
"""


def _bytes(count: int, factor: int) -> NDArray[np.int8]:
    """`count` bytes that look irregular."""
    return np.array([(factor * n * n + 5 * n + 3) % 23 - 11 for n in range(count)], np.int8)


def _weights() -> NDArray[np.int8]:
    """A sparse 8 x 64 matrix: a third of its elements are not 0."""
    dense = _bytes(512, 7)
    return np.where(np.arange(512) * 5 % 3 == 0, dense, 0).astype(np.int8).reshape(8, 64)


def _halves(*shape: int) -> NDArray[np.float16]:
    """Numbers of fp16 that are multiples of an eighth, so that sums of them are exact."""
    return (_bytes(int(np.prod(shape)), 11) / 8).astype(np.float16).reshape(shape)


@dataclass(frozen=True)
class Small:
    """A program: its files, its inputs, and names in it that commands of the debugger can use."""

    source: str  # the name of its first file
    files: Mapping[str, str | NDArray[np.generic]]
    inputs: Mapping[str, NDArray[np.generic]] = field(default_factory=dict)
    focus: str = ""  # the core to look at; empty: the first one
    places: tuple[str, ...] = ()  # lines, symbols and addresses with code
    values: tuple[str, ...] = ()  # expressions with one number
    arrays: tuple[str, ...] = ()  # expressions with several numbers
    registers: tuple[str, ...] = ()
    units: tuple[str, ...] = ()  # cores, units, and sets of them
    events: tuple[str, ...] = ()
    begin: int = 0  # the cycle in which the focus begins to run
    cycles: int = 0  # of a whole run

    def write(self, folder: Path) -> Path:
        """Write the files and return the path of the source."""
        for name, content in self.files.items():
            if isinstance(content, str):
                (folder / name).write_text(content, "utf-8")
            else:
                np.save(folder / name, content)
        return folder / self.source

    def write_inputs(self, folder: Path) -> list[str]:
        """Write the inputs as .npy files; return the arguments `NAME=FILE` of `macaw run`."""
        for name, array in self.inputs.items():
            np.save(folder / f"input_{name}.npy", array)
        return [f"{name}=input_{name}.npy" for name in self.inputs]


PROGRAMS: Mapping[str, Small] = {
    "cp": Small(
        "cp.s",
        {"cp.s": PROCESSOR, "inner.s": INNER},
        {},
        "cp",
        places=("loop", "double", "outer", "factorial", "_start", "inner.s:2", "inner.s:15", "cp.s:20", "27",
                "loop+8", "*loop+4", "*0x10000", "double+4", "19", "14", "twice", "text", "halves", "y",
                "cp.s:1", "inner.s:1", "inner.s:26", "inner.s:27", "cp.s:52", "cp.s:53", "0", "-1", "+1", "-3",
                "*0x10001", "*0x80000000", "nowhere", "other.s:3", "loop+1000"),
        values=("a0", "s0", "sp", "pc", "cp.s3", "t1", "y[0, 1]", "y[1, 2]", "copied[0, 0]", "halves", "last",
                "device.cycle", "cp.retired", "dma.retired", "mem[y].i16", "mem[last].u32", "halves.f16", "sizeof(text)",
                "a0 & 0xff", "s0 * 2 - 1", "a0 > 3", "loop + 4", "%hi(loop)", "dma.transfers.level", "-s0"),
        arrays=("y", "copied", "y[0]", "y[:, 1]", "y[1, 0:2]", "y[0:0]", "y * 2", "sum(y)", "max(y[0])", "halves.f16@8",
                "last@2", "text.u8@12", "dma.transfers", "cp.x", "mean(y)", "wide.f32@3"),
        registers=("a0", "s0", "s4", "sp", "pc", "ra", "x0", "cp.t1"),
        units=("cp", "dma", "vc", "*", "cp, dma"),
        events=("dma-done", "fault", "stall", "swap", "syscall"),
        begin=0,
        cycles=332,
    ),
    "vc": Small(
        "vc.s",
        {"vc.s": VECTOR},
        {"x": _bytes(64, 3)},
        "vc",
        places=("sums", "round", "vc.s:13", "24", "26", "29", "round+8", "*sums+4", "order", "vc.s:1", "vc.s:38", "39", "0",
                "-2", "+2", "*round", "x"),
        values=("vc.t1", "vc.a0", "t0", "vc.pc", "y[0]", "y[3]", "cycles[0]", "vr3.i32[0]", "vr0.i8[15]", "vr1.u8[16]",
                "vc.retired", "x[3]", "x[63]", "x[64]", "mem[order].u8", "device.cycle", "s10", "vr3.f32[1]"),
        arrays=("y", "x", "x[0:5]", "x[60:]", "x[::16]", "vr0", "vr0.i8", "vr3.i32", "vr2.u16", "sum(x)", "min(x)", "x * x",
                "order@4", "cycles"),
        registers=("t0", "t1", "a0", "vr0", "vr3", "pc", "s10"),
        units=("vc", "cp", "dma", "vc, dma"),
        events=("stall", "fault", "saturate", "queue-full"),
        begin=22,
        cycles=229,
    ),
    "pe": Small(
        "pe.s",
        {"pe.s": ARRAY, "weights.npy": _weights()},
        {"x": np.stack([_bytes(64, 3), _bytes(64, 5)])},
        "pe[0,1].2",
        places=("pe.s:7", "9", "10", "11", "12", "13", "_list.0", "default.first+4", "17", "20", "22", "24", "25", "first", "second", "w", "pe.s:25", "26",
                "*0", "0"),
        values=("pe[0,0].0.acc0", "pe[0,1].3.acc1", "acc0", "pe[0,0].1.q1.level", "pe[0,1].2.macs", "pe[0].runs", "q1.level",
                "dma.retired", "y[0, 0]", "y[1, 7]", "y[2, 0]", "pe[0,2].0.acc0", "pe[0,0].4.acc0", "device.cycle",
                "pe[0,0].retired", "sum(pe[0,*].*.macs)"),
        arrays=("y", "y[0]", "pe[*,*].*.macs", "pe[0,*].*.acc0", "pe[0,0].*.q1.level", "x[1, 0:9]", "acc0 + 1",
                "max(pe[0,*].*.acc1)", "pe[0,0].0.q1", "pe[0,0].*.weight_queue.entries", "pe[0].packet"),
        registers=("acc0", "acc1", "pe[0,0].0.acc0", "q1.level"),
        units=("pe[0,0].0", "pe[0,*].*", "pe[0,1].2", "pe[0,0]", "pe[0]", "pe[1]", "pe[2]", "pe[0,0].0..2", "dma", "cp",
               "pe[0,0].1, pe[0,1].3"),
        events=("exe", "queue-full", "queue-empty", "dma-done", "swap", "stall", "saturate"),
        begin=40,
        cycles=281,
    ),
    "nnp": Small(
        "nnp.s",
        {"nnp.s": NETWORK, "matrix.npy": _halves(16, 4), "bias.npy": _halves(2, 4)},
        {"x": _halves(6, 4)},
        "nnp",
        places=("12", "14", "15", "nnp.s:17", "19", "20", "22", "24", "25", "30", "*0x20000000", "0"),
        values=("nnp.retired", "nnp.chain.iteration", "nnp.NetInQ.level", "NetOutQ.level", "add_sub_vrf0[0]", "y[0, 0]",
                "x[5, 3]", "x[6, 0]", "dma.retired", "device.cycle", "pc", "nnp.rows", "nnp.cols"),
        arrays=("nnp.chain", "add_sub_vrf0", "nnp.NetInQ", "y", "x", "x[0]", "W", "sum(x)", "nnp.matrix_rf", "x[:, 0] * 2"),
        registers=("rows", "cols", "iterations", "pc", "add_sub_vrf0"),
        units=("nnp", "dma", "cp", "*"),
        events=("stall", "dma-done", "nan", "sfu-done", "queue-full", "fault"),
        begin=20,
        cycles=217,
    ),
    "fim": Small(
        "fim.s",
        {"fim.s": ISLAND, "a.npy": _halves(4, 16), "b.npy": _halves(16, 16)},
        {},
        "fim[0]",
        places=("blocks", "fim.s:38", "41", "43", "44", "46", "50", "53", "55", "_start", "copy", "load_a", "fim.s:11", "18",
                "fim.s:57", "58", "*blocks", "0"),
        values=("fim[0].retired", "fim[0].bank[0].rz.f16[0]", "fim[0].bank[2].rop.f16[15]", "bank[0].rz.u8[0]",
                "fim[0].bank[4].rz.f16[0]", "c[0, 0]", "c[3, 15]", "c[4, 0]", "cp.a0", "dma.retired", "device.cycle",
                "fim[0].b0_start", "cp.pc"),
        arrays=("c", "c[0]", "c[:, 3]", "fim[0].bank[0].rz.f16", "fim[0].bank[*].rop.f16", "fim[0].blocks", "a.f16@4",
                "fim[0].bank[0].gio", "sum(c)", "dma.transfers", "cp.x"),
        registers=("op", "arrange", "rz_slot", "b0_low", "rz", "rop", "cp.a0"),
        units=("fim[0]", "fim[0].bank[0]", "fim[*]", "fim[0,0]", "fim[0,2]", "fim[1]", "fim[2]", "cp", "dma", "cp, fim[0]"),
        events=("stall", "dma-done", "nan", "saturate", "layer"),
        begin=200,
        cycles=598,
    ),
    "several": Small(
        "several.s",
        {"several.s": SEVERAL, "a.npy": _halves(2, 16), "weights.npy": _weights()},
        {"x": _bytes(64, 3)},
        "cp",
        places=("_start", "double", "blocks", "busy", "several.s:29", "39", "42", "48", "52", "56", "60", "63", "68", "*busy+4",
                "work", "layer", "load", "0", "75", "76", "77"),
        values=("cp.s0", "s0", "vc.t0", "vc.retired", "fim[0].retired", "dma.retired", "y[0]", "y[7]", "v[15]", "c[1, 15]",
                "fim[0].bank[0].rz.f16[1]", "pe[0,0].0.acc0", "device.cycle", "cp.waiting", "pc"),
        arrays=("y", "v", "c", "c[0]", "x[0:8]", "vc.vr1.i8", "pe[0,*].*.acc0", "dma.transfers", "cp.x", "sum(v)",
                "numbers.f16@4"),
        registers=("s0", "t0", "pc", "vc.t0", "a0"),
        units=("cp", "vc", "fim[0]", "pe[0,0].0", "pe[0,*].*", "dma", "*", "cp, vc", "nnp"),
        events=("dma-done", "exe", "swap", "stall", "nan", "fault"),
        begin=60,
        cycles=275,
    ),
}  # fmt: skip


@cache
def program(name: str) -> Program:
    """The program of this name; the names of its files have no folder.

    Macaw looks for these files in the current folder if a command shows lines of the source.
    """
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return api.load(PROGRAMS[name].write(Path()))
