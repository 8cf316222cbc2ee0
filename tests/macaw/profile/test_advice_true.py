"""Where a program would not become faster by advice, the profiler gives none."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import macaw
from macaw import api, golden_description
from macaw.asm.source import Source
from macaw.profiling.model import MissedThreshold, Profile
from macaw.profiling.profiler import ProfileOptions, profile
from tests.macaw.profile.programs import six_profile

pytestmark = pytest.mark.once

PROGRAMS = Path(__file__).parents[3] / "programs"
ADVICE = (": ", "headroom", "choose", "let ", "move ", "pad ", "give each", "keep on chip")


@cache
def sample(name: str) -> Profile:
    if name == "six_cores":
        return six_profile()
    made = golden_description.read_description(PROGRAMS / name)
    inputs = {tensor: np.load(path) for tensor, path in made.inputs.items()}
    return profile(made.sources[0], inputs, ProfileOptions(guide=True, findings=False))


def of(made: Profile, key: str) -> list[MissedThreshold]:
    return [item for item in made.missed_thresholds if item.metric.key == key]


VECTOR = """
        .device tiny
        .output y, int32, 4
        .equ    S, {stride}
        .core   vc
        li      s0, 0x10000000
        li      s1, S
        li      s2, 100
        vsplat.w vr2, zero
        .ifdef  FAR
        la      s0, y
        .endif
again:
        .ifdef  FAR
        vld     vr0, (s0)
        vadd.b  vr2, vr2, vr0
        vld     vr1, (s0)
        vadd.b  vr2, vr2, vr1
        .else
        vlds.b  vr0, s0, s1
        vlds.b  vr1, s0, s1
        vadd.b  vr2, vr2, vr0
        .endif
        addi    s2, s2, -1
        bnez    s2, again
        la      t0, y
        vst     vr2, (t0)
        li      a0, 0
        li      a7, 93
        ecall
"""


@cache
def vector(stride: int, **defines: int) -> Profile:
    program = macaw.assemble(Source(VECTOR.format(stride=stride), "v.s"), defines=defines)
    return profile(program, {}, ProfileOptions(guide=True))


@pytest.mark.parametrize(("stride", "defines"), [(8, {"FAR": 1}), (128, {})])
def test_of_waits_inside_instructions_nothing_is_claimed(
    stride: int, defines: dict[str, int]
) -> None:
    """Waits inside instructions of vc are no finding: no record names their cause (F26, F27).

    Here vc waits for loads, or lanes of vc wait for the same bank (seed 001 ¶98-99).
    """
    made = vector(stride, **defines)
    assert made.missed_thresholds == ()
    assert made.step is not None
    assert "records do not say" in made.step.text
    assert "headroom" not in made.step.text
    assert vector(128).cycles > 2 * vector(8).cycles  # there is something that could be mended


def test_stores_that_cannot_be_wider_are_no_finding() -> None:
    """Stores of vc that cannot be wider are no finding (F31).

    vc's widest store has half the bytes of a word of external memory.
    """
    made = vector(8)
    stores = [x for x in made.groups if x.slice.counters["e_xwr"]]
    found = [x.metric("partial") for x in stores]
    assert [metric.value for metric in found if metric] == [1.0]
    assert of(made, "partial") == []


@pytest.mark.parametrize(
    "name",
    [
        "nnp_lstm",
        "fim_gru",
        "six_cores",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("digits_mlp", "digits_cnn")),
    ],
)
def test_a_ratio_is_stated_and_no_more(name: str) -> None:
    """Ratios of blocked accesses and use are stated without advice (seed 001 ¶99, ¶101).

    Waits for data are no bank conflicts (F28), and few units at work may wait for the bus (F30).
    """
    found = [
        x
        for x in sample(name).missed_thresholds
        if x.metric.key in ("blocked", "utilisation", "match")
    ]
    assert found
    for item in found:
        assert item.cost == 0
        assert not any(word in item.sentence for word in ADVICE), item.sentence


def test_six_cores_promises_nothing_that_it_does_not_keep() -> None:
    """For six_cores, a late start without a cost is no finding (F29).

    A finding of the metric `match` has no price (F32). See seed 001 ¶122.
    """
    made = six_profile()
    assert made.bottleneck is not None
    assert of(made, "late") == []
    assert made.bottleneck.sooner["dma"] < 0.005 * made.cycles
    assert [x.cost for x in of(made, "match")] == [0]


def test_a_matrix_product_on_banks_is_one_finding() -> None:
    """40 instructions with equal waits, one for each row of a matrix, are one finding (F35)."""
    rows = "\n".join(f"act {row}\nrop <- iosa[0]\nrz <- rop * iosa[16:32]" for row in range(40))
    text = f"""
        .device tiny
        .core fim, island=0
        .block banks=0-3
mmr op, mul
mmr arrange, dot
{rows}
end
"""
    made = profile(api.assemble(Source(text, "p.s")))
    blocked = of(made, "blocked")
    assert len(blocked) <= 3
    assert max(len(item.others) for item in blocked) >= 37
