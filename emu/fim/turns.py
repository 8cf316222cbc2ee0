"""How a word of a block ends: it is done, or it waits for another block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.emu.core import NEVER
from macaw.emu.fim.state import Block

if TYPE_CHECKING:
    from macaw.emu.fim.processor import Island


def done(island: Island, block: Block, time: int) -> bool:
    """The word is done; the next one is asked for at `time` at the earliest."""
    block.time = island.aligned(time)
    block.pc += 4
    island.retired += 1
    return False


def wait(block: Block, key: str, what: str, until: int = NEVER) -> bool:
    """The word is tried again at `until`, or when another block changes what `key` names."""
    if not block.waiting:
        block.since = block.time
    block.waiting, block.key = what, key
    block.time = until
    return False


def went_on(block: Block) -> int:
    """The wait is over: the cycles that it took, 0 if there was none."""
    if not block.waiting:
        return 0
    cycles = block.time - block.since
    block.waiting, block.key, block.since = "", "", NEVER
    return cycles


def wake(island: Island, by: Block, key: str, sooner: bool = False) -> None:
    """What `key` names has changed in this cycle: whoever waits for it tries again in the next.

    Unless `sooner`, only blocks that do not know until when they wait.
    """
    again = island.aligned(by.time + 1)
    for block in island.blocks:
        if block.running and block.key == key and (sooner or block.time == NEVER):
            block.time = min(block.time, again)
