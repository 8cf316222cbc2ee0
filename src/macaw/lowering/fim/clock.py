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

from collections.abc import Hashable, Sequence

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
        # by island: the rows of the constants that stay in its banks, by `Residency.key`
        self.resident: dict[int, dict[Hashable, int]] = {}
        self.exceeds_rows = False
        # by `Option.placed`: the step that has copied these constants into the banks
        self.holders: dict[Hashable, int] = {}
        self.islands: dict[int, tuple[int, int]] = {}  # end of the last blocks, and their banks

    def copy(self) -> Clock:
        """Return an independent copy of the clock."""
        clock = Clock()
        clock.cp, clock.dma, clock.islands = self.cp, self.dma, dict(self.islands)
        clock.resident = {island: dict(rows) for island, rows in self.resident.items()}
        clock.exceeds_rows, clock.holders = self.exceeds_rows, dict(self.holders)
        return clock

    @property
    def copies_end(self) -> int:
        """The cycle from which the dma can make the next copy."""
        return max(self.cp, self.dma)

    @property
    def end(self) -> int:
        """The cycle from which cp, the dma and all islands are free.

        It is `NEVER` if the constants that stay need more rows than are reserved for them.
        """
        if self.exceeds_rows:
            return NEVER
        return max(self.cp, self.dma, *(end for end, _ in self.islands.values()), 0)

    def reserve(self, option: Option) -> None:
        """Count the rows in the banks that an option reserves, if its constants stay there."""
        residency = option.residency
        if residency is not None and option.island is not None:
            rows = self.resident.setdefault(option.island, {})
            rows[residency.key] = residency.rows
            self.exceeds_rows |= sum(rows.values()) > residency.budget

    def free(self, option: Option) -> int:
        """Return the cycle from which no block runs in the banks of an option; 0 if none has run.

        The dma can access the banks from this cycle on.
        """
        end, banks = self.islands.get(option.island or 0, (0, 0))
        return end if banks & option.banks else 0

    def bring(self, option: Option, constants: bool = True) -> tuple[int, int]:
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
        self.islands[option.island] = begin + option.compute, option.banks
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


class Track:
    """The steps issued so far, in order, with the actions that they need."""

    def __init__(self, eager: bool = False) -> None:
        self.clock = Clock()
        self.eager = eager  # whether to fetch results that are ready before the next step
        self.actions: list[Action] = []
        self.options: list[Option] = []  # the option of each step
        self.coming: list[Option] = []  # also those of next steps, if known
        self.has_constants = False  # whether copies bring constants for one of these steps
        self.early: set[int] = set()  # numbers of the steps whose constants are copied in advance
        # by the number of a step: the step that has copied the constants into the banks
        self.holders: dict[int, int] = {}
        self.issued: list[Option] = []  # each option once, also if several islands share it
        self.ends: list[int] = []  # the cycle in which the blocks of each step end
        self.pending: list[int] = []  # numbers of the steps whose results are still in banks
        # by the name of a memory: the indices that steps write (first, end), and the steps' numbers
        self.makers: dict[str, tuple[tuple[int, int, range], ...]] = {}

    def copy(self) -> Track:
        """Return an independent copy of the track."""
        track = Track(self.eager)
        track.clock, track.makers = self.clock.copy(), dict(self.makers)
        track.early, track.holders = set(self.early), dict(self.holders)
        track.has_constants = self.has_constants
        for name in ("actions", "options", "coming", "issued", "ends", "pending"):
            setattr(track, name, list(getattr(self, name)))
        return track

    def issue(self, option: Option) -> None:
        """Append a step: fetch the earlier results that it needs, copy its inputs, start it.

        If several islands share the option, append a step for each of them.
        """
        self.issued.append(option)
        first = len(self.options)
        if first == len(self.coming):
            self.expect(option.parts or (option,))
        for part in option.parts or (option,):
            self._issue_part(part)
        steps = range(first, len(self.options))
        for name, low, high in option.writes:
            self.makers[name] = (*self.makers.get(name, ()), (low, high, steps))

    def expect(self, options: Sequence[Option]) -> None:
        """Append options of later steps to `coming`. Their constants can then be copied early."""
        self.coming += options
        self.has_constants |= any(option.constants for option in options)

    def _issue_part(self, option: Option) -> None:
        self.fetch_needed(option)
        number = len(self.options)
        if self.has_constants and option.bring:
            self._prefetch(self.clock.free(option))
        if number not in self.early and self._holds(option):
            self.holders[number] = self.clock.holders[option.placed]
        there = number in self.early or number in self.holders
        self.clock.reserve(option)
        self.options.append(option)
        if option.island is None:
            self._add(HOST, number, self.clock.host(option))
            self.ends.append(self.actions[-1].end)
            return
        inputs_at = self._add(BRING, number, self.clock.bring(option, not there))
        if option.constants:
            self.clock.holders.setdefault(option.placed, number)
        if self.has_constants:
            self._prefetch(self.clock.islands.get(option.island, (0, 0))[0], needed=False)
        self.ends.append(self._add(START, number, self.clock.start(option, inputs_at)))
        self.pending.append(number)

    def fetch_needed(self, option: Option) -> None:
        """Fetch the results that an option reads, and results that are still in the option's banks.

        The option's copies would overwrite these. If `eager`, fetch all other results that are
        ready, too.
        """
        if not self.pending:
            return
        sources = {
            step
            for name, first, end in option.reads
            for low, high, steps in self.makers.get(name, ())
            if first < high and low < end
            for step in steps
        }
        for step in list(self.pending):
            other = self.options[step]
            same_banks = other.island == option.island and other.banks & option.banks
            is_over = self.eager and self.ends[step] <= max(self.clock.cp, self.clock.dma)
            if step in sources or same_banks or is_over:
                self.fetch(step)

    def fetch(self, step: int) -> None:
        """Account for the copy of the results of step number `step` out of the island's banks."""
        if self.has_constants:
            self._prefetch(self.clock.free(self.options[step]))
        self.pending.remove(step)
        self._add(FETCH, step, self.clock.fetch(self.options[step]))

    def _holds(self, option: Option) -> bool:
        """Return whether an earlier step has copied an option's constants into the same places."""
        return option.constants > 0 and option.placed in self.clock.holders

    def _prefetch(self, until: int, needed: bool = True) -> None:
        """Copy constants of the next steps if the dma would wait until cycle `until`.

        `needed` says whether the next step needs what the dma waits for. If so, the constants of
        the next step are copied even if the copies end after `until`. The constants of any other
        step are copied only if their copies end by cycle `until`.
        """
        clock, first = self.clock, len(self.options)
        if clock.cp >= until or clock.dma >= until:
            return
        for number in range(first, min(first + AHEAD, len(self.coming))):
            option, time = self.coming[number], clock.copies_end
            if time >= until:
                return
            if not option.constants or number in self.early or self._holds(option):
                continue
            if clock.islands.get(option.island or 0, (0, 0))[0] > time:
                continue  # blocks run there
            if (needed and number == first) or time + option.constants <= until:
                self.early.add(number)
                self._add(PREFETCH, number, clock.prefetch(option))
                clock.holders[option.placed] = number

    def finish(self) -> int:
        """Fetch all remaining results, the earliest first; return the end of the plan.

        It is the cycle `Clock.end`, from which cp, the dma and all islands are free.
        """
        for step in sorted(self.pending, key=lambda step: self.ends[step]):
            self.fetch(step)
        return self.clock.end

    def _add(self, kind: str, step: int, times: tuple[int, int]) -> int:
        self.actions.append(Action(kind, step, *times))
        return times[1]


def simulate(options: Sequence[Option]) -> Track:
    """Return the track of steps in the given order, with all their actions.

    Results may be fetched late (when another step needs them) or early (as soon as they are ready).
    The function tries both and returns the track that ends sooner.
    """
    tracks = Track(), Track(eager=True)
    parts = [part for option in options for part in option.parts or (option,)]
    for track in tracks:
        track.expect(parts)
        for option in options:
            track.issue(option)
        track.finish()
    return min(tracks, key=lambda track: track.clock.end)
