"""Random programs of cp and vc whose trace is compared with a log of what they executed."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from macaw.emu.engines import ENGINES
from macaw.isa import registry
from macaw.isa.codec import unpack
from macaw.isa.memory_map import EXTERNAL, UNITS
from macaw.isa.trace import RECORD
from tests.emu import cp_machine
from tests.emu.random_loops import random_loops
from tests.emu.scalar_devices import device_with_code
from tests.emu.toys import UNIT

AREA = EXTERNAL + 0xE0000
ROOM = 1000  # records
# By hand: what the ALU of cp works on.
ALU = set(
    "add sub sll slt sltu xor srl sra or and addi slti sltiu xori ori andi slli srli srai lui auipc"
    " mul mulh mulhsu mulhu div divu rem remu".split()
)
LANE = {"b": 1, "h": 2, "w": 4, "d": 8}


def units_used(core: str, mnemonic: str) -> int:
    """The number of compute units that an instruction uses."""
    if core == "cp":
        return int(mnemonic in ALU)
    name, _, element = mnemonic.partition(".")
    if name in ("vld", "vst", "vlds", "vsts") or not name.startswith(("v", "pmac")):
        return 0
    if name in ("vins", "vext", "vextu"):
        return LANE[element]
    return 4 if mnemonic.startswith("pmac.gr") else 16


@dataclass
class ExecutedInstruction:
    """An instruction as a listener heard it."""

    mnemonic: str
    operands: dict[str, int]
    begin: int = -1
    end: int = -1
    beats: list[tuple[str, int, int, int]] = field(default_factory=list)
    onchip: dict[str, int] = field(default_factory=dict)


def execution_log(device, core: str):
    """Run to the end, across breakpoints; return the instructions that were executed."""
    log: list[ExecutedInstruction] = []
    hart = device.cores[core]

    def hear(event) -> None:
        values = event.values
        if event.kind == "instruction":
            found = hart.decoder.fetch(values["address"])
            log.append(ExecutedInstruction(found.row.mnemonic, dict(found.values)))
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


def expected_record(
    core: str, group: int, loop: int, first: int, done: list[ExecutedInstruction]
) -> dict[str, int]:
    """The contents of a group that records these instructions; times count from 0."""
    beats = [beat for x in done for beat in x.beats]
    reads = [beat for beat in beats if beat[0] == "external_reads"]
    writes = [beat for beat in beats if beat[0] == "external_writes"]
    used = [x for x in done if units_used(core, x.mnemonic)]

    def onchip(of: str) -> int:
        return sum(x.onchip.get(of, 0) for x in done)

    return {
        "core": registry.core(core).number,
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
        "e_cu": sum(units_used(core, x.mnemonic) for x in used),
        "e_array": len(used),
        "e_rd": onchip("reads"),
        "e_rd_blocked": onchip("reads_blocked"),
        "e_wr": onchip("writes"),
        "e_wr_blocked": onchip("writes_blocked"),
        "e_bus": sum(x[3] for x in reads),
        "e_xwr_partial": sum(x[3] for x in beats if x[0] == "external_partial"),
        "e_xwr": sum(x[3] for x in writes),
    }


def expected_auto_records(
    core: str, log: list[ExecutedInstruction], p: dict[str, int], groups: int = 4
) -> list[dict[str, int]]:
    """The records of auto mode, computed separately for each (group, loop)."""
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
                found.append(expected_record(core, group, loop, start, log[start : busy + 1]))
    return found


def record_key(record: dict[str, int]) -> tuple[int, int, int]:
    return record["group"], record["loop"], record["first"]


def traced_devices(core: str, seed: int, has_markers: bool = False):
    """Devices with the same random program: reference, fast, and one without recording."""
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
            "vc__vector_div_cycles": chance.randint(1, 15),
        }
    data = [(base, program.data)]
    devices = []
    for engine, recording in ((ENGINES[1], True), (ENGINES[0], True), (ENGINES[0], False)):
        device = device_with_code(
            core, engine, text, program.text, data, trace__recording=recording, **changes
        )
        device.cores[core].trace.start(0)
        devices.append(device)
    return devices, chance


def random_parameters(chance: random.Random) -> dict[str, int]:
    num = chance.choice((1, 2, 3, 7, 20, 64, 100, 333, 1000))
    step = chance.choice((0, 1, num, num, num + 5))
    return {
        "begin": chance.choice((0, 1, 50, 333)),
        "num": num,
        "step": step,
        "overhead": chance.choice((num, 4 * step or num, 4 * step + 3, num // 2, 997)),
        "loops": chance.choice((0, 0, 1, 2, 30)),
    }


def configure_trace(device, core: str, mode: int, p: dict[str, int]) -> None:
    values = p | {"spill": AREA, "spill_end": AREA + ROOM * RECORD.size, "mode": mode}
    for name, value in values.items():
        device.cores[core].write_trace(f"trace_{name}", value)


def spilled_records(device, core: str) -> list[dict[str, int]]:
    size = device.cores[core].trace.read("trace_next") - AREA
    data = device.memory.peek(AREA, size)
    return [unpack(RECORD, data, at) for at in range(0, size, RECORD.size)]
