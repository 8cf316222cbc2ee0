"""A program of any bytes stops with a clear text, which is the same with a listener."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macaw.isa import cp
from tests.emu.cp_machine import machine, processor
from tests.emu.toys import EXTERNAL, UNIT, toy
from tests.fuzzing import fuzz

pytestmark = pytest.mark.once

ROWS = cp.CORE.instructions
REASONS = {"exit", "fault", "deadlock", "cycle limit", "breakpoint"}
KINDS = {fault.name for fault in cp.FAULTS}


@st.composite
def likely_words(draw):
    """The word of a row with random operands, some bits flipped."""
    row = draw(st.sampled_from(ROWS))
    word = row.match | draw(st.integers(0, 0xFFFFFFFF)) & ~row.mask
    if draw(st.integers(0, 9)) == 0:
        word ^= 1 << draw(st.integers(0, 31))
    return word


WORDS = st.lists(st.one_of(likely_words(), st.integers(0, 0xFFFFFFFF)), min_size=1, max_size=30)
BASES = st.sampled_from(
    [0, 0x10000, 0x10004, 0x40000, UNIT, UNIT + 8188, EXTERNAL, 0x20000000, 0xFFFFFFFC]
)


@fuzz
@given(WORDS, st.lists(BASES, min_size=31, max_size=31))
def test_any_program(words, bases):
    text = b"".join(word.to_bytes(4, "little") for word in words)
    found = []
    for plain in (False, True):
        device = machine(text, toy(16, [("work", 5), ("end",)], idle=True, unit=0))
        processor(device).x[1:32] = bases
        if plain:
            device.listen(lambda event: None, ["cp"])
        stops = [device.run(max_cycles=200) for _ in range(3)]
        for stop in stops:
            assert stop.reason in REASONS
            assert str(stop)
            if stop.fault is not None:
                assert stop.fault.kind in KINDS
                assert (stop.fault.core, stop.fault.address is None) == ("cp", False)
        found.append(([str(stop) for stop in stops], device.hash()))
    assert found[0] == found[1]
