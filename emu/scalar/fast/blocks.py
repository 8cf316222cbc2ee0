"""Caches the translated code (blocks) of a core by address until the code changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from macaw.emu.faults import Fault
from macaw.emu.pages import Pages
from macaw.emu.scalar.core import ScalarCore
from macaw.emu.scalar.run_cache import LONGEST, PageWatch, decode_from, drop_at
from macaw.emu.scalar.runs import ENDS
from macaw.isa.codec import Decoded

PLAIN, COUNTING, CROSSING = range(3)  # editions of a block
HOT = 24  # jumps to an address after which its block is translated
MOST = 512  # blocks that are kept
CUT_HOT = 6  # times that a border of the trace cuts a block until it becomes one that crosses them
FEW = 8  # instructions for which entering a block is not worth it


class Block(NamedTuple):
    """The translated code that begins at an address, as a Python function."""

    # It takes the core and the limit; one that counts for the trace also takes the room up to the
    # next border. It returns True if the interpreter must execute the instruction at `pc`.
    function: Callable[..., bool]
    lead: int  # if fewer device cycles are left before the limit, the function does nothing
    code: bytes  # the words that were translated
    source: str  # the function's text, for people
    length: int  # instructions
    crosses: bool  # whether it can go on across borders of the trace


# Of address, instructions, edition and their words. Raises `OSError` if no sources are installed.
Translate = Callable[[int, Sequence[Decoded], int, bytes], Block]


class BlockCache:
    """The blocks of a core by address.

    `edition` says what new blocks do for the trace. PLAIN blocks do not count for it. COUNTING
    blocks count up to the trace's next border. CROSSING blocks count across borders, too.
    `translate` makes a block. `accepts` returns whether a block may contain an instruction.
    """

    def __init__(
        self,
        core: ScalarCore,
        edition: int,
        translate: Translate,
        accepts: Callable[[Decoded], bool],
    ) -> None:
        self.core = core
        self.edition = edition
        self._translator = translate
        self._accepts = accepts
        self.blocks: dict[int, Block] = {}
        self.watch = PageWatch(self._forget)
        self._stale: dict[int, Block] = {}
        self._failures: dict[int, int] = {}  # how often each block did too little, in succession
        self._heat: dict[int, int] = {}  # jumps to each address
        self._cuts: dict[int, int] = {}  # how often a border was inside of each block

    def count_jump(self, address: int) -> None:
        """Count a jump to `address`. The block there is translated once it is hot."""
        heat = self._heat.get(address, 0) + 1
        self._heat[address] = heat
        if heat == HOT and address not in self.blocks:
            self._translate(address)

    def _translate(self, address: int) -> None:
        """Translate the block at `address`, if there can be one, and put it into `blocks`."""
        try:
            pages, offset = self.core.device.memory.locate(address, 4)
        except Fault:
            return
        if address & 3:
            return
        if pages.sleeper is not None:  # the core's time may lie before that of its memory: retry
            self._heat[address] -= 1
            return
        block = self._stale.pop(address, None)
        if block is None or pages.read(offset, len(block.code)) != block.code:
            try:
                block = self._make(address, pages, offset, self.edition)
            except OSError:  # an installation without sources
                return
            if block is None:
                return
        if len(self.blocks) + len(self._stale) >= MOST:
            self.clear()
        self._put(address, pages, offset, block)

    def _put(self, address: int, pages: Pages, offset: int, block: Block) -> None:
        self.watch.add(address, pages, offset, len(block.code))
        self.blocks[address] = block

    def _make(self, address: int, pages: Pages, offset: int, edition: int) -> Block | None:
        """Return the block at an address, translated as `edition`, or None if it would be empty.

        `pages` and `offset` are its place in memory. Raises `OSError` if the sources of Macaw, from
        which the text is made, are not installed.
        """
        instructions = self._collect(address, pages, offset)
        if not instructions:
            return None
        code = pages.read(offset, 4 * len(instructions))
        return self._translator(address, instructions, edition, code)

    def _collect(self, address: int, pages: Pages, offset: int) -> list[Decoded]:
        """Return the instructions of a block at `address`.

        They end with a jump, or before the first instruction that no block can contain.
        """
        instructions: list[Decoded] = []
        for found in decode_from(self.core, address, pages, offset, LONGEST, inlines=True):
            if not self._accepts(found) or found.values.get("target", 0) & 3:
                break
            if found.row.family in ENDS and self.core.probe_set.of(found):
                break
            instructions.append(found)
            if found.row.family == "jump":
                break
        return instructions

    def crossing(self, address: int) -> Block | None:
        """Return a variant of the block at `address` that crosses borders, or None.

        The caller calls this when a border is inside the block. After `CUT_HOT` calls for a block,
        this method translates it again, as one that crosses borders. Until then the result is None.
        """
        block = self.blocks[address]
        if block.crosses:
            return block
        cuts = self._cuts[address] = self._cuts.get(address, 0) + 1
        if cuts < CUT_HOT:
            return None
        pages, offset = self.core.device.memory.locate(address, 4)
        if pages.sleeper is not None:
            return None
        edition = self._make(address, pages, offset, CROSSING)
        if edition is not None:
            self._put(address, pages, offset, edition)
        return edition

    def note_exit(self, address: int, count: int) -> None:
        """Record that the block at `address` left to the interpreter after `count` instructions.

        A block that leaves early too often, for example because it accesses on-chip memory, is
        removed.
        """
        failures = 0 if count >= FEW else self._failures.get(address, 0) + 1
        self._failures[address] = failures
        if failures > HOT:
            self.blocks.pop(address, None)

    def clear(self) -> None:
        """Drop all blocks. Code that is still hot is translated again."""
        for cache in (self.blocks, self._stale, self._cuts, self._heat, self._failures):
            cache.clear()

    def rebind(self, addresses: Iterable[int]) -> None:
        """Drop the blocks that contain these addresses, at which breaks were set or removed."""
        for at in addresses:
            drop_at(self.blocks, at)
            drop_at(self._stale, at)
            self._heat = {key: heat for key, heat in self._heat.items() if heat < HOT}
            self._failures.clear()

    def _forget(self, address: int) -> None:
        """Set aside the block at `address`, because its page has changed.

        Before the block is used again, its code is compared with memory.
        """
        block = self.blocks.pop(address, None)
        if block is not None:
            self._stale[address] = block
        self._heat.pop(address, None)
        self._failures.pop(address, None)
        self._cuts.pop(address, None)
