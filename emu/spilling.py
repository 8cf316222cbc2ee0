"""The spill area: the region of memory to which a trace block writes its records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from struct import Struct, error

from macaw.emu.pages import SHIFT, WRITTEN, Pages
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

    `core` is the number of the core that the records are about. `state` has the fields of
    `macaw.emu.recordings.fields`. `write` is a function that writes bytes to memory and takes no
    simulated time.
    """

    def __init__(self, core: int, state: State, write: Write) -> None:
        self._core = core
        self._state = state
        self._write = write
        # The memory of the last record: its first address, its bytes, and the marks of its pages.
        # `_end` is the first address after both the memory and the area; 0 if the memory is not
        # known.
        self._begin = self._end = 0
        self._pages: Pages
        self._bytes = memoryview(b"")
        self._marks = bytearray()

    def empty(self) -> None:
        """Go back to the beginning of the area, and set the count of lost records to 0."""
        state = self._state
        state.trace_next, state.trace_lost, state.trace_status = state.trace_spill, 0, 0
        self.forget()

    def forget(self) -> None:
        """Forget the memory of the last record, because the area in the state has changed.

        The next record then looks up its memory again.
        """
        self._end = 0

    def take(self, group: int, loop: int, first: int, number: int, counters: Sequence[int]) -> None:
        """Write a record of `number` instructions, from instruction number `first` on.

        `counters` are those of the register group `group`. In auto mode `loop` is the number of
        the group's start, from 0; in mark mode it is 0. If an area is set but has no room, the
        record counts as lost. Raises `Fault` if the area is not in memory.
        """
        state = self._state
        place = state.trace_next
        following = place + _SIZE
        if following <= self._end:
            at, marks = place - self._begin, self._marks
            try:
                _PACK_INTO(self._bytes, at, self._core, group, loop, first, number, *counters)
            except error:  # a value has more than 32 bits
                head = _in_32_bits(self._core, group, loop, first, number)
                _PACK_INTO(self._bytes, at, *head, *register_values(counters))
            if marks[at >> SHIFT] != WRITTEN or marks[at + _SIZE - 1 >> SHIFT] != WRITTEN:
                self._pages.mark_rows(at, _SIZE, 1, 0)
            state.trace_next = following
        elif following <= state.trace_spill_end:
            head = _in_32_bits(self._core, group, loop, first, number)
            record = _PACK(*head, *register_values(counters))
            found = self._write(place, record)
            if found is not None:
                self._remember(place, *found)
            state.trace_next = following
        elif state.trace_spill < state.trace_spill_end:
            state.trace_status = FULL
            state.trace_lost += 1
        # If there is no area, only the registers show the record, until the next record.

    def _remember(self, place: int, pages: Pages, offset: int) -> None:
        """Remember the memory of a record, so that later records need no look-up of theirs.

        The record is at the address `place`, which is at `offset` in the memory.
        """
        self._pages, self._bytes, self._marks = pages, pages.bytes, pages.marks
        self._begin = place - offset
        self._end = min(self._begin + pages.size, self._state.trace_spill_end)


def _in_32_bits(*head: int) -> Iterable[int]:
    """Return the low 32 bits of each number of a record's head."""
    return [value & ALL for value in head]
