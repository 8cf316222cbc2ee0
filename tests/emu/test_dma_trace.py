"""The dma's trace block: records of both engines equal the reference's announcements."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from macaw.emu.address_space import ONCHIP, REGION_SHIFT
from macaw.emu.core import Event
from macaw.emu.device import Device
from macaw.emu.dma.core import DmaCore
from macaw.emu.dma.fast.core import FastDma
from macaw.emu.engines import ENGINES
from macaw.emu.system import Dispatchable
from macaw.isa.dma import CORE
from macaw.isa.memory_map import CORE_SHIFT, REGISTERS
from macaw.isa.trace import GROUP, MAPPED_PARAMETERS, PARAMETERS
from tests.emu.dma_devices import assert_same_state, random_devices, stop_summary
from tests.emu.periodic_transfers import periodic_devices
from tests.emu.toys import EXTERNAL, HALF, UNIT, Step, describe, make, toy
from tests.emu.trace_witness import Done, by_window, configure, expected, spilled
from tests.emu.window_pipe import INBOX, OUTBOX, PIPE_DEPTH, pipe_device, write_descriptions

pytestmark = pytest.mark.once

EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SEEDS = st.integers(0, 2**32 - 1)
AUTO = st.fixed_dictionaries(
    {
        "mode": st.just(1),
        "begin": st.integers(0, 2),
        "num": st.integers(1, 3),
        "step": st.integers(0, 2),
        "overhead": st.integers(0, 5),
        "loops": st.integers(0, 3),
    }
)
EACH = {"mode": 1, "begin": 0, "num": 1, "step": 1, "overhead": 4, "loops": 0}


class Log:
    """The transfers of a run, from the announcements of the dma."""

    def __init__(self, device: Device) -> None:
        dma = device.cores["dma"]
        assert isinstance(dma, DmaCore)
        self.dma = dma
        self.by_ticket: dict[int, Done] = {}
        device.listen(self.heard, ["dma"])

    def heard(self, event: Event) -> None:
        values = event.values
        if event.kind == "begin":
            self.by_ticket[int(values["ticket"])] = Done(self.dma.state.began)
            return
        if event.kind == "end":
            self.by_ticket[int(values["ticket"])].end = event.time + 1
            return
        # The first transfer in the queue is at work.
        running = self.by_ticket[self.dma.state.transfers[0][0]]
        if event.kind == "beats":
            begin, until, count = (int(values[name]) for name in ("begin", "until", "count"))
            running.events.append((str(values["of"]), begin, until, count))
        elif event.kind == "blocked":
            running.events.append((str(values["of"]), 0, 0, 1))
        elif int(values["address"]) >> REGION_SHIFT == ONCHIP:
            running.events.append((f"{event.kind}s", 0, 0, 1))


def check(made: list[Device], log: Log, parameters: dict[str, int], pauses: list[int]) -> None:
    """Run a device of each engine and one for the log: states are equal, records equal the log."""
    fast, reference, _ = made
    for device in (fast, reference):
        configure(device, "dma", parameters)
    stop = None
    for pause in [*pauses, None, None]:  # there may be a breakpoint
        stops = [device.run(max_cycles=pause or 50_000) for device in made]
        stop = stops[0]
        assert stop_summary(stop) == stop_summary(stops[1])
        assert_same_state(fast, reference)
    found = spilled(fast, "dma")
    assert found == spilled(reference, "dma")
    assert stop is not None
    if stop.reason in ("exit", "fault"):  # else records are not over
        dma = log.dma
        done = list(log.by_ticket.values())
        wanted = expected(dma.number, parameters, dma.trace.groups, done)
        assert by_window(found) == wanted


@EXAMPLES
@given(SEEDS, AUTO, st.lists(st.sampled_from([1, 7, 30, 90, 200]), max_size=4))
def test_programs(seed: int, parameters: dict[str, int], pauses: list[int]) -> None:
    """Records of random transfers are right, also with other accesses, faults and early ends."""
    made = [*random_devices(seed), random_devices(seed)[1]]
    check(made, Log(made[2]), parameters, pauses)


@EXAMPLES
@given(SEEDS)
def test_periods(seed: int) -> None:
    """Records are right if the fast dma skips periods of long transfers, wherever a run stops."""
    made = periodic_devices(seed, (*ENGINES, "reference"))
    chance = random.Random(seed)
    check(made, Log(made[2]), EACH, [chance.randrange(1, 400) for _ in range(30)])


@settings(EXAMPLES, max_examples=30)
@given(SEEDS, AUTO, st.lists(st.sampled_from([1, 7, 30, 90, 200]), max_size=4))
def test_windows(seed: int, parameters: dict[str, int], pauses: list[int]) -> None:
    """Records are right if transfers that wait for a window let others pass."""
    made = []
    for engine in (*ENGINES, "reference"):
        pick = random.Random(seed)
        script = [*(("copy", 0x8000 + 32 * place) for place in range(6)), ("await", 0), ("exit", 0)]
        device = pipe_device(
            *script,
            engine=engine,
            dma__width=pick.choice([1, 3, 32]),
            dma__divider=pick.choice([1, 1, 3]),
        )
        size = [pick.randrange(1, 30) for _ in range(6)]
        kinds = [pick.choice(["in", "out", "plain"]) for _ in range(6)]
        while sum(n for n, kind in zip(size, kinds, strict=True) if kind == "out") > sum(
            n for n, kind in zip(size, kinds, strict=True) if kind == "in"
        ):  # a read of more bytes than are given would never end
            kinds[kinds.index("out")] = "in"
        places = {"in": (INBOX, EXTERNAL), "out": (EXTERNAL + 99, OUTBOX), "plain": (EXTERNAL, 64)}
        write_descriptions(
            device, *(describe(*places[x], n) for x, n in zip(kinds, size, strict=True))
        )
        made.append(device)
    assert PIPE_DEPTH < 30
    check(made, Log(made[2]), parameters, pauses)


# By hand, of a device with a setup of 4, a latency of 20, beats of 32 bytes: 100 bytes from an
# address that is 8 above a multiple of 32 are 4 beats, 24 + 32 + 32 + 12 bytes.
BY_HAND = [
    (UNIT, EXTERNAL + 8, {"e_bus": 4, "e_wr": 4, "t_rd_begin": 4, "t_rd_end": 4 + 20 + 4, "t_end": 29}),
    # From cycle 4 on the unit is read; a beat is there 2 cycles later, the last one in cycle 9.
    (EXTERNAL + 8, UNIT, {"e_rd": 4, "e_xwr": 4, "e_xwr_partial": 2, "t_wr_begin": 6,
                          "t_wr_end": 9 + 20 + 1, "t_end": 30}),
    (UNIT + HALF, UNIT, {"e_rd": 4, "e_wr": 4, "t_end": 10}),
    (EXTERNAL + 4096, EXTERNAL + 8, {"e_bus": 7, "e_xwr": 4, "e_xwr_partial": 1}),
]  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("dst", "src", "wanted"), BY_HAND)
def test_by_hand(dst: int, src: int, wanted: dict[str, int], engine: str) -> None:
    device = make(toy(0, [("copy", 0x8000), ("await", 0), ("end",)]), engine=engine)
    device.memory.poke(0x8000, describe(dst, src, 100))
    configure(device, "dma", EACH)
    device.run()
    (record,) = spilled(device, "dma")
    counters = {row.name: record[row.name] for row in GROUP if record[row.name]}
    zeros = {"t_cu_begin", "t_cu_end", "e_cu", "e_array"}
    assert not zeros & counters.keys()
    assert wanted.items() <= counters.items()
    counts = {name for name in counters if name.startswith("e_")}
    assert counts == {name for name in wanted if name.startswith("e_")}


def test_it_computes_nothing() -> None:
    assert make().cores["dma"].units()[:2] == (0, 0)


@EXAMPLES
@given(SEEDS)
def test_records_where_transfers_go(seed: int) -> None:
    """Records of any core appear in memory in their cycle, although the fast dma sleeps."""
    made = []
    for engine in ENGINES:
        pick = random.Random(seed)
        script = [("copy", 0x8000), *recorder(pick), ("await", 0), ("end",)]
        other = toy(5, [*recorder(pick), ("end",)], divider=pick.choice([1, 2]))
        device = make(toy(0, script), other, engine=engine)
        row = device.cores["toy5"]
        assert isinstance(row, Dispatchable)
        row.confined = True
        at = pick.randrange(EXTERNAL, EXTERNAL + 2048, 4)
        ends = pick.choice([(UNIT, at), (at, UNIT), (UNIT + HALF, UNIT), (at, at + 4096)])
        device.memory.poke(0x8000, describe(*ends, 640, 4, 700, 700))
        configure(device, "toy0", {"spill": EXTERNAL, "spill_end": EXTERNAL + 4096})
        made.append(device)
    for pause in (70, 70, None):
        for device in made:
            device.run(max_cycles=pause)
        assert_same_state(*made)


def recorder(pick: random.Random) -> list[Step]:
    """Steps of which some write a record."""
    script: list[Step] = []
    for _ in range(30):
        script.append(("work", pick.choice([1, 2, 5, 9])))
        script.append(("record", pick.randrange(EXTERNAL, EXTERNAL + 4096 - 88, 4)))
    return script


@pytest.mark.parametrize("engine", ENGINES)
def test_an_area_where_a_transfer_is_at_work(engine: str) -> None:
    """If a program sets the dma's area during a transfer, both engines give the same records."""
    page = REGISTERS + (CORE.number << CORE_SHIFT) + MAPPED_PARAMETERS
    area = {"trace_spill": EXTERNAL, "trace_spill_end": EXTERNAL + 88}
    writes = [
        ("store", page + 4 * row.index, 4, area[row.name]) for row in PARAMETERS if row.name in area
    ]
    script = [("copy", 0x8000), ("work", 30), *writes, ("await", 0), ("end",)]
    device = make(toy(0, script), engine=engine)
    device.memory.poke(0x8000, describe(UNIT, EXTERNAL, 1024, 4, 1024, 1024))
    dma = device.cores["dma"]
    device.run(until=60)
    assert isinstance(dma, FastDma) == (engine == ENGINES[0])
    assert not isinstance(dma, FastDma) or dma.route is None
    device.run()
    assert device.counters()["dma"]["cycles_busy"] == 4 + 20 + 1 + 1 + 127


@pytest.mark.parametrize("engine", ENGINES)
def test_records_do_not_go_to_on_chip_memory(engine: str) -> None:
    """The area must lie in external memory or in a core's own memory (seed 001 ¶64)."""
    device = make(toy(0, [("copy", 0x8000), ("await", 0), ("end",)]), engine=engine)
    device.memory.poke(0x8000, describe(UNIT, EXTERNAL, 100))
    configure(device, "dma", {**EACH, "spill": UNIT + HALF, "spill_end": UNIT + HALF + 100})
    stop = device.run()
    assert stop.fault is not None
    assert stop.fault.kind == "out-of-range access"
    assert "a trace cannot write a record at" in stop.message
    assert (stop.fault.core, stop.fault.cycle) == ("dma", 28)


def test_the_cycle_of_a_record_that_fails() -> None:
    """The fault comes in the cycle of the last write, also if the fast dma moved all beats before.

    The first beat is read after the 4 cycles of dma.setup and written 21 cycles later; then there
    is one write in each cycle.
    """
    devices = []
    for engine in ENGINES:
        device = make(toy(0, [("copy", 0x8000), ("await", 0), ("end",)]), engine=engine)
        device.memory.poke(0x8000, describe(UNIT, EXTERNAL, 64, 4, 128, 128))
        configure(device, "dma", {**EACH, "spill": UNIT + HALF, "spill_end": UNIT + HALF + 100})
        devices.append(device)
    stops = [device.run() for device in devices]
    assert stop_summary(stops[0]) == stop_summary(stops[1])
    assert stops[0].fault is not None
    assert stops[0].fault.cycle == 4 + 21 + 4 * 64 // 32 - 1
    assert_same_state(*devices)
