"""Finds iterations of a lockstep group (`lockstep_group`) that can be computed at once.

There are three cases. In the first one, the bus has brought all segments of the exe. In the second
one, each of the iterations takes one segment of activations, which the mac of the next iteration
reads. In the third one, each iteration takes segments of partial sums and has no mac. In the last
two cases the beats of the bus follow from the times of the steps, because no other core uses the
half of the on-chip unit that feeds the row. The bus sends the first beat of a segment when all
clusters can take it, and then one beat in each cycle. The contents of the segments are in on-chip
memory already. The row moves these beats later (`feed_stream`).
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
)
from macaw.emu.pe.fast.lockstep_macs import LockstepMacs
from macaw.emu.pe.fast.lockstep_steps import STEPS, LockstepStep, StepConflicts
from macaw.emu.pe.instruction_buffers import InstructionBuffer
from macaw.emu.pe.run_lifecycle import RunLifecycle
from macaw.emu.pe.sequence import ACTIVATIONS_SEGMENT, COMPRESS, PSUMS
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
class Stream:
    """Segments that the bus sends to a group: segments `first` to `first` + n - 1 of `packet`.

    `targets` has the element at which the PEs store each one, and `cycles` the cycle of its first
    beat. Each segment takes `beats` cycles. If the segments have partial sums, `sums` contains
    these, in the shape (segments, clusters, PEs, sums); for activations it is None.
    """

    packet: Packet
    first: int
    targets: Sequence[int]
    cycles: Sequence[int]
    beats: int
    sums: NDArray[Any] | None = None

    @property
    def end(self) -> int:
        """The first cycle in which the clusters have taken all segments from the bus."""
        return self.cycles[-1] + self.beats + 1


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
        if run["segments"][run["taken"]]["type"] == PSUMS:
            return _added(loop, macs, start, next_packet)
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
    times = Pattern(steps, loop.long_pipeline, beats=0, conflicts=None).times(
        start.known, start.issue, start.ends, cycles
    )
    sums = repeated_sums(steps, loop.buffer, run["initial"], iterations, macs)
    return Repetition(steps, len(iterations), times, sums, None)


def _streamed(
    loop: Loop, macs: LockstepMacs, start: Start, next_packet: Callable[[], Packet | None]
) -> Repetition | None:
    """Return the next iterations if each multiplies a segment that the bus has yet to bring.

    The result is None if they do not, or if the group cannot compute them at once. `repetition`
    explains the arguments.
    """
    run, shape = loop.run, loop.shape
    first, taken = run["iteration"], run["taken"]
    # The bus itself sends the packet's last segment, because the next packet may follow at once.
    segments = run["segments"][taken:-1][:_MOST]
    count = min(run["iterations"] - 2 - first, len(segments))
    if count < _FEWEST or macs.computed or not _are_alike(segments[:count], ACTIVATIONS_SEGMENT):
        return None
    packet = next_packet()
    ops = None if packet is None else _alike_ops(loop, count, 1)
    if packet is None or packet["order"] != run["order"] or ops is None:
        return None
    steps = [LockstepStep(op, start.known) for op in ops]
    (load,) = (op for op in ops if op["segments"])
    multiplied = [op for op in ops if op["unit"] == MAC]
    if len(multiplied) != 1:
        return None
    (mac,) = multiplied
    iterations = np.arange(first, first + count)
    initial = run["initial"]
    targets = loop.buffer.operand(initial, load["place"], 0, iterations)
    bases = loop.buffer.operand(initial, mac["place"], 0, iterations)
    if (bases[1:] != targets[:-1]).any() or (targets % shape.input_block).any():
        return None
    if not repeats(shape, steps, loop.buffer, initial, iterations):
        return None
    found = macs.foresee(bases.tolist(), range(taken, taken + count - 1))
    if found < _FEWEST:
        return None
    iterations, targets, bases = iterations[:found], targets[:found], bases[:found]
    beats = -(-segments[0]["length"] // shape.bus_bytes)
    pattern = Pattern(steps, loop.long_pipeline, beats, loop.conflicts)
    cycles = macs.cycles(found)[:, None]
    times = pattern.times(start.known, start.issue, start.ends, cycles)
    macs.expect(bases.tolist(), targets.tolist(), macs.coming.elements(packet, taken))
    sums = repeated_sums(steps, loop.buffer, initial, iterations, macs)
    stream = Stream(packet, taken, targets.tolist(), times.beats.reshape(-1).tolist(), beats)
    return Repetition(steps, found, times, sums, stream)


def _added(
    loop: Loop, macs: LockstepMacs, start: Start, next_packet: Callable[[], Packet | None]
) -> Repetition | None:
    """Return the next iterations if each adds segments of sums that the bus has yet to bring.

    Such iterations have no macs. The result is None if the next iterations are not of this kind, or
    if the group cannot compute them at once. `repetition` explains the arguments.
    """
    run, shape = loop.run, loop.shape
    first, taken = run["iteration"], run["taken"]
    _, end = loop.lifecycle.steps_of(run, first, taken)
    loads = end - taken  # of an iteration
    if not loads:
        return None  # no ld takes the segments, which is a fault at the end of the run
    # The last state of the run contains only steps of its last iteration.
    segments = run["segments"][taken:-1]  # the bus itself sends the last one, as in `_streamed`
    count = min(run["iterations"] - 1 - first, len(segments) // loads, _MOST)
    segments = segments[: count * loads]
    if count < _FEWEST or not _are_alike(segments, PSUMS):
        return None
    packet = next_packet()
    ops = None if packet is None else _alike_ops(loop, count, loads)
    if packet is None or packet["order"] != run["order"] or ops is None:
        return None
    if not {op["name"] for op in ops} <= {"ld", "move"}:
        return None
    steps = [LockstepStep(op, start.known) for op in ops]
    iterations = np.arange(first, first + count)
    if not repeats(shape, steps, loop.buffer, run["initial"], iterations):
        return None
    beats = -(-segments[0]["length"] // shape.bus_bytes)
    pattern = Pattern(steps, loop.long_pipeline, beats, loop.conflicts)
    no_macs = np.zeros((count, 0, len(start.known)), np.int64)
    times = pattern.times(start.known, start.issue, start.ends, no_macs)
    values = macs.coming.sums(packet, range(taken, taken + len(segments)))
    sums = repeated_sums(steps, loop.buffer, run["initial"], iterations, macs, values)
    targets = [run["initial"][op["place"]][0] for op in ops if op["segments"]] * count
    stream = Stream(packet, taken, targets, times.beats.reshape(-1).tolist(), beats, values)
    return Repetition(steps, count, times, sums, stream)


def _are_alike(segments: Sequence[Segment], kind: int) -> bool:
    """Return whether all `segments` have the type `kind` and differ only in their offset.

    The result is also False if they are compressed or have no bytes.
    """
    lead = segments[0]
    if lead["type"] != kind or lead["form"] == COMPRESS or not lead["length"]:
        return False
    form = {**lead, "offset": 0}
    return all({**segment, "offset": 0} == form for segment in segments)


def _alike_ops(loop: Loop, count: int, loads: int) -> Sequence[Op] | None:
    """Return the steps of the loop's present iteration if `count` iterations have equal steps.

    Otherwise return None. The steps may differ in the addresses of loads, macs and moves, but not
    in which steps conflict. Each iteration must have `loads` loads, each of which takes one
    segment.
    """
    run, buffer = loop.run, loop.buffer
    lead = _ops(loop, 0, loads)
    form = None if lead is None else _form(loop, lead)
    if lead is None or form is None:
        return None
    moves = {op["place"] for op in lead if op["name"] == "move"}
    iterations = np.arange(run["iteration"], run["iteration"] + count)
    operands = [
        buffer.operand(run["initial"], place, entry, iterations)
        for place in set(range(len(buffer.words))) - moves
        for entry in (0, 1)
    ]
    keys = [row.tobytes() for row in np.stack(operands, axis=1)]
    for number in {key: number for number, key in enumerate(keys)}.values():
        ops = _ops(loop, number, loads)
        if ops is None or _form(loop, ops) != form:
            return None
    return lead


def _ops(loop: Loop, number: int, loads: int) -> Sequence[Op] | None:
    """Return the steps of an iteration of the loop if `loads` of them take one segment each.

    Otherwise return None. `number` counts the iterations from the present one, which is 0. The
    iterations before this one take `loads` segments each.
    """
    run, taken = loop.run, loop.run["taken"] + number * loads
    ops, end = loop.lifecycle.steps_of(run, run["iteration"] + number, taken)
    takers = sum(len(op["segments"]) == 1 for op in ops)
    return ops if end - taken == takers == loads else None


def _form(loop: Loop, ops: Sequence[Op]) -> object | None:
    """Return the properties of an iteration's steps `ops` that must be equal in all iterations.

    A group computes several iterations at once only if the results for them are equal; the caller
    compares these. None means that a group cannot compute iterations with such steps at once.
    """
    if not {op["name"] for op in ops} <= STEPS:
        return None
    loads = [number for number, op in enumerate(ops) if op["segments"]]
    if any(op["name"] == "ld_queue" for op in ops[loads[0] :]):
        return None  # it would begin while the bus still sends the segment
    if any(op["unit"] == MAC for op in ops[loads[0] :]):
        return None  # the mac would read the segment of its own iteration
    conflicts = []
    for load in loads:
        for other in ops[:load]:
            shares = loop.conflicts.shares(ops[load], other)
            if not isinstance(shares, bool) or (other["segments"] and not shares):
                return None  # the bus would send the segments of both without a pause
            conflicts.append(shares)
    steps = [(op["place"], op["name"], op["implied"], op["sums"], op["unit"]) for op in ops]
    return steps, conflicts
