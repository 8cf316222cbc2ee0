"""Repeats of a `fim` as times: those done at once, and those that the trace has yet to learn."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace

from macaw.emu.rules.fim_circuits import Latency

# `count` occurrences (`macaw.isa.trace.OCCURRENCES`) between two cycles: name, begin, until, count.
Use = tuple[str, int, int, int]

UNKNOWN = -1  # the number of a word that the trace does not know


@dataclass(slots=True)
class Batch:
    """Repeats of a fim that were done at once: the first in cycle `at`, `period` cycles apart."""

    at: int
    period: int
    count: int
    waits: int  # cycles that each but the first waited for constraints of the memory
    latency: Latency


@dataclass(slots=True)
class PendingRepeats:
    """Repeats of a fim of which the trace does not know yet.

    The first was requested for cycle `requested` and done in cycle `at`; the others follow `period`
    cycles apart, each requested `step` cycles after the one before. All have the same numbers of
    reads, writes, products and passes of the ALUs; results come `result` cycles later.
    """

    requested: int
    at: int
    period: int
    count: int
    step: int
    first_waits: int
    waits: int  # of each of the others
    reads: int
    writes: int
    products: int
    passes: int
    result: int
    until: int  # the word is done; 0: there are more repeats

    def plain(self) -> tuple[int, ...]:
        """Return the fields in order, for a snapshot."""
        return astuple(self)

    def count_before(self, time: int) -> int:
        """Return how many of them are requested for a cycle before `time`."""
        if self.requested >= time:
            return 0
        later = time - self.at - self.step  # of the second one, from which on they are even
        if self.count == 1 or later <= 0:
            return 1
        return min(self.count, 1 - -later // self.period)

    @property
    def last_requested(self) -> int:
        """The cycle for which the last one is requested."""
        if self.count == 1:
            return self.requested
        return self.at + (self.count - 2) * self.period + self.step

    def split(self, count: int) -> tuple[PendingRepeats, PendingRepeats]:
        """Return the first `count` of them, and the others."""
        at = self.at + count * self.period
        first = replace(self, count=count, until=0)
        requested, left = at - self.period + self.step, self.count - count
        rest = replace(self, requested=requested, at=at, count=left, first_waits=self.waits)
        return first, rest

    def uses(self) -> list[Use]:
        """Return what all of them use."""
        count, last = self.count, self.at + (self.count - 1) * self.period
        return repeat_uses(
            "writes" if self.writes else "reads",
            (self.requested, self.at, last, last + self.result),
            count * (self.reads + self.writes),
            count * self.products,
            count * self.passes,
            self.first_waits + (count - 1) * self.waits,
        )


def repeat_uses(
    kind: str, times: tuple[int, ...], accesses: int, products: int, passes: int, waits: int
) -> list[Use]:
    """Return what repeats of a fim use.

    `times` are the cycles in which the first repeat was requested, the first was done, the last was
    done, and the result of the last is ready.
    """
    requested, at, last, until = times
    uses = [(kind, at, last, accesses)] if accesses else []
    if products:
        uses.append(("unit", at, until, products))
        uses.append(("array", at, until, passes))
    if waits:
        uses.append((f"{kind}_blocked", requested, last, waits))
    return uses
