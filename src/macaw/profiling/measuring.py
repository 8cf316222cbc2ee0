"""Measures a run: makes rooflines and a chart of memories from the counts of `macaw.emu.metering`.

The counts come from a separate run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from macaw.emu import metering
from macaw.emu.device import Device
from macaw.emu.meter import Meter
from macaw.emu.metered_memory import OUTSIDE, MeteredMemory
from macaw.errors import InputError
from macaw.isa.activities import OPERATIONS
from macaw.profiling.recording import Job, endless
from macaw.profiling.work import Level, Link, MemoryChart, Roof, RowHits, Work


@dataclass(frozen=True)
class Measured:
    """A run whose activities were counted."""

    device: Device  # at the end of the run
    meters: Mapping[str, Meter]  # by core
    memory: MeteredMemory


def measure_job(job: Job) -> Measured:
    """Run a job with a meter at each core, and return the run with its meters.

    Raises `InputError` if the program does not end by itself.
    """
    device = job.machine()
    stop, meters, memory = metering.run(device, job.max_cycles)
    if stop.reason != "exit":
        raise InputError(*endless(stop))
    return Measured(device, meters, memory)


def work_of(run: Measured) -> Work:
    """Return the rooflines and the chart of memories of a run."""
    cycles = run.device.cycle
    roofs = [_roof(meter, cycles) for meter in run.meters.values()]
    return Work(tuple(roof for roof in roofs if roof.operations), _chart(run, cycles))


def moved_bytes(meter: Meter, writes: bool | None = None) -> dict[str, int]:
    """Return the bytes that the core of `meter` moved, by memory.

    If `writes` is true, only writes count; if it is false, only reads; if it is None, both.
    """
    found: dict[str, int] = {}
    for key, count in meter.counts.items():
        if key.memory and writes in (None, key.writes):
            found[key.memory] = found.get(key.memory, 0) + count
    return found


def _roof(meter: Meter, cycles: int) -> Roof:
    operations = sum(count for key, count in meter.counts.items() if key.activity in OPERATIONS)
    moved = moved_bytes(meter)
    levels = tuple(
        Level(memory, moved[memory], peak)
        for memory, peak in meter.peak_bytes.items()
        if moved.get(memory)
    )
    core = meter.core
    return Roof(core.name, core.table.name, operations, cycles, meter.peak_operations, levels)


def _chart(run: Measured, cycles: int) -> MemoryChart:
    links: list[Link] = []
    width = float(run.device.config["mem.external_width"])  # nnp may have channels of its own
    for writes, verb in ((False, "read"), (True, "written")):
        for name, meter in run.meters.items():
            moved = moved_bytes(meter, writes).get(OUTSIDE, 0)
            peak = meter.peak_bytes.get(OUTSIDE, width)
            if moved:
                links.append(Link("channel", f"{verb} by {name}", moved, peak))
    shared = [link.bytes for link in links if link.peak == width]
    if len(shared) > 1:
        links.append(Link("channel", "in all", sum(shared), width))
    for name, meter in run.meters.items():
        if meter.peak_operations or not meter.access_bytes:
            continue  # the dma is the only core that moves bytes and computes nothing
        for writes, verb in ((False, "reads"), (True, "writes")):
            for place, moved in moved_bytes(meter, writes).items():
                links.append(Link(name, f"{verb} {place}", moved, meter.access_bytes / 2))
    links += _units(run, cycles)
    rows = []
    for name, meter in run.meters.items():
        if not meter.access_bytes:  # without ports: memories of its own
            for place, own_peak in meter.peak_bytes.items():
                moved = moved_bytes(meter).get(place, 0)
                if moved and place != OUTSIDE:
                    links.append(Link("banks", f"{place} of {name}", moved, own_peak))
        if meter.row_use is not None and meter.row_use[0]:
            rows.append(RowHits(name, *meter.row_use))
    return MemoryChart(cycles, tuple(links), tuple(rows))


def _units(run: Measured, cycles: int) -> list[Link]:
    """Return the bytes read from and written to each on-chip unit in a run of `cycles` cycles.

    The results also have the share of cycles in which the unit's busiest bank served a word.
    """
    memory = run.memory
    peak = float(2 * memory.words.shape[2] * memory.bank_width)  # two halves
    links = []
    for unit, (read, written) in enumerate(memory.unit_bytes.tolist()):
        busiest = int(memory.words[unit].max(initial=0)) / cycles if cycles else 0.0
        for verb, moved in (("read", read), ("written", written)):
            if moved:
                links.append(Link("units", f"unit {unit} {verb}", moved, peak, busiest))
    return links
