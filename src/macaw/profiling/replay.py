"""Replays a recorded job to find the instructions of slices and the fill levels of queues.

A run depends only on program, inputs, device and seed. So the replay can stop in the cycles in
which slices start according to the records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from macaw.emu.core import Core, Event
from macaw.emu.device import Device
from macaw.emu.system import Startable
from macaw.isa.model import Queue
from macaw.profiling.model import Series, Slice, Track
from macaw.profiling.recording import Job
from macaw.profiling.source_lines import disassemble, find_line

Name = tuple[str, str]  # text and place of an instruction
Key = tuple[str, int]  # core and first instruction of a slice
MOST_NAMED = 8000  # slices that get names
MOST_SAMPLES = 160  # samples of a queue's occupancy


def replay_run(
    job: Job,
    slices: Iterable[Slice],
    cycles: int,
    watch: Callable[[int], object] = lambda cycle: None,
) -> tuple[dict[Key, Name], list[Series]]:
    """Return the names of the slices, and the fill level over time of each queue that is used.

    Only queues that are ever filled are returned. `cycles` is the length of the run. The function
    calls `watch` with the current cycle.
    """
    device = job.machine()
    stops: dict[int, list[Slice]] = {}
    for item in slices:
        stops.setdefault(item.begin, []).append(item)
    step = max(1, -(-cycles // MOST_SAMPLES))
    samples = set(range(0, cycles, step))
    queues = _queue_samplers(device)
    names: dict[Key, Name] = {}
    again: list[Slice] = []  # slices whose instruction shows one cycle later
    for time in sorted({*stops, *samples, *(begin + 1 for begin in stops)}):
        if not again and time not in stops and time not in samples:
            continue
        idle = [device.cores[name] for name in {x.core for x in again}]
        with _first_instructions([core for core in idle if isinstance(core, Startable)]) as started:
            device.run(until=time)
        if device.stopped is not None:
            break
        watch(time)
        for item in again:
            core = device.cores[item.core]
            address = started.get(item.core)
            names[item.core, item.first] = (
                current_instruction(device, core)
                if address is None
                else _named(device, core, "", address)
            )
        again = []
        for item in stops.get(time, ()):
            core = device.cores[item.core]
            instruction = ("", "") if core.shows_begun else current_instruction(device, core)
            if instruction == ("", ""):
                again.append(item)
            names[item.core, item.first] = instruction
        if time in samples:
            for queue in queues:
                queue.sample(time)
    return names, [series for queue in queues if (series := queue.series()) is not None]


def with_names(tracks: Sequence[Track], names: Mapping[Key, Name]) -> tuple[Track, ...]:
    """Return the tracks, with the names and source positions of their slices from `names`."""

    def with_name(item: Slice) -> Slice:
        name, place = names.get((item.core, item.first), ("", ""))
        return replace(item, name=name, place=place)

    return tuple(replace(item, slices=tuple(map(with_name, item.slices))) for item in tracks)


def choose_slices(cores: Sequence[Track]) -> list[Slice]:
    """Return the slices that get a name: all if there are few, else the longest of each core.

    Cores share the names equally; what a core does not need is for those with more slices.
    """
    chosen: list[Slice] = []
    for place, item in enumerate(sorted(cores, key=lambda item: len(item.slices))):
        share = (MOST_NAMED - len(chosen)) // (len(cores) - place)
        chosen += sorted(item.slices, key=lambda x: -x.cycles)[:share]
    return chosen


def current_instruction(device: Device, core: Core) -> Name:
    """Return text and source position of the instruction that a core executes.

    If the core executes no instruction, the position is empty, and the text says what the core does
    or is empty.
    """
    core.sync()
    what, address = core.current()
    return (what, "") if address is None else _named(device, core, what, address)


def _named(device: Device, core: Core, what: str, address: int) -> Name:
    """Return a text and the source position of the instruction at `address`.

    The text is `what` or, if `what` is empty, the source line or the disassembled instruction.
    """
    line = find_line(device, core, address)
    return what or line.text or disassemble(device, core, address), line.place


@contextmanager
def _first_instructions(cores: Sequence[Core]) -> Iterator[dict[str, int]]:
    """Yield a mapping from a core's name to the first instruction that it announces in the block.

    A core that another core starts can execute an instruction in the same cycle. So an idle core
    shows this instruction neither before the cycle nor after it.
    """
    first: dict[str, int] = {}

    def hear(event: Event) -> None:
        if event.kind == "instruction":
            first.setdefault(event.core.name, int(event.values["address"]))

    for core in cores:
        core.listeners.append(hear)
    try:
        yield first
    finally:
        for core in cores:
            core.listeners.remove(hear)


# Queues ----------------------------------------------------------------------------------------


class _QueueSampler:
    """Samples the fill level of a queue during a replay."""

    def __init__(self, device: Device, core: Core, queue: Queue) -> None:
        self.core, self.queue = core, queue
        self.most = float(device.config[queue.capacity])
        self.points: list[tuple[int, float]] = []

    def sample(self, time: int) -> None:
        self.core.sync()
        contents = getattr(self.core.state, self.queue.contents)
        if isinstance(contents, np.ndarray):
            value = float(contents.max(initial=0))
        else:
            value = float(contents if isinstance(contents, int) else len(contents))
        if not self.points or self.points[-1][1] != value:
            self.points.append((time, value))

    def series(self) -> Series | None:
        if not any(value for _, value in self.points):
            return None
        name = f"{self.queue.name} of {self.core.name}"
        return Series(name, "held", tuple(self.points), self.core.table.name, self.most)


def _queue_samplers(device: Device) -> list[_QueueSampler]:
    """Return a sampler for each queue whose fill level is in the state of the queue's core.

    If the state has an array of levels, the sampler takes the highest one.
    """
    samplers = []
    for core in device.order:
        core.sync()
        for queue in core.table.queues:
            contents = getattr(core.state, queue.contents, None)
            counts = isinstance(contents, np.ndarray) and queue.high != ""
            if counts or isinstance(contents, int | list):
                samplers.append(_QueueSampler(device, core, queue))
    return samplers


# Bandwidth -------------------------------------------------------------------------------------


def bandwidth(tracks: Sequence[Track], cycles: int, width: int) -> list[Series]:
    """Return two series: bytes per cycle that all cores read from, and write to, external memory.

    The bytes come from the counters of slices. The bytes of a slice are spread evenly between its
    first and its last access. `cycles` is the length of the run. `width` is the number of bytes
    that the shared channel of external memory transfers in a cycle. A series has no greatest value
    if cores with channels of their own, as nnp, move more.
    """
    step = max(1, -(-cycles // MOST_SAMPLES))
    series = []
    for title, begin, end, count in (
        ("external reads", "t_rd_begin", "t_rd_end", "e_bus"),
        ("external writes", "t_wr_begin", "t_wr_end", "e_xwr"),
    ):
        bins = np.zeros(-(-max(cycles, 1) // step))
        for item in (x for track in tracks if track.core == track.row for x in track.slices):
            counters = item.counters
            if counters[count]:
                _add_evenly(bins, step, counters[begin], counters[end], counters[count] * width)
        if bins.any():
            sizes = np.minimum(step, max(cycles, 1) - step * np.arange(len(bins)))
            values = (bins / sizes).round(3).tolist()
            points = tuple((place * step, value) for place, value in enumerate(values))
            most = float(width) if max(values) <= width else None
            series.append(Series(title, "bytes a cycle", _change_points(points), "", most))
    return series


def _add_evenly(bins: NDArray[np.float64], step: int, begin: int, end: int, amount: float) -> None:
    """Add `amount` to the bins from cycle `begin` to cycle `end`, spread evenly.

    A bin has `step` cycles.
    """
    end = max(end, begin + 1)
    for place in range(begin // step, min(-(-end // step), len(bins))):
        inside = min(end, (place + 1) * step) - max(begin, place * step)
        bins[place] += amount * inside / (end - begin)


def _change_points(points: Sequence[tuple[int, float]]) -> tuple[tuple[int, float], ...]:
    """Return the points (cycle, value) without those that have the value of the point before."""
    return tuple(
        point for place, point in enumerate(points) if not place or points[place - 1][1] != point[1]
    )
