"""Predicts when the actions of a plan begin and end.

The model has one cp, one dma and the islands:

- cp issues the actions in order. It queues copies at the dma, which does them one after the other.
- `start` waits for the inputs of its step and for the island.
- A copy to or from banks with running blocks waits for these blocks. All copies after it wait, too
  (docs/timing-fim.md).
- The results of a step are fetched before other data are copied into its banks, and before the
  inputs of a step that reads them are copied.
- Constants can be copied earlier: while the dma would wait for blocks, it copies constants of later
  steps to other islands (`PREFETCH`). They have rows of their own (`macaw.lowering.fim.prefetch`).
  A later step of the same island with the same constants in the same places uses them again.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from macaw.lowering.fim.plan import BRING, FETCH, HOST, PREFETCH, START, Action, Option

AHEAD = 8  # the constants of so many steps are candidates for a copy while the dma would wait
NEVER = 1 << 50  # the end of a plan whose constants exceed the rows of an island


class Clock:
    """The predicted cycles from which cp, the dma and each island are free.

    An option (`plan.Option`) is a way to do one or several tasks in a step of the plan, with its
    cycles. `bring`, `start` and similar methods execute nothing: they only move the predicted
    cycles on.
    """

    def __init__(self) -> None:
        self.cp = self.dma = 0
        # Copies of a clock share these dictionaries, so a change makes a new dictionary.
        # by island: the rows of the constants that stay in its banks, by `Residency.key`
        self.resident: Mapping[int, Mapping[Hashable, int]] = {}
        self.exceeds_rows = False
        # by `Option.placed`: the step that has copied these constants into the banks
        self.holders: Mapping[Hashable, int] = {}
        # by island: the end of the last blocks, and their banks
        self.islands: Mapping[int, tuple[int, int]] = {}

    def copy(self) -> Clock:
        """Return an independent copy of the clock."""
        clock = Clock()
        clock.cp, clock.dma, clock.islands = self.cp, self.dma, self.islands
        clock.resident, clock.exceeds_rows = self.resident, self.exceeds_rows
        clock.holders = self.holders
        return clock

    @property
    def copies_end(self) -> int:
        """The cycle from which the dma can make the next copy."""
        return max(self.cp, self.dma)

    @property
    def free_from(self) -> int:
        """The cycle from which cp, the dma and all islands are free."""
        return max(self.cp, self.dma, *(end for end, _ in self.islands.values()))

    @property
    def end(self) -> int:
        """The cycle `free_from`, but `NEVER` if constants that stay need too many rows.

        They need too many if they need more rows than are reserved for them.
        """
        return NEVER if self.exceeds_rows else self.free_from

    def reserve(self, option: Option) -> None:
        """Count the rows in the banks that an option reserves, if its constants stay there."""
        residency = option.residency
        if residency is not None and option.island is not None:
            rows = self.resident.get(option.island, {})
            if residency.key not in rows:
                rows = {**rows, residency.key: residency.rows}
                self.resident = {**self.resident, option.island: rows}
                self.exceeds_rows |= sum(rows.values()) > residency.budget

    def free(self, option: Option) -> int:
        """Return the cycle from which no block runs in the banks of an option; 0 if none has run.

        The dma can access the banks from this cycle on.
        """
        end, banks = self.islands.get(option.island or 0, (0, 0))
        return end if banks & option.banks else 0

    def bring(self, option: Option, constants: bool) -> tuple[int, int]:
        """Copy the inputs of an option into its banks; return the cycles of the start and the end.

        If `constants` is False, the constants are in the banks already. If there are no inputs to
        copy, the end is the cycle in which all earlier copies are done: these may still move
        results out of the option's banks, so the blocks have to wait for them.
        """
        there = 0 if constants else option.constants
        if option.bring == there:
            return self.cp, max(self.cp, self.dma)
        wait = option.bring_queue_wait - there
        return self._bring(option, option.bring - there, max(0, wait))

    def prefetch(self, option: Option) -> tuple[int, int]:
        """Copy the constants of an option into its banks; return the cycles of start and end."""
        return self._bring(option, option.constants, option.constants_queue_wait)

    def _bring(self, option: Option, cycles: int, queue_wait: int) -> tuple[int, int]:
        self.cp += option.issue_copies
        begin = max(self.cp, self.dma)
        first = max(begin, self.free(option))
        self.dma = first + cycles
        if option.island in self.islands:
            self.dma += option.reopen
        self._delay_cp(first, queue_wait)
        return begin, self.dma

    def start(self, option: Option, inputs_at: int) -> tuple[int, int]:
        """Execute the blocks of an option; return the cycles of their start and end.

        `inputs_at` is the cycle from which the inputs are in the banks.
        """
        assert option.island is not None
        self.cp = max(self.cp, inputs_at, self.islands.get(option.island, (0, 0))[0])
        self.cp += option.issue_start
        begin = self.cp
        self.islands = {**self.islands, option.island: (begin + option.compute, option.banks)}
        if option.until_last_start:
            self.cp = begin + option.until_last_start
            self.dma = max(self.dma, self.cp)
        return begin, begin + option.compute

    def fetch(self, option: Option) -> tuple[int, int]:
        """Copy the results of an option out of its banks; return the cycles of start and end."""
        self.cp += option.issue_copies
        begin = max(self.cp, self.dma)
        first = max(begin, self.free(option))
        self.dma = first + option.fetch
        self._delay_cp(first, option.fetch_queue_wait)
        return begin, self.dma

    def host(self, option: Option) -> tuple[int, int]:
        """Do the task of a host's option; return the cycles of its start and end.

        The dma makes the copies. If the task computes, cp waits for them and then computes.
        """
        self.cp += option.issue_copies
        begin = max(self.cp, self.dma)
        if option.bring:
            self.dma = begin + option.bring
        if option.compute:
            self.cp = max(begin, self.dma) + option.compute
        return begin, max(self.cp if option.compute else 0, self.dma)

    def _delay_cp(self, first: int, cycles: int) -> None:
        if cycles:
            self.cp = max(self.cp, first + cycles)


class Waiting(NamedTuple):
    """A step whose results have not been fetched: they are in the banks from cycle `end` on."""

    step: int
    option: Option  # the part of an island, if several share the step's option
    end: int  # the cycle in which its blocks end
    writes: tuple[tuple[str, int, int], ...]  # `Option.writes` of the whole option


class Track:
    """The first steps of a plan in order of issue, with their actions and predicted times.

    `issue` appends a step.
    """

    def __init__(self, eager: bool) -> None:
        self.clock = Clock()
        self.eager = eager  # whether to fetch results that are ready before the next step
        self.actions: list[Action] = []
        self.options: list[Option] = []  # the option of each step
        self.issued: list[Option] = []  # each option once, also if several islands share it
        # by the number of a step: the step that has copied the constants into the banks
        self.holders: dict[int, int] = {}
        self.count = 0  # the number of steps
        self.coming: Sequence[Option] = ()  # the options of steps from number `first` on, if known
        self.first = 0
        self.has_constants = False  # whether copies bring constants for one of these steps
        self.early: frozenset[int] = frozenset()  # the steps whose constants are copied in advance
        self.pending: tuple[Waiting, ...] = ()

    def copy(self) -> Track:
        """Return an independent copy of the track."""
        track = self.branch()
        track.actions, track.options = list(self.actions), list(self.options)
        track.issued, track.holders = list(self.issued), dict(self.holders)
        return track

    def branch(self) -> Track:
        """Return a track that continues from the times of this one, without a list of its steps.

        The results that have not been fetched remain known (`pending`). `actions`, `options`,
        `issued` and `holders` of the new track are empty.
        """
        track = Track(self.eager)
        track.clock, track.count = self.clock.copy(), self.count
        track.coming, track.first, track.has_constants = self.coming, self.first, self.has_constants
        track.early, track.pending = self.early, self.pending
        return track

    def issue(self, option: Option) -> None:
        """Append a step: fetch the earlier results that it needs, copy its inputs, start it.

        If several islands share the option, append a step for each of them.
        """
        self.issued.append(option)
        parts = option.parts or (option,)
        if self.count == self.first + len(self.coming):
            self.expect(parts, self.count)
        for part in parts:
            self._issue_part(part, option.writes)

    def expect(self, options: Sequence[Option], first: int) -> None:
        """Store `options`, which are the options of the steps from number `first` on.

        When a step is issued, the track can then copy constants of later steps early.
        """
        self.coming, self.first = options, first
        self.has_constants = any(option.constants for option in options)

    @property
    def state(self) -> tuple[object, ...]:
        """All that determines the times of further steps, in cycles after `Clock.copies_end`.

        If two tracks of equal `eager` have equal states, further steps with the same options take
        the same cycles. The state does not say whether the rows are too few (`Clock.exceeds_rows`).
        """
        clock, now = self.clock, self.clock.copies_end
        return (
            clock.cp - clock.dma,
            # Blocks that have ended delay nothing.
            {
                island: (end - now, banks) if end > now else None
                for island, (end, banks) in clock.islands.items()
            },
            [(id(other.option), other.end - now) for other in self.pending],
            {step - self.count for step in self.early if step >= self.count},
            clock.holders.keys(),
        )

    def _issue_part(self, option: Option, writes: tuple[tuple[str, int, int], ...]) -> None:
        clock, number = self.clock, self.count
        if self.pending:
            self.fetch_needed(option)
        if self.has_constants and option.bring:
            self._prefetch(clock.free(option), needed=True)
        there = number in self.early
        if not there and self._holds(option):
            self.holders[number] = clock.holders[option.placed]
            there = True
        if option.residency is not None:
            clock.reserve(option)
        self.options.append(option)
        self.count += 1
        if option.island is None:
            self._add(HOST, number, clock.host(option))
            return
        inputs_at = self._add(BRING, number, clock.bring(option, not there))
        if option.constants and option.placed not in clock.holders:
            clock.holders = {**clock.holders, option.placed: number}
        if self.has_constants:
            self._prefetch(clock.islands.get(option.island, (0, 0))[0], needed=False)
        end = self._add(START, number, clock.start(option, inputs_at))
        self.pending = (*self.pending, Waiting(number, option, end, writes))

    def fetch_needed(self, option: Option) -> None:
        """Fetch the results that an option reads, and results that are still in the option's banks.

        The option's copies would overwrite these. If `eager`, fetch all other results that are
        ready, too.
        """
        for other in self.pending:
            if self.is_needed(other, option):
                self.fetch(other)

    def is_needed(self, other: Waiting, option: Option) -> bool:
        """Return whether the results of the step `other` must be fetched before `option` is issued.

        They must if the option reads them, or uses the banks in which they are. If the track is
        `eager`, all results that are ready must be fetched.
        """
        if self.eager and other.end <= max(self.clock.cp, self.clock.dma):
            return True
        if other.option.island == option.island and other.option.banks & option.banks:
            return True
        return _overlap(other.writes, option.reads)

    def fetch(self, waiting: Waiting) -> None:
        """Account for the copy of the results of a step out of the island's banks."""
        if self.has_constants:
            self._prefetch(self.clock.free(waiting.option), needed=True)
        self.pending = tuple(other for other in self.pending if other is not waiting)
        self._add(FETCH, waiting.step, self.clock.fetch(waiting.option))

    def _holds(self, option: Option) -> bool:
        """Return whether an earlier step has copied an option's constants into the same places."""
        return option.constants > 0 and option.placed in self.clock.holders

    def _prefetch(self, until: int, needed: bool) -> None:
        """Copy constants of the next steps if the dma would wait until cycle `until`.

        `needed` says whether the next step needs what the dma waits for. If so, the constants of
        the next step are copied even if the copies end after `until`. The constants of any other
        step are copied only if their copies end by cycle `until`.
        """
        clock, next_step = self.clock, self.count
        if clock.cp >= until or clock.dma >= until:
            return
        for number in range(next_step, min(next_step + AHEAD, self.first + len(self.coming))):
            option, time = self.coming[number - self.first], clock.copies_end
            if time >= until:
                return
            if not option.constants or number in self.early or self._holds(option):
                continue
            if clock.islands.get(option.island or 0, (0, 0))[0] > time:
                continue  # blocks run there
            if (needed and number == next_step) or time + option.constants <= until:
                self.early |= {number}
                self._add(PREFETCH, number, clock.prefetch(option))
                clock.holders = {**clock.holders, option.placed: number}

    def finish(self) -> int:
        """Fetch all remaining results, the earliest first; return the end of the plan.

        It is the cycle `Clock.end`, from which cp, the dma and all islands are free.
        """
        for waiting in sorted(self.pending, key=lambda waiting: waiting.end):
            self.fetch(waiting)
        return self.clock.end

    def _add(self, kind: str, step: int, times: tuple[int, int]) -> int:
        self.actions.append(Action(kind, step, *times))
        return times[1]


def _overlap(
    writes: tuple[tuple[str, int, int], ...], reads: tuple[tuple[str, int, int], ...]
) -> bool:
    """Return whether an item of `writes` and an item of `reads` have a number in common.

    An item is (name of a memory, index of the first number, index after the last number).
    """
    for name, low, end in writes:
        for other, first, high in reads:
            if name == other and first < end and low < high:
                return True
    return False


def simulate(options: Sequence[Option]) -> Track:
    """Return the track of steps in the given order, with all their actions.

    Results may be fetched late (when another step needs them) or early (as soon as they are ready).
    The function tries both and returns the track that ends sooner.
    """
    tracks = Track(eager=False), Track(eager=True)
    parts = [part for option in options for part in option.parts or (option,)]
    for track in tracks:
        track.expect(parts, 0)
        for option in options:
            track.issue(option)
        track.finish()
    return min(tracks, key=lambda track: track.clock.end)
