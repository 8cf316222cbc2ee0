"""Timing rules of a DRAM bank and its channel: the earliest cycle of a command (seed 004 ¶45-47).

Times are device cycles (of tCK). Each function takes the times of earlier commands and returns
bounds: pairs of a cycle and the name of a constraint. The command may be issued when all these
cycles have come. For several banks in lock-step, a caller passes the latest time of any of them. If
there was no earlier command, its time is `PAST`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from macaw.isa.fim_islands import Geometry, timings
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.typed_records import NamedTuple

PAST = -(1 << 40)  # a cycle so long before reset that no constraint follows from it
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
    t_rrds: int
    t_rrdl: int
    t_faw: int
    t_wtrs: int
    t_wtrl: int
    t_rtp: int
    t_rtw: int
    t_column: int
    t_refi: int
    t_rfc: int

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Timings:
        """Return the timings of a device's configuration."""
        return cls(**timings(config))

    def data_end(self, time: int, writes: bool) -> int:
        """Return the first cycle after the data of a column command that is issued at `time`.

        `writes` says whether the command writes.
        """
        return time + (self.wl if writes else self.rl) + self.burst

    @property
    def limits_activations(self) -> bool:
        """Whether an activation in one bank can delay an activation in another bank."""
        return bool(self.t_rrds or self.t_rrdl or self.t_faw)

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
    """Return the bounds of an activation: pairs (first allowed cycle, name of the constraint).

    `timings` are the constraints. `last_precharge` and `last_activation` are the times of the
    bank's last precharge and last activation.
    """
    return (last_precharge + timings.t_rp, "t_rp"), (last_activation + timings.t_rc, "t_rc")


def precharge_bounds(
    timings: Timings, last_activation: int, write_end: int, last_read: int
) -> tuple[Bound, ...]:
    """Return the bounds of a precharge: pairs (first allowed cycle, name of the constraint).

    `last_activation` and `last_read` are the times of the bank's last activation and read command,
    `write_end` is the first cycle after the data of its last write. The read may be issued later
    than the precharge is requested; the row must stay open for it.
    """
    return (
        (last_activation + timings.t_ras, "t_ras"),
        (write_end + timings.t_wr, "t_wr"),
        (last_read + max(timings.t_rtp, 1), "t_rtp"),
    )


def column_bounds(
    timings: Timings, writes: bool, last_activation: int, column: int, write_end: int
) -> tuple[Bound, ...]:
    """Return the bounds that a bank sets for a column command.

    A bound is a pair: the first cycle that a constraint allows, and the name of the constraint.
    `writes` says whether the command writes. `last_activation` is the time of the bank's last
    activation, `column` the time of its last column command, `write_end` the first cycle after the
    data of its last write.
    """
    delay = timings.t_rcdwr if writes else timings.t_rcdrd
    bounds = (last_activation + delay, "t_rcd"), (column + timings.t_ccdl, "t_ccd")
    if writes or not timings.t_wtrl:
        return bounds
    return (*bounds, (write_end + timings.t_wtrl, "t_wtr"))


class Channel(NamedTuple):
    """The times of the last accesses over the channel of an island.

    By bank group, `columns` has the cycle of the last column command, and `write_ends` the first
    cycle after the data of the last write. `data_end` is the first cycle after the last data of any
    access, `data_rank` their rank, `last_read` the cycle of the last read command.
    """

    columns: tuple[int, ...]
    write_ends: tuple[int, ...]
    data_end: int = PAST
    data_rank: int = 0
    last_read: int = PAST

    @classmethod
    def of(cls, geometry: Geometry) -> Channel:
        """Return the channel of an island before its first access."""
        groups = geometry.ranks * geometry.groups
        return cls((PAST,) * groups, (PAST,) * groups)


def channel_bounds(
    timings: Timings, geometry: Geometry, writes: bool, bank: int, channel: Channel
) -> tuple[Bound, ...]:
    """Return the bounds that the channel sets for a column command of `bank`.

    A bound is a pair: the first cycle that a constraint allows, and the name of the constraint.
    `writes` says whether the command writes, `geometry` in which rank and group the bank is. If
    ranks share one command bus (DIMM), tCCD applies only within a rank, because ranks are different
    chips. tWTR applies only within a rank, whether or not ranks share a bus.
    """
    group, rank = geometry.group(bank), geometry.rank(bank)
    first, end = rank * geometry.groups, (rank + 1) * geometry.groups
    columns = channel.columns[first:end] if geometry.one_bus else channel.columns
    switch = timings.t_rtrs if rank != channel.data_rank else 0
    bounds = [
        (channel.columns[group] + timings.t_ccdl, "t_ccd"),
        (_latest(columns, group - first * geometry.one_bus) + timings.t_ccds, "t_ccd"),
        (channel.data_end + switch - (timings.wl if writes else timings.rl), "channel"),
    ]
    if writes and timings.t_rtw:
        bounds.append((channel.last_read + timings.t_rtw, "t_rtw"))
    if not writes and timings.t_rtw:  # a read is not issued before a write that still waits
        last_write = max(channel.write_ends) - timings.wl - timings.burst
        bounds.append((last_write, "t_rtw"))
    if not writes and timings.t_wtrl:
        bounds.append((channel.write_ends[group] + timings.t_wtrl, "t_wtr"))
    if not writes and timings.t_wtrs:
        other = _latest(channel.write_ends[first:end], group - first)
        bounds.append((other + timings.t_wtrs, "t_wtr"))
    return tuple(bounds)


def _latest(times: Sequence[int], but: int) -> int:
    """Return the greatest of `times` except the item at index `but`; `PAST` if none is left."""
    return max((*times[:but], *times[but + 1 :]), default=PAST)


def use_channel(
    timings: Timings, geometry: Geometry, writes: bool, bank: int, time: int, channel: Channel
) -> Channel:
    """Return the channel's state after a column command that is issued in cycle `time`.

    The command is for `bank`; `writes` says whether it writes. `channel` is the state before the
    command.
    """
    group, end = geometry.group(bank), timings.data_end(time, writes)
    ends, last_read = channel.write_ends, time
    if writes:
        ends, last_read = _replaced(ends, group, end), channel.last_read
    columns = _replaced(channel.columns, group, time)
    return Channel(columns, ends, end, geometry.rank(bank), last_read)


def _replaced(times: tuple[int, ...], index: int, time: int) -> tuple[int, ...]:
    return (*times[:index], time, *times[index + 1 :])


# --- refresh ---


def refresh_due(timings: Timings, geometry: Geometry, bank: int, done: int) -> int:
    """Return the cycle in which the next refresh of a bank is due, after `done` refreshes.

    `timings` has the interval tREFI. If each bank has refreshes of its own, they are spread evenly
    over tREFI.
    """
    phase = bank * timings.t_refi // geometry.banks if geometry.refreshes_banks else 0
    return (done + 1) * timings.t_refi + phase


def refreshes(
    timings: Timings, geometry: Geometry, bank: int, done: int, start: int, time: int
) -> tuple[int, int]:
    """Return the number of refreshes that were due by cycle `time`, and the cycle of their end.

    The number includes the `done` refreshes that the bank has had before. The next refresh begins
    when it is due, but not before cycle `start`. Each further refresh begins when it is due, but
    not before the previous one has ended. If no refresh was due after the first `done`, the cycle
    is `start`.
    """
    while True:
        due = refresh_due(timings, geometry, bank, done)
        if due > time:
            return done, start
        if due >= start:  # from here on each one begins when it is due
            done += (time - due) // timings.t_refi
            return done + 1, refresh_due(timings, geometry, bank, done) + timings.t_rfc
        done, start = done + 1, start + timings.t_rfc


# --- activations of different banks ---

# An activation command: its cycle, and a mask of the bank groups in which it opens rows.
Activation = tuple[int, int]
KEPT_ACTIVATIONS = 64  # more are never so near that a constraint applies: 4 in t_faw of each rank


def activation_groups(geometry: Geometry, banks: Sequence[int]) -> int:
    """Return a mask of the bank groups that contain `banks`, counted over all ranks."""
    groups = 0
    for bank in banks:
        groups |= 1 << geometry.group(bank)
    return groups


def activation_commands(geometry: Geometry, banks: Sequence[int]) -> list[Sequence[int]]:
    """Return the banks of each of the activation commands that together open a row in all `banks`.

    `geometry` says how many banks one command activates. The list has the order of the commands.
    """
    size = geometry.act_banks
    return [banks[start : start + size] for start in range(0, len(banks), size)]


def activation_start(
    timings: Timings,
    geometry: Geometry,
    earlier: Sequence[Activation],
    groups: int,
    time: int,
    step: int,
) -> tuple[int, str]:
    """Return the first of `time`, `time` + `step`, ... in which an activation may be issued.

    The second result is the constraint that excludes the cycles before it, or an empty text.
    `groups` is the mask of the bank groups of the activation. The activations in `earlier` were
    requested before this one, but some may be issued after it.
    """
    ranks = _ranks(geometry, groups)
    horizon = time - max(timings.t_rrds, timings.t_rrdl, timings.t_faw)
    near = [x for x in earlier if x[0] > horizon and _ranks(geometry, x[1]) & ranks]
    reason = ""
    while True:
        allowed, constraint = _next_allowed(timings, geometry, near, groups, time)
        if allowed <= time:
            return time, reason
        time, reason = time + align_up(allowed - time, step), constraint


def _next_allowed(
    timings: Timings, geometry: Geometry, near: Sequence[Activation], groups: int, time: int
) -> Bound:
    """Return the bound of an activation in the bank groups `groups`, planned for cycle `time`.

    The cycle of the bound is `time` if the activation may be issued then; otherwise no cycle before
    the bound is allowed. `near` has the other activations that may delay it.
    """
    for other, others in near:
        gap, name = (timings.t_rrdl if others & groups else timings.t_rrds), "t_rrd"
        if abs(time - other) < gap:
            return other + gap, name
    if timings.t_faw:
        for rank in range(geometry.ranks):
            own = _ranks(geometry, groups) >> rank & 1
            times = sorted(x for x, others in near if _ranks(geometry, others) >> rank & 1)
            for first in range(len(times) - 3 if own else 0):
                four = times[first : first + 4]
                if max(time, four[3]) - min(time, four[0]) < timings.t_faw:
                    return four[0] + timings.t_faw, "t_faw"
    return time, ""


def _ranks(geometry: Geometry, groups: int) -> int:
    """Return the mask of the ranks that contain the bank groups in the mask `groups`."""
    ranks, every = 0, (1 << geometry.groups) - 1
    for rank in range(geometry.ranks):
        if groups >> rank * geometry.groups & every:
            ranks |= 1 << rank
    return ranks
