"""The words that use buffers: pointers, push, pull and locks (seed 004 ¶48-51).

A push advances the end pointer past all its columns at once. The consumers and the host read
another pointer, the visible end. It passes a column only when the data of that column are stored.
A pull waits until the visible end has passed the columns that it reads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault, amount
from macaw.emu.fim.buffer_access import check_column, check_lock, check_producer
from macaw.emu.fim.island import Island
from macaw.emu.fim.operations import SHIFT, SLOT, check_slice, step_slot
from macaw.emu.fim.progress import Values, end_wait, finish, wait, wake
from macaw.emu.fim.state import NOBODY, NOWHERE, Block, Buffer
from macaw.emu.rules.fim_circuits import block_end, columns_stored, pointer_start
from macaw.emu.waits import NEVER
from macaw.isa.fim import PULLED, PUSHED
from macaw.isa.fim_circuit import (
    BUFFER_PARTS,
    BUFFER_REGISTERS,
    COLUMN_BYTES,
    FIRST_ROW_REGISTER,
    GIO,
    ROP,
    RZ,
)


def visible_end(buffer: Buffer, time: int) -> int:
    """Return the pointer `end` of a buffer as other blocks and the host see it in cycle `time`.

    They see only columns that are stored: pushed columns that are not stored yet do not count.
    """
    return buffer.end - sum(arrival > time for arrival in buffer.arrivals)


# --- pointers ---


def pointer(register: int) -> tuple[int, str] | None:
    """Return the buffer's number and the pointer's name for the register number `register`.

    Return None if the register is not a pointer.
    """
    if not BUFFER_REGISTERS <= register < FIRST_ROW_REGISTER:
        return None
    buffer, part = divmod(register - BUFFER_REGISTERS, len(BUFFER_PARTS))
    return buffer, BUFFER_PARTS[part]


def pointer_ready(island: Island, block: Block, values: Values) -> int:
    """Return the first cycle in which a block may execute an `mmr` that sets a pointer.

    `values` are the operands of the `mmr`. The result is 0 if the `mmr` sets another register.
    """
    target = pointer(values["register"])
    if target is None:
        return 0
    number, part = target
    written = [island.dram.written[bank] for bank in block.banks]
    return pointer_start(part, island.buffers[number].arrivals, written)


def move_pointer(island: Island, block: Block, number: int, part: str, value: int) -> None:
    """Set the pointer `part` of buffer `number` to the column `value`.

    `block` is the block that executes the `mmr`. Raises `Fault`.
    """
    buffer = island.buffers[number]
    name = f"b{number}_{part}"
    memory = island.memory
    first, last = memory.first_column, memory.first_column + memory.columns
    if not first <= value <= last - (part == "low"):
        raise Fault(
            "isolation violation",
            f"{name} names {memory.address(value):#010x}, which is not in {island.name},"
            f" {memory.address(first):#010x} to {memory.address(last) - 1:#010x}",
            {"address": memory.address(value)},
        )
    check_lock(island, block, number, f"{name} is moved")
    if part in ("start", "end"):
        _check_low(buffer, number, f"{name} is moved")
        if not buffer.low <= value <= buffer.high:
            raise Fault(
                "out-of-range access",
                f"{name} names {memory.address(value):#010x}, outside of the buffer,"
                f" {memory.address(buffer.low):#010x} to {memory.address(buffer.high):#010x}",
                {"address": memory.address(value)},
            )
    if part != "start":
        check_producer(island, block, number, f"{name} is moved")
    match part:
        case "low":
            buffer.low = buffer.start = buffer.end = value
        case "high":
            buffer.high = value
        case "start":
            buffer.start = value
        case "end":
            buffer.end, buffer.producer = value, block.index
    if part in ("low", "end"):
        buffer.arrivals.clear()
    wake(island, block, f"buffer {number}", sooner=True)


def _check_low(buffer: Buffer, number: int, what: str) -> None:
    """Raise `Fault` if the pointer `low` of a buffer is not set.

    `number` is the number of the buffer. The message starts with `what`.
    """
    if buffer.low == NOWHERE:
        raise Fault(
            "out-of-range access",
            f"{what}, but no word has set b{number}_low: buffer {number} has no columns",
            {"buffer": number},
        )


# --- the producer ---


def push(island: Island, block: Block, values: Values, limit: int) -> bool:
    """Append one column for each bank of a block to a buffer: the contents of a register.

    `values` are the operands of the word `push`. Return whether other cores must act before the
    block continues. Raises `Fault`.
    """
    number = values["buffer"]
    buffer, count = island.buffers[number], len(block.banks)
    _check_push(island, block, number)
    island.data.settle()
    file = PUSHED[values["register"]]
    slot = block.registers[SLOT]
    if file == RZ:
        check_slice(island, slot, block.mode)
        data = island.data.leaving(block.places, slot, block.mode, block.registers[SHIFT], block.pc)
        step_slot(block, 1)
    else:
        data = getattr(island.state, file)[block.places]
    origins = island.island_origins
    if origins is not None:
        origins.begin_push(block, file, slot)
    buffer.arrivals = [arrival for arrival in buffer.arrivals if arrival > block.time]
    island.dram.begin(block.time)
    time = block.time
    for bank, column in enumerate(data):
        offset = island.memory.offset(buffer.end)
        place = island.geometry.place(offset)
        island.dram.refresh((place.bank,), block.time)
        time, stored = island.access_column(place, time, True, island.divider)
        time += island.divider
        island.memory.write(offset, column.tobytes())
        if origins is not None:
            origins.record_store(bank, offset)
        _refresh(island, place.bank, place.row, place.column, column)
        buffer.end += 1
        buffer.arrivals.append(stored)
        block.stored = max(block.stored, stored)
    buffer.producer = block.index
    island.moved = count
    island.counts["pushed"] += count
    island.counts["column_writes"] += count
    wake(island, block, f"buffer {number}", sooner=False)
    return finish(island, block, time)


def _check_push(island: Island, block: Block, number: int) -> None:
    """Raise `Fault` unless a block may push one column for each of its banks to buffer `number`.

    The block must not push if another block writes the buffer, or if the buffer has no room.
    """
    buffer, count = island.buffers[number], len(block.banks)
    check_producer(island, block, number, "push")
    _check_low(buffer, number, "push")
    if buffer.high == NOWHERE or buffer.high < buffer.low:
        low, high = (island.memory.address(x) for x in (buffer.low, buffer.high))
        what = f"b{number}_high is {high:#010x}, before b{number}_low, {low:#010x}"
        if buffer.high == NOWHERE:
            what = f"no word has set b{number}_high: buffer {number} has no columns"
        raise Fault("out-of-range access", f"push, but {what}", {"buffer": number})
    if buffer.end + count > buffer.high:
        size, full = max(buffer.high - buffer.low, 0), buffer.end - buffer.low
        raise Fault(
            "buffer overflow",
            f"push of {amount(count, 'column')} to buffer {number}: {full} of its {size} columns"
            " are pushed",
            {"buffer": number, "size": size},
        )
    for column in range(buffer.end, buffer.end + count):
        check_column(island, block, column, number)


def register_ready(island: Island, block: Block, values: Values) -> int:
    """Return the first cycle in which the block can read the register that it pushes.

    `values` are the operands of the word `push`. The function also counts the cycles until then as
    waits.
    """
    file = PUSHED[values["register"]]
    time = block.rz_ready if file == RZ else block.pull_ready((file,))
    arrived = max(block.time, island.aligned(time))
    ready = max(arrived, island.aligned(block.columns_ready))
    island.counts["cycles_alu" if file == RZ else "cycles_pull"] += arrived - block.time
    island.dram.waits["t_column"] += ready - arrived
    return ready


def _refresh(island: Island, bank: int, row: int, column: int, data: NDArray[np.uint8]) -> None:
    """Copy `data`, a column that was written to memory, into the sense amplifiers of its bank.

    Do so only if a block has the column's row open in this bank.
    """
    for other in island.blocks:
        if other.running and other.row == row and bank in other.banks:
            island.state.iosa[bank, column] = data


# --- the consumer ---


def pull(island: Island, block: Block, values: Values, limit: int) -> bool:
    """Read columns from the start of a buffer into a register of each bank of a block.

    `values` are the operands of the word `pull`. The block waits until these columns have been
    pushed and are stored in memory. Return whether other cores must act before the block continues.
    Raises `Fault`.
    """
    number = values["buffer"]
    buffer = island.buffers[number]
    count = 1 if values["all"] else len(block.banks)
    ready = columns_stored(buffer.start, buffer.end, buffer.arrivals, count)
    if ready is None or ready > block.time:
        until = NEVER if ready is None else island.aligned(ready)
        on = f"{amount(count, 'column')} in buffer {number}"
        return wait(block, f"buffer {number}", on, until)
    island.counts["cycles_pull"] += end_wait(block)
    island.data.settle()
    end = time = block.time
    island.dram.begin(time)
    columns, offsets = [], []
    for _ in range(count):
        offset = island.memory.offset(buffer.start)
        offsets.append(offset)
        place = island.geometry.place(offset)
        island.dram.refresh((place.bank,), block.time)
        time, end = island.access_column(place, time, False, island.divider)
        time += island.divider
        columns.append(np.frombuffer(island.memory.pages.read(offset, COLUMN_BYTES), np.uint8))
        buffer.start += 1
    file = PULLED[values["register"]]
    getattr(island.state, file)[block.places] = np.array(columns)
    if island.island_origins is not None:
        island.island_origins.record_pull(block, file, offsets)
    setattr(block, f"{file}_ready", max(end, block.pull_ready((file,))))
    island.moved = count
    island.counts["pulled"] += count
    island.counts["column_reads"] += count
    return finish(island, block, time)


# --- locks ---


def lock(island: Island, block: Block, values: Values, limit: int) -> bool:
    """Take the lock of a buffer. While another block has the lock, wait.

    `values` are the operands of the word `lock`. Return whether other cores must act before the
    block continues. Raises `Fault` if this block has the lock already.
    """
    number = values["buffer"]
    buffer = island.buffers[number]
    if buffer.owner == block.index:
        raise Fault(
            "lock violation",
            f"block {block.index} has the lock of buffer {number} already",
            {"buffer": number},
        )
    if buffer.owner != NOBODY:
        what = f"the lock of buffer {number}, block {buffer.owner} has it"
        return wait(block, f"lock {number}", what)
    island.counts["cycles_lock"] += end_wait(block)
    buffer.owner = block.index
    return finish(island, block, block.time + island.divider)


def unlock(island: Island, block: Block, values: Values, limit: int) -> bool:
    """Give back the lock of a buffer. Raises `Fault` if the block does not have the lock.

    `values` are the operands of the word `unlock`.
    """
    number = values["buffer"]
    buffer = island.buffers[number]
    if buffer.owner != block.index:
        owner = "no block" if buffer.owner == NOBODY else f"block {buffer.owner}"
        raise Fault(
            "lock violation",
            f"block {block.index} gives the lock of buffer {number} back, which {owner} has",
            {"buffer": number},
        )
    buffer.owner = NOBODY
    wake(island, block, f"lock {number}", sooner=False)
    return finish(island, block, block.time + island.divider)


def end_ready(island: Island, block: Block, values: Values) -> int:
    """Return the first cycle in which a block may end: all its results and columns are then there.

    The results in Rz are then ready, the pulled columns have arrived, and the pushed and written
    columns are stored. `values` are the operands of the word `end`.
    """
    written = (island.dram.written[bank] for bank in block.banks)
    results = max(block.rz_ready, block.columns_ready)
    return block_end(results, block.stored, block.pull_ready((ROP, GIO)), written)
