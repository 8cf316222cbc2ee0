"""The outcome of a mac: a record that both engines make, and add to the state and counters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.pe_arrays import PeArrays
from macaw.isa.lazy_dataclass import dataclass

Counts = NDArray[Any] | int  # integers: an element for each PE, or one for all


@dataclass
class MacOutcome:
    """The effects of a mac, or of some of its cycles, in some PEs, as arrays of one common shape.

    Both engines make these records, and only `add_to` changes counters. To add a counter that macs
    change, add a row to `macaw.isa.pe.PE_COUNTERS` and a line to `counters` or `peaks` here.
    """

    products: NDArray[Any]  # loads that the MAC took
    weights_examined: NDArray[Any]  # weight entries that the comparator examined
    effectual_loads: NDArray[Any]  # examined entries whose activation was not zero
    # loads that moved from queue 1 to queue 2 (design 5a: into the latch)
    queue_moves: NDArray[Any]
    busy_cycles: NDArray[Any]  # cycles in which the PE had loads or entries to examine
    filling_cycles: NDArray[Any]  # busy cycles before the first load reached the MAC
    mac_cycles: Counts = 0  # cycles in which its cluster executed the mac
    loads_given: Counts = 0  # loads given to the left neighbour
    loads_received: Counts = 0  # loads from the right neighbour
    handing_cycles: Counts = 0  # cycles at the end in which the PE sent or received a partial sum
    # The greatest number of loads in queues 1 and 2 during the mac; None: the number after it.
    q1_most: Counts | None = None
    q2_most: Counts | None = None

    def counters(self) -> Mapping[str, NDArray[Any]]:
        """Return the numbers that the mac adds to counters, by counter name.

        For a mac without balance, the counters of balancing are left out.
        """
        added: dict[str, Any] = {
            "macs": self.products,
            "cycles_mac": self.products,
            "cycles_filling": self.filling_cycles,
            "cycles_no_load": self.busy_cycles - self.products - self.filling_cycles,
            "cycles_early": self.mac_cycles - self.busy_cycles,
            "weights_examined": self.weights_examined,
            "effectual_loads": self.effectual_loads,
        }
        if not isinstance(self.handing_cycles, int):
            added["cycles_handing"] = self.handing_cycles
            added["cycles_early"] = added["cycles_early"] - self.handing_cycles
        if not isinstance(self.loads_given, int):
            added |= {"loads_given": self.loads_given, "loads_taken": self.loads_received}
        return added

    def peaks(self, pes: PeArrays) -> Mapping[str, Counts]:
        """Return the greatest numbers of loads in queues 1 and 2, by name of the high-water mark.

        The caller raises each mark to at least this number. `pes` must already contain the outcome.
        """
        return {
            "q1_high": pes.q1_count if self.q1_most is None else self.q1_most,
            "q2_high": pes.q2_count if self.q2_most is None else self.q2_most,
        }

    def add_to(self, pes: PeArrays) -> None:
        """Write the outcome to the comparators, queue counts and counters of `pes`.

        The caller writes the loads in the queues.
        """
        shape = pes.shape
        pes.mac_left -= self.weights_examined
        pes.mac_next += self.weights_examined
        pes.mac_next %= shape.weight_queue
        if not shape.direct:
            departures, arrivals = self.queue_moves, self.effectual_loads
            if not isinstance(self.loads_given, int):
                departures, arrivals = departures + self.loads_given, arrivals + self.loads_received
                pes.given += self.loads_given
            pes.q1_head += departures
            pes.q1_head %= shape.load_queue_1
            pes.q1_count += arrivals
            pes.q1_count -= departures
        pes.q2_head += self.products
        pes.q2_head %= shape.load_queue_2
        pes.q2_count += self.queue_moves
        pes.q2_count -= self.products
        pes.mac_reached |= self.products > 0
        for name, count in self.counters().items():
            pes.counters[name] += count
        for name, most in self.peaks(pes).items():
            np.maximum(pes.counters[name], most, out=pes.counters[name])

    def part(self, where: Any) -> MacOutcome:
        """Return the outcome for the elements that the index `where` selects."""
        return self._changed(lambda values: values[where])

    def reshape(self, shape: tuple[int, ...]) -> MacOutcome:
        """Return the same outcome with arrays of another shape."""
        return self._changed(lambda values: values.reshape(shape))

    def _changed(self, change: Callable[[NDArray[Any]], NDArray[Any]]) -> MacOutcome:
        """Return the outcome with each of its arrays changed by the function `change`."""
        values = vars(self).items()
        arrays = {name: change(x) if isinstance(x, np.ndarray) else x for name, x in values}
        return MacOutcome(**arrays)

    @classmethod
    def concatenate(cls, parts: Sequence[MacOutcome]) -> MacOutcome:
        """Join the outcomes `parts` along the first axis. All must have the same fields."""
        arrays = [part._arrays() for part in parts]
        names = arrays[0]
        return replace(
            parts[0], **{name: np.concatenate([part[name] for part in arrays]) for name in names}
        )

    def total(self) -> MacOutcome:
        """Return one outcome for all macs along the first axis, one after the other in time.

        Counts are summed. `q1_most` and `q2_most` become the maximum over the macs.
        """
        sums = {name: value.sum(axis=0) for name, value in self._arrays().items()}
        peaks = {name: self._arrays()[name].max(axis=0) for name in ("q1_most", "q2_most")}
        return replace(self, **(sums | peaks))

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}
