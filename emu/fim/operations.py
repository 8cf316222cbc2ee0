"""`fim`: the ten operations, one repeat after the other or several together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.fim.arithmetic import Mode, accumulated, results
from macaw.emu.fim.dram import READ, WRITE
from macaw.emu.fim.guards import check_column
from macaw.emu.fim.state import HOST, Block
from macaw.emu.floats import Host
from macaw.emu.rules.circuits import Latency, operation_start, repeat_period
from macaw.emu.rules.dram import CLOSED
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

if TYPE_CHECKING:
    from macaw.emu.fim.processor import Island

SLOT = CIRCUIT_REGISTERS.index("rz_slot")
STEP = CIRCUIT_REGISTERS.index("rz_step")


@dataclass(slots=True)
class Run:
    """Repeats of a fim that were done together: when the first was, cycles between them."""

    at: int
    period: int
    times: int
    waits: int  # cycles that each but the first waited for constraints of the memory
    latency: Latency


def operate(island: Island, block: Block, values: Mapping[str, int], limit: int) -> bool:
    """`fim`: its next repeat, and those behind that are asked for before `limit`."""
    operation, step = OPERATIONS[values["n"]], island.divider
    mode = block.mode
    if operation.computes and mode not in island.able_modes:
        _check_mode(island, mode)
    left = values["repeat"] - block.repeat
    slots = _slots(island, block, operation, mode, left)
    shared = not island.buffer_banks.isdisjoint(block.banks)
    if shared and operation.to == IOSA and block.row != CLOSED:
        _check_columns(island, block, values["col"] + values["inc"] * block.repeat)
    there = island.aligned(max(block.time, block.pulled((*operation.reads, operation.to))))
    begin = island.aligned(operation_start(operation, there, block.alu_free, block.rz_ready))
    if operation.has_column:
        at = _column(island, block, operation, begin)
    elif block.index == HOST and island.geometry.one_bus:
        at = island.dram.command(begin, step, len(block.banks))
    else:
        at = begin
    island.counts["cycles_pull"] += there - block.time
    island.counts["cycles_alu"] += begin - there
    latency = island.latency(mode.op, mode.arrange, mode.format, mode.accumulates)
    count, period, waits = 1, 0, 0
    if island.at_once > 1 and left > 1 and not island.listeners and not shared:
        most = min(len(slots), left)
        count, period, waits = _together(island, block, operation, latency.busy, at, most, limit)
    last = at + (count - 1) * period
    if island.tracing or island.listeners:
        island.run = Run(at, period, count, waits, latency)
    first = values["col"] + values["inc"] * block.repeat
    columns = first + values["inc"] * np.arange(count)
    told = island.remembered
    if told is not None:
        told.moves(block, operation, int(columns[0]), slots[0])
    _move(island, block, operation, mode, columns, slots[:count])
    if told is not None:
        told.moved()
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
    why = island.able.lacks(mode.op, mode.arrange, mode.format, mode.transpose)
    if why:
        raise Fault("not available", why, {"function": FUNCTION_NAMES[mode.op]})
    island.able_modes.add(mode)


def _uses_slice(operation: Operation, mode: Mode) -> bool:
    """Whether an operation fills or moves the slice RZ_SLOT."""
    return operation.left == RZ or (operation.computes and mode.arrange not in (DOT, OUTER))


def _slots(island: Island, block: Block, operation: Operation, mode: Mode, count: int) -> list[int]:
    """RZ_SLOT of the next repeats, up to one that faults. Raises `Fault` if it is the first."""
    slot = block.registers[SLOT]
    if not _uses_slice(operation, mode):
        forward = int(operation.computes and mode.arrange == DOT)
        return [(slot + forward * k) % SLOTS for k in range(count)]
    check_slice(island, slot)
    found = []
    for k in range(count):
        place = (slot + block.registers[STEP] * k) % SLOTS
        if place >= island.able.rz_slices:
            break
        found.append(place)
    return found


def check_slice(island: Island, slot: int) -> None:
    """Raise `Fault` if the island's Rz is too small."""
    if slot >= island.able.rz_slices:
        size = island.able.rz_slices
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
    """RZ_SLOT behind operations that used a slice."""
    block.registers[SLOT] = (block.registers[SLOT] + count * block.registers[STEP]) % SLOTS


def _column(island: Island, block: Block, operation: Operation, begin: int) -> int:
    """The cycle of a column command of the block's banks. Raises `Fault`."""
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
    """The sense amplifiers of banks take a row."""
    island.state.iosa[banks] = island.cells[banks, row]


def _check_columns(island: Island, block: Block, column: int) -> None:
    """Raise `Fault` if a column of the block's rows is of a buffer that another block fills."""
    for bank in block.banks:
        offset = island.geometry.offset(Place(bank, block.row, column))
        check_column(island, block, island.first_column + offset // COLUMN_BYTES)


def _together(
    island: Island, block: Block, operation: Operation, busy: int, at: int, most: int, limit: int
) -> tuple[int, int, int]:
    """Repeats that are asked for before `limit` with the one at `at`: how many, and their period.

    The last number is the cycles of these for which each but the first waits for the memory.
    """
    dram, step = island.dram, island.divider
    alu, period = repeat_period(operation, busy, dram.timings.t_ccdl, step)
    if operation.has_column and dram.jitter is not None:
        most = 1  # each column asks for itself
    count = 1 + min(min(most, island.at_once) - 1, max(0, -(-(limit - at - step) // period)))
    last = at + (count - 1) * period
    island.counts["cycles_alu"] += (count - 1) * (alu - step)
    if operation.has_column and count > 1:
        dram.waits["t_ccd"] += (count - 1) * (period - alu)
        dram.held += (count - 1) * (period - alu) * len(block.banks)
        dram.columns_at(WRITE if operation.to == IOSA else READ, block.banks, last)
    return count, period, period - alu


# --- what moves ---


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
    """A slice of Rz in some banks."""
    return rz[places, slot * COLUMN_BYTES : (slot + 1) * COLUMN_BYTES]


def write_column(island: Island, block: Block, column: int, data: NDArray[np.uint8]) -> None:
    """A column of the open row in each bank of a block: sense amplifiers and memory."""
    island.state.iosa[block.places, column] = data
    for bank, row in zip(block.banks, data, strict=True):
        offset = island.geometry.offset(Place(bank, block.row, column))
        island.store(offset, row.tobytes())


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
            found: NDArray[np.uint8] = state.iosa[places[:, None], columns[None, :]]
            return found
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
            rz[places, start : start + size] = accumulated(
                rz[places, start : start + size], new[:, k]
            )
        elif mode.arrange != OUTER or k == len(slots) - 1:
            rz[places, start : start + size] = new[:, k]


def _fill_slots(
    rz: Host, places: NDArray[np.intp], slots: list[int], new: Host, mode: Mode
) -> None:
    """One number after the other into the slots; as many together as differ."""
    for start in range(0, len(slots), SLOTS):
        where = places[:, None], np.array(slots[start : start + SLOTS])[None, :]
        numbers = new[:, start : start + SLOTS]
        rz[where] = accumulated(rz[where], numbers) if mode.accumulates else numbers
