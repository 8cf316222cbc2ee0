"""Damages programs in memory: the fast engine does what the reference engine does.

An example is a text. Its first line has the core and the seed of a random legal program (the
generators of tests/emu). Each other line is damage: `PLACE ^MASK` or `PLACE =BYTES`. A place is a
number of bytes, counted over all memory of the program: its words, descriptions and data.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.emu.faults import Fault, Stop
from macaw.isa import common
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.pe import END_OF_LIST
from tests.emu import cp_machine, dma_devices, scalar_devices
from tests.emu.fim import random_programs as fim_programs
from tests.emu.fim.engine_pairs import DEVICES, machines_of_engines
from tests.emu.nnp import random_programs as nnp_programs
from tests.emu.pe_random_lists import random_packet_list
from tests.emu.random_loops import random_loops
from tests.fuzz.target import Example, Target, require, sentence

SECONDS = 10.0
LIMIT = 6000  # cycles
REASONS = {"exit", "fault", "deadlock", "cycle limit", "breakpoint"}
HOSTILE = ("00000000", "ffffffff", "7f", "80", "ff", "0000", "ffff", "00000080", "ffffff7f", "20")
SPAN = 1 << 16  # of the numbers that say a place


@dataclass
class Bench:
    """The same program on a device of each engine, and its regions of memory: (address, bytes)."""

    devices: list[Device]
    regions: list[tuple[int, int]]
    begin: list[Callable[[], object]] = field(default_factory=list)  # start it, all being in place


def _scalar(core: str, seed: int) -> Bench:
    chance = Random(seed)
    text = cp_machine.TEXT if core == "cp" else EXTERNAL + 0x400
    base = EXTERNAL + 0x8000
    program = random_loops(chance, text, base, has_vectors=core == "vc")
    width = {"mem__external_width": chance.choice((32, 4))}
    data = [(base, program.data)]
    devices = [
        scalar_devices.device_with_code(core, engine, text, program.text, data, **width)
        for engine in ENGINES
    ]
    return Bench(devices, [(text, len(program.text)), (text, len(program.text)), (base, 2048)])


def _array(seed: int) -> Bench:
    unit = random_packet_list(seed).unit
    machines = [unit.machine(engine=engine) for engine in ENGINES]
    half, packets = machines[0].half, len(unit.packets) + len(bytes([END_OF_LIST]))
    configs = (half + unit.data_at, len(unit.data))
    return Bench(
        [machine.device for machine in machines],
        [(half, packets), (half, packets), configs],
    )


def _matrix_vector(seed: int) -> Bench:
    chance = Random(seed)
    case = nnp_programs.program(chance, 6)
    late = chance.choice((0, 50))
    regions = [(nnp_programs.TEXT, 4 * len(case.words)), (0x8000, 64), (EXTERNAL, len(case.dram))]
    return Bench([case.device(engine, late) for engine in ENGINES], [regions[0], *regions])


def _islands(seed: int) -> Bench:
    chance = Random(seed)
    lines, device = fim_programs.program(chance), chance.choice(DEVICES)
    machines = machines_of_engines(lines, device)
    data = np.random.default_rng(seed).normal(size=(4, 3, 512)).astype(np.float16)
    for machine in machines:
        for bank in range(4):
            for row in range(3):
                machine.put(bank, row, 0, data[bank, row])
    section = machines[0].program.section(f".fim.{machines[0].island.island}")

    devices, begin = [x.device for x in machines], [x.start for x in machines]
    return Bench(devices, [(section.address, section.size)], begin)


def _transfers(seed: int) -> Bench:
    regions = [(place, 24) for place in dma_devices.DESCRIPTIONS]
    return Bench(dma_devices.random_devices(seed), regions)


BENCHES: dict[str, Callable[[int], Bench]] = {
    "cp": lambda seed: _scalar("cp", seed),
    "vc": lambda seed: _scalar("vc", seed),
    "pe": _array,
    "nnp": _matrix_vector,
    "fim": _islands,
    "dma": _transfers,
}


def make(rng: Random) -> Example[str]:
    """A random program: a third legal, a third with flipped bits, a third with hostile bytes."""
    lines = [f"{rng.choice(list(BENCHES))} {rng.getrandbits(30)}"]
    kind = rng.randrange(3)
    for _ in range(rng.choice((1, 1, 2, 5)) if kind else 0):
        place = rng.randrange(SPAN) if rng.random() < 0.7 else rng.randrange(64)
        if kind == 1:
            lines.append(f"{place} ^{1 << rng.randrange(8):02x}")
        else:
            noise = rng.randbytes(rng.choice((1, 2, 4, 16))).hex()
            lines.append(f"{place} ={rng.choice((*HOSTILE, noise))}")
    return Example("\n".join(lines) + "\n", lines[0])


def _place(bench: Bench, number: int) -> tuple[int, int]:
    """The address of a byte of the program's memory, and the bytes up to the region's end."""
    offset = number % sum(size for _, size in bench.regions)
    for start, size in bench.regions:
        if offset < size:
            return start + offset, size - offset
        offset -= size
    raise AssertionError(number)


def damage(bench: Bench, lines: list[str]) -> None:
    """Make the damage of the lines in both devices."""
    for line in lines:
        where, _, what = line.partition(" ")
        address, room = _place(bench, int(where))
        piece = bytes.fromhex(what[1:])[:room]
        for device in bench.devices:
            old = device.memory.peek(address, len(piece))
            flipped = bytes(a ^ b for a, b in zip(old, piece, strict=True))
            device.memory.poke(address, flipped if what[:1] == "^" else piece)


def _begin(bench: Bench) -> bool:
    """Start the programs; False if both engines refuse them at once, with the same fault."""
    said: list[tuple[object, ...] | None] = []
    for begin in bench.begin:
        try:
            begin()
        except Fault as fault:
            sentence(str(fault))
            said.append((fault.kind, fault.message, fault.values, fault.address))
        else:
            said.append(None)
    require(len({str(one) for one in said}) <= 1, "the engines start differently", str(said)[:300])
    return not any(said)


def _said(stop: Stop) -> tuple[Any, ...]:
    fault = stop.fault
    found = None if fault is None else (fault.kind, fault.message, fault.values, fault.address)
    return stop.reason, found, stop.message, stop.cycle, stop.exit_code


def _alike(devices: list[Device], stop: Stop) -> None:
    fast, reference = devices
    different = fast.diff(reference.snapshot())
    if stop.reason == "exit":  # the cycle in which the clock found nobody to run
        different = [item for item in different if item[0] != "device"]
    require(not different, "the engines differ", repr(different[:2])[:300])
    require(fast.counters() == reference.counters(), "the engines count differently")


def check(example: Example[str]) -> str:
    """Check an example; free its devices afterwards, because each takes some 100 MB."""
    if not gc.get_freeze_count():
        gc.freeze()  # modules need not be looked through each time
    try:
        return _check(example)
    finally:
        gc.collect()


def _check(example: Example[str]) -> str:
    """Run both engines with pauses: stops, states and faults must be equal."""
    head, *lines = example.data.splitlines() or [""]
    core, _, seed = head.partition(" ")
    if core not in BENCHES or not seed.isdecimal():
        return "no program"
    bench = BENCHES[core](int(seed))
    damage(bench, lines)
    if not _begin(bench):
        return "refused"
    chance, cycle = Random(int(seed)), 0
    while True:
        cycle = min(cycle + chance.choice((7, 300, 4000)), LIMIT)
        stops = [device.run(until=cycle) for device in bench.devices]
        require(
            _said(stops[0]) == _said(stops[1]),
            "the engines stop differently",
            f"{stops[0]} | {stops[1]}"[:300],
        )
        stop = stops[0]
        require(stop.reason in REASONS, "a stop without a known reason", stop.reason)
        _alike(bench.devices, stop)
        if stop.fault is not None:
            sentence(str(stop))
            table = bench.devices[0].cores[str(stop.fault.core)].table
            known = {row.name for row in table.faults or common.FAULTS}  # a test's own has none
            require(stop.fault.kind in known, f"no fault of {table.name}", stop.fault.kind)
        if stop.reason == "breakpoint":
            continue
        if stop.reason != "cycle limit" or cycle == LIMIT:
            return "refused" if stop.reason in ("fault", "deadlock") else "accepted"


TARGET = Target("words", make, check, seconds=SECONDS)
