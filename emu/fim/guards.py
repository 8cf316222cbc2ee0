"""Who may write the columns of a buffer, and move its pointers (seed 004 ¶50).

While a block has the lock of a buffer, it alone writes the buffer's columns and moves the pointers
by `mmr`. Without a lock only the producer writes, the block that pushed or moved the end first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.emu.faults import Fault
from macaw.emu.fim.stalls import words_of
from macaw.emu.fim.state import HOST, NOBODY, NOWHERE, Block
from macaw.isa.fim_circuit import BUFFER_PARTS, BUFFER_REGISTERS, BUFFERS, COLUMN_BYTES

if TYPE_CHECKING:
    from macaw.emu.fim.processor import Island

_LOW, _HIGH = (BUFFER_PARTS.index(part) for part in ("low", "high"))


def check_lock(island: Island, block: Block, number: int, what: str) -> None:
    """Raise `Fault` if another block has the lock of a buffer; `what` begins its message."""
    owner = island.buffers[number].owner
    if owner not in (NOBODY, block.index):
        raise Fault(
            "lock violation",
            f"{what} by block {block.index}: block {owner} has the lock of buffer {number}",
            {"buffer": number, "owner": owner},
        )


def check_producer(island: Island, block: Block, number: int, what: str) -> None:
    """Raise `Fault` if a block may not fill a buffer: another one has its lock, or fills it."""
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
    """Raise `Fault` if a column that is written belongs to a buffer that another block fills.

    `into` is the buffer that it is pushed to.
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
                f"{who} writes {island.address(column):#010x}, a column of buffer"
                f" {number}: block {writer} {has}",
                {"buffer": number, "address": island.address(column)},
            )


def buffer_banks(island: Island) -> frozenset[int]:
    """The banks in which a buffer may lie as long as the present blocks run.

    Its low end is that of the moment or one that a word of theirs sets, its high end too.
    """
    bounds = [({buffer.low}, {buffer.high}) for buffer in island.buffers]
    for block in island.blocks:
        for _, item in words_of(island, block) if block.running else ():
            number = item.values.get("register", 0) - BUFFER_REGISTERS
            if item.row.mnemonic == "mmr" and 0 <= number < BUFFERS * len(BUFFER_PARTS):
                buffer, part = divmod(number, len(BUFFER_PARTS))
                if part in (_LOW, _HIGH):
                    bounds[buffer][part == _HIGH].add(item.values["value"])
    columns = island.geometry.size // COLUMN_BYTES
    found: set[int] = set()
    for lows, highs in bounds:
        low = min((x - island.first_column for x in lows if x != NOWHERE), default=columns)
        high = max((x - island.first_column for x in highs if x != NOWHERE), default=0)
        low, high = max(low, 0), min(high, columns)
        if low < high:
            first, last = (island.geometry.place(x * COLUMN_BYTES).bank for x in (low, high - 1))
            found.update(range(first, last + 1))
    return frozenset(found)
