"""Estimates the energy of a run: counts of activities times the numbers of a table.

Static energy is the energy that cores use in each cycle of a run. To attribute it to lines, the
accountants of `macaw.emu.accounting` charge every cycle of every core in a separate run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from macaw.emu import accounting
from macaw.emu.core import Core
from macaw.emu.device import Device
from macaw.errors import InputError
from macaw.isa.activities import BY_NAME as ACTIVITIES
from macaw.isa.activities import BYTES
from macaw.isa.causes import BY_NAME as CAUSES
from macaw.profiling.energy import ActivityEnergy, CoreEnergy, Energy, LineEnergy
from macaw.profiling.energy_table import EnergyTable
from macaw.profiling.measuring import Measured
from macaw.profiling.recording import Job, endless
from macaw.profiling.source_lines import SourceLines

STATIC, WORK = "static", "work"
_Line = tuple[str, str]  # place and text


def estimate_energy(job: Job, run: Measured, table: EnergyTable) -> Energy:
    """Return the estimated energy of `run`, which measured `job`, with the numbers of `table`.

    Raises `InputError` if the table has static energy and the program does not end by itself.
    """
    names = [layer.name for layer in job.program.network.layers] if job.program.network else []
    counts: dict[str, int] = defaultdict(int)
    tensors: dict[str, float] = defaultdict(float)
    layers: dict[str, float] = defaultdict(float)
    cores = {name: _CoreSums(run.device, meter.core) for name, meter in run.meters.items()}
    for name, meter in run.meters.items():
        for key, count in meter.counts.items():
            energy = count * table.activities[key.activity].picojoules
            kind = ACTIVITIES[key.activity].kind
            counts[key.activity] += count
            cores[name].add(key.activity, kind, key.address, energy)
            if kind == BYTES:
                tensors[key.tensor] += energy
            if names:
                layers[names[key.layer] if 0 <= key.layer < len(names) else ""] += energy
    static = 0.0
    if any(price.picojoules for price in table.static.values()):
        static = _add_static(job, table, cores)
    made = [sums.energy() for sums in cores.values()]
    activities = [
        ActivityEnergy(name, count, price.picojoules, price.source)
        for name, price in table.activities.items()
        if (count := counts.get(name, 0))
    ]
    return Energy(
        table.name,
        sum(core.energy for core in made),
        static,
        tuple(sorted(activities, key=lambda item: -item.energy)),
        tuple(core for core in made if core.energy),
        _most_first(tensors),
        {name: layers[name] for name in (*names, "") if layers.get(name)},
    )


def _add_static(job: Job, table: EnergyTable, cores: Mapping[str, _CoreSums]) -> float:
    """Add the static energy of all cycles to the sums of `cores`, and return the added total."""
    device = job.machine()
    stop, accountants = accounting.run(device, job.max_cycles)
    if stop.reason != "exit":
        raise InputError(*endless(stop))
    static = 0.0
    for name, one in accountants.items():
        price = table.static.get(one.core.table.name)
        if price is None or not price.picojoules:
            continue
        for charge, cycles in one.charges.items():
            energy = cycles / one.units * price.picojoules
            root = charge.cause
            while CAUSES[root].parent:
                root = CAUSES[root].parent
            cores[name].add(STATIC, STATIC, charge.address, energy, root)
            static += energy
    return static


class _CoreSums:
    """Sums up the energy of one core."""

    def __init__(self, device: Device, core: Core) -> None:
        self.core = core
        self.kinds: dict[str, float] = defaultdict(float)
        self.causes: dict[str, float] = defaultdict(float)
        self.lines: dict[_Line, dict[str, float]] = {}
        self._places = SourceLines(device, core)

    def add(
        self, activity: str, kind: str, address: int | None, energy: float, cause: str = WORK
    ) -> None:
        """Add picojoules to the sums of the activity's kind, of the cause, and of the source line.

        `activity` is the name of an activity, or "static" for the energy of cycles. The source line
        is the line of the instruction at `address`.
        """
        if not energy:
            return
        self.kinds[kind] += energy
        self.causes[cause] += energy
        line = self._places.line(address)
        self.lines.setdefault((line.place, line.text), defaultdict(float))[activity] += energy

    def energy(self) -> CoreEnergy:
        """Return the sums as a `CoreEnergy` record."""
        lines = [
            LineEnergy(place, text, sum(parts.values()), _most_first(parts))
            for (place, text), parts in self.lines.items()
        ]
        return CoreEnergy(
            self.core.name,
            self.core.table.name,
            sum(self.kinds.values()),
            dict(self.kinds),
            _most_first(self.causes) if STATIC in self.kinds else {},
            tuple(sorted(lines, key=lambda line: -line.energy)),
        )


def _most_first(energies: Mapping[str, float]) -> dict[str, float]:
    """Return the energies that are not 0, the greatest first."""
    return dict(sorted((item for item in energies.items() if item[1]), key=lambda item: -item[1]))
