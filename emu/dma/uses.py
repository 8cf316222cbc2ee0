"""Uses of a transfer: collects its accesses and waits, for the report to the trace block."""

from __future__ import annotations

from collections.abc import Mapping

from macaw.emu.trace import BEFORE, TraceBlock


class TransferUses:
    """The uses of the running transfer: the count, first start and last end of each occurrence."""

    def __init__(self) -> None:
        self._uses: dict[str, tuple[str, int, int, int]] = {}
        self.begin = (
            # the cycle in which the transfer started; `BEFORE` if the trace block has that cycle
            # already
            BEFORE
        )

    def add(self, what: str, time: int, until: int, count: int) -> None:
        """Add `count` occurrences of `what`, a name of `macaw.isa.trace.OCCURRENCES`.

        They last from cycle `time` up to (excluding) cycle `until`.
        """
        earlier = self._uses.get(what)
        if earlier is not None:
            time, count = earlier[1], earlier[3] + count
            until = until if until > earlier[2] else earlier[2]
        self._uses[what] = what, time, until, count

    def repeat(self, counts: Mapping[str, int], delay: int) -> None:
        """Add the numbers in `counts`, and move the ends of these occurrences by `delay` cycles.

        `counts` has the number of further occurrences by name. The last of them ends `delay` cycles
        after the last one so far. Each occurrence in `counts` must have been added since the last
        `flush`.
        """
        for what, more in counts.items():
            if more:
                _, time, until, count = self._uses[what]
                self._uses[what] = what, time, until + delay, count + more

    def flush(self, trace: TraceBlock, number: int, until: int) -> None:
        """Report all uses to the trace block as uses of transfer number `number`, and clear them.

        `until` is the first cycle after the transfer, or 0 if it has not ended.
        """
        uses, begin = list(self._uses.values()), self.begin
        self.clear()
        trace.report(number, uses, until, begin)

    def clear(self) -> None:
        """Drop all uses."""
        self._uses.clear()
        self.begin = BEFORE
