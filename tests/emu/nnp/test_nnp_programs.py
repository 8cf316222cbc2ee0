"""Small programs from source to outputs, by hand."""

from __future__ import annotations

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
