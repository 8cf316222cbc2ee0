"""The spill area: the region of memory to which a trace block writes its records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import Struct, error

from macaw.emu.recordings import register_values
from macaw.emu.state import State
from macaw.isa.trace import ALL, FULL, RECORD

Write = Callable[[int, bytes], None]  # writes bytes to an address; raises `Fault` outside of memory

_PACK = Struct(f"<{len(RECORD.members)}I").pack  # all members are u32


class Spill:
    """A spill area, to which records are written one after the other while there is room.

    `state` has the fields of `macaw.emu.recordings.fields`. `write` is a function that writes bytes
    to memory and takes no simulated time.
    """

    def __init__(self, state: State, write: Write) -> None:
        self._state = state
        self._write = write

    def empty(self) -> None:
        """Go back to the beginning of the area, and set the count of lost records to 0."""
        state = self._state
        state.trace_next, state.trace_lost, state.trace_status = state.trace_spill, 0, 0

    def take(self, head: tuple[int, ...], counters: Sequence[int]) -> None:
        """Write a record: `head`, then the counters.

        `head` is core, group, loop, first instruction, number of instructions. If an area is set
        but has no room, the record counts as lost. Raises `Fault` if the area is not in memory.
        """
        state = self._state
        place, end = state.trace_next, state.trace_spill_end
        if place + RECORD.size <= end:
            try:
                record = _PACK(*head, *counters)
            except error:  # if a value has more than 32 bits
                record = _PACK(*(value & ALL for value in head), *register_values(counters))
            self._write(place, record)
            state.trace_next = place + RECORD.size
        elif state.trace_spill < end:
            state.trace_status = FULL
            state.trace_lost += 1
        # If there is no area, only the registers show the record, until the next record.
