"""Runs an island as if words that only prepare operations took no cycles, to show their cost.

In the cycles between two operations of a block, the second operation often waits for the first one
or for the DRAM. Words that execute in these cycles cost nothing. So only a run in which the words
take no cycles shows by how much the run would be shorter.
"""

from __future__ import annotations

from collections.abc import Collection

from macaw.emu.core import Core, Event
from macaw.emu.fim.core import IslandCore
from macaw.emu.fim.state import Block

# Words that a program can do without; it can unroll a loop.
_OMITTED = ("loop", "endloop", "trace_begin", "trace_end")


class _Omission:
    """Lets those words of an island that are at certain addresses take no cycles.

    Only words for loops, markers and `mmr` lose their cycles; all other words keep them. If several
    `mmr` of a block set a register to the same value, the first one keeps its cycles, too: the
    block needs one such word, in whatever order it does its operations.
    """

    def __init__(self, core: IslandCore, addresses: Collection[int]) -> None:
        self.core, self.addresses = core, addresses
        # by number of a block: the block, and the values that its registers have had
        self.values: dict[int, tuple[Block, set[tuple[int, int]]]] = {}
        core.listeners.append(self.hear)

    def hear(self, event: Event) -> None:
        """Take back the cycles of the word that a block has just done, if the word is not needed.

        `event` announces the start or the end of the word.
        """
        if event.kind == "instruction":
            self._values_of(self.core.blocks[int(event.values["block"])])
        elif event.kind == "advanced" and event.values["address"] in self.addresses:
            block = self.core.blocks[int(event.values["block"])]
            if block.running and self._is_omitted(block, int(event.values["address"])):
                block.time = int(event.values["since"])

    def _values_of(self, block: Block) -> set[tuple[int, int]]:
        """Return the values that the block's registers have had, as pairs (register, value)."""
        known = self.values.get(block.index)
        if known is None or known[0] is not block:
            known = self.values[block.index] = block, set(enumerate(block.registers))
        return known[1]

    def _is_omitted(self, block: Block, address: int) -> bool:
        word = self.core.program.word(address)
        if word.row.mnemonic != "mmr":
            return word.row.mnemonic in _OMITTED
        values, setting = self._values_of(block), (word.values["register"], word.values["value"])
        is_known = setting in values
        values.add(setting)
        return is_known


def omit(core: Core, addresses: Collection[int]) -> None:
    """Let the words at these addresses of an island take no cycles in the next run of its device.

    The words still have their effects. A word that a program cannot do without (see `_Omission`)
    takes its cycles.
    """
    assert isinstance(core, IslandCore)
    _Omission(core, addresses)
