"""Assembling leaves the garbage collector on or off as before, also after an error."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from macaw.asm.assembler import assemble
from macaw.asm.collecting import collecting_seldom
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.source import Source


@pytest.fixture(autouse=True)
def frequent_collections() -> Iterator[None]:
    """The collector's usual threshold: a command that ran in this process may have changed it."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize("text", [".core cp\nnop\n", "wrong"])
def test_the_threshold_returns(text: str) -> None:
    before = gc.get_threshold()
    try:
        assemble(Source(text))
    except AssemblyError:
        assert text == "wrong"
    assert gc.get_threshold() == before


def test_runs_side_by_side() -> None:
    before = gc.get_threshold()
    first, second = collecting_seldom(), collecting_seldom()
    with first:
        with second:
            assert gc.get_threshold()[0] > before[0]
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold() == before


def test_who_wants_none_gets_none() -> None:
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        with collecting_seldom():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)
