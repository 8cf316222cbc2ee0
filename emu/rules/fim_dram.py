"""Timing rules of a DRAM bank and its channel: the earliest cycle of a command (seed 004 ¶45-47).

Times are device cycles (of tCK). Each function takes the times of earlier commands and returns
bounds: pairs of a cycle and the name of a constraint. The command may be issued when all these
cycles have come. For several banks in lock-step, a caller passes the latest time of any of them. If
there was no earlier command, its time is `PAST`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from macaw.isa.fim_islands import Geometry, timings

PAST = -(1 << 40)  # so long before reset that no constraint follows from it
CLOSED = -1  # stands for the row of a bank with no open row

Bound = tuple[int, str]  # the earliest cycle that a constraint allows, and its name


@dataclass(frozen=True)
class Timings:
    """The settings `fim.<name>` of a device, in cycles; `isa.fim_islands.TIMINGS` explains them."""

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

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Timings:
        """Return the timings of a device's configuration."""
        return cls(**timings(config))

    def data_end(self, time: int, writes: bool) -> int:
        """Return the first cycle after the data of a column command that is issued at `time`."""
        return time + (self.wl if writes else self.rl) + self.burst

    @property
    def channel_period(self) -> int:
        """The cycles between two consecutive columns of one bank on the channel."""
        return max(self.t_ccdl, self.burst)


def align_up(time: int, step: int) -> int:
    """Return the first multiple of `step` that is not less than `time`."""
    return -(-time // step) * step


def activate_bounds(
    timings: Timings, last_precharge: int, last_activation: int
) -> tuple[Bound, ...]:
    """Return the bounds of an activation.

    `last_precharge` and `last_activation` are the times of the bank's last commands of these kinds.
    """
    return (last_precharge + timings.t_rp, "t_rp"), (last_activation + timings.t_rc, "t_rc")


def precharge_bounds(timings: Timings, last_activation: int, write_end: int) -> tuple[Bound, ...]:
    """Return the bounds of a precharge; `write_end` is the first cycle after a write's data."""
    return (last_activation + timings.t_ras, "t_ras"), (write_end + timings.t_wr, "t_wr")


def column_bounds(
    timings: Timings, writes: bool, last_activation: int, column: int
) -> tuple[Bound, ...]:
    """Return the bounds that a bank sets for a column command.

    `column` is the time of the bank's last column command.
    """
    delay = timings.t_rcdwr if writes else timings.t_rcdrd
    return (last_activation + delay, "t_rcd"), (column + timings.t_ccdl, "t_ccd")


def channel_bounds(
    timings: Timings,
    geometry: Geometry,
    writes: bool,
    bank: int,
    columns: Sequence[int],
    data: tuple[int, int],
) -> tuple[Bound, ...]:
    """Return the bounds that the channel sets for a column command of a bank.

    `columns` has, for each bank group, the time of its last column command. `data` is the first
    cycle after the last data on the channel, and the rank of these data. If ranks share one command
    bus (DIMM), tCCD applies only within a rank, because ranks are different chips.
    """
    group, rank = bank // geometry.group_banks, geometry.rank(bank)
    others = [*columns[:group], *columns[group + 1 :]]
    if geometry.one_bus:
        first, end = rank * geometry.groups, (rank + 1) * geometry.groups
        others = [*columns[first:group], *columns[group + 1 : end]]
    last, last_rank = data
    switch = timings.t_rtrs if rank != last_rank else 0
    return (
        (columns[group] + timings.t_ccdl, "t_ccd"),
        (max(others, default=PAST) + timings.t_ccds, "t_ccd"),
        (last + switch - (timings.wl if writes else timings.rl), "channel"),
    )
