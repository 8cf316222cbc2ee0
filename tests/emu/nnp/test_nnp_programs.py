"""Small programs from source to outputs, by hand."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

import macaw
from asm.source import Source
from macaw.running import Run


def ran(source: str, **inputs: Any) -> Run:
    """A program for tiny (N 4) run to its end."""
    program = macaw.assemble(Source(f"\t.device tiny\n{source}", "t.s"))
    return macaw.run(program, inputs, max_cycles=1_000_000)


def test_queues_matrices_and_functions() -> None:
    source = """
        .input  q, float16, 3, 4, at=netin
        .output r, float16, 3, 4, at=netout
        .core   nnp
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        v_rd    NetInQ, 0
        v_wr    InitialVrf, 0
        v_wr    AddSubVrf0, 0
        v_rd    InitialVrf, 0
        mv_mul  0
        vv_add  AddSubVrf0, 0
        v_relu
        v_wr    NetOutQ, 0
        SetIterations(2)
        v_rd    NetInQ, 0
        v_sigm
        v_wr    NetOutQ, 0
        end_chain
        .section .data
w:      .float16 1, 0, 0, 0,  0, 2, 0, 0,  0, 0, 3, 0,  0, 0, 0, -4
    """
    q = np.arange(12, dtype=np.float16).reshape(3, 4) / 4
    run = ran(source, q=q)
    x = q[1:].astype(np.float64)
    wanted = [[0, 0.75, 2, 0], *(1 / (1 + np.exp(-x))).astype(np.float16)]  # far from ties
    assert run.outputs["r"].tolist() == np.array(wanted, np.float16).tolist()
    counters = run.counters["nnp"]
    assert (counters["instructions"], counters["chains"]) == (15, 5)
    assert (counters["tiles"], counters["vectors"]) == (1, 5)
    assert run.counters["dma"]["transfers"] == 2


def test_the_program_of_the_page() -> None:
    """docs/timing-nnp.md: y = relu(W x + b), W and b as its source has them."""
    page = (Path(__file__).parents[3] / "docs" / "timing-nnp.md").read_text("utf-8")
    (block,) = re.findall(r"^(    # layer\.s.*?)\n\n[^ ]", page, re.M | re.S)
    x = np.array([[1, 2, -3, 4], [-1, 0.5, 0, -0.25]], np.float16)
    program = macaw.assemble(Source(textwrap.dedent(block) + "\n", "layer.s"))
    run = macaw.run(program, x=x, max_cycles=10_000)
    wanted = np.maximum(x * np.array([1, 1, 1, -1]) + 0.5, 0)
    assert run.outputs["y"].tolist() == wanted.tolist()


def test_a_program_of_several_entries() -> None:
    """cp starts the core twice, the second time elsewhere; registers and files stay."""
    source = """
        .output y, float16, 4, at=netout
        .core   cp
_start: li      a0, 3
        li      a1, 0x30300000
        core.start a0, a1
        li      a2, 8
        core.wait a2
        la      a1, second
        core.start a0, a1
        core.wait a2
        la      a3, copy
        dma.copy a4, a3
        dma.wait a4
        li      a0, 0
        li      a7, 93
        ecall
        .section .data.cp
copy:   .word   y, 0x303c0000, 8, 1, 0, 0
        .core   nnp
        v_rd    Dram, 0
        v_wr    AddSubVrf0, 7
        end_chain
        .word   0
second: v_rd    AddSubVrf0, 7
        v_relu
        v_wr    NetOutQ
        end_chain
        .data
x:      .float16 1, -2, 3, -4
    """
    run = ran(source)
    assert run.outputs["y"].tolist() == [1, 0, 3, 0]
