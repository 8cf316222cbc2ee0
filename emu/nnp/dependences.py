"""The dependences among the chains of a program, and how long the longest path of them takes.

Chains execute in the order of the program, so a chain that waits for results also delays the chains
after it. Another order of the program could avoid this delay, but no order is faster than
`Dependences.length`, the length of the longest path.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from macaw.emu.nnp.schedules.chain import PADDING, Chain
from macaw.isa.nnp_layouts import BY_NAME


class Dependences:
    """The longest path of dependent chains, up to each entry of the register files.

    Times count cycles from the start of the program.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.length = 0  # cycles of the longest path through the chains so far
        self._ready = {
            memory.name: np.zeros(int(config[memory.setting]), np.int64)
            for memory in BY_NAME.values()
            if memory.setting and not memory.queue
        }

    def begin(self) -> None:
        """Start with a new program; the values of all entries are ready from cycle 0 on."""
        self.length = 0
        for ready in self._ready.values():
            ready[:] = 0

    def add(self, chain: Chain, first: int, count: int, cycles: int) -> None:
        """Add `count` iterations of a chain, from number `first` on, to the paths.

        These iterations took `cycles` cycles, including their waits for units and operands.
        """
        operands = [item.operand for item in chain.operations if item.operand is not None]
        reads = [chain.source, *operands] + ([] if chain.product is None else [chain.product])
        begin = 0
        for access in reads:
            ready = self._ready.get(access.memory.name)
            if ready is not None:
                entries = chain.addresses(access, first, count)
                begin = max(begin, int(ready[entries[entries != PADDING]].max(initial=0)))
        for access in chain.writes:
            ready = self._ready.get(access.memory.name)
            if ready is not None:
                ready[chain.addresses(access, first, count)] = begin + cycles
        self.length = max(self.length, begin + cycles)
