"""What the words of a block do; each gives whether others have to act before the island goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from macaw.emu.core import NEVER
from macaw.emu.fim import buffers, sending
from macaw.emu.fim.operations import load_rows, operate
from macaw.emu.fim.state import Block
from macaw.emu.fim.turns import done
from macaw.emu.rules.dram import CLOSED
from macaw.isa.fim_circuit import CIRCUIT_REGISTERS

if TYPE_CHECKING:
    from macaw.emu.fim.processor import Island

Values = Mapping[str, int]
Act = Callable[["Island", Block, Values, int], bool]


def _trace_begin(island: Island, block: Block, values: Values, limit: int) -> bool:
    island.mark(True, values["g"], block.time, block.time + island.divider)
    return done(island, block, block.time + island.divider)


def _trace_end(island: Island, block: Block, values: Values, limit: int) -> bool:
    island.mark(False, values["g"], block.time, block.time + island.divider)
    return done(island, block, block.time + island.divider)


def _act(island: Island, block: Block, values: Values, limit: int) -> bool:
    at = island.dram.open(block.banks, values["row"], block.time, island.divider)
    block.row = values["row"]
    load_rows(island, block.banks, block.row)
    island.counts["activations"] += len(block.banks)
    return done(island, block, at + island.divider)


def _pre(island: Island, block: Block, values: Values, limit: int) -> bool:
    at = island.dram.close(block.banks, block.time, island.divider)
    block.row = CLOSED
    return done(island, block, at + island.divider)


def _loop(island: Island, block: Block, values: Values, limit: int) -> bool:
    block.loops.append([block.pc + 4, values["n"]])
    return done(island, block, block.time + island.divider)


def _endloop(island: Island, block: Block, values: Values, limit: int) -> bool:
    loop = block.loops[-1]
    loop[1] -= 1
    ended = done(island, block, block.time + island.divider)
    if loop[1]:
        block.pc = loop[0]
    else:
        block.loops.pop()
    return ended


def _end(island: Island, block: Block, values: Values, limit: int) -> bool:
    over, block.running, block.time = block.time, False, NEVER
    island.retired += 1
    sending.leave(island, block)
    if not any(other.running for other in island.blocks):
        island.running = island.sent != NEVER
    if island.listeners:
        island.announce("end", block=block.index, address=block.pc)
    island.device.changed(island, over)
    return True


def _mmr(island: Island, block: Block, values: Values, limit: int) -> bool:
    number, value = values["register"], values["value"]
    found = buffers.pointer(number)
    if found is None:
        block.registers[number] = value
        block.registers_changed()
        if island.remembered is not None:
            island.remembered.set(block, CIRCUIT_REGISTERS[number], value)
    else:
        buffers.point(island, block, *found, value)
    return done(island, block, block.time + island.divider)


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

# Words that take the channel, say that columns are there, or end a block, come when what they are
# about is there: until then the channel is for others. The cycle from which on it is.
COMES: Mapping[str, Callable[[Island, Block, Values], int]] = {
    "end": buffers.all_there,
    "mmr": buffers.pointer_free,
    "push": buffers.register_there,
}
