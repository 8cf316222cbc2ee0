"""The functions that do the words of a block, one for each mnemonic.

Each function does one word of a block; for `fim` it does the repeats that are requested before
`limit`. It returns whether other cores have to act before the island continues.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from macaw.emu.faults import Fault
from macaw.emu.fim import buffers, host_operations
from macaw.emu.fim.island import Island
from macaw.emu.fim.operations import operate
from macaw.emu.fim.progress import Act, Values, finish
from macaw.emu.fim.state import Block
from macaw.emu.rules.fim_dram import CLOSED
from macaw.emu.waits import NEVER
from macaw.isa.fim_circuit import (
    CIRCUIT_PLACES,
    CIRCUIT_REGISTERS,
    FIRST_ROW_REGISTER,
    MAX_ROWS,
)


def _trace_begin(island: Island, block: Block, values: Values, limit: int) -> bool:
    island.mark(True, values["g"], block.time, block.time + island.divider)
    return finish(island, block, block.time + island.divider)


def _trace_end(island: Island, block: Block, values: Values, limit: int) -> bool:
    island.mark(False, values["g"], block.time, block.time + island.divider)
    return finish(island, block, block.time + island.divider)


def _act(island: Island, block: Block, values: Values, limit: int) -> bool:
    island.dram.refresh(block.banks, block.time)
    row = _next_row(island, block, values)
    at = island.dram.open(block.banks, row, block.time, island.divider)
    block.row = row
    island.data.load_rows(block, block.banks, block.row)
    if island.island_origins is not None:
        island.island_origins.open_row(block)
    island.counts["activations"] += len(block.banks)
    return finish(island, block, at + island.divider)


def _next_row(island: Island, block: Block, values: Values) -> int:
    """Return the number of the row that an `act` of a block opens.

    `values` are the operands of the `act`. They give the number itself, or a row register that
    contains it; the function then adds the operand `inc` to this register. Raises `Fault` if the
    register contains a row that the banks do not have.
    """
    number = values["row"] - MAX_ROWS
    if number < 0:
        return values["row"]
    row = block.rows[number]
    if not 0 <= row < island.geometry.rows:
        raise Fault(
            "out-of-range access",
            f"row {row} (row{number}): the banks of {island.name} have rows 0 to"
            f" {island.geometry.rows - 1}",
            {"row": row, "bank": block.banks[0]},
        )
    block.rows[number] = row + values["inc"]
    return row


def _pre(island: Island, block: Block, values: Values, limit: int) -> bool:
    island.dram.refresh(block.banks, block.time)
    at = island.dram.close(block.banks, block.time, island.divider)
    block.row = CLOSED
    return finish(island, block, at + island.divider)


def _loop(island: Island, block: Block, values: Values, limit: int) -> bool:
    block.loops.append([block.pc + 4, values["n"]])
    return finish(island, block, block.time + island.divider)


def _endloop(island: Island, block: Block, values: Values, limit: int) -> bool:
    loop = block.loops[-1]
    loop[1] -= 1
    ended = finish(island, block, block.time + island.divider)
    if loop[1]:
        block.pc = loop[0]
    else:
        block.loops.pop()
    return ended


def _end(island: Island, block: Block, values: Values, limit: int) -> bool:
    last, block.running, block.time = block.time, False, NEVER
    island.retired += 1
    host_operations.release_circuits(island, block)
    if not any(other.running for other in island.blocks):
        island.running = island.host_until != NEVER
    if island.listeners:
        island.announce("end", block=block.index, address=block.pc)
    island.device.changed(island, last)
    return True


def _mmr(island: Island, block: Block, values: Values, limit: int) -> bool:
    number, value = values["register"], values["value"]
    target = buffers.pointer(number)
    if number in CIRCUIT_PLACES:
        place = CIRCUIT_PLACES[number]
        block.registers[place] = value
        block.registers_changed()
        if island.island_origins is not None:
            island.island_origins.set_register(block, CIRCUIT_REGISTERS[place], value)
    elif target is None:
        block.rows[number - FIRST_ROW_REGISTER] = value
    else:
        buffers.move_pointer(island, block, *target, value)
    return finish(island, block, block.time + island.divider)


ACTS: Mapping[str, Act] = {
    "end": _end,
    "act": _act,
    "pre": _pre,
    "fim": operate,
    "mmr": _mmr,
    "loop": _loop,
    "endloop": _endloop,
    "push": buffers.push,
    "pull": buffers.pull,
    "lock": buffers.lock,
    "unlock": buffers.unlock,
    "trace_begin": _trace_begin,
    "trace_end": _trace_end,
}

# Functions that return the first cycle in which a word may be done, for words that use the channel,
# move a pointer or end a block. Until then the channel stays free for others.
READY_AT: Mapping[str, Callable[[Island, Block, Values], int]] = {
    "end": buffers.end_ready,
    "mmr": buffers.pointer_ready,
    "push": buffers.register_ready,
}
