"""Collects the uses of the running transfer until they are reported to the trace block."""

from __future__ import annotations

from macaw.emu.trace import BEFORE, TraceBlock


class TransferUses:
    """The occurrences of the running transfer by name: their count, first start and last end."""

    def __init__(self) -> None:
        self._uses: dict[str, tuple[str, int, int, int]] = {}
        self.begin = (
            BEFORE  # cycle in which the transfer started; `BEFORE`: the trace block knows it
        )

    def add(self, what: str, time: int, until: int, count: int) -> None:
        """Add `count` occurrences of `what`, a name of `macaw.isa.trace.OCCURRENCES`.

        They last from cycle `time` to before `until`.
        """
        earlier = self._uses.get(what)
        if earlier is not None:
            time, count = earlier[1], earlier[3] + count
            until = until if until > earlier[2] else earlier[2]
        self._uses[what] = what, time, until, count

    def flush(self, trace: TraceBlock, number: int, until: int) -> None:
        """Report all uses to the trace block, for transfer number `number`, and clear them.

        `until` is the first cycle after the transfer, or 0 if it has not ended.
        """
        uses, begin = list(self._uses.values()), self.begin
        self.clear()
        trace.report(number, uses, until, begin)

    def clear(self) -> None:
        """Forget all occurrences."""
        self._uses.clear()
        self.begin = BEFORE
