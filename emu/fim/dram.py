"""The banks of an island as a DRAM: open rows, and the earliest cycle in which a command may come.

Breaking a constraint is impossible: `ready` says when all of them hold, and `issue` is called
then. Times are device cycles (of tCK). Circuits reach the columns of their own bank without the
channel; the host, and circuits that push and pull, take it. Whoever precharges and activates is
asked for a row only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from macaw.emu.jitter import Jitter
from macaw.isa.fim_islands import CONSTRAINTS, Geometry, timings

PAST = -(1 << 40)  # long before reset: no constraint comes from there
CLOSED = -1
ACTIVATE, PRECHARGE, READ, WRITE = "activate", "precharge", "read", "write"


class Bound(NamedTuple):
    """The earliest cycle that a constraint allows."""

    time: int
    constraint: str


class Dram:
    """The timing state of one island's banks and of its channel."""

    def __init__(
        self, geometry: Geometry, config: Mapping[str, Any], jitter: Jitter | None = None
    ) -> None:
        self.geometry = geometry
        self.jitter = jitter  # when others have it; its waits have no constraint's name
        for name, cycles in timings(config).items():
            setattr(self, name, cycles)
        self.reset()

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

    def reset(self) -> None:
        """All rows closed, long ago; nothing waited."""
        count = self.geometry.banks
        self.rows = [CLOSED] * count
        self.activated = [PAST] * count  # by bank: the last activation
        self.precharged = [PAST] * count
        self.columns = [PAST] * count  # the last column command
        self.written = [PAST] * count  # the cycle behind the last data of a write
        self.on_channel = [PAST] * count  # the last column command on the channel
        self.data_end = PAST  # the cycle behind the last data on the channel
        self.data_rank = 0  # whose they are
        self.commands: list[int] = []  # of a DIMM: cycles in which its one command bus is taken
        self.waits = dict.fromkeys(CONSTRAINTS, 0)
        self.held = 0  # the same of each bank by itself, for differences while a word is done

    # What a snapshot holds

    def plain(self) -> list[Any]:
        """The state as lists and numbers."""
        lists = (self.rows, self.activated, self.precharged, self.columns, self.written)
        waits = list(self.waits.values())
        channel = [list(self.on_channel), self.data_end, self.data_rank, list(self.commands)]
        return [*map(list, lists), *channel, waits]

    def take(self, plain: Sequence[Any]) -> None:
        """The state that `plain` gave."""
        self.rows, self.activated, self.precharged, self.columns, self.written = map(
            list, plain[:5]
        )
        self.on_channel, self.data_end, self.data_rank = list(plain[5]), plain[6], plain[7]
        self.commands = list(plain[8])
        self.waits = dict(zip(CONSTRAINTS, plain[9], strict=True))

    # Commands

    def ready(self, command: str, bank: int, channel: bool = False) -> Bound:
        """The earliest cycle of a command at a bank, and the constraint that it is from."""
        if command == ACTIVATE:
            return max(
                Bound(self.precharged[bank] + self.t_rp, "t_rp"),
                Bound(self.activated[bank] + self.t_rc, "t_rc"),
            )
        if command == PRECHARGE:
            return max(
                Bound(self.activated[bank] + self.t_ras, "t_ras"),
                Bound(self.written[bank] + self.t_wr, "t_wr"),
            )
        delay = self.t_rcdrd if command == READ else self.t_rcdwr
        found = max(
            Bound(self.activated[bank] + delay, "t_rcd"),
            Bound(self.columns[bank] + self.t_ccdl, "t_ccd"),
        )
        return max(found, *self._channel(command, bank)) if channel else found

    def _channel(self, command: str, bank: int) -> Iterable[Bound]:
        """What the channel asks of a column command."""
        geometry = self.geometry
        group, rank = geometry.group(bank), geometry.rank(bank)
        for other, time in enumerate(self.on_channel):
            if geometry.one_bus and geometry.rank(other) != rank:
                continue  # of other chips: they share the data bus alone
            gap = self.t_ccdl if geometry.group(other) == group else self.t_ccds
            yield Bound(time + gap, "t_ccd")
        switch = self.t_rtrs if rank != self.data_rank else 0
        yield Bound(self.data_end + switch - self._latency(command), "channel")

    def _latency(self, command: str) -> int:
        return self.rl if command == READ else self.wl

    def issue(
        self, command: str, bank: int, time: int, row: int = CLOSED, channel: bool = False
    ) -> None:
        """A command at a bank in a cycle in which it may come."""
        if command == ACTIVATE:
            self.rows[bank], self.activated[bank] = row, time
            return
        if command == PRECHARGE:
            self.rows[bank], self.precharged[bank] = CLOSED, time
            return
        self.columns[bank] = time
        end = time + self._latency(command) + self.burst
        if command == WRITE:
            self.written[bank] = end
        if channel:
            self.on_channel[bank] = time
            self.data_end, self.data_rank = end, self.geometry.rank(bank)

    # What circuits and host ask for: a command at several banks together

    def do(
        self,
        command: str,
        banks: Sequence[int],
        time: int,
        row: int = CLOSED,
        channel: bool = False,
        step: int = 1,
        bus: bool = False,
    ) -> int:
        """Issue a command at banks in lock-step, at a multiple of `step` from `time` on; when.

        `channel`: its data go over the channel. `bus`: the host, a push or a pull sends it.
        """
        if channel:
            earliest, constraint = max(self.ready(command, bank, True) for bank in banks)
        else:
            earliest, constraint = self._together(command, banks)
        at = max(time, -(-earliest // step) * step)
        if at > time:
            self.waits[constraint] += at - time
            self.held += (at - time) * len(banks)
        if self.jitter is not None:
            at = self.jitter.free(at, step)
        if bus and self.geometry.one_bus:
            at = self.command(at, step, len(banks))
        if channel or command in (ACTIVATE, PRECHARGE):
            for bank in banks:
                self.issue(command, bank, at, row, channel)
        else:
            self.columns_at(command, banks, at)
        return at

    def command(self, time: int, step: int, banks: int = 1) -> int:
        """Take the command bus of a DIMM, from `time` on; when."""
        at = time
        while at in self.commands:
            at += step
            if self.jitter is not None:
                at = self.jitter.free(at, step)
        self.waits["channel"] += at - time
        self.held += (at - time) * banks
        self.commands.append(at)
        return at

    def columns_at(self, command: str, banks: Sequence[int], time: int) -> None:
        """`issue` of a column command at banks, without the channel."""
        columns = self.columns
        for bank in banks:
            columns[bank] = time
        if command == WRITE:
            for bank in banks:
                self.written[bank] = time + self.wl + self.burst

    def _together(self, command: str, banks: Sequence[int]) -> Bound:
        """As `ready`, of several banks at once and without the channel."""
        if command == ACTIVATE:
            pairs = ((self.precharged, self.t_rp, "t_rp"), (self.activated, self.t_rc, "t_rc"))
        elif command == PRECHARGE:
            pairs = ((self.activated, self.t_ras, "t_ras"), (self.written, self.t_wr, "t_wr"))
        else:
            delay = self.t_rcdrd if command == READ else self.t_rcdwr
            pairs = ((self.activated, delay, "t_rcd"), (self.columns, self.t_ccdl, "t_ccd"))
        return max(
            Bound(max([times[bank] for bank in banks]) + gap, name) for times, gap, name in pairs
        )

    def open(
        self, banks: Sequence[int], row: int, time: int, step: int = 1, bus: bool = False
    ) -> int:
        """Open a row in banks in lock-step; another one is closed first. When it was activated."""
        others = [bank for bank in banks if self.rows[bank] != CLOSED]
        if others:
            time = self.do(PRECHARGE, others, time, step=step, bus=bus)
        return self.do(ACTIVATE, banks, time, row, step=step, bus=bus)

    def close(self, banks: Sequence[int], time: int, step: int = 1) -> int:
        """Close what is open in banks; when, `time` if nothing is."""
        others = [bank for bank in banks if self.rows[bank] != CLOSED]
        return self.do(PRECHARGE, others, time, step=step) if others else time

    def begin(self, time: int) -> None:
        """Forget commands before `time`: who asks from then on does not ask for earlier ones."""
        if self.commands:
            self.commands = [other for other in self.commands if other >= time]

    def access(self, bank: int, row: int, time: int, write: bool, step: int = 1) -> tuple[int, int]:
        """A column over the channel: when its command came, and the cycle behind its data."""
        if self.rows[bank] != row:
            time = self.open([bank], row, time, step, bus=True)
        command = WRITE if write else READ
        at = self.do(command, [bank], time, channel=True, step=step, bus=True)
        return at, at + self._latency(command) + self.burst
