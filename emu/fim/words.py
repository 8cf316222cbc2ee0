"""What the words of a block do; each gives whether others have to act before the island goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from emu.core import NEVER
from emu.faults import Fault
from emu.fim.dram import CLOSED
from emu.fim.operations import SLOT, check_slice, load_rows, operate, slice_of, step_slot
from emu.fim.state import END, HIGH, LOW, NOBODY, OWNER, PRODUCER, START, Block
from isa.fim import PULLED, PUSHED
from isa.fim_circuit import (
    BUFFER_PARTS,
    BUFFER_REGISTERS,
    CIRCUIT_REGISTERS,
    COLUMN_BYTES,
    GIO,
    ROP,
    RZ,
)

if TYPE_CHECKING:
    from emu.fim.processor import Island

Values = Mapping[str, int]
Act = Callable[["Island", Block, Values, int], bool]


def _done(island: Island, block: Block, time: int) -> bool:
    """The word is done; the next one is asked for at `time` at the earliest."""
    block.time = island.aligned(time)
    block.pc += 4
    island.retired += 1
    return False


def _trace_begin(island: Island, block: Block, values: Values, limit: int) -> bool:
    island.mark(True, values["g"], block.time, block.time + island.divider)
    return _done(island, block, block.time + island.divider)


def _trace_end(island: Island, block: Block, values: Values, limit: int) -> bool:
    island.mark(False, values["g"], block.time, block.time + island.divider)
    return _done(island, block, block.time + island.divider)


def _act(island: Island, block: Block, values: Values, limit: int) -> bool:
    at = island.dram.open(block.banks, values["row"], block.time, island.divider)
    block.row = values["row"]
    load_rows(island, block.banks, block.row)
    island.counts["activations"] += len(block.banks)
    return _done(island, block, at + island.divider)


def _pre(island: Island, block: Block, values: Values, limit: int) -> bool:
    at = island.dram.close(block.banks, block.time, island.divider)
    block.row = CLOSED
    return _done(island, block, at + island.divider)


def _loop(island: Island, block: Block, values: Values, limit: int) -> bool:
    block.loops.append([block.pc + 4, values["n"]])
    return _done(island, block, block.time + island.divider)


def _endloop(island: Island, block: Block, values: Values, limit: int) -> bool:
    loop = block.loops[-1]
    loop[1] -= 1
    done = _done(island, block, block.time + island.divider)
    if loop[1]:
        block.pc = loop[0]
    else:
        block.loops.pop()
    return done


def _end(island: Island, block: Block, values: Values, limit: int) -> bool:
    over, block.running, block.time = block.time, False, NEVER
    island.retired += 1
    if not any(other.running for other in island.blocks):
        island.running = False
    if island.listeners:
        island.announce("end", block=block.index, address=block.pc)
    island.device.changed(island, over)
    return True


def _all_there(island: Island, block: Block, values: Values) -> int:
    written = (island.dram.written[bank] for bank in block.banks)
    return max(block.rz_ready, block.pulled((ROP, GIO)), *written)


# --- buffers ---


def _column_of(island: Island, column: int) -> int:
    """The offset in the island's memory of a column that a pointer names."""
    return (column - island.first_column) * COLUMN_BYTES


def _mmr(island: Island, block: Block, values: Values, limit: int) -> bool:
    number, value = values["register"], values["value"]
    if number < BUFFER_REGISTERS:
        block.registers[number] = value
        block.registers_changed()
        if island.remembered is not None:
            island.remembered.set(block, CIRCUIT_REGISTERS[number], value)
    else:
        buffer, part = divmod(number - BUFFER_REGISTERS, len(BUFFER_PARTS))
        _point(island, block, buffer, part, value)
    return _done(island, block, block.time + island.divider)


def _point(island: Island, block: Block, number: int, part: int, value: int) -> None:
    """Move a pointer of a buffer. Raises `Fault`."""
    buffer = island.buffers[number]
    name = f"b{number}_{BUFFER_PARTS[part]}"
    first, last = island.first_column, island.first_column + island.geometry.size // COLUMN_BYTES
    if not first <= value <= last - (part == LOW):
        raise Fault(
            "isolation violation",
            f"{name} names {island.address(value):#010x}, which is not in {island.name},"
            f" {island.address(first):#010x} to {island.address(last) - 1:#010x}",
            {"address": island.address(value)},
        )
    if part != START:
        _owned(island, block, number, f"{name} is moved")
    if part in (START, END) and not buffer[LOW] <= value <= buffer[HIGH]:
        raise Fault(
            "out-of-range access",
            f"{name} names {island.address(value):#010x}, outside of the buffer,"
            f" {island.address(buffer[LOW]):#010x} to {island.address(buffer[HIGH]):#010x}",
            {"address": island.address(value)},
        )
    buffer[part] = value
    if part == LOW:
        buffer[START] = buffer[END] = value
    _wake(island, block, f"buffer {number}")


def _owned(island: Island, block: Block, number: int, what: str) -> None:
    """Raise `Fault` if another block has the lock of a buffer."""
    owner = island.buffers[number][OWNER]
    if owner not in (NOBODY, block.index):
        raise Fault(
            "lock violation",
            f"{what} by block {block.index}: block {owner} has the lock of buffer {number}",
            {"buffer": number, "owner": owner},
        )


def _push(island: Island, block: Block, values: Values, limit: int) -> bool:
    number = values["buffer"]
    buffer = island.buffers[number]
    _owned(island, block, number, "push")
    if buffer[OWNER] != block.index and buffer[PRODUCER] not in (NOBODY, block.index):
        raise Fault(
            "lock violation",
            f"push by block {block.index}: block {buffer[PRODUCER]} pushes to buffer {number}, too,"
            " and none of them has its lock",
            {"buffer": number},
        )
    if buffer[END] + len(block.banks) > buffer[HIGH]:
        size, full = buffer[HIGH] - buffer[LOW], buffer[END] - buffer[LOW]
        raise Fault(
            "buffer overflow",
            f"push of {len(block.banks)} columns to buffer {number}: {full} of its {size} columns"
            " are pushed",
            {"buffer": number, "size": size},
        )
    file = PUSHED[values["register"]]
    time = block.time
    slot = block.registers[SLOT]
    if file == RZ:
        check_slice(island, slot)
        data = slice_of(island.state.rz, block.places, slot)
        step_slot(block)
    else:
        data = getattr(island.state, file)[block.places]
    told = island.remembered
    if told is not None:
        told.pushes(block, file, slot)
    for bank, column in enumerate(data):
        offset = _column_of(island, buffer[END])
        place = island.geometry.place(offset)
        time = island.dram.access(place.bank, place.row, time, True, island.divider)[0]
        time += island.divider
        island.store(offset, column.tobytes())
        if told is not None:
            told.pushed(bank, offset)
        _refresh(island, place.bank, place.row, place.column, column)
        buffer[END] += 1
    buffer[PRODUCER] = block.index
    island.counts["pushed"] += len(block.banks)
    island.counts["column_writes"] += len(block.banks)
    _wake(island, block, f"buffer {number}")
    return _done(island, block, time)


def _register_there(island: Island, block: Block, values: Values) -> int:
    file = PUSHED[values["register"]]
    time = block.rz_ready if file == RZ else block.pulled((file,))
    if time > block.time:
        kind = "cycles_alu" if file == RZ else "cycles_pull"
        island.counts[kind] += island.aligned(time) - block.time
    return time


def _refresh(island: Island, bank: int, row: int, column: int, data: NDArray[np.uint8]) -> None:
    """Let the sense amplifiers of a bank have what was written to a row that a block works on."""
    for other in island.blocks:
        if other.running and other.row == row and bank in other.banks:
            island.state.iosa[bank, column] = data


def _pull(island: Island, block: Block, values: Values, limit: int) -> bool:
    number = values["buffer"]
    buffer = island.buffers[number]
    count = 1 if values["all"] else len(block.banks)
    if buffer[END] - buffer[START] < count:
        return _wait(block, f"buffer {number}", f"{count} columns in buffer {number}")
    island.counts["cycles_pull"] += _went_on(block)
    time = block.time
    end = time
    taken, offsets = [], []
    for _ in range(count):
        offset = _column_of(island, buffer[START])
        offsets.append(offset)
        place = island.geometry.place(offset)
        time, end = island.dram.access(place.bank, place.row, time, False, island.divider)
        time += island.divider
        taken.append(np.frombuffer(island.banks.read(offset, COLUMN_BYTES), np.uint8))
        buffer[START] += 1
    file = PULLED[values["register"]]
    getattr(island.state, file)[block.places] = np.array(taken)
    if island.remembered is not None:
        island.remembered.pulled(block, file, offsets)
    setattr(block, f"{file}_ready", max(end, block.pulled((file,))))
    island.counts["pulled"] += count
    island.counts["column_reads"] += count
    return _done(island, block, time)


def _lock(island: Island, block: Block, values: Values, limit: int) -> bool:
    number = values["buffer"]
    buffer = island.buffers[number]
    if buffer[OWNER] == block.index:
        raise Fault(
            "lock violation",
            f"block {block.index} has the lock of buffer {number} already",
            {"buffer": number},
        )
    if buffer[OWNER] != NOBODY:
        return _wait(
            block, f"lock {number}", f"the lock of buffer {number}, block {buffer[OWNER]} has it"
        )
    island.counts["cycles_lock"] += _went_on(block)
    buffer[OWNER] = block.index
    return _done(island, block, block.time + island.divider)


def _unlock(island: Island, block: Block, values: Values, limit: int) -> bool:
    number = values["buffer"]
    buffer = island.buffers[number]
    if buffer[OWNER] != block.index:
        owner = "nobody" if buffer[OWNER] == NOBODY else f"block {buffer[OWNER]}"
        raise Fault(
            "lock violation",
            f"block {block.index} gives the lock of buffer {number} back, which {owner} has",
            {"buffer": number},
        )
    buffer[OWNER] = NOBODY
    _wake(island, block, f"lock {number}")
    return _done(island, block, block.time + island.divider)


# --- waiting for another block ---


def _wait(block: Block, key: str, what: str) -> bool:
    """The word is tried again when another block changes what `key` names."""
    if not block.waiting:
        block.since = block.time
    block.waiting, block.key = what, key
    block.time = NEVER
    return False


def _went_on(block: Block) -> int:
    """The wait is over: the cycles that it took, 0 if there was none."""
    if not block.waiting:
        return 0
    cycles = block.time - block.since
    block.waiting, block.key, block.since = "", "", NEVER
    return cycles


def _wake(island: Island, by: Block, key: str) -> None:
    """What `key` names has changed in this cycle: whoever waits for it tries again in the next."""
    for block in island.blocks:
        if block.running and block.key == key and block.time == NEVER:
            block.time = island.aligned(by.time + 1)


ACTS: Mapping[str, Act] = {
    "end": _end,
    "act": _act,
    "pre": _pre,
    "fim": operate,
    "mmr": _mmr,
    "loop": _loop,
    "endloop": _endloop,
    "push": _push,
    "pull": _pull,
    "lock": _lock,
    "unlock": _unlock,
    "trace_begin": _trace_begin,
    "trace_end": _trace_end,
}

# Words that take the channel, or end a block, come when what they move is there: until then the
# channel is for others. The cycle from which on it is.
COMES: Mapping[str, Callable[[Island, Block, Values], int]] = {
    "end": _all_there,
    "push": _register_there,
}
