"""Names and shapes of tensors come from hints, or from declarations if there is no hint."""

from __future__ import annotations

from macaw.asm.assembler import Source, assemble
from macaw.isa.config import load
from macaw.lowering.concord.hints import Hint, hints

DECLARED = """
        .device tiny
        .input  first, float16, 2, 4
        .input  thin, float16, 3
        .input  words, int32, 4
        .output last, float16, 4, 2
        .input  a, float16, 2, 4, at=netin
        .input  b, float16, 1, 8, at=netin
        .output c, float16, 3, 4, at=netout
        .core   nnp
_start: v_rd    NetInQ
        v_wr    NetOutQ
        end_chain
"""


def test_declared_tensors_by_their_places() -> None:
    """A declared tensor of Dram or of a queue gets a hint with its position.

    Positions count native vectors of 4 numbers. The first tensor is at the start of external
    memory. A tensor of three numbers, or of another type, gets no hint. Columns are padded to whole
    native vectors.
    """
    config = load("tiny")
    program = assemble(Source(DECLARED, "p.s"))
    places = {tensor.name: tensor.address for tensor in program.tensors}
    at = (places["last"] - places["first"]) // 8
    assert hints(program, config) == [
        Hint("first", "Dram", 0, 2, 4, explicit=False),
        Hint("last", "Dram", at, 2, 4, explicit=False),
        Hint("a", "NetInQ", 0, 2, 4, explicit=False),
        Hint("b", "NetInQ", 2, 1, 8, explicit=False),
        Hint("c", "NetOutQ", 0, 3, 4, explicit=False),
    ]
