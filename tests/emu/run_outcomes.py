"""What random programs of each core do: their stops, states, counters, charges, traces, origins.

    python -m tests.emu.run_outcomes nnp 17

prints these facts for nnp's program of seed 17. Other tests compare the engines with each other.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from random import Random
from typing import Any
from zlib import crc32

import numpy as np

from macaw.emu import accounting
from macaw.emu.accountant import Accountant
from macaw.emu.charges import Charge
from macaw.emu.core import Core
from macaw.emu.critical_path import critical_path
from macaw.emu.device import Device
from macaw.emu.faults import Fault
from macaw.emu.origins import Origin, Place, Source
from macaw.emu.pages import Pages
from tests.emu import dma_devices, scalar_devices
from tests.emu.fim import engine_pairs
from tests.emu.fim import random_programs as fim_programs
from tests.emu.heard import Heard
from tests.emu.nnp.random_programs import program as nnp_program
from tests.emu.pe_random_lists import random_packet_list
from tests.emu.pe_resident_loops import LoopMaker
from tests.emu.trace_witness import configure, spilled
from tests.fuzz import words
from tests.recorded import summary

LIMIT = 3000  # cycles
CORES = ("cp", "vc", "dma", "pe", "loop", "nnp", "fim")  # loop: of pe, with weights that stay
FAST, REFERENCE = "fast", "reference"
PAUSES = (0, 1, 7, 30, 90, 200, 450, 900, 1500, 2400)
TRACED = {"cp": "cp", "vc": "vc", "dma": "dma", "pe": "pe[0]", "loop": "pe[0]", "nnp": "nnp"}


def device(core: str, seed: int, engine: str = FAST) -> Device:
    """A device with the random program of a core, ready to run."""
    which = (FAST, REFERENCE).index(engine)
    if core in ("cp", "vc"):
        found: Device = scalar_devices.random_devices(core, seed)[0][which]
        return found
    if core == "dma":
        return dma_devices.random_devices(seed)[which]
    if core == "pe":
        return random_packet_list(seed).unit.machine(engine=engine).device
    if core == "loop":
        chance = Random(f"loop {seed}")
        order = chance.choice(("first", "turns", "two places", "once"))
        sums = chance.choice(("none", "bias", "each", "before"))
        made = LoopMaker(seed, order, chance.random() < 0.3, sums, chance.random() < 0.3)
        return made.loop().unit.machine(engine=engine).device
    if core == "nnp":
        return nnp_program(Random(seed)).device(engine)
    lines, chosen = (
        fim_programs.program(Random(seed)),
        engine_pairs.DEVICES[seed % len(engine_pairs.DEVICES)],
    )
    jitter = seed if seed % 3 == 0 else None
    machine = engine_pairs.machines_of_engines(lines, chosen, jitter)[which]
    machine.start()
    return machine.device


def digest(lines: Iterable[str], shown: int = 0) -> str:
    return summary("\n".join(lines), shown)


def plain(value: Any) -> Any:
    """A value without NumPy's types, whose texts differ between NumPy's versions."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return [(plain(key), plain(item)) for key, item in value.items()]
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def counters(made: Device) -> list[str]:
    """The counters of each core that are not 0."""
    return [
        f"{name}: " + " ".join(f"{key}={value}" for key, value in values.items() if value)
        for name, values in made.counters().items()
        if any(values.values())
    ]


def heard(core: str, seed: int) -> list[str]:
    """The announcements of the reference engine: their numbers by kind, and their digest."""
    made = device(core, seed, REFERENCE)
    lines: list[str] = []
    kinds: Counter[str] = Counter()

    def hear(event: Any) -> None:
        kinds[event.kind] += 1
        lines.append(f"{event.core.name} {event.kind} {event.time} {plain(dict(event.values))}")

    made.listen(hear)
    with np.errstate(all="ignore"):
        made.run(LIMIT)
    return [" ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())), digest(lines)]


def charge(one: Charge) -> str:
    whom = f" for {one.whom}" if one.whom else ""
    of = f" of {one.producer:#x}" if one.producer is not None else ""
    at = f" at {one.address:#x}" if one.address is not None else ""
    return f"{one.cause}{at}{whom}{of} {one.cores:#x}"


def accounts(core: str, seed: int) -> list[str]:
    """The charges of each core, the largest first, what goes with them, and the critical path."""
    made = device(core, seed)
    with np.errstate(all="ignore"):
        _, found = accounting.run(made, LIMIT)
    lines = []
    for name, one in found.items():
        sums: Counter[str] = Counter()
        for each, cycles in one.charges.items():
            sums[each.cause] += cycles
        causes = " ".join(f"{cause} {cycles}" for cause, cycles in sorted(sums.items()))
        lines.append(f"{name}: {causes}; {digest(account_lines(one))}")
    logs = {each.number: found[each.name].log for each in made.order}
    path = critical_path(logs, made.cycle)
    steps = sorted(
        (-cycles, f"{of} {charge(one) if one else 'nothing'}") for (of, one), cycles in path.items()
    )
    lines.append("critical path: " + digest((f"{-n} {text}" for n, text in steps), 2))
    return lines


def account_lines(one: Accountant) -> list[str]:
    """All that an accountant knows, in lines."""
    lines = [f"{charge(each)}: {cycles}" for each, cycles in one.charges.items()]
    lines += [f"least {plain(one.least)} {one.undivided:g}", f"steps {plain(one.steps)}"]
    lines += [f"hidden {charge(each)}: {cycles}" for each, cycles in one.hidden.items()]
    lines += [
        f"along {charge(each)}: {charge(other)} {cycles}"
        for each, others in one.along.items()
        for other, cycles in others.items()
    ]
    lines += [f"needed {sorted(one.needed)} errands {plain(one.errands)} {sorted(one.readers)}"]
    for each in one.moves:
        sources = sorted((other.begin, other.address) for other in each.sources)  # of a set
        lines.append(f"move {plain(list({**vars(each), 'sources': sources}.values()))}")
    return lines


def stalls(core: str, seed: int) -> list[str]:
    """What the cores do or wait for at some cycles of a run: the first ones, and the digest."""
    made = device(core, seed)
    chance, lines = Random(seed), list[str]()
    for until in PAUSES:
        with np.errstate(all="ignore"):
            stop = made.run(until=until)
        made.sync()
        for one in made.order:
            lines.append(f"{until} {one.name} {plain(one.current())} {plain(one.next_addresses)}")
            lines += [f"  {plain(each)}" for each in one.stalls()]
            unit = unit_of(one, chance)
            lines.append(f"  {plain(one.unit(unit))}")
            lines += [
                f"  {box.number} {box.name} {plain(dict(box.look(unit)))}" for box in one.boxes
            ]
            lines += [f"  {plain(one.entries(queue, unit))}" for queue in one.table.queues]
        lines += [
            f"caution {plain(each)}"
            for one in made.order
            for each in getattr(one, "cautions", list)()
        ]
        if stop.reason not in ("cycle limit", "breakpoint"):
            break
    return [digest(lines, 4)]


def unit_of(core: Core, chance: Random) -> tuple[int, ...]:
    """The indices of a random unit of a core, () for a core without units."""
    config = core.device.config
    sizes = {
        "cluster": lambda: config["pe.clusters"],
        "pe": lambda: config["pe.pes"],
        "bank": lambda: config["fim.bank_groups"] * config["fim.group_banks"],
    }
    return tuple(chance.randrange(int(sizes[level]())) for level in core.table.levels)


def traced(core: str, seed: int) -> list[str]:
    """The records that the core's trace block spills: the first one, and the digest of all."""
    if core not in TRACED:
        return []
    made, chance = device(core, seed), Random(seed)
    parameters = {
        "mode": 1, "begin": chance.randrange(4), "num": chance.choice((1, 2, 3, 30)), "step": chance.choice((0, 1, 3)),
        "overhead": chance.randrange(9), "loops": chance.randrange(5),
    }  # fmt: skip
    configure(made, TRACED[core], parameters)
    with np.errstate(all="ignore"):
        made.run(LIMIT)
    made.sync()
    records = spilled(made, TRACED[core])
    return [
        f"trace {parameters}",
        digest((str({k: v for k, v in record.items() if v}) for record in records), 1),
    ]


def origin(one: Origin | None) -> str:
    if one is None:
        return "-"
    return (
        f"{one.number} {one.time} {one.what} {one.address} {one.by} {plain(one.value)} {one.part}"
    )


def source(one: Source) -> str:
    place = None if one.place is None else plain(tuple(one.place))
    values = plain((one.memory, one.value, one.window_part))
    return f"{one.what} {one.number} {values} {place} {one.setting} {one.at_once} < {origin(one.origin)}"


def origins(core: str, seed: int) -> list[str]:
    """Which steps made some parts of the state, and from what; the digest of all answers."""
    made, chance = device(core, seed, REFERENCE), Random(seed)
    told = Heard(made)
    with np.errstate(all="ignore"):
        made.run(LIMIT // 2)
    lines: list[str] = []

    def put(makers: Iterable[Origin]) -> None:
        for maker in islice(makers, 3):
            lines.append(f"  {origin(maker)}")
            lines.extend(f"    {source(each)}" for each in islice(maker.sources(), 20))

    records = {one.name: one.origins for one in made.order if one.origins is not None}
    for one in made.order:
        record = records[one.name]
        for field in sorted(record.fields):
            value = getattr(one.state, field)
            array = value.array[: value.size] if isinstance(value, Pages) else value
            whole = end = len(array)
            if isinstance(array, np.ndarray):
                end = array.nbytes
                filled = np.flatnonzero(np.ascontiguousarray(array).view(np.uint8))
                whole = int(filled[chance.randrange(len(filled))]) + 1 if len(filled) else 0
            for number in range(5 if whole else 1):
                first = max(0, whole - 1 - number)
                place = Place(field, first, min(chance.choice((1, 1, 2, 4, 8)), end - first) or 1)
                before = chance.choice((told.count, told.count // 2))
                lines.append(f"{one.name} {record.display_name(place)} {plain(tuple(place))}")
                put(record.makers(place, before))
    writes = sorted(told.writes)
    for number in chance.sample(writes, min(10, len(writes))):
        name, address, size = told.writes[number]
        lines.append(f"{number}: {name} {address:#x} {size}")
        put(records[name].writers(number, address, size))
    return [digest(lines, 0)]


def outcome(core: str, seed: int) -> str:
    """All facts about the random program of a core."""
    made = device(core, seed)
    with np.errstate(all="ignore"):
        stop = made.run(LIMIT)
    made.sync()
    lines = [f"{stop} in cycle {stop.cycle}", *counters(made), f"state {made.hash()[:12]}"]
    parts = {
        "heard": heard,
        "accounts": accounts,
        "stalls": stalls,
        "trace": traced,
        "origins": origins,
    }
    for name, part in parts.items():
        lines += [f"{name}: {line}" for line in "\n".join(part(core, seed)).splitlines()]
    return "\n".join(lines)


def damaged(number: int) -> str:
    """The stop of a random program of any core with some damage, and the digest of its memory."""
    chance = Random(f"damaged {number}")
    lines: list[str] = []
    while not lines:
        head, *lines = words.make(chance).data.splitlines()
    core, _, seed = head.partition(" ")
    bench = words.BENCHES[core](int(seed))
    words.damage(bench, lines)
    text = f"{' '.join([core, *lines])}: "
    made = bench.devices[0]
    try:
        for begin in bench.begin[:1]:
            begin()
    except Fault as fault:
        return f"{text}cannot start: {fault} {plain(fault.values)}"
    with np.errstate(all="ignore"):
        stop = made.run(words.LIMIT)
    made.sync()
    values = "" if stop.fault is None else f" {plain(stop.fault.values)} {stop.fault.core}"
    return f"{text}{stop} in cycle {stop.cycle}{values}; {crc32(str(plain(made.counters())).encode()):08x}"


def main() -> None:
    """Print the outcome of a core and seed."""
    print(outcome(sys.argv[1], int(sys.argv[2])))


if __name__ == "__main__":
    main()
