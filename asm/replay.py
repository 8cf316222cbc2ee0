"""Repeats the bytes of a macro call or of a repetition's round, without reading its text again.

This is possible if the expansion is pure: its bytes depend only on its text. A pure expansion uses
no symbol, no address and no counter of macro calls, and it defines and reports nothing. So the same
text gives the same bytes at each position with the same alignment. A round that is not pure can be
repeated if its symbols grow by a constant number (`asm/counted_rounds.py`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

from macaw.asm.assembly_state import AssemblyState
from macaw.asm.counted_rounds import CountedRounds
from macaw.asm.layout import Area
from macaw.asm.macro import Macro
from macaw.asm.operand_encoder import WORD_BYTES
from macaw.asm.round_trace import Entry
from macaw.asm.source import SourceText
from macaw.isa.lazy_dataclass import dataclass

_MOST_BYTES = 1 << 24  # bytes of all recordings of a source


@dataclass(frozen=True, slots=True)
class Counts:
    """The macro calls, lines and characters that a run has read, and the depth of nested texts."""

    calls: int
    lines: int
    characters: int
    depth: int


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """The state of the run at the start of an expansion.

    `size` is the size of `area` in bytes, `rows` the number of rows in the line table. `effects`
    counts the effects so far that cannot be repeated, such as errors; `instructions` counts the
    instructions. `traced` is the length of `trace`. `deepest` is the greatest depth of nested texts
    so far in the expansion around this one.
    """

    area: Area
    size: int
    rows: int
    effects: int
    instructions: int
    counts: Counts
    deepest: int
    trace: list[Entry] | None  # of the round that is being read; None if no round is traced
    traced: int


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """The effects of an expansion: its bytes, its rows of the line table, and its cost (`spent`).

    `offsets` has the offset of each row, in bytes from the start of the expansion. The depth in
    `spent` is the greatest depth of nested texts, counted from the depth at the start. `trace` has
    what the lines of the expansion did with symbols. If it is empty, the bytes depend only on the
    text of the expansion.
    """

    data: bytes
    offsets: Sequence[int]
    has_instructions: bool
    spent: Counts
    trace: Sequence[Entry]


@dataclass(frozen=True, slots=True, eq=False)
class Expansion:
    """A macro call with the values of its parameters, and the state at its start."""

    macro: Macro
    values: tuple[str, ...]
    mark: Mark


@dataclass(eq=False)
class Replay:
    """The recordings of expansions in one source.

    `takes_words` returns whether expansions can be recorded and repeated at the current position.
    """

    state: AssemblyState
    takes_words: Callable[[], bool]

    def __post_init__(self) -> None:
        # By macro, values, area, and the offset modulo a word at which the expansion starts.
        self._recordings: dict[tuple[Macro, tuple[str, ...], Area, int], Recording] = {}
        self._bytes = 0
        self._counted: CountedRounds | None = None  # made by `rounds_again`, for `repeat`

    def _effects(self) -> int:
        return self.state.effects + self.state.report.events

    def mark(self, counts: Counts, deepest: int) -> Mark | None:
        """Return the current state of the run; None if no expansion can be recorded now.

        `counts` and `deepest` are stored in the result.
        """
        if self.state.record is not None or not self.takes_words():
            return None
        area, rows, trace = self.state.area, len(self.state.line_table), self.state.trace
        return Mark(
            area,
            area.size,
            rows,
            self._effects(),
            self.state.instructions,
            counts,
            deepest,
            trace,
            len(trace or ()),
        )

    def begin_trace(self) -> bool:
        """Begin to trace the next round of a repetition: what its lines do with symbols.

        Return False if a round of a repetition around it is traced already.
        """
        if self.state.trace is not None:
            return False
        self.state.trace = []
        return True

    def end_trace(self) -> None:
        """End the trace of a repetition's round."""
        self.state.trace = None

    def recording(self, mark: Mark, counts: Counts, deepest: int) -> Recording | None:
        """Return the bytes, and the rows of the line table, that the run has added since `mark`.

        `counts` are the current counts, `deepest` is the greatest depth of nested texts since
        `mark`. Return None if the expansion also had effects that its trace does not show.
        """
        area, before = mark.area, mark.counts
        if self._effects() != mark.effects or self.state.trace is not mark.trace:
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
        trace = tuple((mark.trace or ())[mark.traced :])
        return Recording(bytes(area.data[mark.size :]), offsets, has_instructions, spent, trace)

    def keep(self, expansion: Expansion, recording: Recording) -> None:
        """Store the recording of a macro call, for later calls with the same values.

        Do nothing if the bytes depend also on symbols, and not only on the text of the expansion.
        """
        if recording.trace:
            return
        self._bytes += len(recording.data) + 4 * len(recording.offsets)
        if self._bytes > _MOST_BYTES:
            self.forget()
        mark = expansion.mark
        key = expansion.macro, expansion.values, mark.area, mark.size % WORD_BYTES
        self._recordings[key] = recording

    def find(self, macro: Macro, values: tuple[str, ...]) -> Recording | None:
        """Return the recording of a macro call with these values; None if it is not valid here."""
        area = self.state.area
        recording = self._recordings.get((macro, values, area, area.size % WORD_BYTES))
        if recording is None or not self._can_put(recording, 1):
            return None
        return recording

    def forget(self) -> None:
        """Discard all recordings.

        This is necessary if the meaning of a macro has changed, or if the recordings take too many
        bytes.
        """
        self._recordings.clear()
        self._bytes = 0

    def _can_put(self, recording: Recording, times: int) -> bool:
        size = self.state.area.size + times * len(recording.data)
        return self.takes_words() and size <= self.state.device.external_bytes

    def put(self, recording: Recording, source: SourceText, place: int) -> None:
        """Append a recording's bytes to the current area.

        In the line table, the bytes belong to the offset `place` of `source`.
        """
        area = self.state.area
        offsets = [area.size + offset for offset in recording.offsets]
        self.state.line_table.add_rows(area, offsets, source, [place] * len(offsets))
        area.data += recording.data

    def rounds_again(self, mark: Mark, recording: Recording, rounds: int) -> int:
        """Return how many of the next `rounds` rounds `repeat` can add after the recorded round.

        The recorded round began at `mark`, and `recording` has its effects. Return 0 if a round
        would begin at another alignment than the recorded one, or if `rounds` rounds do not fit
        into external memory. Otherwise count the rounds before the first one in which a number does
        not fit its field.
        """
        data = recording.data
        keeps_alignment = len(data) % WORD_BYTES == 0 or not recording.has_instructions
        if not (keeps_alignment and self._can_put(recording, rounds)):
            return 0
        if not recording.trace:
            return rounds
        scope, trace = self.state.scope, recording.trace
        self._counted = CountedRounds(scope, mark.area, mark.size, data, trace)
        return self._counted.most(rounds, self.state.watch)

    def repeat(self, mark: Mark, recording: Recording, rounds: int) -> None:
        """Add the effects of the recorded round `rounds` times.

        The recorded round began at `mark`. `rounds` is at most the number that `rounds_again` has
        returned.
        """
        state, data = self.state, recording.data
        if not recording.trace:
            mark.area.data += data * rounds
        elif rounds:
            assert self._counted is not None
            state.fixups += self._counted.add(rounds)
            state.effects += 1  # an outer round that contains these cannot be repeated
        self._counted = None
        state.line_table.repeat(mark.rows, rounds, len(data))
