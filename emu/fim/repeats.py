"""Records of repeats of a `fim`: batches done at once, and repeats yet to be reported."""

from __future__ import annotations

from macaw.isa.typed_records import NamedTuple

# Occurrences (`macaw.isa.trace.OCCURRENCES`): name, first cycle, end, number of occurrences.
Use = tuple[str, int, int, int]

UNKNOWN = -1  # stands for the number of a word that the trace does not know


class Batch(NamedTuple):
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
    number: int  # of repeats
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
        return tuple(self)

    def count_before(self, time: int) -> int:
        """Return how many of the repeats are requested for a cycle before `time`."""
        if self.requested >= time:
            return 0
        # the cycle for which the second repeat is requested; later ones follow regularly
        later = time - self.at - self.step
        if self.number == 1 or later <= 0:
            return 1
        return min(self.number, 1 - -later // self.period)

    @property
    def last_requested(self) -> int:
        """The cycle for which the last repeat is requested."""
        requested, at, period, number, step = self[:5]
        return requested if number == 1 else at + (number - 2) * period + step

    def split(self, count: int) -> tuple[Batch, Batch]:
        """Return the first `count` repeats and the rest, as two records."""
        at = self.at + count * self.period
        first = self._replace(number=count, until=0)
        requested, left = at - self.period + self.step, self.number - count
        rest = self._replace(requested=requested, at=at, number=left, first_waits=self.waits)
        return first, rest

    def uses(self) -> list[Use]:
        """Return all uses that these repeats report to the trace."""
        (requested, at, period, number, _, first_waits, waits, reads, writes, products, passes,
         result, _) = self  # fmt: skip
        last = at + (number - 1) * period
        uses = []
        if writes:
            uses.append(("writes", at, last, number * writes))
        elif reads:
            uses.append(("reads", at, last, number * reads))
        if products:
            until = last + result
            uses.append(("unit", at, until, number * products))
            uses.append(("array", at, until, number * passes))
        waits = first_waits + (number - 1) * waits
        if waits:
            uses.append(("writes_blocked" if writes else "reads_blocked", requested, last, waits))
        return uses
