"""Detects clusters of a row that can form a lockstep group (`lockstep_group`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from macaw.emu.faults import Fault
from macaw.emu.pe.cluster import has_ended
from macaw.emu.pe.cluster_controls import ClusterControls
from macaw.emu.pe.commands import command_of
from macaw.emu.pe.context import RowContext
from macaw.emu.pe.element_types import named_type
from macaw.emu.pe.fast.lockstep_group import LockstepGroup
from macaw.emu.pe.fast.lockstep_steps import STEPS
from macaw.emu.pe.fast.mac_plan import Unplannable
from macaw.emu.pe.row_trace import RowTrace
from macaw.emu.pe.run_lifecycle import BUFFER_FIELDS
from macaw.emu.pe.sequence import (
    ACTIVATIONS_SEGMENT,
    FIFO,
    MEMBERS,
    PSUMS,
    ROTATION,
    decode_word,
    takes_weights,
)
from macaw.emu.pe.state import BUSY, MAC, SFU, WAITING, Packet, Run
from macaw.emu.waits import NEVER
from macaw.isa.pe import BLOCKS

_STATE = MEMBERS.index("state")
# By whether a run has only one iteration: states in which all its macs have the same weights.
_STATES = {False: (ROTATION,), True: (ROTATION, FIFO)}
_FEWEST_MACS = 4  # the least number of macs in one iteration for which a group saves time
_FEWEST_ADDITIONS = 6  # the least number of iterations without macs for which a group saves time


def lockstep_group(
    controls: ClusterControls,
    trace: RowTrace,
    now: int,
    next_packet: Callable[[], Packet | None],
    coming_packet: Callable[[], Packet | None],
) -> LockstepGroup | None:
    """Return a group of all clusters with runs in cycle `now`; None if they cannot form one.

    The group simulates the first run of each cluster. The clusters can form a group under three
    conditions:

    - The first runs are about to begin the first of several macs over the same weights (macs of a
      loop in which the weights stay, or macs of one iteration), or they add segments of partial
      sums in a loop without macs.
    - The first runs are in equal states (instructions, operands, progress), because the group
      computes most things only once for all clusters.
    - All other runs wait for the bus, and the next packet starts none that does not.

    The group reports to `trace`. `next_packet` returns the packet on the bus if the group may take
    its segments in advance, otherwise None. `coming_packet` is `Distribution.coming_packet`.
    """
    context = controls.context
    state = context.state
    lead = next((cluster for cluster, runs in enumerate(state.runs) if runs), None)
    if lead is None or context.adder.floating:
        return None
    runs = state.runs[lead]
    if not (_adds_sums(context, lead, runs[0], now) or _starts_macs(context, lead, runs[0], now)):
        return None
    clusters = [cluster for cluster, own in enumerate(state.runs) if own]
    if not all(needs_bus(run) for cluster in clusters for run in state.runs[cluster][1:]):
        return None
    packet = coming_packet()
    if packet is not None and _starts_without_bus(controls, clusters, packet):
        return None
    if len(clusters) != runs[0]["sharers"] or not _are_equal(context, clusters, runs[0]["buffer"]):
        return None
    try:
        units = [controls.units[cluster] for cluster in clusters]
        return LockstepGroup(context, trace, units, now, next_packet)
    except (Unplannable, Fault):
        return None


def _starts_macs(context: RowContext, cluster: int, run: Run, now: int) -> bool:
    """Return whether a cluster's run will now begin the first of several macs.

    The macs are over the same weights. `now` is the present cycle.
    """
    state = context.state
    if (
        run["iteration"] > 0
        or not run["live"]
        or run["looped"]
        or state.due[cluster] > now
        or state.headers[cluster, run["buffer"], _STATE] not in _STATES[run["iterations"] == 1]
    ):
        return False
    ops = run["ops"]
    if run["iterations"] == 1 and sum(op["unit"] == MAC for op in ops) < _FEWEST_MACS:
        return False
    weights = [op for op in ops if takes_weights(op)]
    if not weights or not all(has_ended(op, now) for op in weights):
        return False
    started_ops = [op for op in ops if op["unit"] in (MAC, SFU) and op["state"] != WAITING]
    if started_ops or not {op["name"] for op in ops} <= STEPS:
        return False
    words = state.words[cluster, run["buffer"]].tolist()
    macs = [decode_word(words[op["place"]]) for op in ops if op["unit"] == MAC]
    if len({mac.values["balance"] for mac in macs}) > 1:
        return False
    segments = [part for op in ops if not has_ended(op, now) for part in op["segments"]]
    segments += range(run["taken"], len(run["segments"]))
    types = (run["segments"][part]["type"] for part in segments)
    return all(kind in (ACTIVATIONS_SEGMENT, PSUMS) for kind in types)


def _adds_sums(context: RowContext, cluster: int, run: Run, now: int) -> bool:
    """Return whether a cluster's run is in the first iteration of a loop that adds partial sums.

    Each iteration loads segments of partial sums and moves totals to the output queue. `now` is the
    present cycle.
    """
    if (
        run["iteration"] > 0
        or run["iterations"] < _FEWEST_ADDITIONS
        or not run["live"]
        or run["has_weights"]
        or context.state.due[cluster] > now
    ):
        return False
    ops, segments = run["ops"], run["segments"]
    return {op["name"] for op in ops} == {"ld", "move"} and all(
        segment["type"] == PSUMS for segment in segments
    )


def _starts_without_bus(controls: ClusterControls, clusters: list[int], packet: Packet) -> bool:
    """Return whether a packet can start runs of some `clusters` now, without data from the bus."""
    if not command_of(packet).loads or packet["segments"]:
        return False
    return not set(clusters).isdisjoint(packet["clusters"]) and controls.accepts(packet)


def needs_bus(run: Run) -> bool:
    """Return whether a run can start no step before its next segment begins on the bus."""
    if not run["ops"]:
        return False  # the run has no steps, and ends at once
    first = run["ops"][0]
    return bool(first["segments"]) and first["first"] == NEVER


def _runs_match(run: Run, other: Run) -> bool:
    """Return whether two runs differ only in fields in which clusters of a group may differ."""
    own: dict[str, Any] = {"span": None, "reach": 0, "ops": None}
    if {**run, **own} != {**other, **own} or len(run["ops"]) != len(other["ops"]):
        return False
    return all(
        one == two or {**one, "reads": 0} == {**two, "reads": 0}
        for one, two in zip(run["ops"], other["ops"], strict=True)
    )


def _are_equal(context: RowContext, clusters: list[int], buffer: int) -> bool:
    """Return whether the first runs of all `clusters`, in buffer `buffer`, are in equal states.

    The states are equal if all PEs have equal operands, and if the same blocks are loaded in all
    PEs. (An earlier ld with a stride may have loaded different blocks in each PE.)
    """
    state, lead = context.state, clusters[0]
    if any(state.units[cluster] != state.units[lead] for cluster in clusters):
        return False
    first, *others = (state.runs[cluster][0] for cluster in clusters)
    if not all(_runs_match(first, other) for other in others):
        return False
    for name in BUFFER_FIELDS:
        values = getattr(state, name)[clusters, buffer]
        if not (values == values[0]).all():
            return False
    if not _types_match(context, clusters, state.runs[lead][0]):
        return False
    registers = state.registers[lead, buffer]
    block_loaded = state.block_loaded[clusters]
    if not (
        (registers == registers[..., :1]).all() and (block_loaded == block_loaded[:, :1]).all()
    ):
        return False
    is_working = state.computing[clusters] | (state.doing[clusters] != BUSY)
    jobs = [state.sfu_jobs[cluster] for cluster in clusters]
    parsers = [state.parsers[cluster] for cluster in clusters]
    return not is_working.any() and not any(jobs) and not any(parsers)


def _types_match(context: RowContext, clusters: list[int], run: Run) -> bool:
    """Return whether all data of a run of `clusters` have the types that its sequence multiplies.

    The data are the weights, the activations in the blocks that the macs of the loop may read, and
    the segments of activations.
    """
    if not context.shape.mixes:
        return True
    state, buffer = context.state, run["buffer"]
    weights, activations = state.types[clusters[0], buffer].tolist()
    size, ahead = context.shape.input_block, run["ahead"]
    reach = max(state.runs[cluster][0]["reach"] for cluster in clusters)
    first, last = (0, BLOCKS * size) if ahead is None else (ahead["low"], ahead["high"] + reach)
    read = state.block_types[clusters][..., max(first, 0) // size : last // size + 1]
    found = np.bitwise_or.reduce(read, axis=None)
    own = all(
        named_type(segment, (weights, activations)) == activations
        for segment in run["segments"]
        if segment["type"] == ACTIVATIONS_SEGMENT
    )
    mixed = int(found) & ~(1 << activations)
    mixed |= int(np.bitwise_or.reduce(state.queue_types[clusters, buffer])) & ~(1 << weights)
    return own and not mixed
