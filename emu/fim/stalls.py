"""What the blocks of an island are at, and which could end the wait of which."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from macaw.emu.core import Stall
from macaw.emu.fim.state import NOBODY, Block
from macaw.isa.codec import Decoded

if TYPE_CHECKING:
    from macaw.emu.fim.processor import Island

_WORD = 4


def stalls(island: Island) -> Iterator[Stall]:
    """By block; one that waits names the blocks that could push, or give a lock back."""
    for block in island.blocks:
        name = _name(block)
        if not block.running:
            yield Stall(name, address=block.pc, ended=True)
        elif not block.waiting:
            yield Stall(name, address=block.pc, until=block.time)
        else:
            yield _waiting(island, block)


def unit(island: Island, bank: int) -> Stall:
    """What a bank is at: the block that works with it."""
    for block, item in zip(island.blocks, stalls(island), strict=True):
        if bank in block.banks:
            return item
    return Stall(ended=True)


def _name(block: Block) -> str:
    return f"block {block.index}"


def _waiting(island: Island, block: Block) -> Stall:
    kind, number = block.key.split()
    buffer = island.buffers[int(number)]
    wanted = "unlock" if kind == "lock" else "push"
    others = [other for other in island.blocks if other is not block]
    if kind == "lock" and buffer.owner != NOBODY:
        others = [other for other in others if other.index == buffer.owner]
    parts: list[tuple[str, int | None]] = []
    for other in others:
        found = [
            address
            for address, item in words_of(island, other)
            if item.row.mnemonic == wanted and item.values["buffer"] == int(number)
        ]
        if found or kind == "lock":
            parts.append((_name(other), found[-1] if found else None))
    there = buffer.end - sum(x > island.device.cycle for x in buffer.arrivals) - buffer.start
    note = f"{there} are there" if kind == "buffer" else ""
    on, since = block.waiting, block.since
    return Stall(_name(block), on, since, block.pc, 0, tuple(parts), block.time, False, note)


def words_of(island: Island, block: Block) -> Iterator[tuple[int, Decoded]]:
    """The words of a block, from the first one to its end."""
    at = block.pc
    while island.word(at - _WORD).row.mnemonic != "block":
        at -= _WORD
    while True:
        item = island.word(at)
        yield at, item
        if item.row.mnemonic == "end":
            return
        at += _WORD
