"""`why` of vector registers: vectors, pairs and orders, checked by computing values again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from macaw.debugger.causes.cause_text import lines
from tests.debugger.asked import settings
from tests.debugger.programs import of_source
from tests.debugger.running import place_of

# A requantised sum of products with an order, beside a pair in all lanes.
VECTORS = """
        .device tiny
        .core   vc
        la      t0, first
        la      t1, second
        la      t2, order
        vld     vr0, (t0)
        vld     vr1, (t1)
        vld     vr2, (t2)
        vadd.h  vr3, vr0, vr1           # another value of vr3, which takes no part
        pmac.s16 vr3, vr0, vr1, vr2
        pmac.s16 vr3, vr1, vr0, vr2, acc
        li      a0, 70000
        li      a1, 0
        vsplat.d vr4, a0
        vadd.w  vr5, vr3, vr4
        vnarrow.w vr6, vr5, vr3, 5
        la      t3, y
        vst     vr6, (t3)
        li      a0, 0
        li      a7, 93
        ecall
        .data
        .balign 16
first:  .half   {first}
second: .half   {second}
order:  .byte   1, 0, 3, 2, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0
        .output y, int16, 8
"""
RNG = np.random.default_rng(5)
FIRST, SECOND = RNG.integers(-300, 300, (2, 8))
ORDER = [1, 0, 3, 2, 0, 1, 2, 3]


def inputs(cause):
    return {item.role: item for item in cause.causes if not item.setting}


def products(left, right, order):
    """The sum of left times right[order] in each group of four lanes, with shape (2,)."""
    return (left.astype(np.int64) * right[order]).reshape(2, 4).sum(axis=1)


def computed(cause, names):
    """The 16 bytes of a vector register, or a number, computed from the ends of its causes."""
    if cause.ends:
        names.add(cause.name)
        return bytes.fromhex(cause.value) if isinstance(cause.value, str) else cause.value
    found = {
        role: computed(item, names)
        for role, item in inputs(cause).items()
        if role != "rs1" or cause.how not in ("vld", "addi", "vst")
    }
    match cause.how:
        case "vld":
            return found["memory"]
        case "auipc" | "lui":
            return settings(cause)["imm"] << 12
        case "addi":
            base = inputs(cause).get("rs1")
            return settings(cause)["imm"] + (0 if base is None else computed(base, names))
        case "pmac.s16":
            left, right = (np.frombuffer(found[x], np.int16) for x in ("rs1", "rs2"))
            order = np.frombuffer(found["rs3"], np.uint8)[:8]
            old = np.frombuffer(found["rd"], np.int64) if "rd" in found else 0
            return (old + products(left, right, order)).tobytes()
        case "vsplat.d":
            low, high = (computed(x, names) for x in cause.causes)
            return np.full(2, high << 32 | low, np.int64).tobytes()
        case "vadd.w":
            return (
                np.frombuffer(found["rs1"], np.int32) + np.frombuffer(found["rs2"], np.int32)
            ).tobytes()
        case "vnarrow.w":
            both = (
                np.frombuffer(found["rs1"] + found["rs2"], np.int32) / 2 ** settings(cause)["shamt"]
            )
            return np.clip(np.rint(both), -(2**15), 2**15 - 1).astype(np.int16).tobytes()
        case "vst":
            return found["rs2"]
    raise AssertionError(cause.how)


@pytest.fixture(scope="module", params=["fast", "reference"])
def vectors(request):
    text = [", ".join(map(str, x)) for x in (FIRST, SECOND)]
    run = of_source(VECTORS.format(first=text[0], second=text[1]), request.param)
    assert run.cont().reason == "exit"
    return run


def test_a_stored_vector_is_what_its_causes_make(vectors):
    names: set[Any] = set()
    (cause,) = vectors.why("y")
    sums = products(FIRST, SECOND, np.array(ORDER)) + products(SECOND, FIRST, np.array(ORDER))
    with_pair = (sums.view(np.int32) + np.array([70000, 0] * 2)).astype(np.int64)
    both = np.concatenate([with_pair, sums.view(np.int32)]) / 32
    wanted = np.clip(np.rint(both), -(2**15), 2**15 - 1)
    assert vectors.read("y").tolist() == wanted.tolist()
    assert np.frombuffer(computed(cause, names), np.int16).tolist() == wanted.tolist()
    assert {name.split("<")[1].strip(">") for name in names if "<" in name} == {
        "first", "second", "order",
    }  # fmt: skip


def test_the_shift_of_a_requantising_instruction(vectors):
    (cause,) = vectors.why("vc.vr6.i16[3]")
    assert (cause.how, settings(cause)) == ("vnarrow.w", {"shamt": 5})
    assert cause.value == vectors.read("y[3]")
    text = list(lines([cause], 1))
    assert ": vc vnarrow.w vr6, vr5, vr3, 5 at cycle " in text[0]
    assert not any("shamt" in line for line in text), "the instruction shows it"


def test_an_element_is_named_by_a_dot_too(vectors):
    (dotted,), (indexed,) = vectors.why("vc.vr6.i16.3"), vectors.why("vc.vr6.i16[3]")
    assert (dotted.value, dotted.how, dotted.where) == (indexed.value, indexed.how, indexed.where)


def test_orders_pairs_and_old_results_are_causes(vectors):
    (sums,) = vectors.why("vc.vr3")
    assert place_of(sums).line == 12, "the product that adds to the one before"
    assert {role: x.name for role, x in inputs(sums).items()} == {
        "rs1": "vc.vr1", "rs2": "vc.vr0", "rs3": "vc.vr2", "rd": "vc.vr3",
    }  # fmt: skip
    first = inputs(sums)["rd"]
    assert (first.where.line, sorted(inputs(first))) == (11, ["rs1", "rs2", "rs3"])
    (pair,) = vectors.why("vc.vr4.i64[1]")
    names = [x.name for x in pair.causes if not x.setting]
    assert (pair.value, names) == (70000, ["vc.a0", "vc.a1"])


def test_numbers_are_as_expressions_show_them():
    run = of_source(
        """
        .device tiny
        .core   cp
_start: li      a1, -5
        add     a2, a1, a1
        csrr    a3, cycle
        li      a7, 93
        ecall
"""
    )
    run.cont()
    (cause,) = run.why("cp.a2")
    assert (cause.value, [x.value for x in cause.causes]) == (-10, [-5, -5])
    assert settings(run.why("cp.a3")[0]) == {"csr": "cycle"}
