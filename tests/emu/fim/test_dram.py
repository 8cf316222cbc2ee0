"""Command streams of the controller, checked by rules over all pairs of commands, and by hand."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.emu.fim.dram import Dram
from macaw.isa import config
from macaw.isa.fim_islands import TIMINGS, geometry


class Command(NamedTuple):
    kind: str
    bank: int
    time: int
    row: int
    channel: bool
    bus: bool = False  # of the host's side


class Recorder(Dram):
    """A controller that writes down what it issues."""

    def __init__(self, device):
        self.log: list[Command] = []
        super().__init__(geometry(device), device)

    def do(self, *args: Any, bus: bool = False, **more: Any) -> Any:
        self.bus = more["bus"] = bus
        return super().do(*args, **more)

    def issue(self, command, bank, time, row=-1, channel=False):
        self.log.append(Command(command, bank, time, row, channel, self.bus))
        super().issue(command, bank, time, row, channel)

    def columns_at(self, command, banks, time):
        self.log += [Command(command, bank, time, -1, False) for bank in banks]
        super().columns_at(command, banks, time)


def violations(log, device):
    """Every pair of commands that is nearer than the page's list allows; rows that are not open."""
    t = {row.name: device[f"fim.{row.name}"] for row in TIMINGS}
    is_dimm = device["fim.organisation"] == "dimm"
    if is_dimm:
        t["burst"] = 256 // (device["fim.chips"] * device["fim.chip_bits"])
    per_rank = device["fim.bank_groups"] * device["fim.group_banks"]
    found: list[tuple[Any, ...]] = []

    def gap(one, other, name, least):
        if other.time - one.time < least:
            found.append((name, one, other))

    data = {"read": t["rl"], "write": t["wl"]}
    for place, other in enumerate(log):
        open_row = None
        for one in log[:place]:
            if one.bank == other.bank:
                kinds = one.kind, other.kind
                if kinds == ("activate", "activate"):
                    gap(one, other, "t_rc", t["t_rc"])
                if kinds == ("activate", "precharge"):
                    gap(one, other, "t_ras", t["t_ras"])
                if kinds == ("precharge", "activate"):
                    gap(one, other, "t_rp", t["t_rp"])
                if kinds == ("activate", "read"):
                    gap(one, other, "t_rcdrd", t["t_rcdrd"])
                if kinds == ("activate", "write"):
                    gap(one, other, "t_rcdwr", t["t_rcdwr"])
                if kinds == ("write", "precharge"):
                    gap(one, other, "t_wr", t["wl"] + t["burst"] + t["t_wr"])
                if one.kind in data and other.kind in data:
                    gap(one, other, "t_ccdl", t["t_ccdl"])
                if one.kind == "activate":
                    open_row = one.row
                if one.kind == "precharge":
                    open_row = None
            if one.channel and other.channel:
                size = device["fim.group_banks"]
                same = one.bank // size == other.bank // size
                ranks = one.bank // per_rank, other.bank // per_rank
                if not is_dimm or ranks[0] == ranks[1]:
                    gap(one, other, "t_ccd", t["t_ccdl"] if same else t["t_ccds"])
                begin = other.time + data[other.kind]
                end = one.time + data[one.kind] + t["burst"]
                switch = t["t_rtrs"] if one.bank // per_rank != other.bank // per_rank else 0
                if (one is last_on_channel(log[:place]) and begin < end + switch) or begin < end:
                    found.append(("channel", one, other))
            if is_dimm and one.bus and other.bus and one.time == other.time:
                found.append(("command bus", one, other))
        if other.kind == "activate" and open_row is not None:
            found.append(("open already", other))
        if other.kind in data and open_row is None:
            found.append(("closed", other))
    return found


def last_on_channel(log):
    return [one for one in log if one.channel][-1]


DEVICES = {
    "hbm": config.load("base"),
    "dimm": config.load("base").changed(
        {"fim.organisation": "dimm", "fim.ranks": 2, "fim.bank_groups": 2, "fim.t_rtrs": 5}
    ),
    "narrow": config.load("base").changed(
        {
            "fim.organisation": "dimm",
            "fim.ranks": 4,
            "fim.bank_groups": 1,
            "fim.chip_bits": 8,
            "fim.t_rtrs": 0,
            "fim.t_ccds": 9,
        }
    ),
    "odd": config.load("tiny").changed(
        {
            "fim.t_ccdl": 7,
            "fim.t_ccds": 1,
            "fim.t_ras": 3,
            "fim.t_rc": 5,
            "fim.wl": 30,
            "fim.burst": 9,
        }
    ),
}
requests = st.lists(
    st.tuples(st.sampled_from(["open", "close", "columns", "access", "access"]),
              st.integers(0, 15), st.integers(0, 3), st.booleans(), st.integers(0, 60)),
    min_size=1, max_size=40)  # fmt: skip


def run(memory, stream, step):
    time = 0
    for kind, number, row, write, pause in stream:
        time += pause - pause % step
        bank = number % memory.geometry.banks
        banks = [x for x in range(memory.geometry.banks) if x % 4 == bank % 4]
        match kind:
            case "open":
                time = memory.open(banks, row, time, step)
            case "close":
                time = memory.close(banks, time, step)
            case "columns":
                ready = [x for x in banks if memory.rows[x] >= 0]
                if ready:
                    time = memory.do("write" if write else "read", ready, time, step=step)
            case "access":
                time = memory.access(bank, row, time, write, step)[0]


@pytest.mark.once
@pytest.mark.parametrize("device", DEVICES)
@settings(max_examples=40, deadline=None)
@given(stream=requests, step=st.sampled_from([1, 1, 3]))
def test_no_constraint_is_broken_and_none_is_waited_for_in_vain(device, stream, step):
    memory = Recorder(DEVICES[device])
    run(memory, stream, step)
    assert violations(memory.log, DEVICES[device]) == []
    again = Recorder(DEVICES[device])
    again.take(memory.plain())
    assert again.plain() == memory.plain()


@pytest.mark.parametrize("device", DEVICES)
@settings(max_examples=25, deadline=None)
@given(stream=requests)
def test_each_command_comes_as_early_as_it_may(device, stream):
    """One cycle earlier, a command that waited would break a constraint."""
    memory = Recorder(DEVICES[device])
    waits = dict(memory.waits)
    for request in stream:
        start = len(memory.log)
        run(memory, [(*request[:4], 0)], 1)
        for place in range(start, len(memory.log)):
            earlier = memory.log[place]
            together = [
                x for x in memory.log[start:] if (x.kind, x.time) == (earlier.kind, earlier.time)
            ]
            first = max(
                (x.time for x in memory.log[start:place] if x.time < earlier.time), default=0
            )
            if earlier.time > first and any(waits[x] != memory.waits[x] for x in waits):
                moved = [x._replace(time=x.time - 1) if x in together else x for x in memory.log]
                assert violations(moved, DEVICES[device]) != []
        waits = dict(memory.waits)


def test_by_hand_one_bank():
    """Row 3 opened at 0: read at 14 (tRCDRD), 18 (tCCDL), write at 22; row 4: precharge at
    22 + 8 + 2 + 16 = 48, activated at 62 (tRP; tRC would allow 47), write at 72 (tRCDWR).

    The rule of seed 004 ¶47.
    """
    memory = Recorder(DEVICES["hbm"])
    assert memory.open([0], 3, 0) == 0
    assert memory.do("read", [0], 0) == 14
    assert memory.do("read", [0], 15) == 18
    assert memory.do("write", [0], 19) == 22
    assert memory.open([0], 4, 23) == 62
    assert memory.do("write", [0], 63) == 72
    assert memory.waits == {
        "t_ccd": 3 + 3, "t_rcd": 14 + 9, "t_rp": 14, "t_ras": 0, "t_rc": 0, "t_wr": 25, "channel": 0,
    }  # fmt: skip


def test_by_hand_open_and_close():
    """Precharge at 33 (tRAS), activated at 47: tRC and tRP both."""
    memory = Recorder(DEVICES["hbm"])
    memory.open([0, 1], 3, 0)
    assert memory.close([0, 1], 5) == 33
    assert memory.close([0, 1], 50) == 50
    assert memory.open([0, 1], 3, 34) == 47
    assert sum(memory.waits.values()) == 28 + 13


def test_by_hand_the_channel():
    """Reads of two groups every tCCDS, of one every tCCDL; data of a write behind those of a read:
    its command at 20 + 2 - 8 = 14 cycles after that of the read.

    The rule of seed 004 ¶45.
    """
    memory = Recorder(DEVICES["hbm"])
    for bank in (0, 1, 4):
        memory.open([bank], 0, 0)
    assert memory.access(0, 0, 20, False) == (20, 42)
    assert memory.access(4, 0, 20, False) == (22, 44)
    assert memory.access(1, 0, 20, False) == (24, 46)
    assert memory.access(1, 0, 25, True) == (38, 48)


def test_by_hand_ranks():
    """seed 004 ¶45. Banks 0 and 8 are of two ranks: 5 cycles (tRTRS) between their data, which take a
    cycle of 8 chips of 32 bits; within a rank tCCDS."""
    memory = Recorder(DEVICES["dimm"])
    for bank in (0, 4, 8):
        memory.open([bank], 0, 0)
    assert memory.access(0, 0, 20, False) == (20, 41)
    assert memory.access(4, 0, 20, False) == (22, 43)
    assert memory.access(8, 0, 20, False) == (28, 49)


def test_by_hand_chips_of_8_bits():
    """A column is four beats of 8 chips; two ranks whose data follow at once, tCCDS for nobody."""
    memory = Recorder(DEVICES["narrow"])
    for bank in (0, 4, 8):
        memory.open([bank], 0, 0)
    assert memory.access(0, 0, 20, False) == (20, 44)
    assert memory.access(4, 0, 20, False) == (24, 48)
    assert memory.access(8, 0, 20, False) == (28, 52)


def test_by_hand_one_command_bus():
    """seed 004 ¶45: ranks share the bus of commands. The row of bank 8 would be opened in 10, when
    bank 0's is, and be read in 24, when bank 0's column is: each comes a cycle later. On HBM rows
    and columns have wires of their own."""
    memory = Recorder(DEVICES["dimm"])
    assert memory.access(0, 0, 10, False)[0] == 24
    # Its data come 5 cycles (tRTRS) behind those of 44: a read in 30, not in 11 + 14.
    assert memory.access(8, 0, 10, False)[0] == 24 + 20 + 1 + 5 - 20
    assert memory.activated[8] == 11
    assert memory.waits["channel"] == 1 + (30 - 11)
    memory = Recorder(DEVICES["hbm"])
    assert memory.access(0, 0, 10, False)[0] == 24
    assert memory.access(8, 0, 10, False)[0] == 26  # tCCDS
    assert memory.activated[8] == 10


def test_by_hand_a_slow_clock():
    """Commands of circuits of a divider of 4 come at multiples of it."""
    memory = Recorder(DEVICES["hbm"])
    assert memory.open([0], 0, 4, step=4) == 4
    assert memory.do("read", [0], 8, step=4) == 20
    assert memory.do("read", [0], 24, step=4) == 24
