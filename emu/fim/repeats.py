"""Records of repeats of a `fim`: batches done at once, and repeats yet to be reported."""

from __future__ import annotations

from dataclasses import astuple, replace

from macaw.isa.lazy_dataclass import dataclass

# Occurrences (`macaw.isa.trace.OCCURRENCES`): name, first cycle, end, number of occurrences.
Use = tuple[str, int, int, int]

UNKNOWN = -1  # stands for the number of a word that the trace does not know


@dataclass(slots=True)
class Batch:
    """Repeats of a `fim` that the engine has done at once.

    The first repeat was requested for cycle `requested` and done in cycle `at`. Each further repeat
    was done `period` cycles after the previous one, and was requested for the cycle `step` cycles
    after the previous one was done. All repeats have the same numbers of reads, writes, products
    and passes of the ALUs. The result of a repeat is ready `result` cycles after the repeat was
    done. The first repeat waited `first_waits` cycles, each further one `waits` cycles; both are
    sums over all banks. The word is done in cycle `until`; this is 0 if more repeats follow.
    """

    requested: int
    at: int
    period: int
    count: int  # the number of repeats
    step: int
    first_waits: int
    waits: int
    reads: int  # of columns, by each repeat
    writes: int  # of columns, by each repeat
    products: int  # of each repeat
    passes: int  # of each repeat
    result: int
    until: int

    def plain(self) -> tuple[int, ...]:
        """Return the fields in order, as a plain value for a snapshot."""
        return astuple(self)

    def count_before(self, time: int) -> int:
        """Return how many of the repeats are requested for a cycle before `time`."""
        if self.requested >= time:
            return 0
        # the cycle for which the second repeat is requested; later ones follow regularly
        later = time - self.at - self.step
        if self.count == 1 or later <= 0:
            return 1
        return min(self.count, 1 - -later // self.period)

    @property
    def last_requested(self) -> int:
        """The cycle for which the last repeat is requested."""
        if self.count == 1:
            return self.requested
        return self.at + (self.count - 2) * self.period + self.step

    def split(self, count: int) -> tuple[Batch, Batch]:
        """Return the first `count` repeats and the rest, as two records."""
        at = self.at + count * self.period
        first = replace(self, count=count, until=0)
        requested, left = at - self.period + self.step, self.count - count
        rest = replace(self, requested=requested, at=at, count=left, first_waits=self.waits)
        return first, rest

    def uses(self) -> list[Use]:
        """Return all uses that these repeats report to the trace."""
        at, count = self.at, self.count
        last = at + (count - 1) * self.period
        kind, columns = ("writes", self.writes) if self.writes else ("reads", self.reads)
        uses = [(kind, at, last, count * columns)] if columns else []
        if self.products:
            until = last + self.result
            uses.append(("unit", at, until, count * self.products))
            uses.append(("array", at, until, count * self.passes))
        waits = self.first_waits + (count - 1) * self.waits
        if waits:
            uses.append((f"{kind}_blocked", self.requested, last, waits))
        return uses
