"""When the banks of an island take commands: open rows, columns, the channel (docs/timing-fim.md).

What the lowering predicts with. Copies and blocks follow one another here as in the emulator; only
times, no bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from macaw.isa.config import Configuration
from macaw.isa.fim_islands import geometry, timings

LONG_AGO = -(1 << 40)
CLOSED = -1


class Banks:
    """The times of an island's banks and of its channel."""

    # The settings, by their names.
    t_ccdl: int
    t_ccds: int
    t_rcdrd: int
    t_rcdwr: int
    t_rp: int
    t_ras: int
    t_rc: int
    rl: int
    wl: int
    t_wr: int
    burst: int
    t_rtrs: int

    def __init__(self, config: Configuration) -> None:
        for name, cycles in timings(config).items():
            setattr(self, name, cycles)
        self.geometry = geometry(config)
        count = self.geometry.banks
        self.rows = [CLOSED] * count
        self.activated = [LONG_AGO] * count
        self.precharged = [LONG_AGO] * count
        self.columns = [LONG_AGO] * count
        self.written = [LONG_AGO] * count  # the cycle behind the last data
        groups = [self.geometry.group(bank) for bank in range(count)]
        self._groups, self._ranks = groups, [self.geometry.rank(bank) for bank in range(count)]
        self._on_channel = [LONG_AGO] * (groups[-1] + 1)  # by group: the last column command
        self._data_end, self._data_rank = LONG_AGO, 0
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
        """Open a row in banks in lock-step, at a multiple of `step`; when it is activated.

        `bus`: the host, a push or a pull does it.
        """
        others = [bank for bank in banks if self.rows[bank] != CLOSED]
        if others:
            last = max(
                max(self.activated[bank] + self.t_ras, self.written[bank] + self.t_wr)
                for bank in others
            )
            time = max(time, -(-last // step) * step)
            time = self._command(time, step) if bus else time
            for bank in others:
                self.precharged[bank] = time
        last = max(
            max(self.precharged[bank] + self.t_rp, self.activated[bank] + self.t_rc)
            for bank in banks
        )
        time = max(time, -(-last // step) * step)
        time = self._command(time, step) if bus else time
        for bank in banks:
            self.activated[bank], self.rows[bank] = time, row
        return time

    def access(self, bank: int, row: int, time: int, writes: bool, step: int = 1) -> int:
        """A column over the channel; when its command comes. Its data: see `data`."""
        if self.rows[bank] != row:
            time = self.open((bank,), row, time, step, bus=True)
        group, rank = self._groups[bank], self._ranks[bank]
        delay = self.t_rcdwr if writes else self.t_rcdrd
        first = max(self.activated[bank] + delay, self.columns[bank] + self.t_ccdl)
        for other, last in enumerate(self._on_channel):
            if self.geometry.one_bus and other // self.geometry.groups != rank:
                continue
            first = max(first, last + (self.t_ccdl if other == group else self.t_ccds))
        latency = self.wl if writes else self.rl
        switch = self.t_rtrs if rank != self._data_rank else 0
        first = max(first, self._data_end + switch - latency)
        at = self._command(max(time, -(-first // step) * step), step)
        self.columns[bank] = self._on_channel[group] = at
        self._data_end, self._data_rank = at + latency + self.burst, rank
        if writes:
            self.written[bank] = self._data_end
        return at

    def columns_of(
        self, bank: int, row: int, time: int, count: int, writes: bool
    ) -> tuple[int, int]:
        """Columns over the channel of which one is asked for in each cycle: the first, the last."""
        first = last = self.access(bank, row, time, writes)
        if count > 1:
            pitch = max(self.t_ccdl, self.burst)
            last += (count - 1) * pitch
            if self.geometry.one_bus:
                self._commands.update(range(first, last + 1, pitch))
            self.columns[bank] = self._on_channel[self._groups[bank]] = last
            self._data_end = self.data(last, writes)
            if writes:
                self.written[bank] = self._data_end
        return first, last

    def data(self, at: int, writes: bool) -> int:
        """The cycle behind the data of a column on the channel."""
        return at + (self.wl if writes else self.rl) + self.burst
