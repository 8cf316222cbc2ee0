"""A model of the trace block: the records that it must write, from a log of instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from macaw.emu.device import Device
from macaw.isa.codec import unpack
from macaw.isa.memory_map import CORE_SHIFT, EXTERNAL, REGISTERS
from macaw.isa.trace import MAPPED_PARAMETERS, PARAMETERS, RECORD

AREA = EXTERNAL + 0x4_0000
RECORDS = 200  # that the area of a core takes
_OFFSETS = {row.name: MAPPED_PARAMETERS + 4 * row.index for row in PARAMETERS}
_EACH = RECORDS * RECORD.size

COUNTED = {
    "reads": "e_rd",
    "reads_blocked": "e_rd_blocked",
    "writes": "e_wr",
    "writes_blocked": "e_wr_blocked",
    "external_reads": "e_bus",
    "external_writes": "e_xwr",
    "external_partial": "e_xwr_partial",
    "unit": "e_cu",
}
TIMED = {"external_reads": "t_rd", "external_writes": "t_wr", "unit": "t_cu"}


@dataclass
class Done:
    """An instruction: begin, end, events (what, begin, until, count), cycles of its array."""

    begin: int
    end: int | None = None  # None: it is not over
    events: list[tuple[str, int, int, int]] = field(default_factory=list)
    cycles: set[int] = field(default_factory=set)


def configure(device: Device, name: str, parameters: Mapping[str, int], start: bool = True) -> None:
    """Let a core record into its own area."""
    core = device.cores[name]
    if start:
        core.trace.start(0)
    place = device.order.index(core)
    area = {"spill": AREA + place * _EACH, "spill_end": AREA + (place + 1) * _EACH}
    page = REGISTERS + (core.number << CORE_SHIFT)
    for key, value in (area | dict(parameters)).items():
        device.memory.registers.write(page + _OFFSETS[f"trace_{key}"], 4, value, device.cycle)


def spilled(device: Device, name: str) -> list[dict[str, int]]:
    """The records of a core that are in its area, in their order."""
    block = device.cores[name].trace
    at = block.read("trace_spill")
    data = device.memory.peek(at, block.read("trace_next") - at)
    return [unpack(RECORD, data, place) for place in range(0, len(data), RECORD.size)]


def by_window(records: Sequence[dict[str, int]]) -> dict[tuple[int, int, int], dict[str, int]]:
    """Records by group, loop and first instruction, without zeros."""
    return {
        (x["group"], x["loop"], x["first"]): {name: value for name, value in x.items() if value}
        for x in records
    }


def expected(
    core: int, parameters: Mapping[str, int], groups: int, done: Sequence[Done]
) -> dict[tuple[int, int, int], dict[str, int]]:
    """The records of a run in auto mode that has ended."""
    found = {}
    for group in range(groups):
        open_until: tuple[int, Sequence[Done]] | None = None
        for number, instruction in enumerate(done):
            past = number - parameters["begin"] - group * parameters["step"]
            loop = _loop(past, parameters.get("overhead", 0), parameters.get("loops", 0))
            if loop is None:
                continue
            if open_until is not None:
                stop, taken = open_until
                last = [one.end for one in taken if one.end is not None]
                still = len(last) < len(taken) or max(last) > instruction.begin
                if number < stop or still:
                    continue
            taken = done[number : number + parameters["num"]]
            open_until = number + parameters["num"], taken
            found[group, loop, number] = record(core, group, loop, number, taken)
    return found


def _loop(past: int, overhead: int, loops: int) -> int | None:
    if past < 0 or (past % overhead if overhead else past):
        return None
    loop = past // overhead if overhead else 0
    return None if loops and loop >= loops else loop


def record(core: int, group: int, loop: int, first: int, taken: Sequence[Done]) -> dict[str, int]:
    """The record of some instructions, without zeros."""
    values: dict[str, Any] = {"core": core, "group": group, "loop": loop, "first": first}
    values["instructions"] = len(taken)
    values["t_begin"] = min(one.begin for one in taken)
    values["t_end"] = max((one.end for one in taken if one.end is not None), default=0)
    for what, name in COUNTED.items():
        events = [event for one in taken for event in one.events if event[0] == what]
        values[name] = sum(count for *_, count in events)
        if what in TIMED and events:
            values[f"{TIMED[what]}_begin"] = min(begin for _, begin, _, _ in events)
            values[f"{TIMED[what]}_end"] = max(until for _, _, until, _ in events)
    values["e_array"] = len(set[int]().union(*(one.cycles for one in taken)))
    return {name: value for name, value in values.items() if value}
