"""Stalls of an island: the work or wait of each block, and the blocks that could end a wait."""

from __future__ import annotations

from collections.abc import Iterator

from macaw.emu.fim.island import Island
from macaw.emu.fim.state import NOBODY, NOWHERE, Block
from macaw.emu.inspection import Stall


def stalls(island: Island) -> Iterator[Stall]:
    """Yield one record for each block: its present work or wait.

    For a waiting block the record names the blocks that can end its wait.
    """
    for block in island.blocks:
        name = _name(block)
        if not block.running:
            yield Stall(name, address=block.pc, ended=True)
        elif not block.waiting:
            yield Stall(name, address=block.pc, until=block.time)
        else:
            yield _waiting(island, block)


def unit(island: Island, bank: int) -> Stall:
    """Return the present work or wait of the block that uses bank number `bank`.

    If no block uses the bank, the result has `ended` set.
    """
    for block, item in zip(island.blocks, stalls(island), strict=True):
        if bank in block.banks:
            return item
    return Stall(ended=True)


def _name(block: Block) -> str:
    return f"block {block.index}"


def _waiting(island: Island, block: Block) -> Stall:
    kind, number = block.key.split()
    buffer = island.buffers[int(number)]
    needed = "unlock" if kind == "lock" else "push"
    others = [other for other in island.blocks if other is not block]
    if kind == "lock" and buffer.owner != NOBODY:
        others = [other for other in others if other.index == buffer.owner]
    parts: list[tuple[str, int | None]] = []
    for other in others:
        addresses = [
            address
            for address, item in island.program.block_words(other.pc)
            if item.row.mnemonic == needed and item.values["buffer"] == int(number)
        ]
        if addresses or kind == "lock":
            parts.append((_name(other), addresses[-1] if addresses else None))
    stored = buffer.end - sum(x > island.device.cycle for x in buffer.arrivals) - buffer.start
    note = f"{stored} are there" if kind == "buffer" else ""
    if kind == "buffer" and buffer.low == NOWHERE:
        note = f"no word has set b{number}_low"
    on, since = block.waiting, block.since
    return Stall(_name(block), on, since, block.pc, 0, tuple(parts), block.time, False, note)
