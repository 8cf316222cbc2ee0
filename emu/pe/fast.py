"""The fast engine of a row: the same state in the same cycles, without a look at each of them.

Macs are planned (`emu.pe.plan`) when they begin, and a cycle in which nothing but planned macs
is at work is not simulated. What they have done so far is written into the state when they
end, or when somebody looks: `sync` leaves exactly what the reference would. Macs in which
something unusual happens run cycle by cycle in the reference's own data path, and all
macs of the row with them, so that faults come in the same cycle with the same state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emu.core import NEVER
from emu.pe.balanced import BalancedPlan, settle
from emu.pe.plan import Plan, Unplannable
from emu.pe.row import Row
from emu.pe.special_fast import FastSpecial
from emu.pe.stream import Stream

if TYPE_CHECKING:
    from emu.device import Device
    from emu.ports import Port


class FastRow(Row):
    """Fast engine of a row."""

    def __init__(self, device: Device, row: int) -> None:
        super().__init__(device, row)
        self.special: FastSpecial = FastSpecial(self, self.datapath.adder)
        self._plans: dict[int, Plan] = {}  # by cluster
        self._open: list[BalancedPlan] = []  # of these, those that are not settled
        self._stream: Stream | None = None  # beats that the bus will bring with nobody else there
        self._loose: set[int] = set()  # clusters with a mac that cannot be planned
        self._acted = 0  # the last cycle in which the row had something to do
        self._computed = 0  # the first one after it that the PEs have not had

    # The contract

    def granted(self, port: Port, data: bytes, time: int, ready: int) -> None:
        """A beat was on the bus, or on the return bus; see `Row`."""
        scheduled = self.time
        super().granted(port, data, time, ready)
        if port is not self._read_port or scheduled <= self.time or self.listeners:
            return
        stream = Stream.after(self, time // self.divider)
        if stream is not None:
            self._stream = stream
            self.device.memory.banks.alone[stream.half] = self._disturbed
            self.time = min(scheduled, stream.end * self.divider)

    def counters(self) -> dict[str, int]:
        """The table's counters."""
        self._catch_up()
        return super().counters()

    def sync(self) -> None:
        """Bring the declared state up to date."""
        self._catch_up()
        super().sync()

    def reload(self) -> None:
        """Go on from the declared state."""
        super().reload()
        self._plans, self._open, self._loose, self._stream = {}, [], set(), None
        self.special.reload()
        self._acted = self.state.reached - 1
        self._computed = self.special.begun = self.state.reached

    # A cycle

    def _cycle(self, now: int) -> None:
        self._end_stream(now)
        if self.special.waits:
            self.special.catch_up(now, ended=True)
        self._acted = self._computed = self.special.begun = now
        super()._cycle(now)

    def _compute(self, now: int) -> None:
        at_work: list[int] = self.state.computing.nonzero()[0].tolist()
        if not self._loose:
            new = [cluster for cluster in at_work if cluster not in self._plans]
            if new:
                self._plan(new, now)
        if self._loose:
            super()._compute(now)
            self._loose = {cluster for cluster in self._loose if self.state.computing[cluster]}
        else:
            self._end_macs(now)
        self._computed = now + 1

    def _plan(self, clusters: list[int], now: int) -> None:
        balanced = [cluster for cluster in clusters if self.state.balancing[cluster]]
        plain = [cluster for cluster in clusters if cluster not in balanced]
        try:
            if plain:
                self._plans.update(dict.fromkeys(plain, Plan(self.datapath, plain, now)))
            if balanced:
                plan = BalancedPlan(self.datapath, balanced, now)
                self._plans.update(dict.fromkeys(balanced, plan))
                self._open.append(plan)
        except Unplannable:
            self._loose = set(clusters)
            self._write(list(self._plans), now)

    def _end_macs(self, now: int) -> None:
        if any(plan.first_end() <= now for plan in self._open):
            self._settle()
        ended = [cluster for cluster, plan in self._plans.items() if plan.ends[cluster] == now]
        ended.sort()
        self._write(ended, now + 1)
        for cluster in ended:
            self.controls[cluster].mac_ended(now)

    def _settle(self) -> None:
        """Find when balanced macs end, those of all rows with them."""
        rows = [core for core in self.device.order if isinstance(core, FastRow)]
        settle([plan for row in rows for plan in row._open])
        for row in rows:
            row._open.clear()

    def _write(self, clusters: list[int], now: int) -> None:
        """Bring planned macs to the start of cycle `now`; their plans are over."""
        plans: dict[Plan, list[int]] = {}
        for cluster in clusters:
            plans.setdefault(self._plans.pop(cluster), []).append(cluster)
        for plan, some in plans.items():
            plan.write(some, now)
        if self._open:
            self._open = [plan for plan in self._open if plan not in plans]

    # The present

    def _catch_up(self) -> None:
        """Bring everything to the present cycle: nothing is planned then."""
        if not self._plans and self._stream is None and not self.special.waits:
            return
        device, divider = self.device, self.divider
        now = -(-device.frontier(self) // divider)
        if self._stream is not None:
            last = now - 1
            if (
                last >= self._stream.first
                and last * divider == device.cycle
                and not device.arbitrated
            ):
                self._act_in(last)  # its beat waits for the grant
            else:
                self._end_stream(now)
                self.time = min(self.time, now * divider)
        # In the middle of a cycle, if that one faults or is looked at, some have had it, some not.
        between = now <= self._acted + 1
        if self._plans or self.special.waits:
            present = max(now, self._acted + 1)
            self.state.reached = max(self.state.reached, present)
            self.time = min(self.time, present * divider)
            self._write(list(self._plans), self._computed if between else now)
            self.special.catch_up(self.special.begun if between else now, ended=False)

    def _act_in(self, cycle: int) -> None:
        """Simulate a cycle that was to be left out."""
        self.time = cycle * self.divider
        self._cycle(cycle)

    def _disturbed(self, time: int) -> None:
        """Somebody asks for our half in device cycle `time`: beat by beat from now on."""
        cycle = -(-time // self.divider)
        self._end_stream(cycle)
        self.time = cycle * self.divider

    def _end_stream(self, now: int) -> None:
        """Bring the bus to the start of cycle `now`."""
        if self._stream is not None:
            stream, self._stream = self._stream, None
            banks = self.device.memory.banks
            banks.alone.pop(stream.half, None)
            beats = stream.write(self, now)
            if beats:
                last = stream.first + beats - 1
                self.state.reached = max(self.state.reached, last + 1)
                banks.read_alone(self._read_port, stream.half, beats, last * self.divider)

    def _computes(self) -> bool:
        """Whether the PEs have to be looked at in the next cycle."""
        state: Any = self.state
        return int(state.computing.sum()) > len(self._plans)

    def _next_end(self) -> int:
        return min((plan.ends[cluster] for cluster, plan in self._plans.items()), default=NEVER)
