"""Records of repeats of a `fim`: batches that were done at once, and repeats to be reported."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace

from macaw.emu.rules.fim_circuits import Latency

# `count` occurrences (`macaw.isa.trace.OCCURRENCES`) between two cycles: name, begin, until, count.
Use = tuple[str, int, int, int]

UNKNOWN = -1  # the number of a word that the trace does not know


@dataclass(slots=True)
class Batch:
    """Repeats of a `fim` that were done at once.

    The first was done in cycle `at`; the others follow at a distance of `period` cycles.
    """

    at: int
    period: int
    count: int
    waits: int  # cycles that each but the first waited for constraints of the memory
    latency: Latency


@dataclass(slots=True)
class PendingRepeats:
    """Repeats of a `fim` that are done but not yet reported to the trace.

    The first was requested for cycle `requested` and done in cycle `at`. The others follow at a
    distance of `period` cycles. Each of them is requested `step` cycles after the previous repeat
    was done. All repeats have the same numbers of reads, writes, products and passes of the ALUs.
    The result of a repeat is ready `result` cycles after the repeat was done.
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
        """Return the fields in order, as a plain value for a snapshot."""
        return astuple(self)

    def count_before(self, time: int) -> int:
        """Return how many of the repeats are requested for a cycle before `time`."""
        if self.requested >= time:
            return 0
        later = time - self.at - self.step  # of the second one, from which on they are even
        if self.count == 1 or later <= 0:
            return 1
        return min(self.count, 1 - -later // self.period)

    @property
    def last_requested(self) -> int:
        """The cycle for which the last repeat is requested."""
        if self.count == 1:
            return self.requested
        return self.at + (self.count - 2) * self.period + self.step

    def split(self, count: int) -> tuple[PendingRepeats, PendingRepeats]:
        """Return the first `count` repeats and the rest, as two records."""
        at = self.at + count * self.period
        first = replace(self, count=count, until=0)
        requested, left = at - self.period + self.step, self.count - count
        rest = replace(self, requested=requested, at=at, count=left, first_waits=self.waits)
        return first, rest

    def uses(self) -> list[Use]:
        """Return the uses that all these repeats report to the trace."""
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
    """Return what repeats of a `fim` use, for the trace, as tuples (name, begin, end, count).

    `kind` is "reads" or "writes". `times` has four cycles: those in which the first repeat was
    requested, the first repeat was done, the last repeat was done, and the result of the last
    repeat is ready. The other arguments are counts for all repeats together.
    """
    requested, at, last, until = times
    uses = [(kind, at, last, accesses)] if accesses else []
    if products:
        uses.append(("unit", at, until, products))
        uses.append(("array", at, until, passes))
    if waits:
        uses.append((f"{kind}_blocked", requested, last, waits))
    return uses
