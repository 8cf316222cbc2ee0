"""A cache of a core's translated code (blocks), by address. It drops blocks whose code changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from macaw.emu.faults import Fault
from macaw.emu.pages import Pages
from macaw.emu.scalar.core import ScalarCore
from macaw.emu.scalar.fast.passes import PassTimes
from macaw.emu.scalar.run_cache import LONGEST, PageWatch, decode_from, drop_at
from macaw.emu.scalar.runs import ENDS
from macaw.isa.codec import Decoded
from macaw.isa.typed_records import NamedTuple

PLAIN, REPORTING, COUNTING, CROSSING = range(4)  # editions of a block: see `BlockCache`
HOT = 24  # the number of jumps to an address after which its block is translated
MOST = 512  # the greatest number of blocks in the cache
# After this many cuts by borders, the edition that crosses borders replaces a block. To translate
# this edition takes as long as a few hundred cuts.
CUT_HOT = 64
FEW = 8  # a call of a block that executes fewer instructions costs more than it saves


class Block(NamedTuple):
    """The translated code that begins at an address, as a Python function.

    The arguments of `function` are the core and the limit; a block that counts also gets the number
    of instructions up to the next border, where the trace begins or ends to record. The function
    returns True if the interpreter must execute the instruction at `pc`. It does nothing if only
    `lead` device cycles are left before the limit. `crosses` says whether the function can continue
    across borders. If the block does not count by itself, but reports its passes to the core,
    `times` has the times of a pass; otherwise it is None.
    """

    function: Callable[..., bool]
    lead: int
    code: bytes  # the words that were translated
    source: str  # the function's text, for readers
    length: int  # number of instructions
    crosses: bool
    times: PassTimes | None = None


# Its arguments are address, instructions, edition and words. Raises `OSError` if no sources are
# installed.
Translate = Callable[[int, Sequence[Decoded], int, bytes], Block]


class BlockCache:
    """The blocks of a core by address.

    `edition` says what new blocks count for the trace. A border is an instruction at which the
    trace begins or ends to record. PLAIN blocks count nothing. REPORTING blocks only report their
    passes, if all passes take the same time; they may continue after a border. COUNTING blocks
    count up to the next border. CROSSING blocks continue to count after it. `translate` makes a
    block. `accepts` returns whether a block may contain an instruction.
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
        # by block: how often in succession it returned after too few instructions
        self._failures: dict[int, int] = {}
        self._heat: dict[int, int] = {}  # jumps to each address
        self._cuts: dict[int, int] = {}  # by block: how often a border was inside it

    def count_jump(self, address: int) -> None:
        """Count a jump to `address`. After `HOT` jumps, translate the block there."""
        heat = self._heat.get(address, 0) + 1
        self._heat[address] = heat
        if heat == HOT and address not in self.blocks:
            self._translate(address)

    def _translate(self, address: int) -> None:
        """Translate the block at `address` and put it into `blocks`, if a block can begin there."""
        try:
            pages, offset = self.core.device.memory.locate(address, 4)
        except Fault:
            return
        if address & 3:
            return
        # the core's time may be before the time of its memory: try again later
        if pages.sleeper is not None:
            self._heat[address] -= 1
            return
        block = self._stale.pop(address, None)
        if block is None or pages.read(offset, len(block.code)) != block.code:
            try:
                block = self._make(address, pages, offset, self.edition)
            except OSError:  # Macaw is installed without sources
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
        """Return a new block at an address, of the given edition; None if it would be empty.

        The code is at `offset` in `pages`. Raises `OSError` if the sources of Macaw are not
        installed, because the text of the block is made from them.
        """
        instructions = self._collect(address, pages, offset)
        if not instructions:
            return None
        code = pages.read(offset, 4 * len(instructions))
        return self._translator(address, instructions, edition, code)

    def _collect(self, address: int, pages: Pages, offset: int) -> list[Decoded]:
        """Return the instructions of a block at `address`.

        The code is at `offset` in `pages`. The last instruction is a jump, or it is followed by an
        instruction that a block cannot contain.
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
        """Return the block at `address` in the edition that goes on counting after a border.

        A border is an instruction at which the trace begins or ends to record. The caller calls
        this method when a border is inside the block. The result is None for the first `CUT_HOT` -
        1 calls for a block; the next call translates the block.
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
        """Record that the block at `address` returned after `count` instructions.

        A block may often return long before its end, for example because it accesses on-chip
        memory. Then this method removes it.
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
        """Drop the blocks that contain these addresses, where breaks were set or removed."""
        for at in addresses:
            drop_at(self.blocks, at)
            drop_at(self._stale, at)
            self._heat = {key: heat for key, heat in self._heat.items() if heat < HOT}
            self._failures.clear()

    def _forget(self, address: int) -> None:
        """Stop using the block at `address`, because its page has changed.

        When the code is hot again, the cache compares the block's code with memory, and uses the
        block again if they are equal.
        """
        block = self.blocks.pop(address, None)
        if block is not None:
            self._stale[address] = block
        self._heat.pop(address, None)
        self._failures.pop(address, None)
        self._cuts.pop(address, None)
