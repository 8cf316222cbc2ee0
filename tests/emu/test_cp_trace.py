"""cp's trace block: records by hand and against a log of announcements; no cost in cycles."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.emu.device import Device
from macaw.isa.codec import unpack
from macaw.isa.trace import MAPPED_GROUPS, MAPPED_PARAMETERS, PARAMETERS, RECORD
from tests.emu.cp_machine import machine
from tests.emu.toys import EXTERNAL, UNIT

PAGE = 0x2000_0000
AREA = EXTERNAL + 0x8000
OFFSETS = {row.name: MAPPED_PARAMETERS + 4 * row.index for row in PARAMETERS}


def setup(device: Device, **parameters: int) -> Device:
    """Set trace parameters as the host does, and an area for 64 records."""
    area = {"spill": AREA, "spill_end": AREA + 64 * RECORD.size}
    for name, value in (area | parameters).items():
        device.memory.registers.write(PAGE + OFFSETS[f"trace_{name}"], 4, value, 0)
    return device


def records(device: Device) -> list[dict[str, int]]:
    block = device.cores["cp"].trace
    assert block is not None
    size = block.read("trace_next") - AREA
    data = device.memory.peek(AREA, size)
    return [unpack(RECORD, data, at) for at in range(0, size, RECORD.size)]


def shown(record: dict[str, int]) -> dict[str, int]:
    return {name: value for name, value in record.items() if value}


# By hand: alu 1, mul 3, local load 2; an external load of 4 bytes is ready 21 cycles after its
# begin, a store too; a branch that is taken costs 2.
MARKED = f"""
        lui     a0, {EXTERNAL >> 12:#x}         # 0: cycle 0
        trace_begin 2                           # 1: 1
        mul     a1, a0, a0                      # 2: 2 to 5
        lw      a2, 0(a0)                       # 3: 5 to 26
        sb      a2, 32(a0)                      # 4: 26 to 47
        trace_end 2                             # 5
        addi    a3, zero, 1
        addi    a7, zero, 93
        ecall
"""


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_marked_instructions_by_hand(engine: str) -> None:
    """A record of marked instructions has the times and counts calculated here.

    See seed 001 ¶54-55, ¶59-60.
    """
    device = setup(machine(MARKED, engine=engine))
    device.run()
    (record,) = records(device)
    assert shown(record) == {
        "group": 2, "first": 2, "instructions": 3, "t_begin": 2, "t_end": 47,
        "t_rd_begin": 5, "t_rd_end": 26, "t_wr_begin": 26, "t_wr_end": 47,
        "t_cu_begin": 2, "t_cu_end": 5, "e_cu": 1, "e_array": 1,
        "e_bus": 1, "e_xwr": 1, "e_xwr_partial": 1,
    }  # fmt: skip


CONFIGURES = f"""
        lui     a0, {PAGE >> 12:#x}
        addi    a1, zero, 1
        sw      a1, {OFFSETS["trace_num"]}(a0)
        sw      a1, {OFFSETS["trace_step"]}(a0)
        sw      a1, {OFFSETS["trace_loops"]}(a0)
        addi    a2, zero, 9
        sw      a2, {OFFSETS["trace_begin"]}(a0)
        sw      a1, {OFFSETS["trace_mode"]}(a0)   # 7
        addi    a3, zero, 0                       # 8
        mul     a4, a1, a1                        # 9: group 0
        mul     a4, a1, a1                        # 10
        mul     a4, a1, a1                        # 11
        lw      a5, 0x7f0(a0)                     # 12: replaced below
        addi    a7, zero, 93
        ecall
"""


def test_a_program_configures_and_reads_its_own_block() -> None:
    """A program sets the parameters of its own trace block and reads its registers (seed 001 ¶71).

    t_begin of group 1 is 12, the start of instruction 10: before it, nine instructions take a cycle
    each, and mul takes 3.
    """
    source = CONFIGURES.replace(
        "lw      a5, 0x7f0(a0)", f"addi a6, a0, 0x7ff\nlw a5, {MAPPED_GROUPS + 0x80 - 0x7FF}(a6)"
    )
    device = machine(source)
    device.run()
    device.sync()
    block = device.cores["cp"].trace
    assert block is not None
    assert [block.read(f"t_end{g}") - block.read(f"t_begin{g}") for g in range(3)] == [3, 3, 3]
    assert device.cores["cp"].state.x[15] == block.read("t_begin1") == 9 + 3


BUSY = f"""
        lui     a0, {UNIT >> 12:#x}
        lui     a1, {EXTERNAL >> 12:#x}
        addi    a2, zero, 3
        lw      a3, 0(a0)
        sw      a3, 8(a0)
        trace_begin 1
        lw      a4, 0(a1)
        mul     a5, a4, a2
        sh      a5, 4(a1)
        trace_end 1
        div     a5, a5, a2
        addi    a2, a2, -1
        bne     a2, zero, -36
        addi    a7, zero, 93
        ecall
"""
MODES = [{"mode": 0}, {"mode": 1, "num": 2, "step": 2, "overhead": 8}, {"mode": 1, "num": 50}]


@pytest.mark.parametrize("parameters", MODES, ids=["mark", "auto", "long"])
@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_tracing_costs_no_cycle_and_changes_nothing(parameters, engine) -> None:
    """Recording changes neither cycles nor results (seed 001 ¶47)."""

    def ended(recording: bool) -> tuple[object, ...]:
        device = setup(machine(BUSY, engine=engine, trace__recording=recording), **parameters)
        stop = device.run()
        device.sync()
        core = device.cores["cp"]
        assert bool(records(device)) is recording
        return stop, core.retired, core.state.x.tolist(), device.counters()

    assert ended(True) == ended(False)


@given(
    st.fixed_dictionaries(
        {
            "begin": st.integers(0, 20),
            "num": st.integers(1, 6),
            "step": st.integers(0, 6),
            "overhead": st.integers(6, 16),
            "loops": st.integers(0, 3),
        }
    ),
    st.integers(0, 200),
)
@settings(max_examples=40, deadline=None)
def test_records_are_what_a_listener_hears(parameters, pause) -> None:
    """Records equal a separate log of a run without recording (seed 001 ¶133).

    The recording run is stopped and restored in the middle.
    """
    log: list[tuple[int, dict[str, int]]] = []
    plain = machine(BUSY, trace__recording=False)
    names = {"read": "e_rd", "write": "e_wr"}

    def hear(event) -> None:
        if event.kind == "instruction":
            log.append((event.core.time, {"e_rd": 0, "e_wr": 0, "e_bus": 0, "e_xwr": 0}))
        elif event.kind in names:
            outside = event.values["address"] >= EXTERNAL
            external = {"read": "e_bus", "write": "e_xwr"}
            log[-1][1][external[event.kind] if outside else names[event.kind]] += 1

    plain.listen(hear, ["cp"])
    stop = plain.run()
    times = [time for time, _ in log] + [stop.cycle]

    traced = setup(machine(BUSY), mode=1, **parameters)
    traced.run(max_cycles=pause)
    other = machine(BUSY)
    other.restore(traced.snapshot())
    assert other.run().cycle == stop.cycle
    found = records(other)
    for record in found:
        first, last = record["first"], record["first"] + record["instructions"]
        assert (record["t_begin"], record["t_end"]) == (times[first], times[last])
        for name in ("e_rd", "e_wr", "e_bus", "e_xwr"):
            assert record[name] == sum(counts[name] for _, counts in log[first:last])
    starts = {
        (g, n): parameters["begin"] + n * parameters["overhead"] + g * parameters["step"]
        for g in range(4)
        for n in range(parameters["loops"] or 20)
    }
    expected = {key: start for key, start in starts.items() if start < len(log)}
    assert {(x["group"], x["loop"]): x["first"] for x in found} == expected


def test_an_area_outside_of_memory_is_a_fault() -> None:
    device = setup(machine(MARKED), spill=0x7000_0000, spill_end=0x7000_1000)
    stop = device.run()
    assert stop.fault is not None
    assert stop.fault.kind == "out-of-range access"


def test_an_area_outside_of_memory_at_the_end_of_the_program() -> None:
    device = setup(
        machine(MARKED.replace("trace_end 2", "addi a4, a4, 0")),
        spill=0x7000_0000, spill_end=0x7000_1000,
    )  # fmt: skip
    stop = device.run()
    assert stop.fault is not None
    assert (stop.fault.kind, stop.fault.core) == ("out-of-range access", "cp")


def test_a_group_that_is_not_there() -> None:
    stop = machine("trace_begin 4").run()
    assert stop.fault is not None
    assert stop.fault.kind == "bad mask"
    assert "register group 4: the trace block of cp has 4" in stop.fault.message


BY_CSRS = """
        csrrwi  zero, trace_num, 2
        csrrwi  zero, trace_step, 2
        csrrwi  zero, trace_loops, 1
        csrrwi  zero, trace_begin, 8
        csrrwi  zero, trace_overhead, 9
        csrrwi  a0, trace_mode, 1         # 5
        csrrs   a1, trace_begin, zero
        csrrsi  a2, trace_num, 1          # 7: 3 instructions
        mul     a3, a1, a1                # 8: group 0, cycles 8 to 11
        csrrs   a4, t_begin0, zero        # 9
        csrrs   a5, trace_status, zero    # 10: group 1 begins here too
        csrrs   a6, t_begin1, zero        # 11
        csrrs   s2, e_cu0, zero           # 12
        csrrs   s3, t_end0, zero          # 13
        addi    a7, zero, 93
        ecall
"""


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_control_and_status_registers(engine: str) -> None:
    """A program uses its trace block by CSRs (seed 001 ¶51-53).

    A csr instruction takes 1 cycle, mul takes 3. Group 0 records instructions 8 to 10, group 1
    records from instruction 10 on.
    """
    device = machine(BY_CSRS, engine=engine)
    device.run()
    device.sync()
    x = device.cores["cp"].state.x
    assert [int(x[n]) for n in (10, 11, 12)] == [0, 8, 2]
    assert [int(x[n]) for n in (14, 15, 16, 18, 19)] == [8, 1, 12, 1, 13]


CSR_FAULTS = [
    ("csrrw zero, t_begin0, a0", "illegal instruction", "t_begin0 is read-only"),
    ("csrrw zero, trace_lost, a0", "illegal instruction", "trace_lost is read-only"),
    (
        "csrrs a0, e_xwr3, zero",
        "illegal instruction",
        "e_xwr3 is of no group: the trace block of cp has 2 groups",
    ),
    ("csrrwi zero, trace_mode, 2", "out-of-range access", "trace_mode of cp is 0 to 1, not 2"),
    ("csrrwi zero, trace_spill, 6", "misaligned access", "trace_spill of cp is a multiple of 4"),
]


@pytest.mark.parametrize(("line", "kind", "text"), CSR_FAULTS)
def test_csrs_that_cannot_be(line: str, kind: str, text: str) -> None:
    stop = machine(line, trace__groups=2).run()
    assert stop.fault is not None
    assert stop.fault.kind == kind
    assert text in stop.fault.message
