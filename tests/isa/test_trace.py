"""The tables of the trace block agree with the specification and seed 001."""

from __future__ import annotations

from dataclasses import replace

import pytest

from macaw.isa import common, registry, trace
from macaw.isa.rows import TableError

# The specification, copied by hand: the columns of its table, and its addresses.
TIMES = "t_begin t_end t_rd_begin t_rd_end t_wr_begin t_wr_end t_cu_begin t_cu_end".split()
EVENTS = "e_cu e_array e_rd e_rd_blocked e_wr e_wr_blocked e_bus e_xwr_partial e_xwr".split()
CONFIGURATION = {
    "trace_mode": 0x7C0,
    "trace_begin": 0x7C1,
    "trace_num": 0x7C2,
    "trace_step": 0x7C3,
    "trace_overhead": 0x7C4,
    "trace_loops": 0x7C5,
    "trace_spill": 0x7C6,
    "trace_spill_end": 0x7C7,
}
FORMULAS = {  # which registers the seed's formulas take
    "t1": {"t_rd_begin"}, "t2": {"t_rd_end"}, "n": {"e_bus"}, "q": {"e_cu"},
    "t3": {"t_cu_begin"}, "t4": {"t_cu_end"}, "a1": {"e_xwr_partial"}, "b1": {"e_xwr"},
    "a2": {"e_rd_blocked", "e_wr_blocked"}, "b2": {"e_rd", "e_wr"},
    "a3": {"e_cu"}, "b3": {"e_array"},
}  # fmt: skip


def test_a_group_is_17_registers() -> None:
    """A group has 17 registers: times, then counts of events (seed 001 ¶46, ¶54-55)."""
    assert [row.name for row in trace.GROUP] == TIMES + EVENTS
    assert len(trace.GROUP) == 17
    assert all((row.takes == "count") == (row.name in EVENTS) for row in trace.GROUP)


def test_every_symbol_of_the_formulas_has_its_register() -> None:
    """Each symbol of the formulas has a register (seed 001 ¶54-55, ¶90-91, ¶95-97, ¶99-101)."""
    found: dict[str, set[str]] = {}
    for row in trace.GROUP:
        for symbol in filter(None, row.symbol.split(", ")):
            found.setdefault(symbol, set()).add(row.name)
    assert found == FORMULAS


def test_csrs_lie_where_risc_v_leaves_them_to_us() -> None:
    rows = {row.name: row for row in trace.csrs()}
    assert {name: rows[name].address for name in CONFIGURATION} == CONFIGURATION
    assert [rows[f"{name}2"].address for name in TIMES + EVENTS[:-1]] == list(range(0xFE0, 0xFF0))
    assert [rows[f"e_xwr{group}"].address for group in range(4)] == [0xCC0, 0xCD0, 0xCE0, 0xCF0]
    custom = [*range(0x7C0, 0x800), *range(0xCC0, 0xD00), *range(0xFC0, 0x1000)]
    assert {row.address for row in rows.values()} <= set(custom)
    # Bits 11:10 of a number say that nothing can write it (RISC-V privileged ISA, 2.1).
    assert all(row.access == "ro" for row in rows.values() if row.address >> 10 == 3)


def test_mapped_registers_do_not_meet_those_of_cores() -> None:
    rows = trace.mapped()
    taken = [row.address for row in rows]
    assert all(address % 4 == 0 and address < 0x1000 for address in taken)
    assert len(set(taken)) == len(taken) == len(trace.PARAMETERS) + 16 * 17
    for core in registry.cores():
        own = [row.address for row in (*common.REGISTERS, *core.registers)]
        assert set(own).isdisjoint(taken)


def test_the_record_is_what_a_group_holds() -> None:
    assert trace.RECORD.size == 4 * (5 + 17)
    assert list(trace.RECORD.offsets)[5:] == TIMES + EVENTS


def test_traffic_has_the_names_of_the_ports_counters() -> None:
    known = {row.name for row in common.TRAFFIC}
    traffic = {x.name for x in trace.OCCURRENCES} - {"instruction", "unit", "array"}
    assert traffic == known - {"external_blocked"}


def test_a_marker_has_a_field_of_its_kind_and_one_of_its_group() -> None:
    """A marker has a field for begin or end and one for its group (seed 001 ¶59-60).

    The first field is 1 for begin and 0 for end. In nnp it is 0 for begin and 1 for end, because
    these instructions have the numbers 30 and 31 in the specification of nnp.
    """
    found = {}
    for core in registry.cores():
        rows = {row.mnemonic: row for row in core.instructions}
        if "trace_begin" not in rows:
            continue
        begin, end = rows["trace_begin"], rows["trace_end"]
        assert begin.format == end.format
        assert [kind.name for kind in begin.operands] == ["g"]
        (key,) = (key for key in begin.fixed if begin.fixed[key] != end.fixed[key])
        found[core.name] = begin.fixed[key], end.fixed[key]
    one = (1, 0)
    assert found == {"cp": one, "vc": one, "pe": one, "nnp": (0, 1), "fim": one}


def test_rows_that_contradict_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    group = trace.GROUP
    for change in ({"of": "nothing"}, {"takes": "most"}):
        row = replace(group[0], **change)
        monkeypatch.setattr(trace, "GROUP", (row, *group[1:]))
        with pytest.raises(TableError, match=f"trace: {row.name} takes {row.takes} of {row.of}"):
            trace._check()
    monkeypatch.setattr(trace, "GROUP", (group[0], *group))
    with pytest.raises(TableError, match="trace: two registers have one name or one address"):
        trace._check()
