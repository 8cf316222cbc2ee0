"""Reordering of vc's code takes fewer cycles and keeps all dependences."""

from __future__ import annotations

from macaw.isa.config import load
from macaw.lowering.net.vector.kernel import Instruction, Kernel, Loop, kernel_cycles
from macaw.lowering.net.vector.reorder import fastest_order, reordered


def code(*lines: str) -> Kernel:
    k = Kernel()
    k.block(*lines)
    return k


def texts(items) -> list[str]:
    return [item.text for item in items]


def test_a_later_instruction_takes_the_place_of_a_wait():
    """A later instruction is moved to where the second addition would wait two cycles."""
    chain = ["vadd.h vr1, vr0, vr0", "vadd.h vr2, vr1, vr1"]
    others = ["vmov vr5, vr6", "vmov vr7, vr6"]
    found = reordered(code(*chain, *others).items)
    assert texts(found) == [chain[0], *others, chain[1]]
    before = kernel_cycles(code(*chain, *others).items, load("base"))
    assert kernel_cycles(found, load("base")) == before - 2 == 6


def test_nothing_passes_what_it_depends_on():
    """No instruction moves past another that uses its register, or past a store to its memory."""
    fixed = [
        ["vadd.h vr1, vr0, vr0", "vadd.h vr2, vr1, vr1", "vmov vr1, vr3"],
        ["vadd.h vr1, vr0, vr0", "vst vr1, 0(a0)", "vld vr2, 0(a1)"],
        ["vadd.h vr1, vr0, vr0", "vst vr1, 0(a0)", "addi a0, a0, 16"],
    ]
    for lines in fixed:
        assert texts(reordered(code(*lines).items)) == lines


def test_the_order_that_takes_fewer_cycles_stays():
    k = code("vadd.h vr1, vr0, vr0", "vadd.h vr2, vr1, vr1")
    assert texts(fastest_order(k.items)) == texts(k.items)


def test_instructions_stay_in_their_loop():
    k = Kernel()
    with k.loop(3, "a0", 16, "t6"):
        k.block("vld vr0, 0(a0)", "vadd.h vr1, vr0, vr0", "addi a0, a0, 16")
    k.put("vmov vr2, vr1")
    *_, loop, last = reordered(k.items)
    assert isinstance(loop, Loop)
    assert isinstance(last, Instruction)
    assert texts(loop.body) == ["vld vr0, 0(a0)", "addi a0, a0, 16", "vadd.h vr1, vr0, vr0"]
    assert last.text == "vmov vr2, vr1"
