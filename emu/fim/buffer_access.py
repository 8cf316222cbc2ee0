"""Access rules of buffers: which block may write the columns and move the pointers (seed 004 ¶50).

While a block has the lock of a buffer, only that block may write the buffer's columns and move the
buffer's pointers by `mmr`. While no block has the lock, only the producer may write columns and
move the pointers `low`, `high` and `end`; any block may move `start`. The producer is the block
that last pushed a column or moved the pointer `end`. If there is no producer, any block may do all
of this.
"""

from __future__ import annotations

from macaw.emu.faults import Fault
from macaw.emu.fim.island import Island
from macaw.emu.fim.state import HOST, NOBODY, NOWHERE, Block
from macaw.isa.fim_circuit import BUFFER_PARTS, BUFFER_REGISTERS, BUFFERS, COLUMN_BYTES

_LOW, _HIGH = (BUFFER_PARTS.index(part) for part in ("low", "high"))


def check_lock(island: Island, block: Block, number: int, what: str) -> None:
    """Raise `Fault` if another block has the lock of buffer `number`.

    The message starts with `what`.
    """
    owner = island.buffers[number].owner
    if owner not in (NOBODY, block.index):
        raise Fault(
            "lock violation",
            f"{what} by block {block.index}: block {owner} has the lock of buffer {number}",
            {"buffer": number, "owner": owner},
        )


def check_producer(island: Island, block: Block, number: int, what: str) -> None:
    """Raise `Fault` if `block` may not push to buffer `number` or move its `low`, `high` or `end`.

    The fault is raised if another block has the lock of the buffer, or if no block has the lock and
    another block is the producer. The message starts with `what`.
    """
    check_lock(island, block, number, what)
    buffer = island.buffers[number]
    if buffer.owner == NOBODY and buffer.producer not in (NOBODY, block.index):
        raise Fault(
            "lock violation",
            f"{what} by block {block.index}: block {buffer.producer} fills buffer {number}, too,"
            " and none of them has its lock",
            {"buffer": number},
        )


def check_column(island: Island, block: Block, column: int, into: int = NOBODY) -> None:
    """Raise `Fault` if column `column` is in a buffer that `block` may not write.

    `into` is the number of the buffer to which the block pushes the column; that buffer is not
    checked here.
    """
    for number, buffer in enumerate(island.buffers):
        if number == into or not buffer.low <= column < buffer.high:
            continue
        locked = buffer.owner != NOBODY
        writer = buffer.owner if locked else buffer.producer
        if writer not in (NOBODY, block.index):
            has = "has its lock" if locked else "fills it"
            who = "what the host sends" if block.index == HOST else f"block {block.index}"
            raise Fault(
                "lock violation",
                f"{who} writes {island.memory.address(column):#010x}, a column of buffer"
                f" {number}: block {writer} {has}",
                {"buffer": number, "address": island.memory.address(column)},
            )


def buffer_banks(island: Island) -> frozenset[int]:
    """Return the banks in which any buffer may have columns while the present blocks run.

    A buffer may have columns from the least to the greatest of its possible limits: the present
    values of its pointers `low` and `high`, and the values that an `mmr` of a running block gives
    them. The result is cached.
    """
    if island.buffer_banks is None:
        island.buffer_banks = _find_buffer_banks(island)
    return island.buffer_banks


def _find_buffer_banks(island: Island) -> frozenset[int]:
    bounds = [({buffer.low}, {buffer.high}) for buffer in island.buffers]
    for block in island.blocks:
        words = island.program.block_words(block.pc) if block.running else ()
        for item in (item for _, item in words if item.row.mnemonic == "mmr"):
            number = item.values["register"] - BUFFER_REGISTERS
            if 0 <= number < BUFFERS * len(BUFFER_PARTS):
                buffer, part = divmod(number, len(BUFFER_PARTS))
                if part in (_LOW, _HIGH):
                    bounds[buffer][part == _HIGH].add(item.values["value"])
    memory = island.memory
    columns = memory.columns
    banks: set[int] = set()
    for lows, highs in bounds:
        low = min((x - memory.first_column for x in lows if x != NOWHERE), default=columns)
        high = max((x - memory.first_column for x in highs if x != NOWHERE), default=0)
        low, high = max(low, 0), min(high, columns)
        if low < high:
            first, last = (island.geometry.place(x * COLUMN_BYTES).bank for x in (low, high - 1))
            banks.update(range(first, last + 1))
    return frozenset(banks)
