"""A program of any bytes for vc stops with a clear text, also with pauses or a listener."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from macaw.emu.device import Device
from macaw.isa import vector, vector_layouts
from tests.emu.toys import EXTERNAL, UNIT, toy
from tests.emu.vc_machine import machine, processor
from tests.fuzzing import fuzz

pytestmark = pytest.mark.once

ROWS = vector.CORE.instructions
REASONS = {"exit", "fault", "deadlock", "cycle limit", "breakpoint"}
KINDS = {fault.name for fault in vector.FAULTS}


@st.composite
def likely_words(draw):
    """The word of a row with random operands, vector registers mostly legal, some bits flipped."""
    row = draw(st.sampled_from(ROWS))
    word = row.match | draw(st.integers(0, 0xFFFFFFFF)) & ~row.mask
    if draw(st.integers(0, 3)):
        for operand in row.operands:
            if operand.kind is vector_layouts.VECTOR:
                word &= ~operand.field.insert(16)
    if draw(st.integers(0, 9)) == 0:
        word ^= 1 << draw(st.integers(0, 31))
    return word


WORDS = st.lists(st.one_of(likely_words(), st.integers(0, 0xFFFFFFFF)), min_size=1, max_size=30)
BASES = st.sampled_from(
    [0, 1, 16, 0x10000, 0x40000, UNIT, UNIT + 8176, EXTERNAL, EXTERNAL + 4096, 0x20000000,
     0x76543210, 0xFFFFFFF0]
)  # fmt: skip


def past_breakpoints(device: Device, until: int) -> None:
    """Run to a cycle, across all ebreaks before it."""
    while device.run(until=until).reason == "breakpoint":
        pass


@fuzz
@given(WORDS, st.lists(BASES, min_size=31, max_size=31), st.binary(min_size=256, max_size=256))
@example([0x00100073], [0] * 31, bytes(256))  # ebreak
def test_any_program(words, bases, vectors):
    text = b"".join(word.to_bytes(4, "little") for word in words)
    found = []
    for way in ("whole", "heard", "sliced"):
        device = machine(text, toy(0, [("work", 400), ("end",)]))
        core = processor(device)
        core.x[1:32] = bases
        core.vr.reshape(-1)[:] = list(vectors)
        if way == "heard":
            device.listen(lambda event: None, ["vc"])
        for until in range(1, 300, 7) if way == "sliced" else ():
            past_breakpoints(device, until)
        past_breakpoints(device, 300)
        stops = [device.run(max_cycles=0) for _ in range(3)]
        for stop in stops:
            assert stop.reason in REASONS
            assert str(stop)
            if stop.fault is not None:
                assert stop.fault.kind in KINDS
                assert (stop.fault.core, stop.fault.address is None) == ("vc", False)
        found.append(([str(stop) for stop in stops], device.hash()))
    assert found[0] == found[1] == found[2]
