"""Small programs give the outputs that were calculated by hand."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import macaw
from macaw.asm import images
from macaw.asm.source import Source
from macaw.emu.engines import ENGINES
from macaw.emu.nnp.core import NnpCore
from macaw.errors import RunError
from macaw.execution import Run
from tests.emu.nnp.machine import nnp_device


def ran(source: str, **inputs: Any) -> Run:
    """A program for tiny (N 4) run to its end."""
    program = macaw.assemble(Source(f"\t.device tiny\n{source}", "t.s"))
    return macaw.run(program, inputs, max_cycles=1_000_000)


def test_queues_matrices_and_functions() -> None:
    """Vectors go through queues, registers, a product, a sum and functions (seed 003 ¶43)."""
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
    """The program of docs/timing-nnp.md computes y = relu(W x + b) (seed 003 ¶41-42)."""
    page = (Path(__file__).parents[3] / "docs" / "timing-nnp.md").read_text("utf-8")
    (block,) = re.findall(r"^(    # layer\.s.*?)\n\n[^ ]", page, re.M | re.S)
    x = np.array([[1, 2, -3, 4], [-1, 0.5, 0, -0.25]], np.float16)
    program = macaw.assemble(Source(textwrap.dedent(block) + "\n", "layer.s"))
    run = macaw.run(program, x=x, max_cycles=10_000)
    wanted = np.maximum(x * np.array([1, 1, 1, -1]) + 0.5, 0)
    assert run.outputs["y"].tolist() == wanted.tolist()


def test_a_program_of_several_entries() -> None:
    """cp starts nnp twice, at two entries; the register file keeps its vectors."""
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


MESSAGES = """
        .output y, float16, 3, 4, at=netout
        .core   cp
_start: la      a0, sent
        dma.copy a1, a0
        la      a0, received
        dma.copy a1, a0
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall
        .section .data.cp
        .balign 4
sent:   .word   0x303a0000, first, last - first, 1, 0, 0
received: .word y, 0x303c0000, 24, 1, 0, 0
        .core   nnp
step:   v_rd    NetInQ
        v_relu
        v_wr    NetOutQ
        end_chain
        .section .data
first:  .half   2                       # two vectors follow the words
        .byte   1, 1                    # one word; control 1: start
        .word   step                    # where the core begins
        .word   0x00030002              # s_wr iterations, 2
        .float16 1, -2, 3, 4,  5, 6, 7, -8
second: .half   0
        .byte   1, 0                    # sets a register, starts nothing
        .word   0
        .word   0x00030001
third:  .half   1
        .byte   {words}, {control}
        .word   step
        .word   {word}
        .float16 -1, -1, 9, 9
last:
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_messages_set_registers_and_start_the_core(engine: str) -> None:
    """A message sets registers, starts the core and brings vectors (seed 003 ¶43)."""
    source = MESSAGES.format(words=1, control=1, word="0x00030001")
    program = macaw.assemble(Source(f"\t.device tiny\n{source}", "t.s"))
    run = macaw.run(program, max_cycles=10_000, engine=engine)
    assert run.outputs["y"].tolist() == [[1, 0, 3, 4], [5, 6, 7, 0], [0, 0, 9, 9]]
    assert run.counters["nnp"]["chains"] == 3


def test_a_message_fills_the_queue_to_its_last_byte() -> None:
    """A message may still bring as many bytes as the free vectors of NetInQ have.

    The bytes of an incomplete vector that the message has brought are subtracted, here 3.
    """
    device = nnp_device("v_rd NetInQ\nv_wr Dram, 0\nend_chain\n", nnp__net_in=2)
    core = device.cores["nnp"]
    assert isinstance(core, NnpCore)
    core.state.payload, core.state.parcel = 100, b"abc"
    assert core.window_room("message", 0, 1)[0] == 2 * core.timing.vector_bytes - 3


@pytest.mark.parametrize(
    ("words", "control", "word", "message"),
    [
        (
            1,
            2,
            0,
            "illegal instruction: a message: control: no choice has the number 2; one of data, start",
        ),
        (1, 1, 0xFF000000, "illegal instruction: a message with end_chain"),
        (1, 1, 0x00030000, "broken chain: a message: iterations is at least 1, not 0"),
        (
            1,
            1,
            0x00000001,
            "illegal instruction: a message with the word 0x00000001: s_wr reg: no register has the"
            " number 0, 1 to 16",
        ),
        (
            1,
            1,
            0x00630001,
            "illegal instruction: a message with the word 0x00630001: s_wr reg: no register has the"
            " number 99, 1 to 16",
        ),
        (
            1,
            1,
            0x01000000,
            "illegal instruction: a message with the word 0x01000000: no instruction of nnp",
        ),
    ],
)
def test_messages_that_are_wrong(words: int, control: int, word: int, message: str) -> None:
    """A wrong message is a fault of the dma with a clear text (seed 003 ¶43)."""
    kind, text = message.split(": ", 1)
    with pytest.raises(RunError) as caught:
        ran(MESSAGES.format(words=words, control=control, word=word))
    fault = caught.value.stop.fault
    assert fault is not None
    assert (fault.core, fault.kind) == ("dma", kind)
    assert fault.message.startswith(text)


LOOP = """
        .output y, uint32, {count}
        .core   {core}
_start: li      s0, 0x30380000
        li      s1, 0x303c0000
        la      s2, y
        li      s3, {count}
        li      a0, 3
        li      a1, 0x30300000
        {start}
again:  slli    t0, s3, 8
        sw      t0, 0(s0)
        sw      s3, 4(s0)
        lw      t1, 0(s1)
        lhu     t2, 0(s1)
        lhu     t3, 0(s1)
        sw      t1, 0(s2)
        addi    s2, s2, 4
        addi    s3, s3, -1
        bnez    s3, again
        li      a0, 0
        li      a7, 93
        ecall
        .core   nnp
        SetIterations({count})
        v_rd    NetInQ
        v_wr    NetOutQ
        end_chain
"""


@pytest.mark.once
@pytest.mark.parametrize("core", ["cp", "vc"])
def test_a_hot_loop_at_the_queues(core: str) -> None:
    """cp and vc pass 800 vectors through the queues in a loop that the fast engine translates."""
    count = 800
    start = "core.start a0, a1" if core == "cp" else ""
    source = LOOP.format(core=core, count=count, start=start)
    runs = []
    for engine in ENGINES:
        program = macaw.assemble(Source(f"\t.device tiny\n{source}", "t.s"))
        run = macaw.run(program, max_cycles=10_000_000, engine=engine)
        assert run.outputs["y"].tolist() == [k << 8 for k in range(count, 0, -1)]
        runs.append((run.cycles, run.counters, run.device.hash()))
    assert runs[0] == runs[1]
    assert runs[0][1]["nnp"]["vectors"] == count


@pytest.mark.parametrize("divider", [1, 3])
def test_more_tensors_than_the_queues_hold(tmp_path: Path, divider: int) -> None:
    """Two input and two output tensors go through queues of one vector, in the declared order."""
    device = tmp_path / "narrow.toml"
    fields = (
        f"native = 4\nlanes = 1\nvector_lanes = 1\nnet_in = 1\nnet_out = 1\ndivider = {divider}"
    )
    device.write_text(f"[nnp]\n{fields}\n")
    source = """
        .input  a, float16, 5, 4, at=netin
        .output c, float16, 8, at=netout
        .input  b, float16, 3, 2, 2, at=netin
        .output d, float16, 6, 4, at=netout
        .core   nnp
        SetIterations(4)
        SetCols(2)
        v_rd    NetInQ
        v_relu
        v_wr    NetOutQ
        end_chain
    """
    program = macaw.assemble(Source(source, "t.s"), device=str(device))
    draws = np.random.default_rng(3)
    a = draws.normal(size=(5, 4)).astype(np.float16)
    b = draws.normal(size=(3, 2, 2)).astype(np.float16)
    wanted = np.maximum(np.concatenate([a.ravel(), b.ravel()]), 0)
    for engine in ENGINES:
        run = macaw.run(program, a=a, b=b, max_cycles=100_000, engine=engine)
        found = np.concatenate([run.outputs["c"].ravel(), run.outputs["d"].ravel()])
        assert found.tolist() == wanted.tolist()


def test_the_image_of_the_instruction_memory() -> None:
    program = macaw.assemble(Source("\t.core nnp\n\tSetRows(3)\n\tend_chain\n", "t.s"))
    words = images.write(program, "bin", "cores")
    assert words == bytes.fromhex("03000100 000000ff")
    assert ":020000043030" in images.write(program, "hex", "cores").decode()
