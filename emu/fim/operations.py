"""The word `fim`: does one of the ten operations of the circuits once or several times.

A word with a repeat count n does its operation n times. Engines do one repeat, or a batch of
repeats, at a time.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.fim.arithmetic import Mode, accumulate, results
from macaw.emu.fim.buffer_access import buffer_banks, check_column
from macaw.emu.fim.dram import READ, WRITE
from macaw.emu.fim.island import Island
from macaw.emu.fim.repeats import Batch
from macaw.emu.fim.state import HOST, Block
from macaw.emu.floats import Host
from macaw.emu.rules.fim_circuits import operation_start, repeat_period
from macaw.emu.rules.fim_dram import CLOSED
from macaw.isa.fim_circuit import (
    CIRCUIT_REGISTERS,
    COLUMN_BYTES,
    DOT,
    FUNCTION_NAMES,
    GIO,
    IOSA,
    OPERATIONS,
    OUTER,
    ROP,
    RZ,
    SLOTS,
    Operation,
)
from macaw.isa.fim_islands import Place

SLOT = CIRCUIT_REGISTERS.index("rz_slot")
STEP = CIRCUIT_REGISTERS.index("rz_step")


def operate(island: Island, block: Block, values: Mapping[str, int], limit: int) -> bool:
    """Do the next repeat of a `fim`, and further repeats that can be done in the same batch.

    All of them are requested before cycle `limit`. Return False, because no other core has to act
    before the block continues. Raises `Fault`.
    """
    operation, step = OPERATIONS[values["n"]], island.divider
    mode = block.mode
    if operation.computes and mode not in island.checked_modes:
        _check_mode(island, mode)
    left = values["repeat"] - block.repeat
    slots = _slots(island, block, operation, mode, left)
    shared = not buffer_banks(island).isdisjoint(block.banks)
    if shared and operation.to == IOSA and block.row != CLOSED:
        _check_columns(island, block, values["col"] + values["inc"] * block.repeat)
    arrived = island.aligned(max(block.time, block.pull_ready((*operation.reads, operation.to))))
    begin = island.aligned(operation_start(operation, arrived, block.alu_free, block.rz_ready))
    if operation.has_column:
        at = _column(island, block, operation, begin)
    elif block.index == HOST and island.geometry.one_bus:
        at = island.dram.command(begin, step, len(block.banks))
    else:
        at = begin
    island.counts["cycles_pull"] += arrived - block.time
    island.counts["cycles_alu"] += begin - arrived
    latency = island.latency(mode.op, mode.arrange, mode.format, mode.accumulates)
    count, period, waits = 1, 0, 0
    if island.max_batch > 1 and left > 1 and not island.listeners and not shared:
        most = min(len(slots), left)
        count, period, waits = _batch(island, block, operation, latency.busy, at, most, limit)
    last = at + (count - 1) * period
    if island.tracing or island.listeners:
        island.batch = Batch(at, period, count, waits, latency)
    first = values["col"] + values["inc"] * block.repeat
    columns = first + values["inc"] * np.arange(count)
    origins = island.island_origins
    if origins is not None:
        origins.begin_operation(block, operation, int(columns[0]), slots[0])
    _move(island, block, operation, mode, columns, slots[:count])
    if origins is not None:
        origins.end_operation()
    block.time = last + step
    if operation.computes:
        block.alu_free = last + latency.busy * step
        block.rz_ready = max(block.rz_ready, last + latency.result * step)
    _advance_slot(block, operation, mode, count)
    island.counts["operations"] += count * len(block.banks)
    if operation.has_column:
        kind = "column_writes" if operation.to == IOSA else "column_reads"
        island.counts[kind] += count * len(block.banks)
    block.repeat += count
    if block.repeat == values["repeat"]:
        block.repeat = 0
        block.pc += 4
        island.retired += 1
    return False


def _check_mode(island: Island, mode: Mode) -> None:
    why = island.abilities.lacks(mode.op, mode.arrange, mode.format, mode.transpose)
    if why:
        raise Fault("not available", why, {"function": FUNCTION_NAMES[mode.op]})
    island.checked_modes.add(mode)


def _uses_slice(operation: Operation, mode: Mode) -> bool:
    """Return whether an operation fills or copies the slice of Rz that RZ_SLOT selects."""
    return operation.left == RZ or (operation.computes and mode.arrange not in (DOT, OUTER))


def _slots(island: Island, block: Block, operation: Operation, mode: Mode, count: int) -> list[int]:
    """Return the values of RZ_SLOT in the next `count` repeats.

    The list ends before the first repeat that will fault. Raises `Fault` if the next repeat will.
    """
    slot = block.registers[SLOT]
    if not _uses_slice(operation, mode):
        forward = int(operation.computes and mode.arrange == DOT)
        return [(slot + forward * k) % SLOTS for k in range(count)]
    check_slice(island, slot)
    slots = []
    for k in range(count):
        place = (slot + block.registers[STEP] * k) % SLOTS
        if place >= island.abilities.rz_slices:
            break
        slots.append(place)
    return slots


def check_slice(island: Island, slot: int) -> None:
    """Raise `Fault` if the island's Rz has no slice `slot`."""
    if slot >= island.abilities.rz_slices:
        size = island.abilities.rz_slices
        raise Fault(
            "not available",
            f"slice {slot} of Rz (rz_slot): {island.name} has {size}, 0 to {size - 1}",
            {"slot": slot},
        )


def _advance_slot(block: Block, operation: Operation, mode: Mode, count: int) -> None:
    if _uses_slice(operation, mode):
        step_slot(block, count)
    elif operation.computes and mode.arrange == DOT:
        block.registers[SLOT] = (block.registers[SLOT] + count) % SLOTS


def step_slot(block: Block, count: int = 1) -> None:
    """Advance the register RZ_SLOT past `count` operations that used a slice of Rz."""
    block.registers[SLOT] = (block.registers[SLOT] + count * block.registers[STEP]) % SLOTS


def _column(island: Island, block: Block, operation: Operation, begin: int) -> int:
    """Issue the column command of an operation to all banks of a block; return its cycle.

    If the block's row has been closed in some banks, open it there again first. Raises `Fault` if
    the block has no open row.
    """
    if block.row == CLOSED:
        bank = block.banks[0]
        raise Fault(
            "no open row", f"a column of bank {bank}, which has no open row", {"bank": bank}
        )
    dram, step = island.dram, island.divider
    others = [bank for bank in block.banks if dram.rows[bank] != block.row]
    if others:
        begin = dram.open(others, block.row, begin, step)
        island.counts["activations"] += len(others)
        island.counts["reopened"] += len(others)
        load_rows(island, others, block.row)
    command, bus = WRITE if operation.to == IOSA else READ, block.index == HOST
    return dram.do(command, block.banks, begin, step=step, bus=bus)


def load_rows(island: Island, banks: list[int], row: int) -> None:
    """Copy row `row` of each bank in `banks` into the sense amplifiers of that bank."""
    island.state.iosa[banks] = island.memory.cells[banks, row]


def _check_columns(island: Island, block: Block, column: int) -> None:
    """Raise `Fault` if column `column` of the block's open row is in another block's buffer."""
    for bank in block.banks:
        check_column(island, block, island.memory.column_at(bank, block.row, column))


def _batch(
    island: Island, block: Block, operation: Operation, busy: int, at: int, most: int, limit: int
) -> tuple[int, int, int]:
    """Return how many repeats can be done together with the one at cycle `at`, and their timing.

    `busy` is the time that the ALU needs for a repeat, in cycles of the island. A batch has at most
    `most` repeats, all requested before `limit`. Return the number of repeats, the cycles from one
    repeat to the next, and how many of these cycles each repeat after the first waits for memory.
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


# --- data of operations ---


def _move(
    island: Island,
    block: Block,
    operation: Operation,
    mode: Mode,
    columns: NDArray[np.int64],
    slots: list[int],
) -> None:
    state, places = island.state, block.places
    registers = {ROP: state.rop, GIO: state.gio}
    if operation.computes:
        _compute(island, block, operation, mode, columns, slots)
    elif operation.to == IOSA:
        for column, slot in zip(columns.tolist(), slots, strict=True):
            source = registers.get(operation.left)
            data = slice_of(state.rz, places, slot) if source is None else source[places]
            write_column(island, block, column, data)
    elif operation.left == IOSA:
        registers[operation.to][places] = state.iosa[places, columns[-1]]
    elif operation.left == RZ:
        registers[operation.to][places] = slice_of(state.rz, places, slots[-1])
    else:
        registers[operation.to][places] = registers[operation.left][places]


def slice_of(rz: NDArray[np.uint8], places: NDArray[np.intp], slot: int) -> NDArray[np.uint8]:
    """Return slice `slot` of Rz of several banks, as bytes of shape (banks, 32).

    `places` are the indices of the banks in `rz`.
    """
    return rz[places, slot * COLUMN_BYTES : (slot + 1) * COLUMN_BYTES]


def write_column(island: Island, block: Block, column: int, data: NDArray[np.uint8]) -> None:
    """Write column `column` of the open row in each bank of a block.

    The bytes go to the sense amplifiers and to memory. `data` has shape (banks, 32).
    """
    island.state.iosa[block.places, column] = data
    for bank, row in zip(block.banks, data, strict=True):
        offset = island.geometry.offset(Place(bank, block.row, column))
        island.memory.write(offset, row.tobytes())


def _compute(
    island: Island,
    block: Block,
    operation: Operation,
    mode: Mode,
    columns: NDArray[np.int64],
    slots: list[int],
) -> None:
    state, places = island.state, block.places

    def operand(name: str) -> NDArray[np.uint8]:
        if name == IOSA:
            cells: NDArray[np.uint8] = state.iosa[places[:, None], columns[None, :]]
            return cells
        register: NDArray[np.uint8] = (state.rop if name == ROP else state.gio)[places]
        return register[:, None, :]

    new = results(mode, operand(operation.left), operand(operation.right))
    new = np.broadcast_to(new, (new.shape[0], len(columns), new.shape[2]))
    rz: Host = state.rz.view(mode.dtype)
    if mode.arrange == DOT:
        _fill_slots(rz, places, slots, new[:, :, 0], mode)
        return
    for k, slot in enumerate(slots):
        start, size = (x // mode.dtype.itemsize for x in mode.place(slot))
        if mode.accumulates:
            rz[places, start : start + size] = accumulate(
                rz[places, start : start + size], new[:, k]
            )
        elif mode.arrange != OUTER or k == len(slots) - 1:
            rz[places, start : start + size] = new[:, k]


def _fill_slots(
    rz: Host, places: NDArray[np.intp], slots: list[int], new: Host, mode: Mode
) -> None:
    """Write the numbers `new`, of shape (banks, repeats), to slots of Rz in order of repeats.

    `slots` has the slot of each repeat. After SLOTS repeats a slot occurs again, so one assignment
    writes at most SLOTS repeats.
    """
    for start in range(0, len(slots), SLOTS):
        where = places[:, None], np.array(slots[start : start + SLOTS])[None, :]
        numbers = new[:, start : start + SLOTS]
        rz[where] = accumulate(rz[where], numbers) if mode.accumulates else numbers
