"""Runs of programs layer by layer; the share of cycles in which each core works."""

from __future__ import annotations

import numpy as np
import pytest

import macaw
from macaw.networks.layer_runs import LayerRun, busy_shares, run_layers

# Two layers of cp, each with a tensor.
SOURCE = """\
        .device tiny
        .input  x, int8, 4
        .output copied, int8, 4
        .output y, int32, 2
        .core   cp
_start: call    first
        call    second
last:   li      a7, 93
        li      a0, 0
        ecall
first:  la      t0, x
        la      t1, copied
        lw      t2, 0(t0)
        sw      t2, 0(t1)
        ret
second: la      t1, y
        li      t2, -7
        sw      t2, 0(t1)
        sw      zero, 4(t1)
        nop
        nop
        ret
"""
X = np.array([1, -2, 3, -4], np.int8)


def layers(max_cycles: int | None = None) -> list[LayerRun]:
    return list(
        run_layers(
            macaw.assemble(macaw.Source(SOURCE, "layers.s")), {"x": X}, ("first", "second"), ("copied", "y"), "last",
            config=None, engine="fast", max_cycles=max_cycles,
        )
    )  # fmt: skip


def test_layers_one_after_the_other() -> None:
    first, second = layers()
    assert (first.number, second.number) == (0, 1)
    np.testing.assert_array_equal(first.output, X)
    assert first.output.dtype == np.int8
    np.testing.assert_array_equal(second.output, np.array([-7, 0], np.int32))
    assert 0 < first.start < first.end == second.start < second.end
    assert first.cycles == first.end - first.start
    executed = [layer.counters["cp"]["instructions"] for layer in (first, second)]
    assert executed[1] - executed[0] == 8  # `la` is two of them
    second.output[0] = 5  # it may be changed
    assert [layer.products for layer in (first, second)] == [0, 0]


def test_the_limit_of_cycles_is_that_of_the_whole_run() -> None:
    *_, last = layers()
    assert layers(max_cycles=last.end + 1)[-1].end == last.end
    with pytest.raises(macaw.RunError, match=f"^cycle limit: {last.end} cycles are over"):
        layers(max_cycles=last.end)


def test_shares_of_cycles_in_which_cores_work() -> None:
    """The array's share is the average over its rows; cp's share leaves out cp's waits."""
    counters = {
        "pe[0]": {"cycles": 100, "bus_beats": 1}, "pe[1]": {"cycles": 20, "bus_beats": 0},
        "dma": {"cycles_busy": 50, "cycles": 190},
        "vc": {
            "instructions": 10, "cycles_operands": 4, "cycles_memory": 3, "cycles_branches": 2,
            "cycles_waiting": 90,
        },
        "cp": {"cycles_waiting": 30},
    }  # fmt: skip
    layer = LayerRun(0, 150, 200, np.zeros(1), 0, counters)
    assert busy_shares(layer) == {
        "pe": 60 / 200, "dma": 50 / 200, "vc": 19 / 200, "cp": 170 / 200,
    }  # fmt: skip
    later = {name: {key: 2 * count for key, count in row.items()} for name, row in counters.items()}
    assert busy_shares(LayerRun(1, 200, 300, np.zeros(1), 0, later), layer) == {
        "pe": 60 / 100, "dma": 50 / 100, "vc": 19 / 100, "cp": 70 / 100,
    }  # fmt: skip
    without = {name: values for name, values in counters.items() if "bus_beats" not in values}
    assert busy_shares(LayerRun(0, 0, 200, np.zeros(1), 0, without))["pe"] == 0
