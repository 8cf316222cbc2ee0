"""The accountant of a row: what each PE did in each cycle, and for what its cluster waited.

The counters of the PEs say what each PE did in the cycles of a mac. For the other cycles of a run,
the stall report of the row says for what the cluster's oldest step waits. The report changes only
when the row acts, so each report is valid until the next act.
"""

from __future__ import annotations

from macaw.emu.accountant import Accountant
from macaw.emu.charges import Charge
from macaw.emu.core import Core
from macaw.emu.pe.row import Row
from macaw.emu.pe.state import BUSY, IDLE, MAC

# By counter of PEs: the cause of its cycles; `cycles_queue` is divided by the stall report.
_CAUSES = {
    "cycles_mac": "work",
    "cycles_filling": "fill",
    "cycles_no_load": "matches",
    "cycles_handing": "handover",
    "cycles_early": "imbalance",
    "cycles_idle": "packets",
}
_QUEUE, _IDLE = "cycles_queue", "cycles_idle"


class RowAccountant(Accountant):
    """Charges the cycles of a row, times its PEs."""

    core: Row

    def __init__(self, core: Row) -> None:
        shape = core.shape
        super().__init__(core, shape.clusters * shape.pes)
        self.counts = {name: [0] * shape.clusters for name in (*_CAUSES, _QUEUE)}
        self.simulated = 0  # simulated cycles that are charged so far
        # by cluster: what its cycles without a mac are charged to
        self.stalls = [Charge("packets")] * shape.clusters
        self.unlogged: dict[Charge, int] = {}  # cycles, times PEs, from `logged` to `at`
        self.logged = 0
        # by cluster: the address of the mac that ran last
        self.macs: list[int | None] = [None] * shape.clusters
        self.elsewhere: int | None = None  # the mac of some cluster that has a packet

    def acted(self) -> None:
        clusters = self.core.context.clusters
        for number, cluster in enumerate(clusters):
            address = cluster.running_address(MAC)
            self.macs[number] = self.macs[number] if address is None else address
        self._count()
        state = self.core.state
        busy = [mac for mac, doing in zip(self.macs, state.doing, strict=True) if doing != IDLE]
        self.elsewhere = next((mac for mac in busy if mac is not None), None)
        for number in range(len(clusters)):
            if state.doing[number] == BUSY:
                self.stalls[number] = self._stall(number)
            elif state.doing[number] == IDLE:
                self.stalls[number] = Charge("packets")
        if self.elsewhere is None:  # no mac has run
            steps = (stall.address for stall in self.stalls)
            self.elsewhere = next((step for step in steps if step is not None), None)

    def _stall(self, number: int) -> Charge:
        """Return what the cycles of a cluster are charged to while it runs no mac."""
        stall = self.core.stall_report.unit(number)
        return Charge(stall.cause or "issue", stall.address, stall.whom)

    def _count(self) -> None:
        """Charge the cycles that the row has counted since the last call."""
        core, state = self.core, self.core.state
        core.count_cycles()
        fresh: list[tuple[Charge, int]] = []
        for name, before in self.counts.items():
            for number, total in enumerate(getattr(state, name).sum(axis=1).tolist()):
                cycles = (total - before[number]) * core.divider
                before[number] = total
                if not cycles:
                    continue
                if name == _QUEUE:
                    fresh.append((self.stalls[number], cycles))
                else:
                    address = self.macs[number] if name != _IDLE else self.elsewhere
                    fresh.append((Charge(_CAUSES[name], address), cycles))
        simulated, self.simulated = state.cycles - self.simulated, state.cycles
        if not (fresh or simulated):
            return
        end = int(state.counted_to) * core.divider
        self.idle(end - simulated * core.divider)
        self.keep_charges()
        for charge, count in fresh:
            self._add(charge, count)
        self.at = end
        self._log()

    def _add(self, charge: Charge, count: int) -> None:
        self.add(charge, count)
        self.unlogged[charge] = self.unlogged.get(charge, 0) + count

    def _log(self) -> None:
        """Log the charges since the last call, and divide the cycles among them.

        Engines may count the cycles of macs later than other cycles. Until then nothing is logged.
        """
        if sum(self.unlogged.values()) < (self.at - self.logged) * self.units:
            return
        if self.unlogged:
            self.log.divide(self.logged, self.at, self.unlogged)
            self.unlogged = {}
        self.logged = self.at

    def settle(self, time: int) -> None:
        self.core.sync()
        self._count()
        if self.core.running and self.at < time:
            # the row's list goes on, but it has not simulated these cycles
            pes = (time - self.at) * self.core.shape.pes
            for stall in self.stalls:
                self._add(stall, pes)
            self.at = time
        self._log()
        self.least["bus"] = self.core.state.bus_beats * self.core.divider

    def idle(self, until: int) -> None:
        if until > self.at:
            self._log()
            super().idle(until)
            self.logged = self.at


def make(core: Core) -> Accountant:
    """Return a new accountant of a row."""
    assert isinstance(core, Row)
    return RowAccountant(core)
