"""Records of cp and vc: both engines against a model that counts what a listener heard of a run without them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from macaw.emu.engines import ENGINES
from macaw.isa.codec import unpack
from macaw.isa.memory_map import EXTERNAL, UNITS
from macaw.isa.trace import GROUP, RECORD
from tests.emu import cp_machine
from tests.emu.random_loops import random_loops
from tests.emu.test_translation import MODULES, device_of, said
from tests.emu.toys import UNIT, toy

pytestmark = pytest.mark.once

AREA = EXTERNAL + 0xE0000
ROOM = 1000  # records
COUNTERS = [row.name for row in GROUP]
# By hand: what the ALU of cp works on.
ALU = set(
    "add sub sll slt sltu xor srl sra or and addi slti sltiu xori ori andi slli srli srai lui auipc"
    " mul mulh mulhsu mulhu div divu rem remu".split()
)
LANE = {"b": 1, "h": 2, "w": 4, "d": 8}


def lanes(core: str, mnemonic: str) -> int:
    """How many units an instruction uses."""
    if core == "cp":
        return int(mnemonic in ALU)
    name, _, element = mnemonic.partition(".")
    if name in ("vld", "vst", "vlds", "vsts") or not name.startswith(("v", "pmac")):
        return 0
    if name in ("vins", "vext", "vextu"):
        return LANE[element]
    return 4 if mnemonic.startswith("pmac.gr") else 16


@dataclass
class Heard:
    """An instruction as a listener heard of it."""

    mnemonic: str
    operands: dict[str, int]
    begin: int = -1
    end: int = -1
    beats: list[tuple[str, int, int, int]] = field(default_factory=list)
    onchip: dict[str, int] = field(default_factory=dict)


def log_of(device, core: str):
    """Run to the end, across breakpoints, and tell what was executed."""
    log: list[Heard] = []
    hart = device.cores[core]

    def hear(event) -> None:
        values = event.values
        if event.kind == "instruction":
            found = hart.code.fetch(values["address"])
            log.append(Heard(found.row.mnemonic, dict(found.values)))
        elif event.kind == "done":
            log[-1].begin, log[-1].end = values["begin"], values["until"]
        elif event.kind == "beats":
            log[-1].beats.append(tuple(values[x] for x in ("of", "begin", "until", "count")))
        elif event.kind == "blocked":
            log[-1].onchip[values["of"]] = log[-1].onchip.get(values["of"], 0) + 1
        elif event.kind in ("read", "write") and values["address"] >> 28 == UNITS >> 28:
            log[-1].onchip[f"{event.kind}s"] = 1  # lanes by a stride are one request

    device.listen(hear, [core])
    stop = device.run()
    while stop.reason == "breakpoint":
        stop = device.run()
    return [x for x in log if x.end >= 0], stop


def record(core: str, group: int, loop: int, first: int, done: list[Heard]) -> dict[str, int]:
    """What a group shows of these instructions; times count from 0."""
    beats = [beat for x in done for beat in x.beats]
    reads = [beat for beat in beats if beat[0] == "external_reads"]
    writes = [beat for beat in beats if beat[0] == "external_writes"]
    used = [x for x in done if lanes(core, x.mnemonic)]

    def onchip(of: str) -> int:
        return sum(x.onchip.get(of, 0) for x in done)

    return {
        "core": MODULES[core].processor.CORE.number,
        "group": group,
        "loop": loop,
        "first": first,
        "instructions": len(done),
        "t_begin": done[0].begin if done else 0,
        "t_end": max((x.end for x in done), default=0),
        "t_rd_begin": min((x[1] for x in reads), default=0),
        "t_rd_end": max((x[2] for x in reads), default=0),
        "t_wr_begin": min((x[1] for x in writes), default=0),
        "t_wr_end": max((x[2] for x in writes), default=0),
        "t_cu_begin": min((x.begin for x in used), default=0),
        "t_cu_end": max((x.end for x in used), default=0),
        "e_cu": sum(lanes(core, x.mnemonic) for x in used),
        "e_array": len(used),
        "e_rd": onchip("reads"),
        "e_rd_blocked": onchip("reads_blocked"),
        "e_wr": onchip("writes"),
        "e_wr_blocked": onchip("writes_blocked"),
        "e_bus": sum(x[3] for x in reads),
        "e_xwr_partial": sum(x[3] for x in beats if x[0] == "external_partial"),
        "e_xwr": sum(x[3] for x in writes),
    }


def automatic(
    core: str, log: list[Heard], p: dict[str, int], groups: int = 4
) -> list[dict[str, int]]:
    """The records of auto mode, by (group, loop): each asked for by itself."""
    found = []
    for group in range(groups):
        busy = -1
        for loop in range(p["loops"] or len(log) + 1):
            if loop and not p["overhead"]:
                break
            start = p["begin"] + loop * p["overhead"] + group * p["step"]
            if start >= len(log):
                break
            if p["num"] and start > busy:
                busy = start + p["num"] - 1
                found.append(record(core, group, loop, start, log[start : busy + 1]))
    return found


def marked(core: str, log: list[Heard]) -> list[dict[str, int]]:
    """The records of mark mode."""
    found, begun = [], {}

    def end(group: int, stop: int) -> None:
        if group in begun:
            first = begun.pop(group)
            inside = [x for x in log[first:stop] if not x.mnemonic.startswith("trace")]
            found.append(record(core, group, 0, first, inside))

    for number, x in enumerate(log):
        if x.mnemonic.startswith("trace"):
            end(x.operands["g"], number)
            if x.mnemonic == "trace_begin":
                begun[x.operands["g"]] = number + 1
    for group in sorted(begun):
        end(group, len(log))
    return found


def key(record: dict[str, int]) -> tuple[int, int, int]:
    return record["group"], record["loop"], record["first"]


def devices_of(core: str, seed: int, has_markers: bool = False):
    """Reference, fast, and one that does not record, with the same random program."""
    chance = random.Random(seed)
    text = cp_machine.TEXT if core == "cp" else EXTERNAL + 0x400
    own = 0x40000 if core == "cp" else EXTERNAL + 0x8000
    base = chance.choice((own, own, text + 0x1800, UNIT, EXTERNAL + 0x8000))
    program = random_loops(chance, text, base, has_vectors=core == "vc", has_markers=has_markers)
    changes = {f"{core}__divider": chance.choice((1, 1, 3))}
    changes["mem__external_width"] = chance.choice((32, 16, 4))
    changes["trace__groups"] = 4 if has_markers else chance.choice((1, 2, 4, 4, 7))
    for name in ("alu_cycles", "branch_taken_cycles", "mul_cycles"):
        if chance.random() < 0.3:
            changes[f"{core}__{name}"] = chance.randint(1, 5)
    if core == "vc" and chance.random() < 0.4:
        changes |= {
            "vc__vector_cycles": chance.randint(1, 6),
            "vc__pmac_cycles": chance.randint(1, 6),
        }
    data = [(base, program.data)]
    devices = []
    for engine, recording in ((ENGINES[1], True), (ENGINES[0], True), (ENGINES[0], False)):
        device = device_of(
            core, engine, text, program.text, data, trace__recording=recording, **changes
        )
        device.cores[core].trace.start(0)
        devices.append(device)
    return devices, chance


def parameters(chance: random.Random) -> dict[str, int]:
    num = chance.choice((1, 2, 3, 7, 20, 64, 100, 333, 1000))
    step = chance.choice((0, 1, num, num, num + 5))
    return {
        "begin": chance.choice((0, 1, 50, 333)),
        "num": num,
        "step": step,
        "overhead": chance.choice((num, 4 * step or num, 4 * step + 3, num // 2, 997)),
        "loops": chance.choice((0, 0, 1, 2, 30)),
    }


def configure(device, core: str, mode: int, p: dict[str, int]) -> None:
    values = p | {"spill": AREA, "spill_end": AREA + ROOM * RECORD.size, "mode": mode}
    for name, value in values.items():
        device.cores[core].write_trace(f"trace_{name}", value)


def spilled(device, core: str) -> list[dict[str, int]]:
    size = device.cores[core].trace.read("trace_next") - AREA
    data = device.memory.peek(AREA, size)
    return [unpack(RECORD, data, at) for at in range(0, size, RECORD.size)]


def followed(devices, chance, spans):
    """Run side by side, stop after stop, with the same noise on the channel of external memory."""
    for _ in range(400):
        until = devices[0].cycle + chance.choice(spans)
        stops = [device.run(until=until) for device in devices]
        assert len({said(stop) for stop in stops}) == 1
        assert devices[0].hash() == devices[1].hash()
        if stops[0].reason in ("exit", "fault"):
            break
        if chance.random() < 0.3:
            held = [device.snapshot() for device in devices[:2]]
            devices[0].restore(held[1])
            devices[1].restore(held[0])
    return stops[0]


@pytest.mark.parametrize("core", MODULES)
@pytest.mark.parametrize("seed", range(14))
def test_auto_mode(core: str, seed: int) -> None:
    devices, chance = devices_of(core, seed)
    p = parameters(chance)
    for device in devices[:2]:
        configure(device, core, 1, p)
    spans = chance.choice(((20_000,), (900, 333, 4097), (20_000, 50)))
    stop = followed(devices[:2], chance, spans)
    log, end = log_of(devices[2], core)
    assert said(end) == said(stop)
    found = spilled(devices[1], core)
    lost = devices[1].cores[core].trace.read("trace_lost")
    expected = automatic(core, log, p, devices[1].cores[core].trace.groups)
    assert len(found) + lost == len(expected)
    if stop.reason == "exit":
        behind = {key(x): x for x in expected}
        assert found == [behind[key(x)] for x in found]


@pytest.mark.parametrize("core", MODULES)
@pytest.mark.parametrize("seed", range(12))
def test_mark_mode(core: str, seed: int) -> None:
    devices, chance = devices_of(core, seed, has_markers=True)
    for device in devices[:2]:
        configure(device, core, 0, {})
    stop = followed(devices[:2], chance, chance.choice(((20_000,), (900, 333, 4097))))
    log, end = log_of(devices[2], core)
    assert said(end) == said(stop)
    expected = marked(core, log)
    found, lost = spilled(devices[1], core), devices[1].cores[core].trace.read("trace_lost")
    assert len(found) + lost == len(expected)
    if stop.reason == "exit":
        assert found == expected[: len(found)]


def test_those_programs_show_what_they_shall() -> None:
    """Most end by themselves, run counting blocks, and have records of all kinds."""
    ends, blocks, seen = 0, 0, dict.fromkeys(COUNTERS, 0)
    for core in MODULES:
        for seed in range(14):
            (_, fast, _), chance = devices_of(core, seed)
            configure(fast, core, 1, parameters(chance))
            stop = fast.run()
            while stop.reason == "breakpoint":
                stop = fast.run()
            ends += stop.reason == "exit"
            blocks += bool(fast.cores[core].traced.blocks)
            for row in spilled(fast, core):
                for name in COUNTERS:
                    seen[name] += bool(row[name])
    assert ends >= 10
    assert blocks >= 8
    seen.pop("e_rd_blocked"), seen.pop("e_wr_blocked")  # nobody contends
    assert all(seen.values()), seen


@pytest.mark.parametrize("engine", ENGINES)
def test_blocked_accesses(engine: str) -> None:
    """A toy that loads from the same banks makes cp lose some."""
    script = [("load", UNIT, 4) for _ in range(400)] + [("end",)]
    body = "lw a1, 0(a0)\nsw a1, 8(a0)\nlw a1, 128(a0)\nsw a1, 0(a0)\n"
    source = f"lui a0, {UNIT >> 12:#x}\n{body * 20}addi a7, zero, 93\necall"
    traced, plain = (
        cp_machine.machine(
            source, toy(5, script), toy(6, script), engine=engine, trace__recording=recording
        )
        for recording in (True, False)
    )
    p = {"begin": 3, "num": 9, "step": 9, "overhead": 36, "loops": 2}
    configure(traced, "cp", 1, p)
    assert said(traced.run()) == said(log_of(plain, "cp")[1])
    again = cp_machine.machine(
        source, toy(5, script), toy(6, script), engine=engine, trace__recording=False
    )
    expected = automatic("cp", log_of(again, "cp")[0], p)
    assert spilled(traced, "cp") == sorted(expected, key=lambda x: x["first"])
    for name in ("e_rd", "e_rd_blocked", "e_wr", "e_wr_blocked"):
        assert sum(x[name] for x in expected) > 5
