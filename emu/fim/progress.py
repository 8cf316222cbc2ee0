"""Progress of a block: ends its present word, or makes it wait for another block."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from macaw.emu.fim.island import Island
from macaw.emu.fim.state import Block
from macaw.emu.waits import NEVER

Values = Mapping[str, int]  # the operands of a word, by name
Act = Callable[[Island, Block, Values, int], bool]  # see `macaw.emu.fim.words`


def finish(island: Island, block: Block, time: int) -> bool:
    """End the present word of a block; its next word follows in cycle `time` or later.

    Return False, because no other core has to act next.
    """
    block.time = island.aligned(time)
    block.pc += 4
    island.retired += 1
    return False


def wait(block: Block, key: str, what: str, until: int = NEVER) -> bool:
    """Make a block try its word again in cycle `until`, or earlier if another block changes `key`.

    `key` is the name of a buffer or a lock, such as "buffer 0". `what` says, for messages, what
    would end the wait. Return False, because no other core has to act next.
    """
    if not block.waiting:
        block.since = block.time
    block.waiting, block.key = what, key
    block.time = until
    return False


def end_wait(block: Block) -> int:
    """End the wait of a block; return its length in cycles, or 0 if the block did not wait."""
    if not block.waiting:
        return 0
    cycles = block.time - block.since
    block.waiting, block.key, block.since = "", "", NEVER
    return cycles


def wake(island: Island, by: Block, key: str, sooner: bool) -> None:
    """Make the blocks that wait for `key` try again in the next cycle.

    The block `by` has changed what they wait for. Without `sooner`, this skips blocks that already
    know in which cycle their wait ends.
    """
    again = island.aligned(by.time + 1)
    for block in island.blocks:
        if block.running and block.key == key and (sooner or block.time == NEVER):
            block.time = min(block.time, again)
