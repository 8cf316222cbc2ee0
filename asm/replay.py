"""Repeats the bytes of a macro call or of a repetition's round, without reading its text again.

This is possible if the expansion is pure: its bytes depend only on its text. A pure expansion uses
no symbol, no address and no number of a macro call, and it defines and reports nothing. The same
text then gives the same bytes at each position with the same alignment.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

from macaw.asm.assembly_state import AssemblyState
from macaw.asm.layout import Area
from macaw.asm.macro import Macro
from macaw.asm.operand_encoder import WORD_BYTES
from macaw.asm.source import SourceText
from macaw.isa.lazy_dataclass import dataclass

_MOST_BYTES = 1 << 24  # of all recordings of a source


@dataclass(frozen=True, slots=True)
class Counts:
    """The macro calls, lines and characters read so far, and the depth of nested texts."""

    calls: int
    lines: int
    characters: int
    depth: int


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """The state at the start of an expansion.

    `size` is the size of the area in bytes, `rows` the number of rows in the line table. `deepest`
    is the greatest depth of nested texts in the recording that contains this one.
    """

    area: Area
    size: int
    rows: int
    effects: int
    instructions: int
    counts: Counts
    deepest: int


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """The effects of a pure expansion: its bytes, its rows of the line table, and its costs.

    `offsets` has the offset of each row, in bytes from the start of the expansion. `spent` are the
    costs for the budget; the depth in it is the greatest depth of nested texts.
    """

    data: bytes
    offsets: Sequence[int]
    has_instructions: bool
    spent: Counts


@dataclass(frozen=True, slots=True, eq=False)
class Expansion:
    """A macro call with the values of its parameters, and the state at its start."""

    macro: Macro
    values: tuple[str, ...]
    mark: Mark


@dataclass(eq=False)
class Replay:
    """The recordings of one source. `takes_words` tells whether instructions can come next."""

    state: AssemblyState
    takes_words: Callable[[], bool]

    def __post_init__(self) -> None:
        # By macro, values, area, and the offset modulo a word at which the expansion starts.
        self._recordings: dict[tuple[Macro, tuple[str, ...], Area, int], Recording] = {}
        self._bytes = 0

    def _effects(self) -> int:
        return self.state.effects + self.state.report.events

    def mark(self, counts: Counts, deepest: int) -> Mark | None:
        """Return the current state; None if no expansion can be recorded here."""
        if self.state.record is not None or not self.takes_words():
            return None
        area, rows = self.state.area, len(self.state.line_table)
        state = self.state
        return Mark(area, area.size, rows, self._effects(), state.instructions, counts, deepest)

    def recording(self, mark: Mark, counts: Counts, deepest: int) -> Recording | None:
        """Return what the assembler has added since `mark`; None if that was not pure."""
        area, before = mark.area, mark.counts
        if self._effects() != mark.effects:
            return None
        spent = Counts(
            counts.calls - before.calls,
            counts.lines - before.lines,
            counts.characters - before.characters,
            deepest - before.depth,
        )
        offsets = self.state.line_table.offsets(mark.rows)
        offsets = array("I", [offset - mark.size for offset in offsets])
        has_instructions = self.state.instructions > mark.instructions
        return Recording(bytes(area.data[mark.size :]), offsets, has_instructions, spent)

    def keep(self, expansion: Expansion, recording: Recording) -> None:
        """Store the effects of an expansion, for later calls with the same values."""
        self._bytes += len(recording.data) + 4 * len(recording.offsets)
        if self._bytes > _MOST_BYTES:
            self.forget()
        mark = expansion.mark
        key = expansion.macro, expansion.values, mark.area, mark.size % WORD_BYTES
        self._recordings[key] = recording

    def find(self, macro: Macro, values: tuple[str, ...]) -> Recording | None:
        """Return the recording of a macro call, if it is valid at the end of the current area."""
        area = self.state.area
        recording = self._recordings.get((macro, values, area, area.size % WORD_BYTES))
        if recording is None or not self._can_put(recording, 1):
            return None
        return recording

    def forget(self) -> None:
        """Discard all recordings, because the meaning of a macro has changed."""
        self._recordings.clear()
        self._bytes = 0

    def _can_put(self, recording: Recording, times: int) -> bool:
        size = self.state.area.size + times * len(recording.data)
        return self.takes_words() and size <= self.state.device.external_bytes

    def put(self, recording: Recording, source: SourceText, place: int) -> None:
        """Append a recording's bytes to the current area.

        In the line table, they belong to the offset `place` of `source`.
        """
        area = self.state.area
        offsets = [area.size + offset for offset in recording.offsets]
        self.state.line_table.add_rows(area, offsets, source, [place] * len(offsets))
        area.data += recording.data

    def can_repeat(self, recording: Recording, rounds: int) -> bool:
        """Return whether `rounds` more rounds directly after the recorded one give equal bytes.

        For this, each round must begin at the same alignment, and all must fit into the area.
        """
        keeps_alignment = len(recording.data) % WORD_BYTES == 0 or not recording.has_instructions
        return keeps_alignment and self._can_put(recording, rounds)

    def repeat(self, mark: Mark, recording: Recording, rounds: int) -> None:
        """Add the round that was recorded since `mark` again, `rounds` times."""
        self.state.line_table.repeat(mark.rows, rounds, len(recording.data))
        mark.area.data += recording.data * rounds
