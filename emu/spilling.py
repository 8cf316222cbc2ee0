"""The spill area: the region of memory to which a trace block writes its records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import Struct, error

from macaw.emu.pages import PAGE, SHIFT, WRITTEN, Pages
from macaw.emu.recordings import register_values
from macaw.emu.state import State
from macaw.isa.trace import ALL, FULL, RECORD

# Writes bytes to an address. Returns the memory that contains the address, and the offset of the
# address in it; None if all records must be written by this function. Raises `Fault` if no memory
# contains all bytes.
Write = Callable[[int, bytes], tuple[Pages, int] | None]

_SIZE = RECORD.size
_STRUCT = Struct(f"<{len(RECORD.members)}I")  # all members are u32
_PACK, _PACK_INTO = _STRUCT.pack, _STRUCT.pack_into


class Spill:
    """A spill area, to which records are written one after the other while there is room.

    `state` has the fields of `macaw.emu.recordings.fields`. `write` is a function that writes bytes
    to memory and takes no simulated time.
    """

    def __init__(self, state: State, write: Write) -> None:
        self._state = state
        self._write = write
        # The page of the last record: its first address, its bytes, the marks of its memory
        # (`Pages.marks`) and its number among them. `_end` is the first address after both the page
        # and the area; 0 if the page is not known.
        self._begin = self._end = self._page = 0
        self._bytes = memoryview(b"")
        self._marks = bytearray()

    def empty(self) -> None:
        """Go back to the beginning of the area, and set the count of lost records to 0."""
        state = self._state
        state.trace_next, state.trace_lost, state.trace_status = state.trace_spill, 0, 0
        self.forget_page()

    def forget_page(self) -> None:
        """Forget the memory page of the last record, because the area in the state has changed.

        The next record then looks up its page again.
        """
        self._end = 0

    def take(self, head: tuple[int, ...], counters: Sequence[int]) -> None:
        """Write a record: `head`, then the counters.

        `head` is core, group, loop, first instruction, number of instructions. If an area is set
        but has no room, the record counts as lost. Raises `Fault` if the area is not in memory.
        """
        state = self._state
        place = state.trace_next
        following = place + _SIZE
        if following <= self._end and self._marks[self._page] == WRITTEN:
            try:
                _PACK_INTO(self._bytes, place - self._begin, *head, *counters)
            except error:  # a value has more than 32 bits
                head, counters = _in_32_bits(head), register_values(counters)
                _PACK_INTO(self._bytes, place - self._begin, *head, *counters)
            state.trace_next = following
        elif following <= state.trace_spill_end:
            record = _PACK(*_in_32_bits(head), *register_values(counters))
            self._find_page(place, self._write(place, record))
            state.trace_next = following
        elif state.trace_spill < state.trace_spill_end:
            state.trace_status = FULL
            state.trace_lost += 1
        # If there is no area, only the registers show the record, until the next record.

    def _find_page(self, place: int, found: tuple[Pages, int] | None) -> None:
        """Remember the memory page that contains the end of a record, for those that follow it.

        The record is at the address `place`; `found` is what `_write` returned for it.
        """
        if found is not None:
            pages, offset = found
            self._page = offset + _SIZE - 1 >> SHIFT
            first = self._page << SHIFT
            self._bytes = pages.bytes[first : min(first + PAGE, pages.size)]
            self._marks = pages.marks
            self._begin = place - offset + first
            self._end = min(self._begin + len(self._bytes), self._state.trace_spill_end)


def _in_32_bits(head: tuple[int, ...]) -> tuple[int, ...]:
    """Return the low 32 bits of each number of a record's head."""
    return tuple(value & ALL for value in head)
