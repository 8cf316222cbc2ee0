"""Edits of sample programs, each of which follows the advice of a finding."""

from __future__ import annotations

from typing import NamedTuple


class Edit(NamedTuple):
    """An edit of a sample program that follows the advice of a finding.

    `core`, `cause` and `place` identify the finding; `place` is its first line, as `file.s:12`.
    `does` says what the edit does. `changes` are pairs of a text in the sample's file `file` and
    its replacement. The rows of the matrix in `ordered` are ordered by their numbers of weights.
    """

    sample: str
    core: str
    cause: str
    place: str
    does: str
    changes: tuple[tuple[str, str], ...]
    file: str = ""  # empty: the source of the sample
    ordered: str = ""  # empty: none


_LSTM_X = """        v_rd    NetInQ
        v_wr    InitialVrf, X
"""
_GRU_X = """        .macro  inputs                  # of a step: x, and its products
        v_rd    NetInQ
        v_wr    InitialVrf, X
        .irp    gate, 0, 1, 2
        v_rd    InitialVrf, X
"""
_MAC_1 = """
        v_rd    InitialVrf, 1
        mv_mul  1                       # MAC_1
        vv_add  AddSubVrf0, 0
        vv_add  AddSubVrf1, 0           # Add_0
        v_wr    NetOutQ
"""
_DOT_LOADS = """1:      vld     vr0, (t0)
        vld     vr1, (a1)
        vld     vr2, (a2)
"""
_DOT_TURN = """        addi    t0, t0, 16
        addi    a1, a1, 16
        add     a2, a2, a3
        addi    t1, t1, -1
"""
_SPARSE_TURN = """1:      lb      a7, (a0)
        addi    a0, a0, 1
        beqz    a7, 2f
        srli    t0, a5, 8
        sb      a5, (a3)
        sb      t0, 1(a3)
        sb      a7, 2(a3)
        addi    a3, a3, 3
        addi    a6, a6, 1
2:      addi    a5, a5, 1
"""
_FIG8_NODE = """nodes:  lw      t0, (a3)                # a3 of pmac begins as the bias
        vsplat.w vr3, zero
        vins.w  vr3, t0, 0
        vld     vr1, (a0)               # a1: the node's weights, in whatever order they are
        lbu     t1, (a2)
        slli    t1, t1, 2
        add     t1, t1, a1
        lw      t1, (t1)
"""
_GATHER_LOADS = (
    "        lw      t3, 0(s2)               # act\n        or      t3, t3, t1\n",
    "        lw      t3, 4(s2)               # gio <- iosa\n        or      t3, t3, t2\n",
    "        lw      t3, 4(s3)               # rz <- rop + iosa\n        or      t3, t3, t0\n",
    "        lw      t3, 8(s3)               # iosa <- rz\n        or      t3, t3, t0\n",
)
_ROW_TURN = """        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
          act   0
          mmr   op, mul
          rop <- iosa[\\n]
          rz <- rop * iosa[16 + \\n]
          gio <- rz
          act   1
          iosa[\\n] <- gio
          mmr   op, add
          rz <- rop + gio
          iosa[16 + \\n] <- rz
"""

_CONV1D_LOADS = """        addi    t3, t0, 2
        addi    t4, t0, 4
        addi    t5, t0, 6
        vlds.h  vr4, t0, t2
        vlds.h  vr5, t3, t2
        vlds.h  vr6, t4, t2
        vlds.h  vr7, t5, t2
"""
_CONV1D_SUM = """        vext.w  a3, vr{register}, 0
        vext.w  a4, vr{register}, 2
        add     a3, a3, a4
        vins.w  vr12, a3, {place}
"""
_CONV1D_HALVES = ((8, "a3", "a4"), (9, "a5", "a6"), (10, "a7", "t3"), (11, "t4", "t5"))

EDITS = (
    Edit(
        "nnp_lstm",
        "nnp",
        "fill",
        "nnp_lstm.s:96",
        "nnp copies the inputs of all steps before the first step",
        (
            (".equ    H, R\n", ".equ    H, STEPS * R\n"),
            (".equ    C, 2 * R\n", ".equ    C, H + R\n"),
            (
                f"        .rept   STEPS\n{_LSTM_X}",
                "        .set    STEP, 0\n"
                "        .rept   STEPS\n"
                "        v_rd    NetInQ\n"
                "        v_wr    InitialVrf, X + STEP * R\n"
                "        .set    STEP, STEP + 1\n"
                "        .endr\n"
                "        .set    STEP, 0\n"
                "        .rept   STEPS\n",
            ),
            ("        product X, ", "        product X + STEP * R, "),
            (
                "        v_wr    NetOutQ\n",
                "        v_wr    NetOutQ\n        .set    STEP, STEP + 1\n",
            ),
        ),
    ),
    Edit(
        "nnp_gru",
        "nnp",
        "fill",
        "nnp_gru.s:82",
        "nnp copies the inputs of all steps before the first step",
        (
            (
                _GRU_X,
                "        .macro  inputs  step            # the products of x\n"
                "        .irp    gate, 0, 1, 2\n"
                "        v_rd    InitialVrf, X + (\\step) * R\n",
            ),
            (
                "        inputs\n        .set    STEP, 0\n",
                "        .irp    n, 0, 1, 2, 3\n"
                "        v_rd    NetInQ\n"
                "        v_wr    InitialVrf, X + \\n * R\n"
                "        .endr\n"
                "        inputs  0\n"
                "        .set    STEP, 0\n",
            ),
            ("        inputs\n        .endif\n", "        inputs  STEP + 1\n        .endif\n"),
        ),
    ),
    Edit(
        "nnp_fig2",
        "nnp",
        "fill",
        "nnp_fig2.s:28",
        "MAC_2 comes before MAC_1, which waits for MAC_0",
        (
            (_MAC_1, ""),
            ("        v_wr    AddSubVrf0, 1\n", f"        v_wr    AddSubVrf0, 1\n{_MAC_1}"),
        ),
    ),
    Edit(
        "digits_cnn",
        "pe",
        "lanes",
        "digits_cnn.s:108",
        "the strips of a PE begin 160 bytes after those of the PE before, not 108",
        (
            ("int8, PES, 4 * STRIP ", "int8, PES, 160 "),
            ("stride=4*STRIP", "stride=160"),
        ),
    ),
    Edit(
        "fig8",
        "vc",
        "loads",
        "fig8.s:51",
        "vc loads the number of the order first",
        (
            (
                _FIG8_NODE,
                "nodes:  lbu     t1, (a2)\n"
                "        lw      t0, (a3)\n"
                "        vld     vr1, (a0)\n"
                "        slli    t1, t1, 2\n"
                "        add     t1, t1, a1\n"
                "        lw      t1, (t1)\n"
                "        vsplat.w vr3, zero\n"
                "        vins.w  vr3, t0, 0\n",
            ),
        ),
    ),
    Edit(
        "vector_dot",
        "vc",
        "loads",
        "dot.s:44",
        "vc loads two blocks before it multiplies the first one",
        (
            (
                _DOT_LOADS,
                f"{_DOT_LOADS}"
                "        add     a2, a2, a3\n"
                "        vld     vr4, 16(t0)\n"
                "        vld     vr5, 16(a1)\n"
                "        vld     vr6, (a2)\n",
            ),
            (
                _DOT_TURN,
                "        pmac.s8 vr3, vr4, vr5, vr6, acc\n"
                "        addi    t0, t0, 32\n"
                "        addi    a1, a1, 32\n"
                "        add     a2, a2, a3\n"
                "        addi    t1, t1, -2\n",
            ),
        ),
    ),
    Edit(
        "matvec",
        "vc",
        "loads",
        "matvec.s:45",
        "vc puts the bias into its register after the loads of the weights",
        (
            ("        vsplat.w vr3, zero\n        vins.w  vr3, t3, 0\n", ""),
            (
                "        pmac.s8 vr3, vr4,",
                "        vsplat.w vr3, zero\n        vins.w  vr3, t3, 0\n        pmac.s8 vr3, vr4,",
            ),
        ),
    ),
    Edit(
        "matvec",
        "vc",
        "results",
        "matvec.s:59",
        "vc has two accumulators, and counts while it adds",
        (
            ("        pmac.s8 vr3, vr5, vr9, vr13, acc\n", "        pmac.s8 vr2, vr5, vr9, vr13\n"),
            (
                "        pmac.s8 vr3, vr7, vr11, vr15, acc\n        vsum.w  vr3, vr3\n",
                "        pmac.s8 vr2, vr7, vr11, vr15, acc\n"
                "        addi    t2, t2, 4\n"
                "        addi    a1, a1, 16 * BLOCKS\n"
                "        addi    s0, s0, 4\n"
                "        vadd.w  vr3, vr3, vr2\n"
                "        addi    t1, t1, -1\n"
                "        vsum.w  vr3, vr3\n",
            ),
            (
                "        sw      t3, (s0)\n"
                "        addi    s0, s0, 4\n"
                "        addi    t2, t2, 4\n"
                "        addi    a1, a1, 16 * BLOCKS\n"
                "        addi    t1, t1, -1\n",
                "        sw      t3, -4(s0)\n",
            ),
        ),
    ),
    Edit(
        "sparse_by_cp",
        "cp",
        "branches",
        "to_sparse.inc:26",
        "cp unrolls the loop four times",
        (
            (
                _SPARSE_TURN,
                "1:\n"
                + _SPARSE_TURN.replace("1:  ", "    ").join(
                    ["        .rept 4\n", "        .endr\n"]
                ),
            ),
        ),
        "to_sparse.inc",
    ),
    Edit(
        "fim_gather",
        "cp",
        "latency",
        "gather.s:31",
        "cp keeps the first words in registers, and the numbers of rows in its local memory",
        (
            (
                'source:     .npy    "source.npy"\ntarget:     .npy    "target.npy"\n',
                "",
            ),
            (
                "        .data\n",
                "        .section .data.cp\n"
                "        .balign 4\n"
                'source:     .npy    "source.npy"\n'
                'target:     .npy    "target.npy"\n'
                "        .data\n",
            ),
            *(
                (load, f"        or      t3, s{number}, {load.rpartition(', ')[2]}")
                for number, load in enumerate(_GATHER_LOADS, 5)
            ),
            (
                "next:   lw ",
                "        lw      s5, 0(s2)\n"
                "        lw      s6, 4(s2)\n"
                "        lw      s7, 4(s3)\n"
                "        lw      s8, 8(s3)\n"
                "next:   lw ",
            ),
        ),
    ),
    Edit(
        "fim_elementwise",
        "fim[0]",
        "rows",
        "elementwise.s:40",
        "a row has eight columns of each of the four matrices",
        (
            (
                "load_a:  .word   BANK, a, 512, 1, 0, 0",
                "load_a:  .word   BANK, a, 256, 2, 1024, 256",
            ),
            (
                "load_b:  .word   BANK + 512, b, 512, 1, 0, 0",
                "load_b:  .word   BANK + 256, b, 256, 2, 1024, 256",
            ),
            (
                "store:   .word   c, BANK + 1024, 512, 1, 0, 0",
                "store:   .word   c, BANK + 512, 256, 2, 256, 1024",
            ),
            (
                "store_d: .word   d, BANK + 1536, 512, 1, 0, 0",
                "store_d: .word   d, BANK + 768, 256, 2, 256, 1024",
            ),
            (
                _ROW_TURN,
                "        .irp    row, 0, 1\n"
                "          act   \\row\n"
                "        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7\n"
                "          mmr   op, mul\n"
                "          rop <- iosa[\\n]\n"
                "          rz <- rop * iosa[8 + \\n]\n"
                "          gio <- rz\n"
                "          iosa[16 + \\n] <- gio\n"
                "          mmr   op, add\n"
                "          rz <- rop + gio\n"
                "          iosa[24 + \\n] <- rz\n"
                "        .endr\n",
            ),
        ),
    ),
    Edit(
        "fim_tensor",
        "fim[0]",
        "rows",
        "tensor.s:65",
        "the tiles of a product stay in Rz until all are done",
        (
            (
                "        act     0\n        mmr     accumulate, 0\n",
                "        mmr     rz_slot, 4 * \\i + \\j\n        mmr     accumulate, 0\n",
            ),
            (
                "        mmr     transpose, \\transposed\n",
                "        mmr     transpose, \\transposed\n        act     0\n",
            ),
            (
                "        act     \\row\n        iosa[\\column + 4 * \\i + \\j] <- rz\n        .endr\n        .endr\n",
                "        .endr\n        .endr\n"
                "        mmr     rz_slot, 0\n"
                "        mmr     rz_step, 1\n"
                "        act     \\row\n"
                "        iosa[\\column : \\column + 16] <- rz\n"
                "        mmr     rz_step, 0\n",
            ),
        ),
    ),
    Edit(
        "fim_host",
        "dma",
        "latency",
        "host.s:25",
        "one transfer brings the matrix, and x before each bank's part of it",
        (
            (
                "        .irp    bank, 0, 1, 2, 3\n        copy    load_x\\bank\n        .endr\n",
                "",
            ),
            (
                "        .irp    bank, 0, 1, 2, 3\n"
                "load_x\\bank: .word   BANK + \\bank * 64 * 1024, x, 32, 1, 0, 0\n"
                "        .endr\n",
                "",
            ),
            (
                "load_a: .word   BANK + 512, a, 512, 4, 64 * 1024, 512",
                "load_a: .word   BANK + 480, a, 544, 4, 64 * 1024, 544",
            ),
            (
                'a:      .npy    "a.npy"\nx:      .npy    "x.npy"\n',
                "a:\n"
                + "".join(
                    f'        .npy    "x.npy"\n        .npy    "a.npy"[{n}:{n + 16}]\n'
                    for n in (0, 16, 32, 48)
                ),
            ),
            (
                "        fim.send 2, s1, s2              # rop <- iosa[0]\n",
                "        addi    t1, s1, 480\n        fim.send 2, t1, s2\n",
            ),
        ),
    ),
    Edit(
        "fim_dot",
        "dma",
        "latency",
        "dot.s:17",
        "one transfer brings both matrices",
        (
            ("        copy    load_b\n", ""),
            ("load_a: .word   BANK, a, 512,", "load_a: .word   BANK, a, 1024,"),
        ),
    ),
    Edit(
        "fim_activation",
        "dma",
        "latency",
        "activation.s:18",
        "one transfer brings both matrices",
        (
            ("        copy    load_w\n", ""),
            (
                "load_x: .word   BANK, x, 512, 1, 0, 0",
                "load_x: .word   BANK, x, 512, 2, 2 * 64 * 1024, 512",
            ),
        ),
    ),
    Edit(
        "conv1d",
        "vc",
        "loads",
        "conv1d.s:56",
        "vc loads the next inputs before it adds the products",
        (
            (f"1:      {_CONV1D_LOADS.lstrip()}", f"{_CONV1D_LOADS}1:\n"),
            (
                "        pmac.s16 vr11, vr7, vr1, vr2\n",
                f"        pmac.s16 vr11, vr7, vr1, vr2\n        addi    t0, t0, 8\n{_CONV1D_LOADS}",
            ),
            (
                "        addi    s0, s0, 8\n        addi    t0, t0, 8\n",
                "        addi    s0, s0, 8\n",
            ),
        ),
    ),
    Edit(
        "conv1d",
        "vc",
        "results",
        "conv1d.s:60",
        "vc extracts all sums before it adds them, and counts while it inserts the results",
        (
            ("              # eight products of 16 by 16 bits fit in 35, and these", ""),
            ("              # taps and inputs in 32", ""),
            (
                "".join(_CONV1D_SUM.format(register=8 + n, place=n) for n in range(4)),
                "".join(
                    f"        vext.w  {low}, vr{register}, 0\n        vext.w  {high}, vr{register}, 2\n"
                    for register, low, high in _CONV1D_HALVES
                )
                + "".join(
                    f"        add     {low}, {low}, {high}\n" for _, low, high in _CONV1D_HALVES
                )
                + "        vins.w  vr12, a3, 0\n"
                "        addi    s0, s0, 8\n"
                "        addi    t0, t0, 8\n"
                "        vins.w  vr12, a5, 1\n"
                "        addi    t1, t1, -4\n"
                "        vins.w  vr12, a7, 2\n"
                "        vins.w  vr12, t4, 3\n",
            ),
            (
                "        sw      a3, (s0)\n"
                "        sw      a4, 4(s0)\n"
                "        addi    s0, s0, 8\n"
                "        addi    t0, t0, 8\n"
                "        addi    t1, t1, -4\n",
                "        sw      a3, -8(s0)\n        sw      a4, -4(s0)\n",
            ),
        ),
    ),
    Edit(
        "fim_conv",
        "dma",
        "latency",
        "conv.s:30",
        "the dma copies the plane to on-chip memory first",
        (
            ("_start: copy    load_k\n", "_start: copy    near\n        copy    load_k\n"),
            (
                "load_k:    .word",
                "near:      .word   NEAR, x, ROWS * 2 * WIDTH, 1, 0, 0\nload_k:    .word",
            ),
            ("32 * ROWS * \\shift, x + 2", "32 * ROWS * \\shift, NEAR + 2"),
            (
                "        .set    KERNEL, 0 ",
                "        .set    NEAR, 0x10000000\n        .set    KERNEL, 0 ",
            ),
        ),
    ),
    Edit(
        "network",
        "cp",
        "transfers",
        "leave_1.inc:5",
        "cp starts the next layer while the dma stores the last results of the first one",
        (("        dma.wait zero\n", ""),),
        "net/leave_1.inc",
    ),
)
