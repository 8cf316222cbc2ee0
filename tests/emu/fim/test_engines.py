"""The fast engine of an island is the reference: same state at any cycle, same faults, same end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from asm.diagnostics import AssemblyError
from emu.engines import ENGINES
from isa import config
from tests.emu.fim.machine import Machine

pytestmark = pytest.mark.once

COMPUTED = ["rz <- {0} * {1}", "rz <- {0} + {1}", "rz <- {0} / {1}"]
DEVICES = [
    config.load("tiny"),
    config.load("tiny").changed({"fim.island.0.divider": 3, "fim.island.0.lanes": 4}),
    config.load("tiny").changed({"fim.island.0.rz_slices": 16, "fim.t_ccdl": 5, "fim.alu.add": 9}),
]


def column(draw):
    low = draw(st.integers(0, 31))
    return draw(st.sampled_from([f"iosa[{low}]", f"iosa[{low}:32]", f"iosa[{low // 4}:{low}]"]))


@st.composite
def word(draw):
    """A word, most of them operations; some are wrong and left out."""
    kind = draw(st.integers(0, 13))
    number = draw(st.integers(0, 15))
    if kind < 3:
        operand = draw(st.sampled_from(["rop * {c}", "rop * gio", "{c} * gio"]))
        return f"rz <- {operand.format(c=column(draw))}"
    if kind < 5:
        return draw(st.sampled_from(["rop <- {}", "gio <- {}", "{} <- gio", "{} <- rz"])).format(
            column(draw)
        )
    if kind < 6:
        n = draw(st.sampled_from([3, 5, 7, 9]))
        return f"fim {n}, repeat={draw(st.integers(1, 40))}"
    if kind < 7:
        return f"fim 6, {number}, {draw(st.sampled_from([0, 1, -1]))}, {draw(st.integers(1, 16))}"
    if kind < 9:
        return draw(st.sampled_from(["mmr arrange, elementwise", "mmr arrange, dot", "mmr arrange, outer",
                                     "mmr arrange, tensor", "mmr transpose, a", "mmr format, fp32",
                                     "mmr format, fp16", "mmr accumulate, 1", "mmr accumulate, 0",
                                     f"mmr rz_slot, {number}", f"mmr rz_step, {number % 3}"]))  # fmt: skip
    if kind < 10:
        return draw(st.sampled_from(["act 1", "act 2", "pre", f"act {number}"]))
    buffer = draw(st.integers(0, 1))
    return draw(st.sampled_from([f"push rz, {buffer}", f"push gio, {buffer}", f"push rop, {buffer}", f"pull rop, {buffer}",
                                 f"pull gio, {buffer}, all", f"lock {buffer}", f"unlock {buffer}",
                                 f"trace_begin {buffer}", f"trace_end {buffer}"]))  # fmt: skip


@st.composite
def block(draw, banks, setup=()):
    lines = [f".block banks={banks}", *setup, "mmr op, mul", f"act {draw(st.integers(0, 2))}"]
    for _ in range(draw(st.integers(1, 8))):
        if draw(st.integers(0, 4)) == 0:
            inner = draw(st.lists(word(), min_size=1, max_size=4))
            lines += [f"loop {draw(st.integers(1, 3))}", *inner, "endloop"]
        else:
            lines.append(draw(word()))
    return [*lines, "end"]


@st.composite
def programs(draw):
    """Blocks of which one sets up two buffers: in a bank of its own, and in one where others work."""
    where = draw(st.sampled_from([0x4003_0400, 0x4000_0400]))
    setup = [f"mmr b0_low, {where:#x}", f"mmr b0_high, {where + 320:#x}",
             "mmr b1_low, 0x40030800", "mmr b1_high, 0x40030900"]  # fmt: skip
    found = draw(block("(0, 1)", setup))
    if draw(st.booleans()):
        found += draw(block("2"))
    return found


def machines(lines, device, jitter=None):
    """Both engines with the lines that can be assembled."""
    while True:
        try:
            return [Machine(lines, device, engine, jitter=jitter) for engine in ENGINES]
        except AssemblyError as error:
            wrong = {item.span.line - 4 for item in error.errors}
            lines = [line for place, line in enumerate(lines) if place not in wrong]


PHASES = [Phase.explicit, Phase.reuse, Phase.generate]  # to shrink such programs takes minutes


def said(stop):
    fault = stop.fault
    return stop.reason, stop.message, None if fault is None else (fault.address, fault.cycle)


@settings(max_examples=100, deadline=None, phases=PHASES)
@given(
    programs(),
    st.sampled_from(DEVICES),
    st.integers(0, 1 << 30),
    st.lists(st.integers(1, 90), max_size=6),
)
def test_engines_agree(lines, device, seed, pauses):
    pair = machines(lines, device, seed if seed % 3 == 0 else None)
    data = np.random.default_rng(seed).normal(size=(4, 3, 512)).astype(np.float16)
    for machine in pair:
        for bank in range(4):
            for row in range(3):
                machine.put(bank, row, 0, data[bank, row])
        machine.start()
    for pause in [*pauses, 100_000]:
        stops = [machine.run(pause) for machine in pair]
        assert said(stops[0]) == said(stops[1])
        fast, reference = (machine.device for machine in pair)
        different = fast.diff(reference.snapshot())
        if stops[0].reason == "exit":  # the cycle in which the clock found nobody to run
            different = [item for item in different if item[0] != "device"]
        assert different == []
        if stops[0].reason != "cycle limit":
            break


@settings(max_examples=30, deadline=None, phases=PHASES)
@given(programs(), st.integers(1, 400))
def test_a_snapshot_goes_on_as_the_run_does(lines, pause):
    machine, _ = machines(lines, DEVICES[0])
    machine.start().run(pause)
    saved = machine.device.snapshot()
    first = said(machine.run()), machine.device.hash()
    machine.device.restore(saved)
    assert (said(machine.run()), machine.device.hash()) == first
