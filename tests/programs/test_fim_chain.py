"""(A B) C of square matrices: two circuits that work at the same time, or one after the other."""

from __future__ import annotations

import pytest

from macaw.emu.engines import ENGINES
from tests.emu.fim.machine import Machine
from tests.programs.fim_chain import (
    DEVICE,
    cycles_of_chain,
    program,
)

pytestmark = pytest.mark.once


@pytest.mark.parametrize("side", [16, 32, pytest.param(64, marks=pytest.mark.long)])
def test_both_compute_the_same(side):
    """The chain is exact, and faster with both circuits at once (seed 004 ¶48-49, ¶41)."""
    assert cycles_of_chain(side, apart=False) < cycles_of_chain(side, apart=True)


@pytest.mark.parametrize(
    ("sides", "least"),
    [((16, 32), 1.9), pytest.param((16, 32, 64), 1.95, marks=pytest.mark.long)],
)
def test_the_speed_up_grows_to_its_limit(sides, least):
    """Two circuits at once are at most twice as fast as one after the other (seed 004 ¶41)."""
    speed = [
        cycles_of_chain(side, apart=True) / cycles_of_chain(side, apart=False) for side in sides
    ]
    assert speed == sorted(speed)
    assert 1.7 < speed[0] < least < speed[-1] < 2


@pytest.mark.parametrize("apart", [False, True])
def test_a_run_without_cp_ends_when_its_last_block_does(apart):
    """Without a program of cp, a run ends when its last block does (seed 004 ¶51)."""
    ends = {
        engine: Machine(program(16, apart), device=DEVICE, engine=engine).done()
        for engine in ENGINES
    }
    assert ends["fast"] == ends["reference"] >= cycles_of_chain(16, apart)
