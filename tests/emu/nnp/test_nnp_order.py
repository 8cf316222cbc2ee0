"""An iteration that uses an entry of Dram waits for the earlier iteration that wrote the entry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import macaw
from macaw.asm.source import Source
from macaw.emu.engines import ENGINES
from macaw.emu.floats import Host
from macaw.emu.nnp.execution import Execution
from macaw.emu.nnp.schedules.chain import Chain as Doing

NATIVE, ENTRIES = 4, 40
Chain = tuple[int, int, int, int, tuple[tuple[int, int], ...]]

places = st.tuples(st.integers(0, 9), st.integers(0, 4))
chains = st.tuples(
    st.integers(1, 8), st.integers(1, 3), st.integers(0, 9), st.integers(0, 4),
    st.lists(places, min_size=1, max_size=2).map(tuple),
)  # fmt: skip


def program(chain: Chain) -> macaw.Program:
    """A program that adds a register to vectors of Dram and writes the sums back, once or twice."""
    iterations, cols, base, inc, writes = chain
    lines = [
        "\t.device tiny",
        f"\t.input x, float16, {ENTRIES}, {NATIVE}",
        f"\t.output y, float16, {ENTRIES}, {NATIVE}",
        "\t.core nnp",
        f"\tSetIterations({ENTRIES})",
        f"\tv_rd_inc Dram, 0, 1\n\tv_wr_inc Dram, {ENTRIES}, 1",
        f"\tSetIterations(1)\n\tSetCols({cols})\n\tv_rd Dram, 7\n\tv_wr AddSubVrf0, 0",
        f"\tSetIterations({iterations})",
        f"\tv_rd_inc Dram, {ENTRIES + base}, {inc}",
        "\tvv_add AddSubVrf0, 0",
        *(f"\tv_wr_inc Dram, {ENTRIES + a}, {step}" for a, step in writes),
        "\tend_chain",
    ]
    return macaw.assemble(Source("\n".join(lines) + "\n", "order.s"))


def one_after_the_other(x: np.ndarray, chain: Chain) -> np.ndarray:
    iterations, cols, base, inc, writes = chain
    y = x.copy()
    for i in range(iterations):
        first = base + i * inc
        values = y[first : first + cols] + x[7 : 7 + cols]
        for a, step in writes:
            y[a + i * step : a + i * step + cols] = values
    return y


@pytest.mark.once
@settings(max_examples=25, deadline=None)
@example((8, 1, 0, 1, ((1, 1),)))  # each reads what the one before has written
@example((8, 1, 1, 1, ((0, 1),)))  # nobody does
@example((8, 1, 0, 1, ((0, 1),)))  # in place
@example((8, 2, 0, 2, ((20, 1),)))  # a write over half of the one before
@example((8, 1, 0, 1, ((20, 1), (21, 1))))  # the second write goes where the first one comes
@example((8, 1, 0, 0, ((0, 0),)))  # a sum
@given(chains)
def test_dram_is_read_and_written_in_order(chain: Chain) -> None:
    x = np.arange(ENTRIES * NATIVE, dtype=np.float16).reshape(ENTRIES, NATIVE) / 4
    made = program(chain)
    fast, plain = (macaw.run(made, {"x": x}, engine=engine) for engine in ENGINES)
    expected = one_after_the_other(x, chain)
    assert fast.outputs["y"].tolist() == plain.outputs["y"].tolist() == expected.tolist()
    assert fast.cycles == plain.cycles
    assert fast.counters == plain.counters


@pytest.mark.parametrize(
    ("chain", "together"),
    [
        ((8, 1, 1, 1, ((0, 1),)), True),
        ((8, 2, 0, 2, ((20, 2),)), True),
        ((8, 1, 0, 1, ((0, 1),)), True),
        ((8, 1, 0, 1, ((1, 1),)), False),
        ((8, 1, 0, 1, ((20, 1), (21, 1))), False),
    ],
)
def test_what_keeps_its_order_is_done_together(
    chain: Chain, together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = []
    vectors = Execution.vectors

    def spied(self: Execution, run: Doing, first: int, count: int, popped: None) -> Host:
        if run.operations:  # not those that come before
            counts.append(count)
        return vectors(self, run, first, count, popped)

    monkeypatch.setattr(Execution, "vectors", spied)
    macaw.run(program(chain), {"x": np.zeros((ENTRIES, NATIVE), np.float16)})
    assert sum(counts) == 8
    assert (max(counts) > 1) == together
