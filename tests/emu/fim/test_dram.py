"""Command streams of the DRAM controller, checked pair by pair against the rules, and by hand."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from macaw.emu.fim.dram import Dram
from macaw.isa import config
from macaw.isa.fim_islands import TIMINGS, geometry
from tests.emu.fim.machine import Machine

pytestmark = pytest.mark.once


class Command(NamedTuple):
    kind: str
    bank: int
    time: int
    row: int
    channel: bool
    bus: bool = False  # of the host's side
    number: int = 0  # of the request of `do`


class Recorder(Dram):
    """A controller that records the commands that it issues."""

    def __init__(self, device):
        self.log: list[Command] = []
        self.number = 0
        super().__init__(geometry(device), device)

    def do(self, *args: Any, bus: bool = False, **more: Any) -> Any:
        self.bus = more["bus"] = bus
        self.number += 1
        return super().do(*args, **more)

    def issue(self, command, banks, time, row=-1, channel=False):
        for bank in banks:
            self.log.append(Command(command, bank, time, row, channel, self.bus, self.number))
        super().issue(command, banks, time, row, channel)

    def columns_at(self, command, banks, time):
        self.log += [Command(command, bank, time, -1, False) for bank in banks]
        super().columns_at(command, banks, time)


def violations(log, device):
    """The pairs of commands that are too near by the rules, and accesses to closed rows."""
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
    found += activation_violations(log, device, t)
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
                if kinds == ("read", "precharge"):
                    gap(one, other, "t_rtp", max(t["t_rtp"], 1))
                if kinds == ("write", "read") and t["t_wtrl"]:
                    gap(one, other, "t_wtrl", t["wl"] + t["burst"] + t["t_wtrl"])
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
                kinds = one.kind, other.kind
                wtr = t["t_wtrl"] if same else t["t_wtrs"]
                if kinds == ("write", "read") and ranks[0] == ranks[1] and wtr:
                    gap(one, other, "t_wtr", t["wl"] + t["burst"] + wtr)
                if kinds == ("read", "write") and t["t_rtw"]:
                    gap(one, other, "t_rtw", t["t_rtw"])
                if kinds == ("write", "read") and t["t_rtw"] and other.time < one.time:
                    gap(other, one, "t_rtw", t["t_rtw"])
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


def activation_violations(log, device, t):
    """Return pairs of activations that are too near, and groups of five within tFAW.

    Banks that the log opens together in one cycle count as one command, of at most act_banks banks.
    """
    size = device["fim.group_banks"]
    per_rank = device["fim.bank_groups"] * size
    commands: list[list[Command]] = []
    for one in log:
        if one.kind != "activate":
            commands.append([])
            continue
        together = commands and commands[-1] and commands[-1][-1].number == one.number
        if together:
            commands[-1].append(one)
        else:
            commands.append([one])
    commands = [x for x in commands if x]
    found: list[tuple[Any, ...]] = [
        ("act_banks", x) for x in commands if len(x) > device["fim.act_banks"]
    ]
    for place, later in enumerate(commands):
        for earlier in commands[:place]:
            pairs = [(x.bank, y.bank) for x in earlier for y in later]
            if not any(x // per_rank == y // per_rank for x, y in pairs):
                continue
            least = t["t_rrdl"] if any(x // size == y // size for x, y in pairs) else t["t_rrds"]
            if abs(later[0].time - earlier[0].time) < least:
                found.append(("t_rrd", earlier, later))
    for rank in range(device["fim.ranks"]):
        times = sorted(x[0].time for x in commands if any(y.bank // per_rank == rank for y in x))
        for first, fifth in zip(times, times[4:], strict=False):
            if fifth - first < t["t_faw"]:
                found.append(("t_faw", rank, first, fifth))
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
HBM2 = {
    "fim.t_rrds": 4, "fim.t_rrdl": 6, "fim.t_faw": 30, "fim.t_wtrs": 6, "fim.t_wtrl": 8,
    "fim.t_rtp": 6, "fim.t_rtw": 17,
}  # fmt: skip
DEVICES |= {
    "hbm2": config.load("base").changed({**HBM2, "fim.act_banks": 1}),
    "hbm2 together": config.load("base").changed({**HBM2, "fim.t_faw": 50, "fim.act_banks": 4}),
    "dimm2": DEVICES["dimm"].changed({**HBM2, "fim.act_banks": 2, "fim.t_rrds": 1}),
    "dimm, rtw": DEVICES["dimm"].changed({"fim.t_rtw": 12}),
    "only faw": config.load("tiny").changed({"fim.t_faw": 90, "fim.act_banks": 1}),
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
        memory.refresh([bank] if kind == "access" else banks, time)
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
                at = memory.access(bank, row, time, write, step)[0]
                time = at if pause % 2 else time  # a block waits for its command, the dma does not


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
    """A command that waits comes in the first cycle in which all rules allow it."""
    memory = Recorder(DEVICES[device])
    waits = dict(memory.waits)
    for request in stream:
        start = len(memory.log)
        run(memory, [(*request[:4], 0)], 1)
        for place in range(start, len(memory.log)):
            earlier = memory.log[place]
            together = [x for x in memory.log[start:] if x.number == earlier.number]
            others = memory.log[start:place]
            first = max((x.time for x in others if x.number != earlier.number), default=0)
            if earlier.time > first and any(waits[x] != memory.waits[x] for x in waits):
                moved = [x._replace(time=x.time - 1) if x in together else x for x in memory.log]
                assert violations(moved, DEVICES[device]) != []
        waits = dict(memory.waits)


def test_by_hand_one_bank():
    """One bank follows tRCDRD, tCCDL, tRP and tRCDWR (seed 004 ¶47).

    Row 3 is opened in cycle 0, read in cycles 14 (tRCDRD) and 18 (tCCDL), written in 22. For row 4,
    the precharge is in cycle 22 + 8 + 2 + 16 = 48, the activation in 62 (tRP; tRC would allow 47),
    the write in 72 (tRCDWR).
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
        "t_rrd": 0, "t_faw": 0, "t_wtr": 0, "t_rtp": 0, "t_rtw": 0, "t_column": 0, "refresh": 0,
    }  # fmt: skip


def test_by_hand_open_and_close():
    """A row stays open for tRAS: precharge in cycle 33, next activation in 47 (tRC, tRP)."""
    memory = Recorder(DEVICES["hbm"])
    memory.open([0, 1], 3, 0)
    assert memory.close([0, 1], 5) == 33
    assert memory.close([0, 1], 50) == 50
    assert memory.open([0, 1], 3, 34) == 47
    assert sum(memory.waits.values()) == 28 + 13


def test_by_hand_the_channel():
    """Reads of two groups come every tCCDS, reads of one group every tCCDL (seed 004 ¶45).

    The data of a write follow the data of a read, so the write comes 20 + 2 - 8 = 14 cycles after
    the read.
    """
    memory = Recorder(DEVICES["hbm"])
    for bank in (0, 1, 4):
        memory.open([bank], 0, 0)
    assert memory.access(0, 0, 20, False) == (20, 42)
    assert memory.access(4, 0, 20, False) == (22, 44)
    assert memory.access(1, 0, 20, False) == (24, 46)
    assert memory.access(1, 0, 25, True) == (38, 48)


def test_by_hand_ranks():
    """Data of different ranks are tRTRS apart, reads within a rank tCCDS (seed 004 ¶45).

    Banks 0 and 8 are in two ranks: 5 cycles (tRTRS) between their data. 8 chips of 32 bits give a
    column in a cycle.
    """
    memory = Recorder(DEVICES["dimm"])
    for bank in (0, 4, 8):
        memory.open([bank], 0, 0)
    assert memory.access(0, 0, 20, False) == (20, 41)
    assert memory.access(4, 0, 20, False) == (22, 43)
    assert memory.access(8, 0, 20, False) == (28, 49)


def test_by_hand_chips_of_8_bits():
    """8 chips of 8 bits give a column in four beats, which take 4 cycles: longer than tCCDS.

    So all reads are 4 cycles apart, also reads of different ranks.
    """
    memory = Recorder(DEVICES["narrow"])
    for bank in (0, 4, 8):
        memory.open([bank], 0, 0)
    assert memory.access(0, 0, 20, False) == (20, 44)
    assert memory.access(4, 0, 20, False) == (24, 48)
    assert memory.access(8, 0, 20, False) == (28, 52)


def test_by_hand_one_command_bus():
    """Ranks of a DIMM share a command bus, which carries one command a cycle (seed 004 ¶45).

    With a bus for each rank, banks 0 and 8 would both be activated in cycle 10 and read in cycle
    24. On HBM, commands for rows and for columns have separate wires.
    """
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


class RefreshRecorder(Recorder):
    """A controller that also records the last refresh of each bank."""

    def refresh(self, banks, time):
        before = list(self.refreshed)
        super().refresh(banks, time)
        for bank, (old, new) in enumerate(zip(before, self.refreshed, strict=True)):
            if old != new:
                start = self.refresh_ends[bank] - self.timings.t_rfc
                self.log.append(Command("refresh", bank, start, -1, False))


REFRESHED = {
    "all": config.load("base").changed({**HBM2, "fim.t_refi": 400, "fim.t_rfc": 120}),
    "bank": config.load("tiny").changed(
        {**HBM2, "fim.t_refi": 700, "fim.t_rfc": 30, "fim.refresh": "bank"}
    ),
}


@pytest.mark.parametrize("device", REFRESHED)
@settings(max_examples=25, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(stream=requests, step=st.sampled_from([1, 3]))
def test_no_command_during_a_refresh(device, stream, step):
    """In each bank, rows are closed tRP before a refresh, and commands come after its end."""
    values = REFRESHED[device]
    memory = RefreshRecorder(values)
    run(memory, [(*request[:4], request[4] * 7) for request in stream], step)
    commands = [x for x in memory.log if x.kind != "refresh"]
    assert violations(commands, values) == []
    for place, one in enumerate(memory.log):
        if one.kind != "refresh":
            continue
        assert one.time >= values["fim.t_refi"]
        before = [x for x in memory.log[:place] if x.bank == one.bank and x.kind != "refresh"]
        after = [x for x in memory.log[place:] if x.bank == one.bank and x is not one]
        assert not before or before[-1].kind == "precharge"
        assert all(x.time + values["fim.t_rp"] <= one.time for x in before)
        assert all(x.time >= one.time + values["fim.t_rfc"] for x in after)
    again = RefreshRecorder(values)
    again.take(memory.plain())
    assert again.plain() == memory.plain()


def test_by_hand_a_refresh():
    """A refresh closes the row, and commands wait for its end.

    Bank 0 is opened in cycle 980; a refresh is due in cycle 1000. A read requested in cycle 1001
    comes after the refresh: precharge in cycle 980 + 33 (tRAS) = 1013, refresh from cycle 1013 + 14
    (tRP) = 1027 to 1287, activation in 1287, read in 1301. Bank 8, which was closed, is refreshed
    at the same time.
    """
    device = config.load("base").changed({"fim.t_refi": 1000, "fim.t_rfc": 260})
    memory = Recorder(device)
    memory.refresh([0], 980)
    memory.open([0], 3, 980)
    memory.refresh([0], 1001)
    assert memory.rows[0] == -1
    assert memory.open([0], 3, 1001) == 1287
    assert memory.do("read", [0], 1288) == 1301
    assert memory.open([8], 3, 1288) == 1288
    assert memory.waits["refresh"] == 1287 - 1001
    assert memory.next_refresh([0]) == 2000
    memory.refresh([0], 7100)  # rows are closed in 2000; the last of the refreshes is due in 7000
    assert memory.open([0], 3, 7100) == 7260


@pytest.mark.parametrize(
    ("values", "cycles"),
    [
        ({}, 27_894),
        ({"fim.t_refi": 3900}, 29_953),
        ({"fim.t_refi": 3900, "fim.t_rfc": 160, "fim.refresh": "bank"}, 129_630),
    ],
    ids=["none", "all", "bank"],
)
def test_a_block_of_all_banks_with_refreshes(values, cycles):
    """A block that reads 17 columns of each of 300 rows takes the cycles of docs/timing-fim.md."""
    lines = [".block banks=0-15", "mmr op, mul", "mmr arrange, dot"]
    for row in range(300):
        lines += [f"act {row}", "rop <- iosa[0]", "rz <- rop * iosa[16:32]"]
    machine = Machine([*lines, "end"], config.load("base").changed(values))
    assert machine.done() == cycles


def test_refreshes_that_leave_no_time():
    with pytest.raises(config.ConfigError) as error:
        config.load("base").changed({"fim.t_refi": 300})
    assert "fim.t_refi (300) is too short for a refresh of fim.t_rfc (260)" in str(error.value)
    with pytest.raises(config.ConfigError) as error:
        config.load("base").changed({"fim.t_refi": 5000, "fim.refresh": "bank"})
    assert "fim.t_refi (5000) is too short for 16 refreshes" in str(error.value)


def test_by_hand_refreshes_of_single_banks():
    """If each of four banks has its own refresh, bank 1's is due 250 cycles after bank 0's."""
    device = config.load("tiny").changed(
        {"fim.t_refi": 1000, "fim.t_rfc": 100, "fim.refresh": "bank"}
    )
    memory = Recorder(device)
    memory.refresh([0, 1], 1010)
    assert memory.open([0, 1], 0, 1010) == 1100
    assert [memory.next_refresh([bank]) for bank in (0, 1, 2, 3)] == [2000, 1250, 1500, 1750]
    memory.refresh([0, 1], 1260)
    assert (memory.rows[0], memory.rows[1]) == (0, -1)
    assert memory.open([1], 0, 1260) == 1250 + 14 + 100


def test_by_hand_activations():
    """Activations keep tRRD_L in a group, tRRD_S between groups, and tFAW for five.

    Banks 0 and 1 are in one group; banks 4, 8 and 12 are in three others. tRRD_L is 6 cycles,
    tRRD_S 4. The fifth activation comes tFAW after the first: in cycle 30, not 6 + 3 x 4 = 18. A
    block of all 16 banks has four activations in each 30 cycles, the last in cycle 90 + 3 x 6.
    """
    memory = Recorder(DEVICES["hbm2"])
    assert [memory.open([bank], 0, 0) for bank in (0, 1, 4, 8)] == [0, 6, 10, 14]
    assert memory.open([12], 0, 0) == 30
    assert memory.waits["t_rrd"] == 6 + 10 + 14
    assert memory.waits["t_faw"] == 30
    memory = Recorder(DEVICES["hbm2"])
    assert memory.open(range(16), 0, 0) == 3 * 30 + 3 * 6
    assert memory.activated == [30 * (bank // 4) + 6 * (bank % 4) for bank in range(16)]


def test_by_hand_activations_of_four_banks():
    """If a command activates four banks, 16 banks need four commands, tRRD_S apart.

    Each command is for another group. A fifth command comes tFAW after the first.
    """
    memory = Recorder(DEVICES["hbm2 together"])
    assert memory.open(range(16), 0, 0) == 12
    assert memory.activated == [4 * (bank // 4) for bank in range(16)]
    memory = Recorder(DEVICES["hbm2 together"])
    for start in range(4):
        memory.open([4 * start], 0, 0)
    assert memory.open([1], 0, 0) == 50


def test_by_hand_an_activation_before_a_later_one():
    """Activations keep their distance also from one that was requested before, for a later cycle.

    Bank 4 will be opened in cycle 100. A request to open bank 0 in cycle 97 is too near, so bank 0
    is opened in cycle 104.
    """
    memory = Recorder(DEVICES["hbm2"])
    memory.open([4], 0, 100)
    assert memory.open([8], 0, 96) == 96
    assert memory.open([0], 0, 97) == 104


def test_by_hand_a_read_after_a_write():
    """After a write, a read of the same group waits for tWTR_L, of another group for tWTR_S.

    The data of the write in cycle 20 end in cycle 20 + 8 + 2 = 30, so the reads come in cycles
    30 + 8 and 30 + 6. Circuits do not use the channel: after a write of a circuit, only reads of
    the same bank wait.
    """
    for bank, at in ((0, 38), (1, 38), (4, 36)):
        memory = Recorder(DEVICES["hbm2"])
        for other in (0, 1, 4):
            memory.open([other], 0, -60 + 10 * other)
        assert memory.access(0, 0, 20, True)[0] == 20
        assert memory.access(bank, 0, 21, False)[0] == at
        assert memory.waits["t_wtr"] == at - 21
    memory = Recorder(DEVICES["hbm2"])
    memory.open([0], 0, -60)
    memory.open([1], 0, -50)
    assert memory.do("write", [0], 20) == 20
    assert memory.do("read", [1], 21) == 21
    assert memory.do("read", [0], 21) == 38


def test_by_hand_a_write_after_a_read():
    """On the channel, a write comes tRTW after a read.

    The read is in cycle 20, the write in cycle 20 + 17; the data alone would allow cycle
    20 + 20 + 2 - 8 = 34. A circuit's write to its own bank waits for tCCDL only.
    """
    memory = Recorder(DEVICES["hbm2"])
    memory.open([0], 0, -60)
    memory.open([4], 0, -50)
    assert memory.access(0, 0, 20, False)[0] == 20
    assert memory.access(4, 0, 21, True)[0] == 37
    assert memory.waits["t_rtw"] == 16
    assert memory.do("read", [0], 38) == 38
    assert memory.do("write", [0], 39) == 42


def test_by_hand_a_read_before_a_write_that_waits():
    """With tRTW, a read comes after a write that was requested before it, also in another rank.

    In a DIMM of two ranks, bank 0 is read in cycle 20. A write to it, requested in cycle 21, comes
    in 20 + 20 + 1 - 8 = 33, or with a tRTW of 17 in 37. The data of the write end in 33 + 8 + 1 =
    42 or in 46. A read of bank 8, in the other rank, is requested in cycle 22. Its data may follow
    5 cycles (tRTRS) later, so the read could be in 42 + 5 - 20 = 27 or in 31. The latter is only 6
    cycles before the write; so the read comes after it, in 38 when the command bus is free.
    """
    for values, times in (({}, [20, 33, 27]), ({"fim.t_rtw": 17}, [20, 37, 38])):
        memory = Recorder(DEVICES["dimm"].changed(values))
        for other in (0, 8):
            memory.open([other], 0, -60 + other)
        requests = ((0, 20, False), (0, 21, True), (8, 22, False))
        assert [memory.access(bank, 0, at, writes)[0] for bank, at, writes in requests] == times
        assert memory.waits["t_rtw"] == ((37 - 21) + (37 - 22) if values else 0)


def test_by_hand_a_precharge_after_a_read():
    """A precharge waits for tRTP after a read.

    The read is in cycle 40, after tRAS; the precharge is in cycle 40 + 6.
    """
    memory = Recorder(DEVICES["hbm2"])
    memory.open([0], 0, 0)
    assert memory.do("read", [0], 40) == 40
    assert memory.close([0], 41) == 46
    assert memory.waits["t_rtp"] == 5


def test_by_hand_a_precharge_before_a_read_that_waits():
    """A row stays open for a read that still waits, also without tRTP.

    A read requested in cycle 41 waits for tCCDL until 44, so a precharge requested in 42 comes in
    45. A refresh that is due in cycle 1000 comes after a read that was requested in 999 and waits
    until 1002: precharge in 1003, refresh from 1017 to 1277, activation in 1277.
    """
    memory = Recorder(DEVICES["hbm"])
    memory.open([0], 0, 0)
    assert memory.do("read", [0], 40) == 40
    assert memory.do("read", [0], 41) == 44
    assert memory.close([0], 42) == 45
    assert memory.waits["t_rtp"] == 3
    memory = Recorder(DEVICES["hbm"].changed({"fim.t_refi": 1000, "fim.t_rfc": 260}))
    memory.open([0], 3, 900)
    assert memory.do("read", [0], 998) == 998
    assert memory.do("read", [0], 999) == 1002
    memory.refresh([0], 1003)
    assert memory.open([0], 3, 1003) == 1277


def test_by_hand_a_slow_clock():
    """If circuits have a divider of 4, their commands come in cycles that are multiples of 4."""
    memory = Recorder(DEVICES["hbm"])
    assert memory.open([0], 0, 4, step=4) == 4
    assert memory.do("read", [0], 8, step=4) == 20
    assert memory.do("read", [0], 24, step=4) == 24
