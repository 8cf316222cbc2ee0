"""Finds iterations of a lockstep group (`lockstep_group`) that can be computed at once.

There are two cases. In the first one, the bus has brought all segments of the exe. In the second
one, each of the iterations takes segments: a segment of activations, which the mac of the next
iteration reads, or segments of partial sums, or both. Then the beats of the bus follow from the
times of the steps, because no other core uses the half of the on-chip unit that feeds the row. The
bus sends the first beat of a segment when all clusters can take it, and then one beat in each
cycle. The contents of the segments are in on-chip memory already. The row moves these beats later
(`feed_stream`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.fast.lockstep_accumulate import RepeatedSums
from macaw.emu.pe.fast.lockstep_loops import (
    WITHOUT_SEGMENTS,
    Iterations,
    Pattern,
    repeated_sums,
    repeats,
    waits,
)
from macaw.emu.pe.fast.lockstep_macs import LockstepMacs
from macaw.emu.pe.fast.lockstep_steps import STEPS, LockstepStep, StepConflicts
from macaw.emu.pe.instruction_buffers import InstructionBuffer
from macaw.emu.pe.run_lifecycle import RunLifecycle
from macaw.emu.pe.sequence import COMPRESS
from macaw.emu.pe.state import MAC, Op, Packet, Run, Segment, Shape
from macaw.isa.lazy_dataclass import dataclass

Ints = NDArray[np.int64]
_FEWEST = 2  # the least number of iterations for which computing them at once saves time
_MOST = 128  # the greatest number of iterations whose segments the bus has yet to bring


@dataclass(frozen=True)
class Loop:
    """The loop that the clusters of a group execute.

    `run` and `lifecycle` are those of the first cluster; the runs of all clusters are alike.
    `conflicts` finds the steps that conflict. `long_pipeline` says whether the sequence has four
    stages.
    """

    shape: Shape
    run: Run
    buffer: InstructionBuffer
    lifecycle: RunLifecycle
    conflicts: StepConflicts
    long_pipeline: bool


@dataclass(frozen=True)
class Start:
    """When the clusters of a group can begin the steps of an iteration, in cycles of the row.

    `known` has the first cycle of the iteration in each cluster, and `issue` the earliest cycle in
    which each cluster can start its next step. `ends` maps the number of an instruction to the last
    cycle of its latest execution in each cluster. All arrays have shape (clusters,).
    """

    known: Ints
    issue: Ints
    ends: dict[int, Ints]


@dataclass(frozen=True)
class StreamLoad:
    """An ld of all iterations of a stream: it takes one segment in each of them.

    A segment takes `beats` cycles on the bus. `targets` has, for each iteration, the element of the
    input buffers from which on the PEs store the segment. For partial sums, it is the entry of the
    output queues, and `sums` has these in the shape (iterations, clusters, PEs, sums). For
    activations, `sums` is None.
    """

    beats: int
    targets: Sequence[int]
    sums: NDArray[Any] | None


@dataclass(frozen=True)
class Stream:
    """Segments that the bus sends to a group: segments `first` to `first` + n - 1 of `packet`.

    `cycles` has, for each of them, the cycle of its first beat. The `loads` of each iteration take
    one segment after the other.
    """

    packet: Packet
    first: int
    cycles: Sequence[int]
    loads: Sequence[StreamLoad]

    def beats(self, number: int) -> int:
        """Return the number of beats of segment `first` + `number`."""
        return self.loads[number % len(self.loads)].beats

    def after(self, number: int) -> int:
        """Return the cycle after the last beat of segment `first` + `number`."""
        return self.cycles[number] + self.beats(number)

    def target(self, number: int) -> int:
        """Return where the PEs store the first element of segment `first` + `number`."""
        iteration, load = divmod(number, len(self.loads))
        return self.loads[load].targets[iteration]

    def sums(self, number: int) -> NDArray[Any] | None:
        """Return the partial sums of segment `first` + `number`; None for activations."""
        iteration, load = divmod(number, len(self.loads))
        sums = self.loads[load].sums
        return None if sums is None else sums[iteration]

    @property
    def end(self) -> int:
        """The first cycle in which the clusters have taken all segments from the bus."""
        return self.after(len(self.cycles) - 1) + 1


@dataclass(frozen=True)
class Repetition:
    """`count` iterations that a group computes at once.

    `steps` are the steps of one iteration. `times`, `sums` and `stream` have the times, the sums
    and the segments of all iterations; `stream` is None if they take no segments from the bus.
    """

    steps: Sequence[LockstepStep]
    count: int
    times: Iterations
    sums: RepeatedSums
    stream: Stream | None


def repetition(
    loop: Loop,
    steps: Sequence[LockstepStep],
    macs: LockstepMacs,
    start: Start,
    next_packet: Callable[[], Packet | None],
) -> Repetition | None:
    """Return the next iterations of `loop` if the group can compute them at once; None otherwise.

    `start` is the state of the group before these iterations. `steps` are the steps of the previous
    iteration; `macs` computes the macs. `next_packet` returns the packet on the bus if the row can
    send its segments without asking memory for each beat, or None. The last two iterations of a run
    with macs are never included, because the run's last state contains some of their steps. Raises
    `Unplannable` or `Fault` if a mac cannot be computed in advance.
    """
    run = loop.run
    if run["taken"] < len(run["segments"]):
        return _streamed(loop, macs, start, next_packet)
    count = sum(step.op["unit"] == MAC for step in steps)
    if not count:
        return None
    first = run["iteration"]
    iterations = np.arange(first, min(first + macs.computed // count, run["iterations"] - 2))
    if len(iterations) < _FEWEST or not {step.op["name"] for step in steps} <= WITHOUT_SEGMENTS:
        return None
    if not repeats(loop.shape, steps, loop.buffer, run["initial"], iterations):
        return None
    cycles = macs.cycles(len(iterations) * count).reshape(len(iterations), count, -1)
    times = Pattern(steps, loop.long_pipeline, beats=(), conflicts=None).times(
        start.known, start.issue, start.ends, cycles
    )
    sums = repeated_sums(steps, loop.buffer, run["initial"], iterations, macs)
    return Repetition(steps, len(iterations), times, sums, None)


def _streamed(
    loop: Loop, macs: LockstepMacs, start: Start, next_packet: Callable[[], Packet | None]
) -> Repetition | None:
    """Return the next iterations if each takes segments that the bus has yet to bring.

    Each iteration takes segments of partial sums, or one segment of activations and perhaps
    segments of partial sums. The result is None if the next iterations are not of this kind, or if
    the group cannot compute them at once. `repetition` explains the arguments.
    """
    run, packet = loop.run, next_packet()
    if packet is None or packet["order"] != run["order"]:
        return None
    first, taken = run["iteration"], run["taken"]
    lead, end = loop.lifecycle.steps_of(run, first, taken)
    if end == taken:
        return None  # no ld takes the segments, which is a fault at the end of the run
    multiplied, fills = sum(op["unit"] == MAC for op in lead), any(op["writes"] for op in lead)
    # The last state of a run has steps of its last iteration, with macs also of the one before it.
    remaining = run["iterations"] - first - (2 if multiplied else 1)
    # The bus itself sends the packet's last segment, because the next packet may follow at once.
    count = min(remaining, (len(run["segments"]) - 1 - taken) // (end - taken), _MOST)
    if multiplied and not fills:  # the macs read activations that the bus has brought
        count = min(count, macs.computed // multiplied)
    if count < _FEWEST or not _are_alike(run["segments"][taken:], end - taken, count):
        return None
    if not _are_alike_ops(loop, lead, count, end - taken):
        return None
    steps = [LockstepStep(op, start.known) for op in lead]
    iterations, initial = np.arange(first, first + count), run["initial"]
    if not repeats(loop.shape, steps, loop.buffer, initial, iterations):
        return None
    if fills:
        count = _expect_macs(loop, macs, packet, lead, iterations)
        if count < _FEWEST:
            return None
    iterations, shape = iterations[:count], (count, multiplied, start.known.size)
    cycles = macs.cycles(count * multiplied).reshape(shape) if multiplied else np.zeros(shape, int)
    loads = [_load(loop, macs, packet, lead, op, iterations) for op in lead if op["segments"]]
    pattern = Pattern(steps, loop.long_pipeline, [load.beats for load in loads], loop.conflicts)
    times = pattern.times(start.known, start.issue, start.ends, cycles)
    values = [load.sums for load in loads]
    sums = repeated_sums(steps, loop.buffer, initial, iterations, macs, values)
    stream = Stream(packet, taken, times.beats.reshape(-1).tolist(), loads)
    return Repetition(steps, count, times, sums, stream)


def _expect_macs(
    loop: Loop, macs: LockstepMacs, packet: Packet, ops: Sequence[Op], iterations: Ints
) -> int:
    """Prepare `macs` to take the macs of `iterations`. Return how many it computed in advance.

    The first mac reads the input buffers. Each later mac reads the segment of `packet` that the ld
    of activations of the iteration before takes; the result is 0 if the macs read something else.
    `ops` are the steps of the first iteration. Raises `Unplannable` or `Fault`.
    """
    if macs.computed:
        return 0
    (mac,) = (op for op in ops if op["unit"] == MAC)
    (load,) = (op for op in ops if op["writes"])
    initial = loop.run["initial"]
    bases = loop.buffer.operand(initial, mac["place"], 0, iterations)
    targets = loop.buffer.operand(initial, load["place"], 0, iterations)
    if (bases[1:] != targets[:-1]).any() or (targets % loop.shape.input_block).any():
        return 0
    segments = _segments(ops, load, len(iterations) - 1)
    count = macs.foresee(bases.tolist(), segments)
    if count >= _FEWEST:
        elements = macs.coming.elements(packet, segments[0])
        macs.expect(bases[:count].tolist(), targets[:count].tolist(), elements)
    return count


def _load(
    loop: Loop,
    macs: LockstepMacs,
    packet: Packet,
    ops: Sequence[Op],
    load: Op,
    iterations: Ints,
) -> StreamLoad:
    """Return the ld `load`, one of the steps `ops` of the first of `iterations`, in a stream.

    `packet` is the packet on the bus. Raises `Fault`.
    """
    numbers = _segments(ops, load, len(iterations))
    beats = -(-packet["segments"][numbers[0]]["length"] // loop.shape.bus_bytes)
    targets = loop.buffer.operand(loop.run["initial"], load["place"], 0, iterations)
    sums = None if load["writes"] else macs.coming.sums(packet, numbers)
    return StreamLoad(beats, targets.tolist(), sums)


def _segments(ops: Sequence[Op], load: Op, count: int) -> range:
    """Return the numbers of the segments that the ld `load` takes in `count` iterations.

    `ops` are the steps of the first iteration; each of its lds takes one segment.
    """
    first, step = load["segments"][0], sum(bool(op["segments"]) for op in ops)
    return range(first, first + count * step, step)


def _are_alike(segments: Sequence[Segment], loads: int, count: int) -> bool:
    """Return whether each of `loads` lds takes segments that differ only in their offset.

    The lds take `segments` in turn, `count` segments each. The result is also False if segments are
    compressed or have no bytes.
    """
    for at, lead in enumerate(segments[:loads]):
        if lead["form"] == COMPRESS or not lead["length"]:
            return False
        own, form = segments[at : count * loads : loads], {**lead, "offset": 0}
        if not all({**segment, "offset": 0} == form for segment in own):
            return False
    return True


def _are_alike_ops(loop: Loop, lead: Sequence[Op], count: int, loads: int) -> bool:
    """Return whether `count` iterations have steps equal to `lead`, those of the present iteration.

    The steps may differ in the addresses of loads, macs and moves, but not in which steps conflict.
    Each iteration must have `loads` loads, each of which takes one segment.
    """
    run, buffer = loop.run, loop.buffer
    form = _form(loop, lead, loads)
    if form is None:
        return False
    # The addresses of moves cause no conflicts, those of macs only if lds fill the input buffers.
    free = {"move"} if any(op["writes"] for op in lead) else {"move", "mac"}
    places = {op["place"] for op in lead if op["name"] in free}
    iterations = np.arange(run["iteration"], run["iteration"] + count)
    operands = [
        buffer.operand(run["initial"], place, entry, iterations)
        for place in set(range(len(buffer.words))) - places
        for entry in (0, 1)
    ]
    keys = [row.tobytes() for row in np.stack(operands, axis=1)]
    for number in {key: number for number, key in enumerate(keys)}.values():
        taken = run["taken"] + number * loads
        ops, end = loop.lifecycle.steps_of(run, run["iteration"] + number, taken)
        if end - taken != loads or _form(loop, ops, loads) != form:
            return False
    return True


def _form(loop: Loop, ops: Sequence[Op], count: int) -> object | None:
    """Return the properties of an iteration's steps `ops` that must be equal in all iterations.

    A group computes several iterations at once only if the results for them are equal; the caller
    compares these. None means that a group cannot compute iterations with such steps at once. It
    can only if `count` of the steps take segments, one each.
    """
    if not {op["name"] for op in ops} <= STEPS:
        return None
    loads = [number for number, op in enumerate(ops) if op["segments"]]
    if len(loads) != count or any(len(ops[number]["segments"]) > 1 for number in loads):
        return None
    if any(op["name"] == "ld_queue" for op in ops[loads[0] :]):
        return None  # it would begin while the bus still sends the segment
    filled = [number for number in loads if ops[number]["writes"]]  # by lds of activations
    multiplied = [number for number, op in enumerate(ops) if op["unit"] == MAC]
    if filled and (len(filled) > 1 or len(multiplied) != 1 or multiplied[0] > filled[0]):
        return None  # only one mac can read a segment, which an earlier iteration has brought
    conflicts = []
    for load in loads:
        for other in ops[:load]:
            shares = loop.conflicts.shares(ops[load], other)
            if not isinstance(shares, bool):
                return None
            if other["segments"] and not shares and not _between(ops[:load], other):
                return None  # the bus would send the segments of both without a pause
            conflicts.append(shares)
    steps = [(op["place"], op["name"], op["implied"], op["sums"], op["unit"]) for op in ops]
    return steps, conflicts


def _between(ops: Sequence[Op], load: Op) -> bool:
    """Return whether one of the steps `ops` after the ld `load` waits for its end."""
    return any(waits(op, load) for op in ops[ops.index(load) + 1 :])
