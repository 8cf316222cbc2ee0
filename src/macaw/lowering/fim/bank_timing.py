"""When the banks of an island take commands: open rows, columns, the channel (docs/timing-fim.md).

What the lowering predicts with: times alone, no bytes, by the rules that the emulator follows
(`macaw.emu.rules.dram`).
"""

from __future__ import annotations

from collections.abc import Sequence

from macaw.emu.rules.dram import (
    CLOSED,
    PAST,
    Timings,
    activate_bounds,
    aligned,
    channel_bounds,
    column_bounds,
    precharge_bounds,
)
from macaw.isa.config import Configuration
from macaw.isa.fim_islands import geometry


class Banks:
    """The times of an island's banks and of its channel."""

    def __init__(self, config: Configuration) -> None:
        self.timings = Timings.of(config)
        self.geometry = geometry(config)
        count = self.geometry.banks
        self.rows = [CLOSED] * count
        self.activated = [PAST] * count
        self.precharged = [PAST] * count
        self.columns = [PAST] * count
        self.written = [PAST] * count  # the first cycle after the last data of a write
        self._on_channel = [PAST] * (self.geometry.group(count - 1) + 1)  # by bank group
        self._data = PAST, 0  # on the channel: the first cycle after the last data, their rank
        self._commands: set[int] = set()  # of a DIMM: cycles in which the command bus is taken

    def _command(self, at: int, step: int) -> int:
        """The cycle from `at` on in which a command of the channel finds its bus free."""
        if self.geometry.one_bus:
            while at in self._commands:
                at += step
            self._commands.add(at)
        return at

    def open(
        self, banks: Sequence[int], row: int, time: int, step: int = 1, bus: bool = False
    ) -> int:
        """Open a row in banks in lock-step, at a multiple of `step`: the cycle of its activation.

        `bus`: the host, a push or a pull does it.
        """
        others = [bank for bank in banks if self.rows[bank] != CLOSED]
        if others:
            last = max(
                max(precharge_bounds(self.timings, self.activated[bank], self.written[bank]))
                for bank in others
            )
            time = max(time, aligned(last[0], step))
            time = self._command(time, step) if bus else time
            for bank in others:
                self.precharged[bank] = time
        last = max(
            max(activate_bounds(self.timings, self.precharged[bank], self.activated[bank]))
            for bank in banks
        )
        time = max(time, aligned(last[0], step))
        time = self._command(time, step) if bus else time
        for bank in banks:
            self.activated[bank], self.rows[bank] = time, row
        return time

    def access(
        self, bank: int, row: int, time: int, writes: bool, step: int = 1
    ) -> tuple[int, int]:
        """The cycle of a column command over the channel, and the first cycle after its data.

        It comes at a multiple of `step` from `time` on; another open row is closed before.
        """
        if self.rows[bank] != row:
            time = self.open((bank,), row, time, step, bus=True)
        timings, memory = self.timings, self.geometry
        first = max(
            *column_bounds(timings, writes, self.activated[bank], self.columns[bank]),
            *channel_bounds(timings, memory, writes, bank, self._on_channel, self._data),
        )[0]
        if first > time:
            time = aligned(first, step)
        at = self._command(time, step)
        return at, self._issue(bank, at, writes)

    def _issue(self, bank: int, at: int, writes: bool) -> int:
        end = self.timings.data_end(at, writes)
        self.columns[bank] = self._on_channel[bank // self.geometry.group_banks] = at
        self._data = end, self.geometry.rank(bank)
        if writes:
            self.written[bank] = end
        return end

    def columns_of(
        self, bank: int, row: int, time: int, count: int, writes: bool
    ) -> tuple[int, int]:
        """The first and the last cycle of `count` column commands over the channel."""
        first, _ = self.access(bank, row, time, writes)
        last = first
        if count > 1:
            period = self.timings.channel_period
            last += (count - 1) * period
            if self.geometry.one_bus:
                self._commands.update(range(first, last + 1, period))
            self._issue(bank, last, writes)
        return first, last
