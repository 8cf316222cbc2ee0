"""What a transfer uses: collects its accesses and waits, for the report to the trace block."""

from __future__ import annotations

from collections.abc import Mapping

from macaw.emu.trace import BEFORE, TraceBlock


class TransferUses:
    """For each kind of event of the running transfer: the count, the first start, the last end."""

    def __init__(self) -> None:
        self._uses: dict[str, tuple[str, int, int, int]] = {}
        self.begin = (
            # the cycle in which the transfer started; `BEFORE` if the trace block has that cycle
            # already
            BEFORE
        )

    def add(self, what: str, time: int, until: int, count: int) -> None:
        """Add `count` events of the kind `what`, a name of `macaw.isa.trace.OCCURRENCES`.

        They last from cycle `time` up to (excluding) cycle `until`.
        """
        earlier = self._uses.get(what)
        if earlier is not None:
            time, count = earlier[1], earlier[3] + count
            until = until if until > earlier[2] else earlier[2]
        self._uses[what] = what, time, until, count

    def repeat(self, counts: Mapping[str, int], delay: int) -> None:
        """Add events of kinds that have occurred before; the last of them end later.

        `counts` has the number of further events of each kind. The last end of each of these kinds
        moves by `delay` cycles. Each kind in `counts` must have been added since the last `flush`.
        """
        for what, more in counts.items():
            if more:
                _, time, until, count = self._uses[what]
                self._uses[what] = what, time, until + delay, count + more

    def flush(self, trace: TraceBlock, number: int, until: int) -> None:
        """Report all events to the trace block as those of transfer `number`, and clear them.

        `until` is the first cycle after the transfer, or 0 if it has not ended.
        """
        uses, begin = list(self._uses.values()), self.begin
        self.clear()
        trace.report(number, uses, until, begin)

    def clear(self) -> None:
        """Drop all events."""
        self._uses.clear()
        self.begin = BEFORE
