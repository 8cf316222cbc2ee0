"""Predicts in which cycles the banks of an island take commands (docs/timing-fim.md).

The prediction has only times, no data. It uses the emulator's timing rules,
`macaw.emu.rules.fim_dram`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import dropwhile
from typing import NamedTuple

from macaw.emu.rules.fim_dram import (
    CLOSED,
    KEPT_ACTIVATIONS,
    PAST,
    Activation,
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
    use_channel,
)
from macaw.isa.config import Configuration
from macaw.isa.fim_circuit import MAX_ROWS
from macaw.isa.fim_islands import Geometry, geometry

OTHER = -2  # an open row that no job uses
ANY = -3  # an open row that is the row of each access
_ROW = 1 << 32  # a state has this sum with the number of a row: so differences are positive, too


class BankState(NamedTuple):
    """The state of some banks and of their channel, relative to a cycle and a row.

    `rows` are the open rows of the banks, `times` the times of the last commands to the banks and
    on the channel. `rank` is the rank of the last access, `activations` are the last activations,
    `commands` the cycles in which the command bus of a DIMM is occupied.
    """

    rows: tuple[int, ...]
    times: tuple[int, ...]
    rank: int
    activations: tuple[Activation, ...]
    commands: tuple[int, ...]


@lru_cache(maxsize=64)
def _memory(config: Configuration) -> tuple[Timings, Geometry, int]:
    """Return the timings and the geometry of the islands of a device, and the longest timing.

    No command delays a command that is requested more than this number of cycles after it.
    """
    timings = Timings.of(config)
    times = (cycles for name, cycles in vars(timings).items() if name not in ("t_refi", "t_rfc"))
    return timings, geometry(config), max(times)


def _slice(banks: Sequence[int]) -> slice:
    """Return the slice of a list that has an item for each bank; `banks` are equally far apart."""
    step = banks[1] - banks[0] if len(banks) > 1 else 1
    return slice(banks[0], banks[-1] + 1, step)


class BankTiming:
    """The cycles of the last commands to each bank of an island and on its channel.

    They determine the earliest cycle of the next command. All are device cycles. The argument `row`
    of the constructor is the number of the row that is open in every bank before the first
    command. Instead of a number, it can be `CLOSED` (no row is open), `OTHER` (a row that no job
    uses) or `ANY` (the row that the next access needs).
    """

    def __init__(self, config: Configuration, row: int = CLOSED) -> None:
        self.timings, self.geometry, self.longest = _memory(config)
        count = self.geometry.banks
        self.rows = [row] * count  # the open row of each bank
        self.activations = [PAST] * count
        self.precharges = [PAST] * count
        self.columns = [PAST] * count
        self.write_ends = [PAST] * count  # the first cycle after the last data of a write
        self.reads = [PAST] * count
        self._free = [0] * count  # the cycle from which the channel may access each bank
        self._times = (
            self.activations, self.precharges, self.columns, self.write_ends, self.reads, self._free
        )  # fmt: skip
        self._channel = Channel.of(self.geometry)
        self._activations: list[Activation] = []
        self._commands: set[int] = set()  # for a DIMM: cycles in which the command bus is occupied

    def state(
        self, banks: Sequence[int], now: int, row: int = 0, rows: int | None = None
    ) -> BankState:
        """Return the state of equally distant banks, relative to cycle `now` and row number `row`.

        All further commands must be for these banks, be requested in cycle `now` or later, and, if
        `rows` is not None, need only the `rows` rows from number `row` on. Then the state
        determines, relative to `now` and `row`, when these commands are issued, and the next state.
        """
        low = -self.longest  # nothing earlier delays a command
        past = now + low
        if self._commands:
            self._commands = {time for time in self._commands if time >= now}
        opened = [self.rows[bank] for bank in banks]
        end = MAX_ROWS if rows is None else row + rows
        first = 0 if rows is None else row
        opened = [x if x < 0 else x - row + _ROW if first <= x < end else OTHER for x in opened]
        channel = self._channel
        part = _slice(banks)
        times = [time for last in self._times for time in last[part]]
        times += (*channel.columns, *channel.write_ends, channel.data_end, channel.last_read)
        recent = dropwhile(lambda x: x[0] <= past, self._activations)
        return BankState(
            tuple(opened),
            tuple([time - now if time > past else low for time in times]),
            channel.data_rank,
            tuple([(max(time - now, low), groups) for time, groups in recent]),
            tuple(sorted([time - now for time in self._commands])),
        )

    def put(self, banks: Sequence[int], state: BankState, now: int, row: int = 0) -> None:
        """Bring equally distant banks into a state relative to cycle `now` and row number `row`."""
        part, count = _slice(banks), len(banks)
        self.rows[part] = [opened if opened < 0 else opened - _ROW + row for opened in state.rows]
        times = [time + now for time in state.times]
        for number, last in enumerate(self._times):
            last[part] = times[number * count : (number + 1) * count]
        *groups, end, last_read = times[len(self._times) * count :]
        half = len(groups) // 2
        columns, write_ends = tuple(groups[:half]), tuple(groups[half:])
        self._channel = Channel(columns, write_ends, end, state.rank, last_read)
        self._activations = [(time + now, groups) for time, groups in state.activations]
        self._commands = {time + now for time in state.commands}

    @property
    def are_independent(self) -> bool:
        """Whether a bank is opened without regard to commands to other banks."""
        return not (self.geometry.one_bus or self.timings.limits_activations)

    def is_complex(self, now: int) -> bool:
        """Return whether the state relative to `now` may list many cycles of a command bus.

        These are the cycles in which blocks that still run send commands.
        """
        return self.geometry.one_bus and max(self._free) > now

    def reserve(self, banks: Sequence[int], until: int) -> None:
        """Let every access over the channel to `banks` wait until cycle `until`."""
        for bank in banks:
            self._free[bank] = until

    def _command(self, at: int, step: int) -> int:
        """Reserve the first free cycle of the command bus that is not before `at`, and return it.

        Cycles are tried at distances of `step`. Only the banks of a DIMM share a command bus;
        elsewhere the result is `at`.
        """
        if self.geometry.one_bus:
            while at in self._commands:
                at += step
            self._commands.add(at)
        return at

    def open(self, banks: Sequence[int], row: int, time: int, step: int, bus: bool) -> int:
        """Open a row in several banks, and return the cycle of the last activation.

        A row that is open in one of these banks is closed first. Commands are issued at multiples
        of `step` cycles, not before cycle `time`. With `bus`, they use the command bus of a DIMM,
        as commands of the host and the instructions `push` and `pull` do.
        """
        others = [bank for bank in banks if self.rows[bank] != CLOSED]
        if others:
            last = max(
                max(
                    precharge_bounds(
                        self.timings,
                        self.activations[bank],
                        self.write_ends[bank],
                        self.reads[bank],
                    )
                )
                for bank in others
            )
            time = max(time, align_up(last[0], step))
            time = self._command(time, step) if bus else time
            for bank in others:
                self.precharges[bank] = time
        for part in activation_commands(self.geometry, banks):
            time = self._activate(part, row, time, step, bus)
        return time

    def _activate(self, banks: Sequence[int], row: int, time: int, step: int, bus: bool) -> int:
        last = max(
            max(activate_bounds(self.timings, self.precharges[bank], self.activations[bank]))
            for bank in banks
        )
        time = max(time, align_up(last[0], step))
        if self.timings.limits_activations:
            time = self._first_activation(activation_groups(self.geometry, banks), time, step, bus)
        time = self._command(time, step) if bus else time
        for bank in banks:
            self.activations[bank], self.rows[bank] = time, row
        return time

    def _first_activation(self, groups: int, time: int, step: int, bus: bool) -> int:
        """Record an activation in the bank groups of the mask `groups`, and return its cycle.

        It is the first cycle from `time` on, in steps of `step` cycles, that the least distances
        between activations (tRRD, tFAW) allow. With `bus`, the command bus must be free, too.
        """
        earlier = self._activations
        while True:
            time, _ = activation_start(self.timings, self.geometry, earlier, groups, time, step)
            if not bus or time not in self._commands:
                self._activations = [*earlier[1 - KEPT_ACTIVATIONS :], (time, groups)]
                return time
            time += step

    def access(
        self, bank: int, row: int, time: int, writes: bool, step: int = 1
    ) -> tuple[int, int]:
        """Read a column of a bank's row over the channel, or write one if `writes`.

        Return the cycle of the command and the first cycle after the data of the column. The
        command is issued at a multiple of `step` cycles, not before cycle `time`. If row `row` is
        not open, it is opened first.
        """
        time = max(time, align_up(self._free[bank], step))
        if self.rows[bank] not in (row, ANY):
            time = self.open((bank,), row, time, step, bus=True)
        timings, memory = self.timings, self.geometry
        first = max(
            *column_bounds(
                timings, writes, self.activations[bank], self.columns[bank], self.write_ends[bank]
            ),
            *channel_bounds(timings, memory, writes, bank, self._channel),
        )[0]
        if first > time:
            time = align_up(first, step)
        at = self._command(time, step)
        return at, self._issue(bank, at, writes)

    def _issue(self, bank: int, at: int, writes: bool) -> int:
        end = self.timings.data_end(at, writes)
        self.columns[bank] = at
        if writes:
            self.write_ends[bank] = end
        else:
            self.reads[bank] = at
        self._channel = use_channel(self.timings, self.geometry, writes, bank, at, self._channel)
        return end

    def columns_of(
        self, bank: int, row: int, time: int, count: int, writes: bool
    ) -> tuple[int, int]:
        """Read `count` columns of a bank's row over the channel, or write them if `writes`.

        The first command is issued not before cycle `time`; if the row is not open, it is opened
        first. Return the cycles of the first and the last command.
        """
        first, _ = self.access(bank, row, time, writes)
        last = first
        if count > 1:
            period = self.timings.channel_period
            last += (count - 1) * period
            if self.geometry.one_bus:
                self._commands.update(range(first, last + 1, period))
            self._issue(bank, last, writes)
        return first, last
