"""What a mac leaves behind in its PEs: one record for both engines, and the counters made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.pe_arrays import PeArrays

Counts = NDArray[Any] | int  # integers, an element a PE, or the same for all


@dataclass
class MacOutcome:
    """What a mac, or some of its cycles, did in some PEs; arrays of one shape.

    A counter of PEs that macs change is a row of `macaw.isa.pe.PE_COUNTERS` and a line of
    `counters` or `peaks` here: both engines make these records, and only `add_to` counts.
    """

    taken: NDArray[Any]  # loads that the MAC took: products
    examined: NDArray[Any]  # weight entries
    found: NDArray[Any]  # effectual loads of these
    moved: NDArray[Any]  # loads from queue 1 to queue 2 (design 5a: into the latch)
    busy: NDArray[Any]  # cycles in which the PE had entries to examine or loads
    filling: NDArray[Any]  # of these, cycles before its first load reached the MAC
    cycles: Counts = 0  # cycles in which the mac of its cluster was at work
    given: Counts = 0  # loads given to the left neighbour
    received: Counts = 0  # loads that came from the right neighbour
    handing: Counts = 0  # cycles in which the PE gave or got a partial sum at the end
    # The most loads that queues 1 and 2 held; None: as many as they hold afterwards.
    q1_most: Counts | None = None
    q2_most: Counts | None = None

    def counters(self) -> Mapping[str, Counts]:
        """What is added to each counter, by its name."""
        return {
            "macs": self.taken,
            "cycles_mac": self.taken,
            "cycles_filling": self.filling,
            "cycles_no_load": self.busy - self.taken - self.filling,
            "cycles_handing": self.handing,
            "cycles_early": self._early,
            "weights_examined": self.examined,
            "effectual_loads": self.found,
            "loads_given": self.given,
            "loads_taken": self.received,
        }

    @property
    def _early(self) -> NDArray[Any]:
        idle = self.cycles - self.busy
        return idle if isinstance(self.handing, int) else idle - self.handing

    def peaks(self, pes: PeArrays) -> Mapping[str, Counts]:
        """What each high-water mark is at least, by its name, once `pes` holds the outcome."""
        return {
            "q1_high": pes.q1_count if self.q1_most is None else self.q1_most,
            "q2_high": pes.q2_count if self.q2_most is None else self.q2_most,
        }

    def add_to(self, pes: PeArrays) -> None:
        """Write it to comparators, queues (but not the loads in them) and counters of `pes`."""
        shape = pes.shape
        pes.mac_left -= self.examined
        pes.mac_next += self.examined
        pes.mac_next %= shape.weight_queue
        if not shape.direct:
            gone, arrived = self.moved, self.found
            if not isinstance(self.given, int):
                gone, arrived = gone + self.given, arrived + self.received
                pes.given += self.given
            pes.q1_head += gone
            pes.q1_head %= shape.load_queue_1
            pes.q1_count += arrived
            pes.q1_count -= gone
        pes.q2_head += self.taken
        pes.q2_head %= shape.load_queue_2
        pes.q2_count += self.moved
        pes.q2_count -= self.taken
        pes.mac_reached |= self.taken > 0
        for name, count in self.counters().items():
            if not isinstance(count, int):  # 0: of macs that do not balance
                pes.counters[name] += count
        for name, most in self.peaks(pes).items():
            np.maximum(pes.counters[name], most, out=pes.counters[name])

    def part(self, where: Any) -> MacOutcome:
        """The outcome of some elements of the arrays."""
        return replace(self, **{name: value[where] for name, value in self._arrays().items()})

    def reshape(self, shape: tuple[int, ...]) -> MacOutcome:
        """The same outcome as arrays of another shape."""
        arrays = self._arrays().items()
        return replace(self, **{name: value.reshape(shape) for name, value in arrays})

    @classmethod
    def joined(cls, parts: Sequence[MacOutcome]) -> MacOutcome:
        """Outcomes one after the other along the first axis; all have the same fields."""
        arrays = [part._arrays() for part in parts]
        names = arrays[0]
        return replace(
            parts[0], **{name: np.concatenate([part[name] for part in arrays]) for name in names}
        )

    def total(self) -> MacOutcome:
        """The outcome of consecutive macs, the first axis of the arrays, together."""
        sums = {name: value.sum(axis=0) for name, value in self._arrays().items()}
        peaks = {name: self._arrays()[name].max(axis=0) for name in ("q1_most", "q2_most")}
        return replace(self, **(sums | peaks))

    def _arrays(self) -> dict[str, NDArray[Any]]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
