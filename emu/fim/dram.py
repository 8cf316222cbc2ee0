"""The banks of an island as a DRAM: open rows, issued commands, and the waits of commands.

No command breaks a timing constraint (`macaw.emu.rules.fim_dram`): `do` issues it in the first
cycle that all constraints allow. Times are device cycles (of tCK). Circuits access the columns of
their own bank without the channel. The host uses the channel, and so do circuits that push and
pull.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from macaw.emu.jitter import Jitter
from macaw.emu.rules.fim_dram import (
    CLOSED,
    KEPT_ACTIVATIONS,
    PAST,
    Activation,
    Bound,
    Channel,
    Timings,
    activate_bounds,
    activation_commands,
    activation_groups,
    activation_start,
    align_up,
    channel_bounds,
    column_bounds,
    precharge_bounds,
    refresh_due,
    refreshes,
    use_channel,
)
from macaw.emu.waits import NEVER
from macaw.isa.fim_islands import CONSTRAINTS, Geometry

ACTIVATE, PRECHARGE, READ, WRITE = "activate", "precharge", "read", "write"


# Attributes that have one number for each bank.
_BY_BANK = (
    "rows",
    "activated",
    "precharged",
    "columns",
    "written",
    "read",
    "refreshed",
    "refresh_ends",
)


def _latest(times: list[int], banks: Sequence[int]) -> int:
    """Return the greatest of the `times` of some banks. `times` has one for each bank."""
    if len(banks) == len(times):  # all banks
        return max(times)
    return max([times[bank] for bank in banks])


def _set(values: list[int], banks: Sequence[int], value: int) -> None:
    """Replace the `values` of some banks by `value`. `values` has one for each bank."""
    if len(banks) == len(values):
        values[:] = [value] * len(values)
        return
    for bank in banks:
        values[bank] = value


class Dram:
    """The state of one island's banks and channel that the timing rules use."""

    def __init__(
        self, geometry: Geometry, config: Mapping[str, Any], jitter: Jitter | None = None
    ) -> None:
        self.geometry = geometry
        self.jitter = jitter  # noise; waits that it causes count for no constraint
        self.timings = Timings.of(config)
        self.reset()

    def reset(self) -> None:
        """Close all rows, as if the last commands were long ago, and clear the counts of waits."""
        count = self.geometry.banks
        self.rows = [CLOSED] * count
        self.activated = [PAST] * count  # by bank: the cycle of the last activation
        self.precharged = [PAST] * count
        self.columns = [PAST] * count  # by bank: the cycle of the last column command
        self.written = [PAST] * count  # by bank: the cycle after the last data of a write
        self.read = [PAST] * count  # by bank: the cycle of the last read command
        self.refreshed = [0] * count  # by bank: the number of its refreshes
        self.refresh_ends = [PAST] * count  # by bank: the end of its last refresh
        self.channel = Channel.of(self.geometry)
        # the last activation commands, in the order of their requests
        self.activations: list[Activation] = []
        # for a DIMM: the cycles in which its one command bus is occupied
        self.commands: list[int] = []
        self.waits = dict.fromkeys(CONSTRAINTS, 0)
        # sum over commands: cycles waited, times the number of banks that waited
        self.bank_waits = 0

    # Snapshots

    def plain(self) -> list[Any]:
        """Return the state as a plain value, for a snapshot."""
        lists = (getattr(self, name) for name in _BY_BANK)
        channel = [list(x) if isinstance(x, tuple) else x for x in self.channel]
        activations = [list(x) for x in self.activations]
        return [
            *map(list, lists), channel, activations, list(self.commands), list(self.waits.values())
        ]  # fmt: skip

    def take(self, plain: Sequence[Any]) -> None:
        """Restore the state from a value that `plain` returned."""
        for name, values in zip(_BY_BANK, plain, strict=False):
            setattr(self, name, list(values))
        (columns, write_ends, *others), activations, commands, waits = plain[len(_BY_BANK) :]
        self.channel = Channel(tuple(columns), tuple(write_ends), *others)
        self.activations = [(time, groups) for time, groups in activations]
        self.commands = list(commands)
        self.waits = dict(zip(CONSTRAINTS, waits, strict=True))

    @property
    def data_end(self) -> int:
        """The first cycle after the last data on the channel."""
        return self.channel.data_end

    # Commands

    def _bounds(self, command: str, banks: Sequence[int]) -> tuple[Bound, ...]:
        """Return the bounds of one command to all these banks, without the bounds of the channel.

        A bound is a pair: the first cycle that a constraint allows, and the name of the constraint.
        """
        if command == PRECHARGE:
            return precharge_bounds(
                self.timings,
                _latest(self.activated, banks),
                _latest(self.written, banks),
                _latest(self.read, banks),
            )
        activated = _latest(self.activated, banks)
        if command == ACTIVATE:
            precharged = _latest(self.precharged, banks)
            bounds = activate_bounds(self.timings, precharged, activated)
            if not self.timings.t_refi:
                return bounds
            return *bounds, (_latest(self.refresh_ends, banks), "refresh")
        column = _latest(self.columns, banks)
        written = _latest(self.written, banks) if self.timings.t_wtrl else PAST
        return column_bounds(self.timings, command == WRITE, activated, column, written)

    def issue(
        self,
        command: str,
        banks: Sequence[int],
        time: int,
        row: int,
        channel: bool,
    ) -> None:
        """Record that banks get a command in cycle `time`. The caller has checked the constraints.

        `row` is the row to activate. `channel` says that the command's data use the channel; then
        there must be only one bank.
        """
        if command in (ACTIVATE, PRECHARGE):
            _set(self.activated if command == ACTIVATE else self.precharged, banks, time)
            _set(self.rows, banks, row)
            return
        writes = command == WRITE
        _set(self.columns, banks, time)
        if writes:
            _set(self.written, banks, self.timings.data_end(time, True))
        else:
            _set(self.read, banks, time)
        if channel:
            (bank,) = banks
            self.channel = use_channel(
                self.timings, self.geometry, writes, bank, time, self.channel
            )

    # Commands of circuits and host, each to several banks together

    def do(
        self,
        command: str,
        banks: Sequence[int],
        time: int,
        row: int = CLOSED,
        channel: bool = False,
        step: int = 1,
        *,
        bus: bool,
    ) -> int:
        """Issue a command to several banks in lock-step; return its cycle.

        This is the first of the cycles `time`, `time` + `step`, ... that all constraints allow.
        `row` is the row to activate. `channel` says that the command's data use the channel; then
        there must be only one bank. `bus` says that the host, a push or a pull sends the command.
        """
        bounds = self._bounds(command, banks)
        if channel:
            (bank,) = banks
            writes = command == WRITE
            more = channel_bounds(self.timings, self.geometry, writes, bank, self.channel)
            bounds = *bounds, *more
        earliest, constraint = max(bounds)
        at = max(time, align_up(earliest, step))
        groups = 0
        if command == ACTIVATE and self.timings.limits_activations:
            groups = activation_groups(self.geometry, banks)
            at, reason = self._activation_start(groups, at, step, bus)
            constraint = reason or constraint
        if at > time:
            self.waits[constraint] += at - time
            self.bank_waits += (at - time) * len(banks)
        if self.jitter is not None:
            at = self.jitter.free(at, step)
        if bus and self.geometry.one_bus:
            at = self.command(at, step, len(banks))
        if groups:
            self.activations = [*self.activations[1 - KEPT_ACTIVATIONS :], (at, groups)]
        if channel or command in (ACTIVATE, PRECHARGE):
            self.issue(command, banks, at, row, channel)
        else:
            self.columns_at(command, banks, at)
        return at

    def _activation_start(self, groups: int, time: int, step: int, bus: bool) -> tuple[int, str]:
        """Return the first cycle for an activation of banks, and the constraint that delays it.

        `groups` is the mask of the banks' groups. The cycle is one of `time`, `time` + `step`, ...
        A configuration can make the DRAM busy at random times; the cycle is outside of these times.
        With `bus`, the command bus is also free in this cycle. The name of the constraint is empty
        if none delays the activation.
        """
        while True:
            at, reason = activation_start(
                self.timings, self.geometry, self.activations, groups, time, step
            )
            free = at if self.jitter is None else self.jitter.free(at, step)
            while bus and free in self.commands:
                free += step
            if free == at:
                return at, reason
            time = free

    def command(self, time: int, step: int, banks: int) -> int:
        """Occupy the command bus of a DIMM for one command; return the cycle.

        `banks` is the number of banks to which the command goes, for the count of waits. The cycle
        is the first of the cycles `time`, `time` + `step`, ... in which the bus is free.
        """
        at = time
        while at in self.commands:
            at += step
            if self.jitter is not None:
                at = self.jitter.free(at, step)
        self.waits["channel"] += at - time
        self.bank_waits += (at - time) * banks
        self.commands.append(at)
        return at

    def columns_at(self, command: str, banks: Sequence[int], time: int) -> None:
        """Record a column command to several banks in cycle `time`, with no data on the channel."""
        _set(self.columns, banks, time)
        if command == WRITE:
            _set(self.written, banks, self.timings.data_end(time, True))
        else:
            _set(self.read, banks, time)

    def in_other_rows(self, banks: Sequence[int], row: int) -> list[int]:
        """Return those of `banks` that do not have row `row` open.

        If `row` is CLOSED, these are the banks that have an open row.
        """
        rows = self.rows
        if len(banks) == len(rows) == rows.count(row):
            return []
        return [bank for bank in banks if rows[bank] != row]

    def open(
        self, banks: Sequence[int], row: int, time: int, step: int = 1, bus: bool = False
    ) -> int:
        """Open a row in several banks of a block; return the cycle of the last activation.

        Each command is issued in one of the cycles `time`, `time` + `step`, ... `bus` says that the
        host, a push or a pull sends the commands. The method first closes all rows that are open in
        these banks, even if row `row` is open already. One activation command opens the row in up
        to `act_banks` banks.
        """
        others = self.in_other_rows(banks, CLOSED)
        if others:
            time = self.do(PRECHARGE, others, time, step=step, bus=bus)
        for part in activation_commands(self.geometry, banks):
            time = self.do(ACTIVATE, part, time, row, step=step, bus=bus)
        return time

    def close(self, banks: Sequence[int], time: int, step: int = 1) -> int:
        """Close the open rows of banks; return the cycle of the command that does this.

        The command is issued in the first possible one of the cycles `time`, `time` + `step`, ...
        If no row is open, there is no command, and the result is `time`.
        """
        others = self.in_other_rows(banks, CLOSED)
        return self.do(PRECHARGE, others, time, step=step, bus=False) if others else time

    def refresh(self, banks: Sequence[int], time: int) -> None:
        """Execute the refreshes of some banks that were due by cycle `time`.

        The caller calls this method before each word that uses the banks, in the order of the
        words' times. A refresh waits until earlier words allow the open rows of the banks to be
        closed.
        """
        if not self.timings.t_refi:
            return
        if not self.geometry.refreshes_banks:
            self._refresh_together(range(self.geometry.banks), time)
            return
        for bank in banks:
            self._refresh_together((bank,), time)

    def _refresh_together(self, banks: Sequence[int], time: int) -> None:
        timings, memory, done = self.timings, self.geometry, self.refreshed[banks[0]]
        start = refresh_due(timings, memory, banks[0], done)
        if start > time:
            return
        opened = self.in_other_rows(banks, CLOSED)
        if opened:
            start = max(start, max(self._bounds(PRECHARGE, opened))[0])
            self.issue(PRECHARGE, opened, start, CLOSED, channel=False)
        start = max(start, *(self.precharged[bank] + timings.t_rp for bank in banks))
        done, end = refreshes(timings, memory, banks[0], done, start, time)
        for bank in banks:
            self.refreshed[bank], self.refresh_ends[bank] = done, end

    def next_refresh(self, banks: Sequence[int]) -> int:
        """Return the cycle of the next refresh of these banks.

        A word in this cycle or later that uses one of the banks comes after the refresh.
        """
        if not self.timings.t_refi:
            return NEVER
        done, memory = self.refreshed, self.geometry
        return min(refresh_due(self.timings, memory, bank, done[bank]) for bank in banks)

    def begin(self, time: int) -> None:
        """Drop the records of commands that used the command bus before cycle `time`.

        The caller must not request a command for an earlier cycle afterwards.
        """
        if self.commands:
            self.commands = [other for other in self.commands if other >= time]

    def access(self, bank: int, row: int, time: int, write: bool, step: int = 1) -> tuple[int, int]:
        """Access a column in `row` of `bank` over the channel; first open the row if necessary.

        `write` says whether the access writes. Each command is issued in one of the cycles `time`,
        `time` + `step`, ... Return the cycle of the column command, and the first cycle after its
        data.
        """
        if self.rows[bank] != row:
            time = self.open([bank], row, time, step, bus=True)
        command = WRITE if write else READ
        at = self.do(command, [bank], time, channel=True, step=step, bus=True)
        return at, self.timings.data_end(at, write)
