"""nnp's trace block against a separate count of the program, the reference's log, and by hand."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.isa.codec import unpack
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.trace import GROUP, RECORD
from tests.emu.nnp.counted import used
from tests.emu.nnp.machine import (
    ADD,
    EXTERNAL_LATENCY,
    MFU_CROSSBARS,
    PRODUCT,
    READ,
    WRITE,
    nnp_device,
    processor_of,
)
from tests.emu.nnp.random_programs import Case, program

pytestmark = pytest.mark.once

LIMIT = 200_000
PHASES = [Phase.explicit, Phase.reuse, Phase.generate]  # to shrink such programs takes minutes
AREA = EXTERNAL + 0xC_0000
COUNTS = {row.of: row.name for row in GROUP if row.takes == "count"}
TIMES = {(row.of, row.takes): row.name for row in GROUP if row.takes != "count"}


def traced(device: Device, parameters: dict[str, int]) -> Device:
    """Set the trace parameters and an area for 500 records; recording starts at cycle 0."""
    core = device.cores["nnp"]
    core.trace.start(0)
    area = {"spill": AREA, "spill_end": AREA + 500 * RECORD.size}
    for name, value in (area | parameters).items():
        core.write_trace(f"trace_{name}", value)
    return device


def records(device: Device) -> list[dict[str, int]]:
    """The spilled records; all records must have ended."""
    device.sync()
    size = device.cores["nnp"].trace.read("trace_next") - AREA
    data = device.memory.peek(AREA, size)
    return [unpack(RECORD, data, at) for at in range(0, size, RECORD.size)]


class Log:
    """The events of the reference, by chain."""

    def __init__(self, case: Case) -> None:
        self.chains: list[list[dict[str, Any]]] = []
        self.begins: list[int] = []
        self._uses: list[dict[str, Any]] = []
        self.device = case.device(ENGINES[1])
        self.device.listen(self._hear, ["nnp"])
        self.stop = self.device.run(LIMIT)

    def _hear(self, event: Any) -> None:
        if event.kind == "used":
            self._uses.append(dict(event.values))
        elif event.kind == "chain":
            if not event.values["iteration"]:
                self.chains.append([])
                self.begins.append(event.time)
            self.chains[-1] += self._uses
            self._uses = []
        elif event.kind == "end":  # the waits to push its last vectors
            self.chains[-1] += self._uses
            self._uses = []

    def record(self, first: int, count: int) -> dict[str, int]:
        """The registers of a group that records `count` chains from `first` on."""
        found = dict.fromkeys((row.name for row in GROUP), 0)
        uses = [use for chain in self.chains[first : first + count] for use in chain]
        for use in uses:
            found[COUNTS[use["of"]]] += use["times"]
        for (of, takes), name in TIMES.items():
            mine = [use for use in uses if use["of"] == of]
            if mine and takes == "first":
                found[name] = min(use["begin"] for use in mine)
            elif mine:
                found[name] = max(use["until"] for use in mine)
        ends = [use["until"] for use in uses if use["of"] in _ENDS]
        return found | {"t_begin": self.begins[first], "t_end": max(ends)}


_ENDS = ("writes", "external_writes", "writes_blocked")


PARAMETERS = st.fixed_dictionaries(
    {
        "mode": st.just(1),
        "begin": st.integers(0, 4),
        "num": st.integers(1, 4),
        "step": st.integers(0, 4),
        "overhead": st.integers(0, 9),
        "loops": st.integers(0, 3),
    }
)


@settings(max_examples=40, deadline=None, phases=PHASES)
@given(st.integers(0, 1 << 32), PARAMETERS)
def test_counters_are_those_of_the_program_and_the_log(seed: int, parameters) -> None:
    case = program(random.Random(seed))
    log = Log(case)
    device = traced(case.device(ENGINES[0]), parameters)
    stop = device.run(LIMIT)
    assert stop.plain() == log.stop.plain()
    assert device.counters() == log.device.counters()
    for chain, own in zip(log.chains, used(case), strict=False):
        heard: Counter[str] = Counter()
        for use in chain:
            heard[use["of"]] += use["times"]
        whole = chain is not log.chains[-1] or stop.reason == "exit"
        for of in COUNTS:
            if not of.endswith("blocked") and whole:
                assert heard[of] == own[of], of
    for record in records(device):
        first, count = record["first"], record["instructions"]
        begins = parameters["begin"] + parameters["overhead"] * record["loop"]
        assert first == begins + parameters["step"] * record["group"]
        assert count == min(parameters["num"], len(log.chains) - first)
        if stop.reason != "exit" and first + count == len(log.chains):
            continue  # the last chain is incomplete
        expected = log.record(first, count)
        if log.chains[first][0]["of"] == "reads":  # perhaps from NetInQ: before its first iteration
            assert record["t_begin"] <= expected.pop("t_begin")
        assert {name: record[name] for name in expected} == expected


@settings(max_examples=25, deadline=None, phases=PHASES)
@given(st.integers(0, 1 << 32), st.sampled_from([0, 60]), PARAMETERS, st.data())
def test_engines_agree_wherever_they_are_stopped(seed, late, parameters, data) -> None:
    case = program(random.Random(seed))
    end = case.device(ENGINES[0], late).run(LIMIT).cycle
    cuts = sorted(data.draw(st.lists(st.integers(0, end), max_size=3)))
    fast, plain = (traced(case.device(engine, late), parameters) for engine in ENGINES)
    for cut in cuts:
        outcomes = [device.run(until=cut).plain() for device in (fast, plain)]
        assert outcomes[0] == outcomes[1]
        assert [change for change in fast.diff(plain.snapshot()) if change[0] == "nnp"] == []
    other = case.device(ENGINES[0], late)
    other.restore(plain.snapshot())
    stops = [device.run(LIMIT) for device in (fast, plain, other)]
    assert stops[0].plain() == stops[1].plain() == stops[2].plain()
    assert stops[0].cycle == case.device(ENGINES[0], late).run(LIMIT).cycle
    assert records(fast) == records(plain) == records(other)
    assert fast.diff(plain.snapshot()) == other.diff(plain.snapshot()) == []


# --- by hand, on tiny (N 4, rate 2, a pass 2, one engine of two lanes); depths of test_nnp_cycles ---


def marked(source: str, engine: str, **changes: Any) -> Device:
    """A device with a program that group 1 records completely, from cycle 1, after a marker."""
    return traced(
        nnp_device(f"trace_begin 1\n{source}trace_end 1\nend_chain\n", engine, **changes), {}
    )


def recorded(device: Device) -> dict[str, int]:
    """The counts and times of the only record."""
    (record,) = records(device)
    return {
        name: value for name, value in record.items() if value and name not in ("core", "group")
    }


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_product_by_hand(engine: str) -> None:
    # s_wr at 1 and 2, the chain at 3 to 5: read at 5, 7 and 9. 2 x 3 tiles are 6 passes of 2 cycles.
    source = "SetRowsCols(2, 3)\nv_rd InitialVrf, 0\nmv_mul 0\nv_wr MulVrf, 0\n"
    device = marked(source, engine)
    device.run(1000)
    product = 5 + READ
    assert recorded(device) == {
        "instructions": 1, "t_begin": 5, "t_end": product + 5 * 2 + PRODUCT + MFU_CROSSBARS + WRITE + 2,
        "t_cu_begin": product, "t_cu_end": product + 12, "e_cu": 6 * 4, "e_array": 12,
        "e_rd": 3 + 6, "e_wr": 2,
    }  # fmt: skip
    assert device.cores["nnp"].units()[:2] == (2, 4 * 2)


def test_external_memory_by_hand(engine: str) -> None:
    # Two vectors of 8 bytes from byte 0, to byte 16: 2 beats of 4 bytes each.
    device = marked("SetCols(2)\nv_rd Dram, 0\nv_wr Dram, 2\n", engine, mem__external_width=4)
    device.run(1000)
    timing = processor_of(device).timing
    assert (timing.rate, timing.channels) == (2, 1)
    read = 3  # s_wr 1, v_rd 2, v_wr 3; the second vector 2 cycles later
    write = read + 2 + READ + EXTERNAL_LATENCY + MFU_CROSSBARS
    assert recorded(device) == {
        "instructions": 1, "t_begin": read, "t_end": write + WRITE + 2 + EXTERNAL_LATENCY,
        "t_rd_begin": read, "t_rd_end": read + 2 + 2 + EXTERNAL_LATENCY, "e_bus": 4,
        "t_wr_begin": write - 2, "t_wr_end": write + WRITE + 2 + EXTERNAL_LATENCY, "e_xwr": 4,
    }  # fmt: skip


def test_partial_writes_by_hand(engine: str) -> None:
    # 8 bytes at byte 8 of 32: a narrow write.
    device = marked("v_rd MulVrf, 0\nv_wr Dram, 1\n", engine, mem__external_width=32)
    device.run(1000)
    found = recorded(device)
    assert (found["e_xwr"], found["e_xwr_partial"]) == (1, 1)


def test_chains_overlap_and_wait_for_entries(engine: str) -> None:
    # The first is read at 2 and written at 28; the second could be read at 4, and is read at 28.
    source = "v_rd MulVrf, 0\nv_wr AddSubVrf0, 0\nv_rd AddSubVrf0, 0\nv_wr MulVrf, 1\n"
    source += "v_rd MulVrf, 3\nvv_add AddSubVrf0, 0\nv_wr MulVrf, 2\n"
    device = traced(
        nnp_device(f"trace_begin 1\n{source}end_chain\n", engine),
        {"mode": 1, "num": 1, "step": 1, "overhead": 4},
    )
    device.run(1000)
    first, second, third = records(device)
    behind = READ + MFU_CROSSBARS + WRITE + 2
    assert (first["t_begin"], first["t_end"], first["e_rd_blocked"]) == (2, 2 + behind, 0)
    begin = 2 + behind
    assert (second["t_begin"], second["t_end"]) == (begin, begin + behind)
    assert (second["e_rd"], second["e_rd_blocked"]) == (1, begin - 4)
    # The third begins before the second ends. Its v_rd is behind that one's begin.
    begin += 3
    assert (third["t_begin"], third["t_end"]) == (begin, begin + behind + ADD)
    assert (third["first"], third["e_rd"], third["e_rd_blocked"]) == (2, 2, 0)


def test_an_operand_that_is_not_written_yet(engine: str) -> None:
    # Written at 28. MFU0 has its vector at 5 + READ, and the unit was free before.
    source = (
        "v_rd MulVrf, 0\nv_wr AddSubVrf0, 0\nv_rd MulVrf, 3\nvv_add AddSubVrf0, 0\nv_wr MulVrf, 2\n"
    )
    device = marked(source, engine)
    device.run(1000)
    assert recorded(device)["e_rd_blocked"] == 2 + READ + MFU_CROSSBARS + WRITE + 2 - (5 + READ)


def test_a_product_that_waits_for_its_tile(engine: str) -> None:
    source = "m_rd Dram, 0\nm_wr MatrixRf, 0\nv_rd InitialVrf, 0\nmv_mul 0\nv_wr MulVrf, 2\n"
    device = marked(source, engine)
    device.run(1000)
    found = recorded(device)
    tile = int(processor_of(device).state.ready_matrix[0])
    assert found["t_cu_begin"] == tile
    assert found["e_rd_blocked"] == tile - (5 + READ)  # v_rd 3, mv_mul 4, v_wr 5
    assert (found["e_rd"], found["e_wr"], found["instructions"]) == (2, 2, 2)


def test_tiles_that_a_product_still_needs(engine: str) -> None:
    # s_wr 1 and 2, the chain 3 to 5: the product takes 9 passes from 5 + READ on. m_wr is at 7.
    source = "SetRowsCols(3, 3)\nv_rd InitialVrf, 0\nmv_mul 0\nv_wr MulVrf, 0\nm_rd Dram, 0\nm_wr MatrixRf, 0\n"
    device = marked(source, engine, mem__external_width=4)
    device.run(1000)
    found = recorded(device)
    begin = 5 + READ + 9 * 2 - READ
    rate = 8 // processor_of(device).timing.matrix_channels  # 32 bytes of a tile, 4 at a time
    assert found["e_wr_blocked"] == begin - 7
    assert (found["t_rd_begin"], found["t_rd_end"]) == (begin, begin + 9 * rate + EXTERNAL_LATENCY)
    assert (found["e_bus"], found["e_wr"]) == (9 * 8, 3 + 9)


def test_vectors_that_come_late(engine: str) -> None:
    # s_wr 1, v_rd 2, v_wr 3: it waits from 3 on; a vector comes in cycle 50, the other in 70.
    device = marked("SetCols(2)\nv_rd NetInQ\nv_wr MulVrf, 0\n", engine)
    for time in (50, 70):
        device.run(until=time)
        processor_of(device).push("netin", bytes(8), time)
    device.run(1000)
    found = recorded(device)
    assert (found["t_begin"], found["e_rd"]) == (51, 2)
    assert found["e_rd_blocked"] == 51 - 3 + 71 - 53
    assert found["t_end"] == 71 + READ + MFU_CROSSBARS + WRITE + 2


def test_no_room_for_what_leaves(engine: str) -> None:
    # Iterations of one vector, and room for one: the second waits from 5 on.
    device = marked("SetIterations(2)\nv_rd MulVrf, 0\nv_wr NetOutQ\n", engine, nnp__net_out=1)
    device.run(until=60)
    assert processor_of(device).pull("netout", 8, 60) == bytes(8)
    device.run(1000)
    found = recorded(device)
    assert (found["t_begin"], found["e_wr"], found["e_wr_blocked"]) == (3, 2, 61 - 5)
    assert "e_rd_blocked" not in found
    assert found["t_end"] == 61 + READ + MFU_CROSSBARS + WRITE + 2


def test_markers_in_auto_mode_are_nothing(engine: str) -> None:
    source = "v_rd MulVrf, 0\nv_wr AddSubVrf0, 0\ntrace_end 0\nv_rd MulVrf, 0\nv_wr AddSubVrf0, 0\nend_chain\n"
    device = traced(nnp_device(source, engine), {"mode": 1, "num": 5, "step": 9})
    device.run(1000)
    (record,) = records(device)
    assert (record["first"], record["instructions"], record["t_begin"]) == (0, 2, 1)


def test_a_group_that_is_not_there(engine: str) -> None:
    stop = nnp_device("trace_begin 4\nend_chain\n", engine).run(1000)
    assert stop.fault is not None
    assert (stop.fault.kind, stop.fault.address) == ("bad mask", 0x3030_0000)
