"""The word `fim`: a block does one of the ten operations of its circuits once or several times.

A word with a repeat count n does its operation n times. Engines do one repeat, or a batch of
repeats, at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.fim.arithmetic import Mode
from macaw.emu.fim.buffer_access import buffer_banks, check_column
from macaw.emu.fim.circuit_data import Repeats
from macaw.emu.fim.dram import READ, WRITE
from macaw.emu.fim.island import Island
from macaw.emu.fim.repeats import Batch
from macaw.emu.fim.state import HOST, Block
from macaw.emu.rules.fim_circuits import column_lead, operation_start, repeat_period
from macaw.emu.rules.fim_dram import CLOSED
from macaw.isa.fim_circuit import (
    CIRCUIT_REGISTERS,
    DOT,
    FUNCTION_NAMES,
    IOSA,
    OPERATIONS,
    OUTER,
    RZ,
    SLOTS,
    Operation,
)

SLOT = CIRCUIT_REGISTERS.index("rz_slot")
STEP = CIRCUIT_REGISTERS.index("rz_step")
SHIFT = CIRCUIT_REGISTERS.index("rz_shift")


def operate(island: Island, block: Block, values: Mapping[str, int], limit: int) -> bool:
    """Do the next repeat of a `fim`, and further repeats that can be done in the same batch.

    `values` are the operands of the `fim`. All these repeats are requested before cycle `limit`.
    Return False, because no other core has to act before the block continues. Raises `Fault`.
    """
    operation, step = OPERATIONS[values["n"]], island.divider
    mode = block.mode
    if operation.computes and not block.is_checked:
        _check_mode(island, mode)
        block.is_checked = True
    left = values["repeat"] - block.repeat
    waited = island.dram.bank_waits
    slots = _slots(island, block, operation, mode, left)
    buffers = buffer_banks(island)
    shared = bool(buffers) and not buffers.isdisjoint(block.banks)
    if shared and operation.to == IOSA and block.row != CLOSED:
        _check_columns(island, block, values["col"] + values["inc"] * block.repeat)
    arrived = island.aligned(max(block.time, block.pull_ready(operation.registers)))
    lead = column_lead(operation, island.dram.timings.t_column, step)
    there = arrived if lead else max(arrived, block.columns_ready)
    alu_free = block.alu_free - lead
    begin = island.aligned(operation_start(operation, there, alu_free, block.rz_ready))
    if operation.has_column:
        island.dram.refresh(block.banks, block.time)
        limit = min(limit, island.dram.next_refresh(block.banks))
        at = _column(island, block, operation, begin)
    elif block.index == HOST and island.geometry.one_bus:
        at = island.dram.command(begin, step, len(block.banks))
    else:
        at = begin
    _count_waits(island, block, arrived, there, begin)
    latency = block.latency
    if latency is None:
        latency = island.latency(mode.op, mode.arrange, mode.format, mode.accumulates)
        block.latency = latency
    count, period, waits = 1, 0, 0
    if island.max_batch > 1 and left > 1 and not island.listeners and not shared:
        most = min(len(slots), left)
        count, period, waits = _batch(island, block, operation, latency.busy, at, most, limit)
    last = at + (count - 1) * period
    columns = _columns(values["col"] + values["inc"] * block.repeat, values["inc"], count)
    shift = block.registers[SHIFT]
    _compute(island, block, Repeats(operation, mode, columns, slots[:count], block.pc, shift))
    result = lead + latency.result * step  # `lead` is a multiple of `step`
    if island.tracing or island.listeners:
        banks = len(block.banks)
        waits *= banks
        reads, writes = (0, banks) if operation.to == IOSA else (banks, 0)
        units = banks if operation.computes else 0
        island.batch_mode = mode
        island.batch = tuple.__new__(Batch, (  # half the time of `Batch(...)`
            block.time, at, period, count, step,
            island.dram.bank_waits - waited - (count - 1) * waits, waits,
            reads if operation.has_column else 0, writes,
            units * latency.products, units * latency.passes, result,
            last + step if count == left else 0,
        ))  # fmt: skip
    block.time = last + step
    if operation.computes:
        block.alu_free = last + lead + latency.busy * step
        block.rz_ready = max(block.rz_ready, last + result)
    if lead:
        block.columns_ready = last + lead + step
    _advance_slot(block, operation, mode, count)
    _count_repeats(island, block, operation, count)
    if block.repeat == values["repeat"]:
        block.repeat = 0
        block.pc += 4
        island.retired += 1
    return False


def _compute(island: Island, block: Block, repeats: Repeats) -> None:
    """Compute the results of repeats of a block; if the island records origins, record theirs."""
    origins = island.island_origins
    if origins is not None:
        origins.begin_operation(block, repeats.operation, int(repeats.columns[0]), repeats.slots[0])
    island.data.operate(block, repeats)
    if origins is not None:
        origins.end_operation()


def _count_waits(island: Island, block: Block, arrived: int, there: int, begin: int) -> None:
    """Count the waits before an operation.

    The operands from other blocks arrived in cycle `arrived`. The column reached the circuits in
    cycle `there`. The circuits start in cycle `begin`.
    """
    island.counts["cycles_pull"] += arrived - block.time
    island.counts["cycles_alu"] += begin - there
    if there > arrived:
        island.dram.waits["t_column"] += there - arrived
        island.dram.bank_waits += (there - arrived) * len(block.banks)


def _count_repeats(island: Island, block: Block, operation: Operation, count: int) -> None:
    """Count `count` repeats that the block has done in all its banks; advance `block.repeat`."""
    island.counts["operations"] += count * len(block.banks)
    if operation.has_column:
        kind = "column_writes" if operation.to == IOSA else "column_reads"
        island.counts[kind] += count * len(block.banks)
    block.repeat += count


def _check_mode(island: Island, mode: Mode) -> None:
    """Raise `Fault` if the circuits of an island cannot do operations in `mode`."""
    if mode in island.checked_modes:
        return
    why = island.abilities.lacks(mode.op, mode.arrange, mode.format, mode.transpose)
    if why:
        raise Fault("not available", why, {"function": FUNCTION_NAMES[mode.op]})
    island.checked_modes.add(mode)


def _uses_slice(operation: Operation, mode: Mode) -> bool:
    """Return whether an operation in `mode` fills or copies the Rz slice that RZ_SLOT selects."""
    return operation.left == RZ or (operation.computes and mode.arrange not in (DOT, OUTER))


@lru_cache(maxsize=1024)
def _columns(first: int, step: int, count: int) -> NDArray[np.int64]:
    """Return `count` numbers of columns from `first` on, `step` apart, as a read-only array."""
    columns = np.asarray(first + step * np.arange(count))
    columns.flags.writeable = False
    return columns


@lru_cache(maxsize=1024)
def _following_slots(slot: int, step: int, count: int, slots: int) -> tuple[int, ...]:
    """Return `count` values of RZ_SLOT from `slot` on, `step` apart, modulo `slots`."""
    return tuple((slot + step * k) % slots for k in range(count))


def _slots(
    island: Island, block: Block, operation: Operation, mode: Mode, count: int
) -> Sequence[int]:
    """Return the values of a block's RZ_SLOT in the next `count` repeats of `operation` in `mode`.

    The list ends before the first repeat that will fault. Raises `Fault` if this is the next
    repeat.
    """
    slot = block.registers[SLOT]
    if not _uses_slice(operation, mode):
        forward = int(operation.computes and mode.arrange == DOT)
        return _following_slots(slot, forward, count, mode.numbers.slots)
    check_slice(island, slot, mode)
    slots = []
    for k in range(count):
        place = (slot + block.registers[STEP] * k) % SLOTS
        if place >= island.abilities.slices(mode.numbers):
            break
        slots.append(place)
    return slots


def check_slice(island: Island, slot: int, mode: Mode) -> None:
    """Raise `Fault` if the island's Rz has no slice `slot` in the number format of `mode`."""
    size = island.abilities.slices(mode.numbers)
    if slot >= size:
        form = f" of {mode.numbers.name}" if mode.numbers.is_integer else ""
        there = f"{size}, 0 to {size - 1}" if size else "none"
        raise Fault(
            "not available",
            f"slice {slot} of Rz (rz_slot): {island.name} has {there}{form}",
            {"slot": slot},
        )


def _advance_slot(block: Block, operation: Operation, mode: Mode, count: int) -> None:
    if _uses_slice(operation, mode):
        step_slot(block, count)
    elif operation.computes and mode.arrange == DOT:
        block.registers[SLOT] = (block.registers[SLOT] + count) % mode.numbers.slots


def step_slot(block: Block, count: int) -> None:
    """Advance a block's register RZ_SLOT past `count` operations that used a slice of Rz."""
    block.registers[SLOT] = (block.registers[SLOT] + count * block.registers[STEP]) % SLOTS


def _column(island: Island, block: Block, operation: Operation, begin: int) -> int:
    """Issue the column command of an operation to all banks of a block; return its cycle.

    The command comes in cycle `begin` or later. If the block's row has been closed in some banks,
    open it there again first. Raises `Fault` if the block has no open row.
    """
    if block.row == CLOSED:
        bank = block.banks[0]
        raise Fault(
            "no open row", f"a column of bank {bank}, which has no open row", {"bank": bank}
        )
    dram, step = island.dram, island.divider
    others = dram.in_other_rows(block.banks, block.row)
    if others:
        begin = dram.open(others, block.row, begin, step)
        island.counts["activations"] += len(others)
        island.counts["reopened"] += len(others)
        island.data.load_rows(block, others, block.row)
    command, bus = WRITE if operation.to == IOSA else READ, block.index == HOST
    return dram.do(command, block.banks, begin, step=step, bus=bus)


def _check_columns(island: Island, block: Block, column: int) -> None:
    """Raise `Fault` if column `column` of the block's open row is in another block's buffer."""
    for bank in block.banks:
        check_column(island, block, island.memory.column_at(bank, block.row, column))


def _batch(
    island: Island, block: Block, operation: Operation, busy: int, at: int, most: int, limit: int
) -> tuple[int, int, int]:
    """Return how many repeats of an operation a block can do together, their distance and waits.

    The distance is the number of cycles from one repeat to the next. The third result says in how
    many of these cycles the next repeat waits for memory. The first repeat is in cycle `at`.
    `busy` is the time that the ALU needs for a repeat, in cycles of the island. There are at most
    `most` repeats, all requested before cycle `limit`. The function also counts the waits of the
    repeats after the first, and records their column commands.
    """
    dram, step = island.dram, island.divider
    alu, period = repeat_period(operation, busy, dram.timings.t_ccdl, step)
    if operation.has_column and dram.jitter is not None:
        most = 1  # each column command has its own noise
    count = 1 + min(min(most, island.max_batch) - 1, max(0, -(-(limit - at - step) // period)))
    last = at + (count - 1) * period
    island.counts["cycles_alu"] += (count - 1) * (alu - step)
    if operation.has_column and count > 1:
        dram.waits["t_ccd"] += (count - 1) * (period - alu)
        dram.bank_waits += (count - 1) * (period - alu) * len(block.banks)
        dram.columns_at(WRITE if operation.to == IOSA else READ, block.banks, last)
    return count, period, period - alu
