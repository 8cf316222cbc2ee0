"""The trace block against hand-made tables, and against a model that computes each record alone."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.emu.faults import Fault
from macaw.emu.trace import TraceBlock
from macaw.isa.trace import GROUP, RECORD
from tests.emu.trace_machine import AREA, OCCURRENCE_NAMES, WINDOW_PARAMETERS, TraceMachine

NAMES = [row.name for row in GROUP]


# Table 1 of seed 001: by loop, what groups 0 to 3 record.
TABLE_1 = [[0, 1, 2, 3], [3, 4, 5, 6], [6, 7, 8, 9]]


def test_table_1() -> None:
    """Auto mode records the instructions of Table 1 (seed 001 ¶46, ¶58, ¶65-70)."""
    machine = TraceMachine().auto(begin=0, num=1, step=1, overhead=3).run(10)
    found = {(x["loop"], x["group"]): x["first"] for x in machine.records()}
    expected = {(i, g): TABLE_1[i][g] for i in range(3) for g in range(4)}
    expected[3, 0] = 9
    assert found == expected
    for x in machine.records():
        assert (x["core"], x["instructions"]) == (2, 1)
        assert (x["t_begin"], x["t_end"]) == (10 * x["first"], 10 * x["first"] + 10)


@pytest.mark.parametrize("run", range(3))
def test_table_1_as_a_run_a_loop(run: int) -> None:
    """Each loop of Table 1 may be recorded in its own run (seed 001 ¶67-70, ¶109)."""
    machine = TraceMachine().auto(begin=3 * run, num=1, step=1, overhead=3, loops=1).run(20)
    assert [x["first"] for x in machine.records()] == TABLE_1[run]


def test_nine_instruction_groups_over_four_register_groups() -> None:
    """Four register groups record nine groups of instructions in turn (seed 001 ¶61-63)."""
    machine = TraceMachine().auto(num=2, step=2, overhead=8).run(18)
    found = [(x["group"], x["loop"], x["first"]) for x in machine.records()]
    assert found == [(i % 4, i // 4, 2 * i) for i in range(9)]
    # The registers hold the last record of each group: 9 of group 0, 6 to 8 of the others.
    assert [machine.block.read(f"t_begin{g}") for g in range(4)] == [160, 100, 120, 140]
    assert [machine.block.read(f"t_end{g}") for g in range(4)] == [180, 120, 140, 160]


@dataclass
class Run:
    """A record that the model `direct` expects."""

    group: int  # the register group
    loop: int
    numbers: list[int]  # the numbers of the recorded instructions


def direct(parameters: dict[str, int], groups: int, spans: list[tuple[int, int]]) -> list[Run]:
    """The expected records: one for each (group, loop) that begins while its group is free.

    `spans` has the begin and end cycle of each instruction.
    """
    found = []
    for group in range(groups):
        free = (-1, -1)  # the (cycle, number) in which the group's last record was over
        for loop in range(parameters["loops"] or len(spans) + 1):
            start = parameters["begin"] + loop * parameters["overhead"]
            start += group * parameters["step"]
            last = start + parameters["num"] - 1
            taken = [i for i in range(len(spans)) if start <= i <= last]
            if start not in taken or start <= free[1] or spans[start][0] < free[0]:
                continue
            over = max(spans[i][1] for i in taken) if last < len(spans) else 1 << 60
            free = (max(over, 0), last)
            found.append(Run(group, loop, taken))
    return found


@st.composite
def programs(draw: st.DrawFn, overlapping: bool) -> list[tuple[int, int]]:
    """Begin and end of instructions; with `overlapping`, some begin before earlier ones end."""
    spans, time = [], draw(st.integers(0, 5))
    for _ in range(draw(st.integers(0, 40))):
        cycles = draw(st.integers(1, 20))
        spans.append((time, time + cycles))
        time += draw(st.integers(1, 6)) if overlapping else cycles + draw(st.integers(0, 3))
    return spans


EVENTS = st.lists(
    st.tuples(
        st.integers(0, 39), st.sampled_from(OCCURRENCE_NAMES), st.integers(0, 9), st.integers(1, 5)
    ),
    max_size=30,
)


def feed(block: TraceBlock, spans: list[tuple[int, int]], events: list[tuple]) -> None:
    """Report instructions and events to the block in the order of time, ends before begins."""
    told = [(begin, 2, i, "", 0) for i, (begin, _) in enumerate(spans)]
    told += [(end, 0, i, "", 0) for i, (_, end) in enumerate(spans)]
    told += [(time, 3, i, what, count) for i, what, time, count in events]
    for time, act, i, what, count in sorted(told):
        if act == 2:
            assert block.begin(time) == i
        elif act == 0:
            block.end(time, i)
        else:
            block.count_occurrence(what, time, time + count, count, i)


@pytest.mark.once
@given(WINDOW_PARAMETERS, st.integers(1, 6), st.booleans().flatmap(programs), EVENTS)
@settings(max_examples=300, deadline=None)
def test_any_parameters(parameters, groups, spans, events) -> None:
    """For any parameters, records equal those of the model (seed 001 ¶56, ¶61-63, ¶65-70)."""
    # An event happens within its instruction: `time` cycles after the start, if it is so long.
    inside = [
        (i, what, spans[i][0] + after, count)
        for i, what, after, count in events
        if i < len(spans) and spans[i][0] + after < spans[i][1]
    ]
    machine = TraceMachine(groups).auto(**parameters)
    feed(machine.block, spans, inside)
    machine.block.stop()
    found = {(x["group"], x["loop"]): x for x in machine.records()}
    expected = direct(parameters, groups, spans)
    assert set(found) == {(x.group, x.loop) for x in expected}
    assert len(found) == len(machine.records())
    for run in expected:
        x = found[run.group, run.loop]
        assert (x["first"], x["instructions"]) == (run.numbers[0], len(run.numbers))
        mine = [event for event in inside if event[0] in run.numbers]
        assert {name: x[name] for name in NAMES} == counted(run, spans, mine)


def counted(run: Run, spans: list[tuple[int, int]], events: list[tuple]) -> dict[str, int]:
    """The 17 counters of a record, computed from lists."""
    of = {kind: [event for event in events if event[1] == kind] for kind in OCCURRENCE_NAMES}
    total = {kind: sum(event[3] for event in of[kind]) for kind in OCCURRENCE_NAMES}
    first = {kind: min((e[2] for e in of[kind]), default=0) for kind in OCCURRENCE_NAMES}
    last = {kind: max((e[2] + e[3] for e in of[kind]), default=0) for kind in OCCURRENCE_NAMES}
    return {
        "t_begin": spans[run.numbers[0]][0],
        "t_end": max(spans[i][1] for i in run.numbers),
        "t_rd_begin": first["external_reads"],
        "t_rd_end": last["external_reads"],
        "t_wr_begin": first["external_writes"],
        "t_wr_end": last["external_writes"],
        "t_cu_begin": first["unit"],
        "t_cu_end": last["unit"],
        "e_cu": total["unit"],
        "e_array": total["array"],
        "e_rd": total["reads"],
        "e_rd_blocked": total["reads_blocked"],
        "e_wr": total["writes"],
        "e_wr_blocked": total["writes_blocked"],
        "e_bus": total["external_reads"],
        "e_xwr_partial": total["external_partial"],
        "e_xwr": total["external_writes"],
    }


@pytest.mark.once
@given(WINDOW_PARAMETERS, st.booleans().flatmap(programs), EVENTS, st.integers(0, 40))
@settings(max_examples=60, deadline=None)
def test_a_saved_block_goes_on_as_it_was(parameters, spans, events, at) -> None:
    """A trace block restored from a snapshot in mid-run ends in the state of a whole run."""
    inside = [(i, k, spans[i][0], n) for i, k, _, n in events if i < len(spans)]
    whole, other = TraceMachine().auto(**parameters), TraceMachine()
    feed(whole.block, spans, inside)
    half = TraceMachine().auto(**parameters)
    cut = spans[at][0] if at < len(spans) else 1 << 30
    half_block = half.block
    told = [(b, 2, i, "", 0) for i, (b, _) in enumerate(spans)]
    told += [(e, 0, i, "", 0) for i, (_, e) in enumerate(spans)]
    told += [(t, 3, i, k, n) for i, k, t, n in inside]
    for time, act, i, what, count in sorted(told):
        if time >= cut and half_block is half.block:
            half.block.sync()
            other.block.state.restore(half.block.state.snapshot())
            other.block.reload()
            half_block = other.block
        if act == 2:
            half_block.begin(time)
        elif act == 0:
            half_block.end(time, i)
        else:
            half_block.count_occurrence(what, time, time + count, count, i)
    half_block.sync()
    whole.block.sync()
    assert half_block.state.hash() == whole.block.state.hash()
    assert half.spilled + other.spilled == whole.spilled


def test_mark_mode_brackets() -> None:
    """Markers open and close groups (seed 001 ¶58-60).

    Group 1 records two instructions, group 0 all instructions between its own markers.
    """
    machine = TraceMachine().set(spill=AREA, spill_end=AREA + 4 * RECORD.size)
    block = machine.block
    block.start(100)
    block.end(105, block.begin(100))  # number 0, in no group
    block.mark(True, 0, 105, 106)  # 1
    first = block.begin(106)
    assert first == 2
    block.count_occurrence("external_reads", 107, 130, 3)
    block.end(130, first)
    block.mark(True, 1, 130, 131)  # 3
    for begin in (131, 141):  # 4, 5
        number = block.begin(begin)
        block.count_occurrence("unit", begin, begin + 8, 5)
        block.count_occurrence("array", begin, begin + 8, 1)
        block.end(begin + 10, number)
    block.mark(False, 1, 151, 152)  # 6
    assert block.read("trace_status") == 1
    block.mark(False, 0, 152, 153)  # 7
    block.end(160, block.begin(153))  # 8, in no group
    assert block.read("trace_status") == 0
    inner, outer = machine.records()
    assert {k: v for k, v in inner.items() if v} == {
        "core": 2, "group": 1, "first": 4, "instructions": 2, "t_begin": 31, "t_end": 51,
        "t_cu_begin": 31, "t_cu_end": 49, "e_cu": 10, "e_array": 2,
    }  # fmt: skip
    assert {k: v for k, v in outer.items() if v} == {
        "core": 2, "first": 2, "instructions": 3, "t_begin": 6, "t_end": 51,
        "t_rd_begin": 7, "t_rd_end": 30, "t_cu_begin": 31, "t_cu_end": 49,
        "e_bus": 3, "e_cu": 10, "e_array": 2,
    }  # fmt: skip


def test_a_record_waits_for_instructions_under_way() -> None:
    machine = TraceMachine().set(spill=AREA, spill_end=AREA + 4 * RECORD.size)
    block = machine.block
    block.start(0)
    block.mark(True, 3, 0, 1)
    number = block.begin(1)
    block.mark(False, 3, 2, 3)
    late = block.begin(3)
    assert machine.spilled == []
    block.count_occurrence("writes", 5, number=number)
    block.count_occurrence("writes", 5, number=late)
    block.end(9, late)
    assert machine.spilled == []
    block.end(20, number)
    (record,) = machine.records()
    assert (record["t_begin"], record["t_end"], record["e_wr"]) == (1, 20, 1)


def test_an_end_may_be_told_ahead_of_its_time() -> None:
    machine = TraceMachine(1).auto(num=2, step=1, overhead=2)
    long = machine.block.begin(0)
    machine.block.end(20, long)
    machine.block.end(15, machine.block.begin(5))
    assert [x["t_end"] for x in machine.records()] == [20]


def test_a_second_begin_ends_the_first_record() -> None:
    machine = TraceMachine().set(spill=AREA, spill_end=AREA + 4 * RECORD.size)
    block = machine.block
    block.start(0)
    block.mark(False, 2, 0, 1)  # nothing to end
    for begin in (1, 11):
        block.mark(True, 2, begin, begin + 1)
        block.end(begin + 9, block.begin(begin + 1))
    block.stop()
    assert [(x["t_begin"], x["t_end"]) for x in machine.records()] == [(2, 10), (12, 20)]


def test_markers_are_plain_instructions_in_auto_mode() -> None:
    """In auto mode, markers are recorded as plain instructions (seed 001 ¶62)."""
    machine = TraceMachine().auto(begin=1, num=1, step=1, overhead=4, loops=1)
    block = machine.block
    block.end(4, block.begin(0))
    block.mark(True, 3, 4, 5)
    block.mark(False, 3, 5, 6)
    found = [(x["group"], x["first"], x["t_begin"], x["t_end"]) for x in machine.records()]
    assert found == [(0, 1, 4, 5), (1, 2, 5, 6)]


@pytest.mark.parametrize("room", [0, 1, 3])
@pytest.mark.parametrize("rest", [4, RECORD.size - 4])
def test_a_full_area_stops_spilling(room: int, rest: int) -> None:
    """A full area ends the writing of records and sets a status bit (seed 001 ¶64)."""
    machine = TraceMachine().auto(num=1, step=1, overhead=4)
    machine.set(spill_end=AREA + room * RECORD.size + rest)
    machine.run(9)
    assert [x["first"] for x in machine.records()] == list(range(room))
    read = machine.block.read
    assert read("trace_status") == 2
    assert read("trace_lost") == 9 - room
    assert read("trace_next") == AREA + room * RECORD.size
    assert read("t_begin0") == 80  # the registers go on
    machine.set(spill=AREA)
    assert [read(x) for x in ("trace_status", "trace_lost", "trace_next")] == [0, 0, AREA]


def test_an_area_that_is_exactly_full_lost_nothing() -> None:
    """An area for exactly all records sets no status bit (seed 001 ¶64)."""
    machine = TraceMachine().auto(records=9, num=1, step=1, overhead=4).run(9)
    assert len(machine.records()) == 9
    assert machine.block.read("trace_status") == 0


def test_without_an_area_records_stay_in_registers() -> None:
    machine = TraceMachine().set(mode=1, num=1, step=1, overhead=4)
    machine.block.start(0)
    machine.run(4)
    assert machine.spilled == []
    assert machine.block.read("trace_status") == machine.block.read("trace_lost") == 0
    assert [machine.block.read(f"t_begin{g}") for g in range(4)] == [0, 10, 20, 30]


def test_the_block_says_when_nothing_can_come_any_more() -> None:
    """After its last record is complete, the block switches off; the core need not report more.

    `begin` is 2, a loop has 5 instructions, and the last of four groups records the fourth of
    them. So in the second of two loops, the last record is of instruction 2 + 5 + 3.
    """
    machine = TraceMachine().auto(begin=2, num=1, step=1, overhead=5, loops=2)
    wanted = []
    for i in range(14):
        number = machine.block.begin(10 * i)
        machine.block.end(10 * i + 10, number)
        wanted.append(machine.block.on)
    assert wanted == [True] * 10 + [False] * 4
    assert machine.records()[-1]["first"] == 10
    assert not TraceMachine().auto(num=0, step=1, overhead=5).block.on


def test_changing_the_mode_ends_runs_at_what_has_begun() -> None:
    machine = TraceMachine(1).auto(num=10, step=1, overhead=10)
    block = machine.block
    block.end(5, block.begin(0))
    number = block.begin(5)
    machine.set(mode=0)
    block.end(9, block.begin(7))
    block.end(11, number)
    assert [(x["instructions"], x["t_end"]) for x in machine.records()] == [(2, 11)]


def test_recording_switched_off() -> None:
    machine = TraceMachine(recording=False).auto(num=1, step=1, overhead=4).run(9)
    machine.set(mode=0)
    machine.block.mark(True, 0, 90, 91)
    machine.block.end(95, machine.block.begin(91))
    machine.block.mark(False, 0, 95, 96)
    assert machine.spilled == []
    assert not machine.block.on
    assert all(not any(counters) for counters in machine.block.counters)
    assert machine.block.executed == 12


def test_nothing_is_recorded_while_the_timer_rests() -> None:
    """Nothing is recorded while the timer is stopped (seed 001 ¶71-72)."""
    machine = TraceMachine().auto(num=1, step=1, overhead=4)
    machine.block.stop()
    machine.run(4)
    assert machine.spilled == []


def test_registers_show_32_bits() -> None:
    machine = TraceMachine().set(spill=AREA, spill_end=AREA + RECORD.size)
    block = machine.block
    block.start(0)
    block.mark(True, 0, 0, 1)
    number = block.begin(1)
    block.count_occurrence("unit", (1 << 32) + 5, (1 << 32) + 7, 1 << 31)
    block.count_occurrence("unit", (1 << 32) + 9, (1 << 33) + 11, 1 << 31)
    block.end((1 << 33) + 20, number)
    block.mark(False, 0, (1 << 33) + 20, (1 << 33) + 21)
    (record,) = machine.records()
    assert (record["t_cu_begin"], record["t_cu_end"], record["t_end"]) == (5, 11, 20)
    assert record["e_cu"] == block.read("e_cu0") == (1 << 32) - 1


REFUSED = [
    ("trace_mode", 2, "out-of-range access", "trace_mode of vc is 0 to 1, not 2"),
    ("trace_num", 1 << 32, "out-of-range access", "trace_num of vc is 0 to 4294967295"),
    ("trace_spill", 6, "misaligned access", "trace_spill of vc is a multiple of 4, not 0x00000006"),
    ("trace_status", 0, "out-of-range access", "trace_status of the trace block of vc is read-only"),
    ("e_bus0", 0, "out-of-range access", "e_bus0 of the trace block of vc is read-only"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "kind", "text"), REFUSED)
def test_refused_writes(name: str, value: int, kind: str, text: str) -> None:
    block = TraceMachine().block
    block.sync()
    before = block.state.hash()
    with pytest.raises(Fault, match=text) as raised:
        block.write(name, value)
    assert raised.value.kind == kind
    block.sync()
    assert block.state.hash() == before


def test_groups_that_are_not_there() -> None:
    block = TraceMachine(groups=2).block
    assert block.read("e_cu1") == 0
    with pytest.raises(Fault, match="e_cu2: the trace block of vc has 2 groups"):
        block.read("e_cu2")
    with pytest.raises(Fault, match="register group 2: the trace block of vc has 2") as raised:
        block.mark(True, 2, 0, 1)
    assert raised.value.kind == "bad mask"
    with pytest.raises(Fault, match=r"e_cu1: the trace block of vc has 1 group$"):
        TraceMachine(groups=1).block.read("e_cu1")


def test_reset() -> None:
    """A reset clears timer and registers (seed 001 ¶72)."""
    machine = TraceMachine().auto(num=1, step=1, overhead=4).run(9)
    fresh = TraceMachine().block
    machine.block.reset()
    machine.block.sync()
    assert machine.block.state.hash() == fresh.state.hash()
