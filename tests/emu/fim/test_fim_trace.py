"""The trace blocks of islands against the reference's event log, a separate count, and by hand."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from macaw.emu.engines import ENGINES
from macaw.isa import config
from macaw.isa.codec import decode
from macaw.isa.fim import CORE
from tests.emu.fim.engine_pairs import (
    AUTO_TRACES,
    DEVICES,
    PHASES_WITHOUT_SHRINKING,
    machines_of_engines,
    random_sources,
    stop_summary,
)
from tests.emu.fim.machine import Machine
from tests.emu.trace_witness import COUNTED, TIMED, configure, spilled

pytestmark = pytest.mark.once

READING, WRITING, COMPUTING = {0, 2, 6, 8}, {1, 4}, {6, 7, 8}
# by arrangement: the products of an operation in fp16, fp32, bf16 and int8
PRODUCTS = {
    "elementwise": (16, 8, 16, 32),
    "dot": (16, 8, 16, 32),
    "outer": (256, 64, 256, 1024),
    "tensor": (64, 64, 64, 64),
}
ARRANGED, ACCUMULATES, FORMAT = 1, 3, 4  # numbers of memory-mapped registers


def started(machine, parameters, seed=0):
    data = np.random.default_rng(seed).normal(size=(4, 3, 512)).astype(np.float16)
    for bank in range(4):
        for row in range(3):
            machine.put(bank, row, 0, data[bank, row])
    configure(machine.device, machine.island.name, parameters)
    return machine.start()


class Word:
    """A word that the island has executed, from the log."""

    def __init__(self, time, event, waits):
        self.begin, self.address, self.block = time, event["address"], event["block"]
        self.until, self.waits, self.waited = 0, waits, 0
        self.uses = []


class Log:
    """Records the begins and ends of an island's words, in the order in which they happen."""

    def __init__(self, machine):
        self.machine, self.order, self._present = machine, [], {}
        machine.device.listen(self._hear, [machine.island.name])

    def _hear(self, event):
        values = event.values
        waits = sum(self.machine.island.dram.waits.values())
        if event.kind == "instruction":
            self._present[values["block"]] = word = Word(event.time, values, waits)
            self.order.append(("begin", word))
        elif event.kind == "used":
            use = values["of"], values["begin"], values["until"], values["times"]
            self._present[values["block"]].uses.append(use)
        elif event.kind == "done":
            word = self._present[values["block"]]
            word.until, word.waited = values["until"], waits - word.waits
            self.order.append(("end", word))

    def acts(self):
        """Begins and ends of words, without words that still wait and without faulty words."""
        going = {id(word) for kind, word in self.order if kind == "end"}
        for block in self.machine.island.blocks:
            if block.repeat:
                going.add(id(self._present[block.index]))
        return [(kind, word) for kind, word in self.order if id(word) in going]


def record(group, loop, first, words):
    """The registers of a group that records these words, without zeros."""
    found = Counter(group=group, loop=loop, first=first, instructions=len(words), core=8)
    found["t_begin"] = words[0].begin
    found["t_end"] = max(word.until for word in words)
    uses = [use for word in words for use in word.uses]
    for of, name in (*COUNTED.items(), ("array", "e_array")):
        mine = [use for use in uses if use[0] == of]
        found[name] = sum(times for *_, times in mine)
        if of in TIMED and mine:
            found[f"{TIMED[of]}_begin"] = min(begin for _, begin, _, _ in mine)
            found[f"{TIMED[of]}_end"] = max(until for _, _, until, _ in mine)
    return {name: value for name, value in found.items() if value}


def windows(acts, parameters, groups=4):
    """Return auto mode's records: first the complete ones by end, then the others by group."""
    numbers: dict[int, int] = {}
    done: set[int] = set()
    opened: list[tuple[int, int, int] | None] = [None] * groups
    found = []
    words = [word for kind, word in acts if kind == "begin"]

    def spill(group):
        window = opened[group]
        assert window is not None
        loop, first, stop = window
        taken = [word for word in words[first:stop] if numbers.get(id(word), stop) < stop]
        found.append(record(group, loop, first, taken))
        opened[group] = None

    for kind, word in acts:
        if kind == "begin":
            number = numbers[id(word)] = len(numbers)
            for group in range(groups):
                past = number - parameters["begin"] - group * parameters["step"]
                over = parameters["overhead"]
                loop, rest = divmod(past, over) if over else (0, past)
                limit = parameters["loops"] if over else 0
                if opened[group] is None and past >= 0 and not rest and (not limit or loop < limit):
                    opened[group] = loop, number, number + parameters["num"]
            continue
        done.add(numbers[id(word)])
        for group in range(groups):
            window = opened[group]
            if window is None:
                continue
            _, first, stop = window
            mine = set(range(first, min(stop, len(numbers))))
            if numbers[id(word)] in mine and len(numbers) >= stop and mine <= done:
                spill(group)
    for group in range(groups):
        if opened[group] is not None:
            spill(group)
    return found


def own_counts(machine, acts):
    """Return the trace's counts of each word, computed from its fields and earlier `mmr` words."""
    lanes = machine.config["fim.island.0.lanes"]
    banks = [len(block.banks) for block in machine.island.blocks]
    registers: defaultdict[tuple[int, int], int] = defaultdict(int)
    found = {}
    for kind, word in acts:
        if kind == "end":
            continue
        value = int.from_bytes(machine.device.memory.peek(word.address, 4), "little")
        item = decode(CORE, value, 32)
        count, values = banks[word.block], item.values
        own: Counter[str] = Counter()
        match item.row.mnemonic:
            case "mmr":
                registers[word.block, values["register"]] = values["value"]
            case "push":
                own["external_writes"] = count
            case "pull":
                own["external_reads"] = 1 if values["all"] else count
            case "fim":
                each = values["repeat"] * count
                own["reads"] = each * (values["n"] in READING)
                own["writes"] = each * (values["n"] in WRITING)
                if values["n"] in COMPUTING:
                    arranged = registers[word.block, ARRANGED], registers[word.block, FORMAT]
                    products = list(PRODUCTS.values())[arranged[0]][arranged[1]]
                    own["unit"] = each * products
                    own["array"] = each * -(-products // lanes)
        found[id(word)] = own
    return found


@settings(max_examples=30, deadline=None, phases=PHASES_WITHOUT_SHRINKING)
@given(random_sources(), st.sampled_from(DEVICES), st.integers(0, 1 << 30), AUTO_TRACES)
def test_records_are_those_of_the_log_and_of_an_own_count(lines, device, seed, parameters):
    fast, reference = machines_of_engines(lines, device)
    log = Log(reference)
    stops = [started(fast, parameters, seed).run(), started(reference, {}, seed).run()]
    assert stop_summary(stops[0]) == stop_summary(stops[1])
    acts = log.acts()
    fast.device.sync()
    if stops[0].reason == "deadlock":  # only complete records are spilled
        found = spilled(fast.device, "fim[0]")
        expected = windows(acts, parameters)[: len(found)]
    else:
        found, expected = spilled(fast.device, "fim[0]"), windows(acts, parameters)
    assert [{k: v for k, v in one.items() if v} for one in found] == expected
    own = own_counts(reference, acts)
    for kind, word in acts:
        if kind != "end":
            continue
        uses: Counter[str] = Counter()
        for of, _, _, times in word.uses:
            uses[of] += times
        blocked = uses.pop("reads_blocked", 0) + uses.pop("writes_blocked", 0)
        assert uses == +own[id(word)]
        alone = len(reference.island.blocks) == 1
        most = word.waited * len(reference.island.blocks[word.block].banks)
        assert not alone or word.waited <= blocked <= most


# The last record ends while block 0 is in the middle of a fim that is in none.
ENDED = [
    ".block banks=(0, 1)", *["mmr op, mul"] * 2, "fim 7, repeat=33", "fim 7, repeat=40", "end",
    ".block banks=2", "mmr op, mul", "fim 7, repeat=25", "act 1", "end",
]  # fmt: skip


@settings(max_examples=30, deadline=None, phases=PHASES_WITHOUT_SHRINKING)
@given(
    random_sources(),
    st.sampled_from(DEVICES),
    st.one_of(AUTO_TRACES, st.just({"mode": 0})),
    st.lists(st.integers(1, 90), max_size=5),
    st.integers(0, 3),
)
@example(ENDED, DEVICES[0], {"mode": 1, "num": 4, "loops": 1}, [63, 28], 0)
def test_engines_agree_wherever_they_are_stopped(lines, device, parameters, pauses, restored):
    pair = machines_of_engines(lines, device)
    plain = Machine(pair_lines(pair), device)
    for machine in pair:
        started(machine, parameters)
    started(plain, {})
    for place, pause in enumerate([*pauses, 100_000]):
        stops = [machine.run(pause) for machine in pair]
        assert stop_summary(stops[0]) == stop_summary(stops[1])
        fast, reference = (machine.device for machine in pair)
        different = fast.diff(reference.snapshot())
        if stops[0].reason == "exit":  # the cycle in which the clock found nobody to run
            different = [item for item in different if item[0] != "device"]
        assert different == []
        if stops[0].reason != "cycle limit":
            break
        if place == restored:
            fast.restore(reference.snapshot())
    if stops[0].reason == "exit":
        assert plain.run(300_000).cycle == stops[0].cycle
    records = [spilled(machine.device, "fim[0]") for machine in pair]
    assert records[0] == records[1]


def pair_lines(pair):
    """The lines that the assembler accepted."""
    return pair[0].lines


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


def marked(lines, engine, **changes):
    """Run lines in banks 0 to 3; return the record of group 1, which has these lines' words."""
    device = config.load("tiny").changed(changes)
    machine = Machine(
        [".block banks=0-3", "trace_begin 1", *lines, "trace_end 1", "end"], device, engine
    )
    started(machine, {})
    assert machine.run().reason == "exit"
    (found,) = spilled(machine.device, "fim[0]")
    return {name: value for name, value in found.items() if value and name not in ("core", "group")}


def test_a_block_by_hand(engine):
    # mmr at 1, 2, 3; the row is opened at 4, column 0 at 4 + 14; the dots' at 22, 26, 30 and 34,
    # the last one there 7 later; its column is written then. 4 banks wait for 13, 3, 3 * 3 cycles.
    lines = ["mmr op, mul", "mmr arrange, dot", "mmr rz_slot, 0", "act 1", "rop <- iosa[0]",
             "rz <- rop * iosa[16:20]", "iosa[31] <- rz"]  # fmt: skip
    found = marked(lines, engine)
    assert found == {
        "first": 1, "instructions": 7, "t_begin": 1, "t_end": 42,
        "t_cu_begin": 22, "t_cu_end": 41, "e_cu": 4 * 4 * 16, "e_array": 4 * 4,
        "e_rd": 4 * 5, "e_wr": 4, "e_rd_blocked": 4 * (13 + 3 + 9),
    }  # fmt: skip


def test_units_are_lanes():
    """The trace counts each lane of the ALU as a compute unit (seed 004 ¶47)."""
    machine = Machine([".block banks=0", "end"], "tiny")
    lanes = [machine.device.cores[f"fim[{n}]"].units() for n in range(2)]
    config_ = machine.config
    assert [one.of_array for one in lanes] == [config_[f"fim.island.{n}.lanes"] for n in range(2)]
    assert lanes[0].width == 4


def test_outer_products_by_hand(engine):
    """16 lanes compute the 256 products of an outer product in 16 passes (seed 004 ¶57)."""
    # tiny's island 0 has 16 lanes: 256 products are 16 passes; elementwise 16 are one.
    lines = ["mmr op, mul", "mmr arrange, outer", "act 1", "rop <- iosa[0]", "rz <- rop * gio",
             "rz <- rop * gio"]  # fmt: skip
    changes = {"fim.island.0.arrangements": "elementwise outer", "fim.island.0.rz_slices": 16}
    found = marked(lines, engine, **changes)
    assert (found["e_cu"], found["e_array"]) == (2 * 4 * 256, 2 * 4 * 16)
    assert found["t_cu_end"] - found["t_cu_begin"] == 16 + 3 + 15


def test_a_few_lanes_take_more_passes(engine):
    lines = ["mmr op, mul", "act 1", "rop <- iosa[0]", "rz <- rop * gio"]
    found = marked(lines, engine, **{"fim.island.0.lanes": 5})
    assert (found["e_cu"], found["e_array"]) == (4 * 16, 4 * 4)  # 16 of 20: four fifths


CHAIN = """
.block banks=0
trace_begin 0
mmr b0_low, 0x40030000
mmr b0_high, 0x40030080
act 1
mmr op, mul
push gio, 0
push gio, 0
trace_end 0
end
.block banks=1
trace_begin 1
WAITS
pull rop, 0
pull rop, 0
trace_end 1
end
"""


def test_producer_and_consumer(engine):
    """The trace counts a push as an external write, a pull as a read over the bus.

    Each column counts as one beat. See seed 004 ¶40, ¶48-51.
    """
    lines = CHAIN.replace("WAITS\n", "mmr op, mul\n" * 40).strip().splitlines()
    machine = Machine(lines, "tiny", engine)
    started(machine, {})
    assert machine.run().reason == "exit"
    producer, consumer = spilled(machine.device, "fim[0]")
    # The first push comes at 5, opens the row then, and writes 10 later, the second 4 behind it.
    assert (producer["e_xwr"], producer["t_wr_begin"], producer["t_wr_end"]) == (2, 5, 19 + 8 + 2)
    assert producer["e_wr_blocked"] == 10 + 3
    assert producer["e_xwr_partial"] == producer["e_rd"] == producer["e_wr"] == 0
    # The pulls come at 41 and 42, and read at 41 and 45.
    assert (consumer["e_bus"], consumer["t_rd_begin"], consumer["t_rd_end"]) == (2, 41, 45 + 20 + 2)
    assert (consumer["e_rd_blocked"], consumer["e_rd"], consumer["t_end"]) == (3, 0, 46)


def test_a_pull_that_waits_begins_when_it_goes_on(engine):
    """A pull that waits begins, for the trace, when its column is stored (seed 004 ¶50)."""
    lines = CHAIN.replace("WAITS\n", "").strip().splitlines()
    machine = Machine(lines, "tiny", engine)
    started(machine, {"mode": 1, "begin": 9, "num": 1, "step": 99})
    assert machine.run().reason == "exit"
    (pull,) = spilled(machine.device, "fim[0]")
    # It waits from 1 on; the push of 5 writes in 15, its data are stored behind 15 + 8 + 2. Three
    # markers, four words and the two pushes have begun before.
    assert (pull["t_begin"], pull["t_rd_begin"], pull["e_bus"], pull["core"]) == (25, 25, 1, 8)


def test_a_marker_of_another_block_splits_what_runs(engine):
    """A marker of another block ends a record in the middle of a long `fim`.

    The fast engine, which has simulated the `fim` beyond this cycle, splits its counts.
    """
    lines = [".block banks=0", "trace_begin 0", "mmr op, mul", "act 1", "fim 6, 0, 1, 30", "end",
             ".block banks=1", *["mmr op, mul"] * 40, "trace_begin 0", "mmr op, add", "end"]  # fmt: skip
    machine = Machine(lines, "tiny", engine)
    started(machine, {})
    assert machine.run().reason == "exit"
    first, second = spilled(machine.device, "fim[0]")
    # Columns at 16, 20, ...; asked for before cycle 40 are those at 16 to 40: asked at 3, 17, ... 37.
    assert (first["e_rd"], first["e_array"], first["t_end"]) == (7, 7, 40)  # of the last mmr
    assert (first["t_cu_begin"], first["t_cu_end"]) == (16, 40 + 3)
    assert (second["first"], second["e_rd"]) == (44 + 1, 0)


def test_a_fault_of_another_block(engine):
    """After a fault of block 1, records have only the part of block 0's `fim` before the fault."""
    lines = [".block banks=0", "act 1", "fim 6, 0, 1, 4", "fim 6, 0, 1, 4", "end",
             ".block banks=1", *["mmr op, mul"] * 8, "rop <- iosa[0]", "end"]  # fmt: skip
    machine = Machine(lines, "tiny", engine)
    started(machine, {"mode": 1, "num": 2, "step": 2, "overhead": 8})
    stop = machine.run()
    assert stop.fault.kind == "no open row"
    # 0, 1: act, mmr; 2: the first fim, at 1; 3 to 9: mmr of block 1; the fault is in cycle 8.
    found = [(x["first"], x["instructions"]) for x in spilled(machine.device, "fim[0]")]
    assert found == [(0, 2), (4, 2), (6, 2), (8, 2), (2, 2)]
    last = spilled(machine.device, "fim[0]")[-1]
    assert (last["t_end"], last["e_rd"], last["e_array"]) == (2, 1, 1)  # asked for before 8: one
