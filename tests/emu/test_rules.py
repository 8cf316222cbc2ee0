"""The timing rules against hand calculations.

Emulator and lowering share the rules, so neither can test them.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from macaw.emu.rules import fim_circuits, fim_dram, transfers
from macaw.isa import config
from macaw.isa.fim_circuit import ARRANGEMENT_NAMES, FORMAT_NAMES, FUNCTION_NAMES, OPERATIONS
from macaw.isa.fim_islands import abilities, geometry

TIMES = fim_dram.Timings(
    t_ccdl=4, t_ccds=2, t_rcdrd=14, t_rcdwr=10, t_rp=13, t_ras=33, t_rc=47, rl=20, wl=8, t_wr=16,
    burst=3, t_rtrs=5, t_rrds=0, t_rrdl=0, t_faw=0, t_wtrs=0, t_wtrl=0, t_rtp=0, t_rtw=0,
    t_column=0, t_refi=0, t_rfc=100,
)  # fmt: skip
BASE = config.load("base")


def test_bounds_of_a_bank():
    assert fim_dram.activate_bounds(TIMES, 100, 50) == ((113, "t_rp"), (97, "t_rc"))
    bounds = (83, "t_ras"), (106, "t_wr"), (100, "t_rtp")
    assert fim_dram.precharge_bounds(TIMES, 50, 90, 99) == bounds
    assert fim_dram.column_bounds(TIMES, False, 50, 63, 99) == ((64, "t_rcd"), (67, "t_ccd"))
    assert fim_dram.column_bounds(TIMES, True, 50, 63, 99) == ((60, "t_rcd"), (67, "t_ccd"))
    more = replace(TIMES, t_rtp=6, t_wtrl=7)
    assert fim_dram.precharge_bounds(more, 50, 90, 99)[2:] == ((105, "t_rtp"),)
    assert fim_dram.column_bounds(more, False, 50, 63, 99)[2:] == ((106, "t_wtr"),)
    assert fim_dram.column_bounds(more, True, 50, 63, 99)[2:] == ()


def test_data_of_a_column():
    assert (TIMES.data_end(100, False), TIMES.data_end(100, True)) == (123, 111)
    assert TIMES.channel_period == 4


def test_bounds_of_the_channel():
    """Columns keep tCCDL within a bank group and tCCDS between groups; data follow one another."""
    memory = geometry(BASE.changed({"fim.bank_groups": 2, "fim.group_banks": 2}))
    channel = fim_dram.Channel((100, 103), (110, 114), 125, 0, 90)
    found = fim_dram.channel_bounds(TIMES, memory, True, 1, channel)
    assert found == ((104, "t_ccd"), (105, "t_ccd"), (117, "channel"))
    more = replace(TIMES, t_rtw=16, t_wtrs=6, t_wtrl=8)
    assert fim_dram.channel_bounds(more, memory, True, 1, channel)[3:] == ((106, "t_rtw"),)
    found = fim_dram.channel_bounds(more, memory, False, 1, channel)[3:]
    assert found == ((114 - 8 - 3, "t_rtw"), (110 + 8, "t_wtr"), (114 + 6, "t_wtr"))
    channel = fim_dram.use_channel(TIMES, memory, True, 2, 200, channel)
    assert channel == fim_dram.Channel((100, 200), (110, 211), 211, 0, 90)
    channel = fim_dram.use_channel(TIMES, memory, False, 0, 210, channel)
    assert channel == fim_dram.Channel((210, 200), (110, 211), 233, 0, 210)


def test_bounds_of_ranks():
    """Commands for another rank go to other chips; data of two ranks must be tRTRS apart."""
    memory = geometry(
        BASE.changed({"fim.organisation": "dimm", "fim.ranks": 2, "fim.bank_groups": 2})
    )
    channel = fim_dram.Channel((100, 103, 90, 91), (0, 0, 10, 20), 125, 0)
    found = fim_dram.channel_bounds(TIMES, memory, False, 8, channel)
    assert found == ((94, "t_ccd"), (93, "t_ccd"), (125 + 5 - 20, "channel"))
    found = fim_dram.channel_bounds(replace(TIMES, t_wtrs=2), memory, False, 8, channel)
    assert found[3:] == ((22, "t_wtr"),)


def test_refreshes():
    """A refresh takes 100 cycles, one is due every 1000 cycles; late ones follow at once."""
    memory = geometry(BASE)
    times = replace(TIMES, t_refi=1000)
    assert fim_dram.refresh_due(times, memory, 3, 0) == 1000
    own = geometry(BASE.changed({"fim.refresh": "bank"}))
    assert fim_dram.refresh_due(times, own, 4, 1) == 2000 + 250
    for start, time, found in (
        (1000, 1000, (1, 1100)), (1050, 1999, (1, 1150)), (2250, 2260, (2, 2450)),
        (2250, 9000, (9, 9100)), (2950, 3000, (3, 3250)), (1000, 50_900, (50, 50_100)),
    ):  # fmt: skip
        assert fim_dram.refreshes(times, memory, 0, 0, start, time) == found


def test_activations_of_two_ranks():
    """tRRD and tFAW hold within a rank; groups 0 and 1 are in rank 0, groups 2 and 3 in rank 1."""
    memory = geometry(
        BASE.changed(
            {"fim.ranks": 2, "fim.bank_groups": 2, "fim.group_banks": 2, "fim.act_banks": 3}
        )
    )
    times = replace(TIMES, t_rrds=4, t_rrdl=6, t_faw=30)
    assert times.limits_activations
    assert not TIMES.limits_activations
    assert fim_dram.activation_groups(memory, [0, 1, 4]) == 0b101
    assert fim_dram.activation_commands(memory, [0, 1, 4, 6]) == [[0, 1, 4], [6]]
    earlier = [(100, 0b1), (104, 0b10), (108, 0b1), (112, 0b10)]
    for groups, time, step, first in (
        (0b1, 112, 1, (130, "t_faw")), (0b100, 112, 1, (112, "")), (0b1, 112, 4, (132, "t_faw")),
        (0b101, 90, 1, (130, "t_faw")), (0b1, 80, 1, (80, "")), (0b1, 82, 1, (82, "")),
        (0b1, 83, 1, (130, "t_faw")), (0b1, 131, 1, (131, "")),
    ):  # fmt: skip
        found = fim_dram.activation_start(times, memory, earlier, groups, time, step)
        assert found == first, (groups, time)
    near = [(100, 0b1)]
    for groups, start in ((0b1, 106), (0b10, 104), (0b1111, 106)):
        found = fim_dram.activation_start(times, memory, near, groups, 97, 1)
        assert found == (start, "t_rrd")


@pytest.mark.parametrize(("time", "step", "wanted"), [(0, 4, 0), (1, 4, 4), (8, 4, 8), (7, 1, 7)])
def test_aligned(time, step, wanted):
    assert fim_dram.align_up(time, step) == wanted


def test_latency_of_the_alu():
    """A dot of 16 fp16 products takes one pass on 16 lanes or four passes on 4 lanes.

    Then come 4 levels of adders.
    """
    island = BASE.changed({"fim.alu.mul": 3, "fim.alu.add": 6, "fim.alu.tree": 2})
    able = abilities(island, 0)
    dot, fp16 = ARRANGEMENT_NAMES.index("dot"), FORMAT_NAMES.index("fp16")
    mul = FUNCTION_NAMES.index("mul")
    wide = fim_circuits.AluTimings.of(island, able)
    assert wide.latency(mul, dot, fp16, False) == (1, 3 + 4 * 2, 16, 1)
    assert wide.latency(mul, dot, fp16, True) == (6, 3 + 4 * 2 + 6, 16, 1)
    narrow = fim_circuits.AluTimings(wide.functions, wide.tree, 4)
    assert narrow.latency(mul, dot, fp16, False) == (4, 3 + 4 * 2 + 3, 16, 4)


OPERATION = {f"{x.to} {x.left} {x.right}".strip(): x for x in OPERATIONS}


@pytest.mark.parametrize(
    ("operation", "start"), [("rz rop iosa", 20), ("iosa rz", 30), ("rop iosa", 10)]
)
def test_start_of_an_operation(operation, start):
    """An operation starts when its inputs, the ALU and Rz are ready.

    The ALU is free in cycle 20, Rz is ready in cycle 30.
    """
    assert fim_circuits.operation_start(OPERATION[operation], 10, 20, 30) == start
    assert fim_circuits.operation_start(OPERATION[operation], 40, 20, 30) == 40


@pytest.mark.parametrize(
    ("operation", "periods"),
    [("rz rop iosa", (6, 9)), ("rz rop gio", (6, 6)), ("iosa rz", (3, 9)), ("rop gio", (3, 3))],
)
def test_period_of_repeats(operation, periods):
    """A repeat takes the ALU's cycles; with a column, at least tCCDL, rounded up to the clock."""
    assert fim_circuits.repeat_period(OPERATION[operation], 2, 7, 3) == periods


def test_columns_of_a_buffer():
    """`columns_stored` gives the cycle in which `count` columns are stored, or None.

    The buffer has columns 10 to 14; the last two are stored in cycles 50 and 60. None means that
    the buffer has fewer columns.
    """
    counts = [fim_circuits.columns_stored(10, 15, [50, 60], count) for count in (3, 4, 5, 6)]
    assert counts == [0, 50, 60, None]
    assert [fim_circuits.all_stored(x) for x in ([], [50, 60])] == [0, 60]


@pytest.mark.parametrize(("part", "start"), [("start", 0), ("high", 0), ("low", 60), ("end", 70)])
def test_pointer_moves(part, start):
    assert fim_circuits.pointer_start(part, [50, 60], [70, -5]) == start


def test_end_of_a_block():
    for place in range(4):
        times = [9 * (place == number) for number in range(4)]
        first, second, third, fourth = times
        assert fim_circuits.block_end(first, second, third, [fourth, -5]) == 9


def test_beats():
    """A row of 70 bytes at offset 28 is cut at multiples of 32: 4 bytes, twice 32, 2 bytes."""
    assert [transfers.beat_length(28, at, 70, 32) for at in (0, 4, 36, 68)] == [4, 32, 32, 2]
    sizes = [(0, 32), (31, 2), (5, 27), (5, 28), (5, 0), (64, 96)]
    assert [transfers.channel_beats(*x, 32) for x in sizes] == [1, 2, 1, 2, 0, 3]


def test_end_of_a_transfer():
    """A transfer ends a cycle after its last write, or later, when its data are ready."""
    assert transfers.transfer_end(10, 11) == 11
    assert transfers.transfer_end(10, 31) == 31
