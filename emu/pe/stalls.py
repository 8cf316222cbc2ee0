"""Reports for what the bus and each run of a row wait, and which parts can end each wait."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from macaw.emu.inspection import Stall
from macaw.emu.pe.cluster import Cluster
from macaw.emu.pe.commands import command_of
from macaw.emu.pe.distribution import Distribution
from macaw.emu.pe.sequence import decode_word
from macaw.emu.pe.state import DONE, FREE, MAC, NO_UNIT, RUNNING, UNITS, Op, Run
from macaw.emu.waits import NEVER

Parts = tuple[tuple[str, int | None], ...]
_BUS = "bus"
_OTHERS = "the other PEs"
# By mnemonic: the cause of the cycles of a step that runs, and the unit that works.
_STEPS = {"ld": ("bus", ""), "spu": ("units", "sfu"), "st": ("units", "store")}


class StallReport:
    """The stalls of one row, computed from its present state."""

    def __init__(self, bus: Distribution) -> None:
        self.bus, self.context = bus, bus.context
        self.core, self.state, self.shape = bus.context.core, bus.state, bus.shape

    def stalls(self) -> Iterator[Stall]:
        """Yield the stall of the bus, then the stalls of the runs.

        Several clusters usually have equal runs of one packet. Of such runs, the report has only
        the one with the least progress.
        """
        if self.state.packet is not None:
            yield self._bus()
        names: set[str] = set()
        for cluster, run in sorted(self._runs(), key=lambda item: _progress(item[1])):
            name = self._name(run)
            if name not in names:
                names.add(name)
                yield self._run(name, cluster, run)

    def unit(self, number: int, pe: int | None = None) -> Stall:
        """Return the present work or wait of cluster `number`, or of PE `pe` of this cluster.

        The result is for the cluster's oldest run that executes a step. If no run executes a step,
        it is for the oldest run that has steps to do. If no run has steps to do, the result has
        `ended` set. A PE that has finished its part of the current mac waits for the other PEs.
        """
        cluster, state = self.context.clusters[number], self.state
        first = None  # the oldest run that works, else the oldest one that is not done
        for run in cluster.runs:
            states = [op["state"] for op in run["ops"]]
            if RUNNING in states:
                first = run
                break
            if first is None and states.count(DONE) < len(states):
                first = run
        if first is None:
            return Stall(ended=True)
        if state.computing[number]:
            address = cluster.running_address(MAC)
            if pe is not None:
                work = state.mac_left, state.q1_count, state.q2_count
                if not any(values[number, pe] for values in work):
                    return Stall("", _OTHERS, address=address)
            return Stall(address=address)
        return self._run("", cluster, first)

    def _runs(self) -> list[tuple[Cluster, Run]]:
        return [(cluster, run) for cluster in self.context.clusters for run in cluster.runs]

    def _name(self, run: Run) -> str:
        """Return the name of a run, such as `ib=0`.

        If a run of another packet uses the same buffer number, the name also has the run's
        clusters.
        """
        runs = self._runs()
        numbers = [cluster.number for cluster, x in runs if x["order"] == run["order"]]
        is_ambiguous = any(
            x["buffer"] == run["buffer"] and x["order"] != run["order"] for _, x in runs
        )  # fmt: skip
        name = f"ib={run['buffer']}"
        return f"{name} of clusters {', '.join(map(str, numbers))}" if is_ambiguous else name

    def _parts(self, runs: Iterable[Run]) -> Parts:
        return tuple((name, None) for name in dict.fromkeys(self._name(run) for run in runs))

    def _bus(self) -> Stall:
        state, packet = self.state, self.state.packet
        address = self.shape.address(packet["address"])
        since = state.bus_free * self.shape.divider
        if state.beat is not None:
            until = self.context.memory.memory.banks.time
            return Stall(_BUS, address=address, until=until, note="a beat")
        if command_of(packet).takes_buffer and not packet["opened"]:
            for number in packet["clusters"]:
                if not self.bus.controls.units[number].has_free_buffer(packet):
                    on = f"ib={packet['buffer']} of cluster {number}, which is at work"
                    parts = self._parts(self.context.clusters[number].runs)
                    return Stall(_BUS, on, since, address, 0, parts)
        segment = packet["segment"]
        if packet["commanded"] and not self.bus.can_send(packet, segment, state.reached):
            runs = [x for _, x in self._runs() if x["order"] < packet["order"]]
            working = [x for _, x in self._runs() if x["order"] == packet["order"] and _works(x)]
            on = f"ib={packet['buffer']} to take segment {segment}"
            parts = self._parts(runs or working)
            return Stall(_BUS, on, since, address, 0, parts, self.core.time)
        return Stall(_BUS, address=address, until=self.core.time, note=packet["mnemonic"])

    def _run(self, name: str, cluster: Cluster, run: Run) -> Stall:
        states = [op["state"] for op in run["ops"]]
        working = RUNNING in states
        if not working and states.count(DONE) == len(states):
            return Stall(name, until=self.core.time, note="its end")
        place = (
            states.index(RUNNING)
            if working
            else next(place for place, state in enumerate(states) if state != DONE)
        )
        op = run["ops"][place]
        address = cluster.address(run, op)
        word = int(self.state.words[cluster.number, run["buffer"], op["place"]])
        note = decode_word(word).row.mnemonic
        if working:
            until = (op["end"] + 1) * self.shape.divider if op["end"] < NEVER else NEVER
            cause, whom = _STEPS.get(note, ("", ""))
            return Stall(name, address=address, until=until, note=note, cause=cause, whom=whom)
        found = Stall(name, address=address, note=note)
        return self._reason(found, cluster, run, op) or found._replace(until=self.core.time)

    def _reason(self, found: Stall, cluster: Cluster, run: Run, op: Op) -> Stall | None:
        """Return the stall `found` with the cause of the wait of step `op`, and what could end it.

        `run` is the step's run, in `cluster`. The result is None if the step can start.
        """
        if not run["live"] or op["segments"]:
            what = f"segment {op['segments'][0]} of its packet" if op["segments"] else "its packet"
            return found._replace(on=what, parts=((_BUS, None),), cause="bus")
        holder = FREE if op["unit"] == NO_UNIT else cluster.units[op["unit"]]
        if holder not in (FREE, run["buffer"]):
            other, unit = cluster.run_of(holder), UNITS[op["unit"]]
            parts = self._parts([] if other is None else [other])
            return found._replace(on=f"the {unit}", parts=parts, cause="units", whom=unit)
        before = cluster.runs[: cluster.runs.index(run)]
        if not before:
            return None
        parts = self._parts(before)
        whom = ", ".join(name for name, _ in parts)
        return found._replace(on="what runs before it use", parts=parts, cause="order", whom=whom)


def _progress(run: Run) -> tuple[int, int, int]:
    """Return a sort key for runs: earlier packets first, then the run with the least progress."""
    undone = (op["place"] for op in run["ops"] if op["state"] != DONE)
    return run["order"], run["iteration"], next(undone, len(run["ops"]))


def _works(run: Run) -> bool:
    return any(op["state"] == RUNNING for op in run["ops"])
