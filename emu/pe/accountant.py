"""The accountant of a row: it charges each cycle of each PE to work or to a wait of its cluster.

The counters of the PEs give the causes for the cycles of a mac. For the other cycles of a run, the
stall report of the row says for what the cluster's oldest step waits. The report changes only when
the row acts, so each report is valid until the next act.

Some waits for the bus have the cause `order`: the bus brings results that earlier packets of the
same list have stored, and could not have brought them before they were stored. While a store runs,
the cause `lanes` gets the cycles in which a bank writes its second or a later word of the same
beat.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from macaw.emu.accountant import Accountant
from macaw.emu.charges import Charge
from macaw.emu.core import Core, Event
from macaw.emu.pe.row import Row
from macaw.emu.pe.sequence import MEMBERS, WEIGHTS, WINDOW
from macaw.emu.pe.state import BUSY, FREE, IDLE, MAC, STORE, UNITS

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
_COUNTERS = (*_CAUSES, _QUEUE)
_STATE = MEMBERS.index("state")
_LINE = 32  # bytes; with this resolution an accountant knows what the row has stored
_RESULTS = "results of the same list"
_NO_PACKET = Charge("packets")


class RowAccountant(Accountant):
    """Charges each cycle of each PE of a row to a cause."""

    core: Row
    mendable = ("bus", "packets", "lanes", "imbalance")

    def __init__(self, core: Row) -> None:
        shape = core.shape
        super().__init__(core, shape.clusters * shape.pes)
        # by counter and cluster: the cycles that are charged so far, times the PEs
        self.counts = np.zeros((len(_COUNTERS), shape.clusters), np.int64)
        self.simulated = 0  # simulated cycles that are charged so far
        # by cluster: the charge of its cycles without a mac
        self.stalls = [_NO_PACKET] * shape.clusters
        self.unlogged: dict[Charge, int] = {}  # cycles, times PEs, from `logged` to `at`
        self.logged = 0
        # by cluster: the address of the mac that ran last
        self.macs: list[int | None] = [None] * shape.clusters
        self.weights: dict[int, int] = {}  # by order of a packet: where its weights are
        self.lists = 0  # the packet lists that have ended
        # of the present list: by order of an exe with products, whether results left its registers
        self.products: dict[int, bool] = {}
        self.reads_results = False  # whether the present list reads results of its own
        self.began = 0  # the first cycle of the present list
        # the cycles of all lists, and those that remain if other rows do what they can of each list
        self.list_cycles, self.least_cycles = 0, 0.0
        self.latest: list[tuple[int, int]] = [(-1, -1)] * shape.clusters  # address, order
        self.elsewhere: int | None = None  # the mac of some cluster that has a packet
        self.beats = 0  # the beats of the bus that are counted so far
        self.bus_rest = 0.0  # unused cycles of the present list in which the bus rested
        self.avoidable = 0.0  # cycles of waits for the bus that earlier rests could have saved
        self.stored: set[int] = set()  # lines of memory with results of the present list
        self.returned = -1  # number of the latest beat of the return bus that waits for banks
        self.bank_cycles = 0  # cycles of this beat after its first one, not charged yet
        # by order of a packet and number of a segment: whether it has results of the present list
        self.segments: dict[tuple[int, int], bool] = {}

    def hear(self, event: Event) -> None:
        if event.kind == "write":
            self.stored.update(_lines(*self._at(event)))
        elif event.kind == "read":
            lines = _lines(*self._at(event))
            self.reads_results = self.reads_results or not self.stored.isdisjoint(lines)
        elif event.kind == "packet":
            packet = self.core.state.packet
            segments = packet["segments"] if packet is not None else []
            weights = (part["offset"] for part in segments if part["type"] == WEIGHTS)
            self.weights[int(event.values["order"])] = next(weights, int(event.values["address"]))

    def _at(self, event: Event) -> tuple[int, int]:
        """Return the offset in the feeding half, and the size, of an announced access."""
        offset = int(event.values["address"]) - self.core.context.memory.base
        return offset, int(event.values["size"])

    def acted(self) -> None:
        clusters = self.core.context.clusters
        for number, cluster in enumerate(clusters):
            address = None if cluster.units[MAC] == FREE else cluster.running_address(MAC)
            if address is not None:
                self.macs[number] = address
                self._note_step(number, address)
        self._count()
        self.elsewhere = None
        for number, doing in enumerate(self.core.state.doing.tolist()):
            if doing == IDLE:
                self.stalls[number] = _NO_PACKET
                continue
            if self.elsewhere is None:
                self.elsewhere = self.macs[number]
            if doing == BUSY:
                self.stalls[number] = self._stall(number)
        if self.elsewhere is None:  # no mac has run
            steps = (stall.address for stall in self.stalls)
            self.elsewhere = next((step for step in steps if step is not None), None)
        self._note_banks()

    def _note_step(self, number: int, address: int) -> None:
        """Record the number of weights that each PE of a cluster has in its present mac.

        `number` is the number of the cluster, `address` the address of the mac.
        """
        cluster, state = self.core.context.clusters[number], self.core.state
        run = cluster.run_of(cluster.units[MAC])
        if run is None or self.latest[number] == (address, run["order"]):
            return
        self.latest[number] = address, run["order"]
        self.products[run["order"]] = any(run["command"])
        if state.headers[number, run["buffer"], _STATE] != WINDOW:
            entries = state.segment_entries[number, run["buffer"]].tolist()
            key = self.lists, self.weights.get(run["order"], 0), number
            self.steps.setdefault(address, {})[key] = entries

    def _stall(self, number: int) -> Charge:
        """Return the charge for the cycles in which cluster `number` runs no mac."""
        stall = self.core.stall_report.unit(number)
        if stall.cause == "bus" and self._brings_results():
            return Charge("order", stall.address, _RESULTS)
        return Charge(stall.cause or "issue", stall.address, stall.whom)

    def _brings_results(self) -> bool:
        """Return whether the segment on the bus contains results that the present packet list
        stored.
        """
        packet = self.core.state.packet
        if packet is None or packet["segment"] >= len(packet["segments"]):
            return False
        key = packet["order"], packet["segment"]
        if not packet["sent"] or key not in self.segments:
            segment = packet["segments"][packet["segment"]]
            lines = _lines(segment["offset"], segment["length"])
            self.segments[key] = not self.stored.isdisjoint(lines)
        return self.segments[key]

    def _count(self) -> None:
        """Charge the cycles that the row has counted since the last call."""
        core, state = self.core, self.core.state
        core.count_cycles()
        fresh: list[tuple[Charge, int]] = []
        counts = np.add.reduce(np.array([getattr(state, name) for name in _COUNTERS]), axis=2)
        growth = (counts - self.counts) * core.divider
        self.counts = counts
        for name, of_clusters in zip(_COUNTERS, growth.tolist(), strict=True):
            for number, cycles in enumerate(of_clusters):
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
        self._use_rest(fresh, simulated * core.divider)
        lanes = min(self.bank_cycles, simulated * core.divider)
        self.bank_cycles -= lanes
        for charge, count in fresh:
            of_banks = 0
            if charge.whom == UNITS[STORE]:
                of_banks = min(lanes * core.shape.pes, count)
                self._add(Charge("lanes", charge.address), of_banks)
            self._add(charge, count - of_banks)
        self.at = end
        self._log()

    def _note_banks(self) -> None:
        """Record the cycles for which the present beat of a store will wait for banks.

        In each cycle a bank writes one word of the beat.
        """
        state, context = self.core.state, self.core.context
        if state.returning == FREE or state.returned != FREE or self.returned == state.return_beats:
            return
        op = context.clusters[state.returning].storing()
        if op is not None:
            pieces = len(context.memory.memory.banks.pieces(op["beats"][0][0]))
            divider = self.core.divider
            self.returned = int(state.return_beats)
            self.bank_cycles = (-(-pieces // divider) - 1) * divider

    def _use_rest(self, fresh: Iterable[tuple[Charge, int]], cycles: int) -> None:
        """Add to `avoidable` the cycles of waits for the bus that could have been avoided.

        `fresh` has the charges of the last `cycles` cycles. PEs may wait while the bus moves beats,
        although the bus was idle in an earlier cycle of the packet list. The bus could have moved
        these beats then, so the wait was avoidable. Each idle cycle of the bus can avoid only one
        cycle of waits.
        """
        beats, self.beats = self.core.state.bus_beats - self.beats, self.core.state.bus_beats
        moving = beats * self.core.divider
        waited = sum(count for charge, count in fresh if charge.cause == "bus") / self.units
        used = min(waited, moving, max(self.bus_rest, 0.0))
        self.avoidable += used
        self.bus_rest += cycles - moving - used

    def _add(self, charge: Charge, count: int) -> None:
        if count:
            self.add(charge, count)
            self.unlogged[charge] = self.unlogged.get(charge, 0) + count

    def _log(self) -> None:
        """Divide the cycles since the last call among their charges, and log them.

        An engine may count the cycles of macs later than other cycles. So this method does nothing
        until all cycles have been counted and charged.
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
        idle = sum(count for charge, count in self.charges.items() if charge.is_idle)
        busy = sum(self.charges.values()) - idle
        self._end_list()
        if self.list_cycles:
            self.undivided = self.least_cycles / self.list_cycles
        self.least["bus"] = round(busy / self.units - self.avoidable)

    def idle(self, until: int) -> None:
        if until > self.at:
            self._log()
            self._end_list()
            super().idle(until)
            self.logged = self.began = self.at
            self.bus_rest = 0.0
            self.stored.clear()
            self.segments.clear()
            self.lists += 1

    def _end_list(self) -> None:
        """At the end of a packet list, estimate its length if other rows shared its work.

        Other rows could take over exes that complete results, so a list with n such exes could
        become n times as short. A list that reads results of its own cannot be divided, because
        other rows do not have these results.
        """
        pieces = 1 if self.reads_results else max(sum(self.products.values()), 1)
        self.list_cycles += self.at - self.began
        self.least_cycles += (self.at - self.began) / pieces
        self.products.clear()
        self.reads_results = False


def _lines(offset: int, size: int) -> range:
    """Return the numbers of the lines (32 bytes each) that contain the `size` bytes at `offset`."""
    return range(offset // _LINE, (offset + size - 1) // _LINE + 1)


def make(core: Core) -> Accountant:
    """Return a new accountant of a row."""
    assert isinstance(core, Row)
    return RowAccountant(core)
