"""vc's trace block as control and status registers, by hand; its counts are in test_traced_engines.py."""

from typing import Any

import pytest

from macaw.emu.device import Device
from macaw.isa.codec import unpack
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.trace import ALL, CSR_GROUPS, CSR_LAST, CSR_PARAMETERS, RECORD
from tests.emu.vc_machine import machine, processor

AREA = EXTERNAL + 0x8000
END = """
        li      a0, 0
        li      a7, 93
        ecall
"""
BY_CSRS = f"""
        csrrwi  zero, trace_num, 2
        csrrwi  zero, trace_step, 2
        csrrwi  zero, trace_loops, 1
        csrrwi  zero, trace_begin, 7
        csrrwi  s0, trace_mode, 1         # 4: was 0
        csrrs   s1, trace_begin, zero     # 5
        csrrsi  s2, trace_num, 1          # 6: 3 instructions
        vadd.b  vr0, vr1, vr2             # 7: cycles 7 to 10, group 0 begins
        vadd.b  vr3, vr4, vr5             # 8: 8 to 11
        mul     t0, t0, t0                # 9: 9 to 12, group 0 ends and group 1 begins
        csrrs   a1, t_begin0, zero        # 10: 12 to 13, it waits for all before it
        csrrs   a2, t_end0, zero          # 11: 13 to 14, group 1 ends and group 2 begins
        csrrs   a3, e_cu0, zero           # 12: 14 to 15
        csrrs   a4, e_array0, zero        # 13: 15 to 16, group 2 ends and group 3 begins
        csrrs   a5, t_end1, zero          # 14
        csrrs   a6, t_begin3, zero        # 15: group 3 ends
        csrrs   s3, trace_status, zero    # 16: all have ended
        csrrs   s4, e_xwr0, zero
{END}"""


def started(source: str, **changes: Any) -> Device:
    """A device whose vc has started its timer."""
    device = machine(source, **changes)
    processor(device).trace.start(0)
    return device


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_control_and_status_registers(engine: str) -> None:
    """vc uses its trace block by CSRs (seed 001 ¶51-53).

    A csr instruction takes 1 cycle, a vector instruction and mul take 3. One instruction issues in
    each cycle; a csr instruction waits for all instructions before it.
    """
    device = started(BY_CSRS, engine=engine)
    device.run()
    x = dict(enumerate(processor(device).x))
    assert [x[n] for n in (8, 9, 18)] == [0, 7, 2]
    assert [x[n] for n in range(11, 15)] == [7, 12, 2 * 16, 2]
    assert [x[n] for n in (15, 16, 19, 20)] == [14, 15, 0, 0]


def addressed(parameters: dict[int, int]) -> str:
    """Instructions that write CSRs by their addresses."""
    lines = [f"li t0, {value}\n csrrw zero, {at:#x}, t0" for at, value in parameters.items()]
    return "\n ".join(["", *lines, ""])


def spilled(device: Device) -> list[dict[str, int]]:
    size = processor(device).trace.read("trace_next") - AREA
    data = device.memory.peek(AREA, size)
    return [unpack(RECORD, data, at) for at in range(0, size, RECORD.size)]


@pytest.mark.parametrize("engine", ["fast", "reference"])
@pytest.mark.parametrize("group", range(4))
def test_registers_hold_what_is_spilled(engine: str, group: int) -> None:
    """The counters of group g are CSRs from 0xFC0 + 16 g on, with the spilled values.

    Only e_xwr is elsewhere, at 0xCC0 + 16 g.
    """
    reads = [CSR_GROUPS + 16 * group + place for place in range(16)] + [CSR_LAST + 16 * group]
    store = "".join(
        f" csrrs t0, {at:#x}, zero\n sw t0, {4 * n}(s0)\n" for n, at in enumerate(reads)
    )
    source = (
        addressed({CSR_PARAMETERS + 6: AREA, CSR_PARAMETERS + 7: AREA + 4 * RECORD.size})
        + f"""
        li      s0, {EXTERNAL + 0x4000:#x}
        trace_begin {group}
        lw      t1, 0(s0)
        vadd.b  vr0, vr1, vr2
        sh      t1, 64(s0)
        vadd.b  vr0, vr0, vr2
        trace_end {group}
{store}{END}"""
    )
    device = started(source, engine=engine)
    device.run()
    (record,) = spilled(device)
    data = device.memory.peek(EXTERNAL + 0x4000, 4 * 17)
    words = [int.from_bytes(data[4 * n : 4 * n + 4], "little") for n in range(17)]
    assert words == list(record.values())[-17:]
    assert record["group"] == group
    assert record["instructions"] == 4
    assert [record[name] for name in ("e_cu", "e_array", "e_bus")] == [32, 2, 1]
    assert [record[name] for name in ("e_xwr", "e_xwr_partial")] == [1, 1]
    assert (
        0 < record["t_begin"] < record["t_wr_begin"] < record["t_wr_end"] <= record["t_end"] < ALL
    )


MARKED = f"""
        mul     t0, t0, t0                # 0: cycles 0 to 3
        trace_begin 1                     # 1: 1 to 2, it waits for nothing
        mul     t1, t1, t1                # 2: 2 to 5
        vadd.b  vr0, vr1, vr2             # 3: 3 to 6
        trace_end 1                       # 4: 4 to 5
        mul     t2, t2, t2                # 5: 5 to 8
        trace_end 1                       # 6: nothing to end
{END}"""


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_markers_by_hand(engine: str) -> None:
    """A marked record of vc has the times and counts calculated here (seed 001 ¶59-60)."""
    device = started(MARKED, engine=engine)
    trace = processor(device).trace
    trace.write("trace_spill_end", AREA + 4 * RECORD.size)
    trace.write("trace_spill", AREA)
    device.run()
    (record,) = spilled(device)
    assert {name: value for name, value in record.items() if value} == {
        "core": 2, "group": 1, "first": 2, "instructions": 2, "t_begin": 2, "t_end": 6,
        "t_cu_begin": 3, "t_cu_end": 6, "e_cu": 16, "e_array": 1,
    }  # fmt: skip


FAULTS = [
    ("csrrw zero, t_begin0, a0", "illegal instruction", "t_begin0 is read-only"),
    (
        "csrrs a0, e_xwr3, zero",
        "illegal instruction",
        "e_xwr3 is of no group: the trace block of vc has 2 groups",
    ),
    ("csrrwi zero, trace_mode, 2", "out-of-range access", "trace_mode of vc is 0 to 1, not 2"),
    ("trace_begin 2", "bad mask", "register group 2: the trace block of vc has 2"),
]


@pytest.mark.parametrize(("line", "kind", "text"), FAULTS)
def test_what_cannot_be(line: str, kind: str, text: str) -> None:
    stop = machine(line, trace__groups=2).run()
    assert stop.fault is not None
    assert stop.fault.kind == kind
    assert text in stop.fault.message
