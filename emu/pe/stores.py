"""Stores: computes the beats of the return bus from results in the output queues.

The out record of an exe gives the layout of results in memory (`macaw.isa.pe.OUT`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.pe.arithmetic import in_memory, memory_type
from macaw.emu.pe.context import RowContext
from macaw.emu.pe.output_queues import OutputQueues
from macaw.emu.pe.state import Out, Run
from macaw.emu.pe.store_layout import Ranges, store_layout
from macaw.isa.pe import ELEMENTS

Beats = list[tuple[Ranges, bytes]]
_CACHED_ELEMENTS = 4096  # the greatest number of elements in a store whose layout is cached


class Stores:
    """Computes the addresses and bytes that the `st` instructions of a row write, beat by beat."""

    def __init__(self, context: RowContext, queues: OutputQueues) -> None:
        self.context, self.state, self.shape = context, context.state, context.shape
        self.queues = queues

    def span(self, cluster: int, out: Out, stores: int, address: int) -> tuple[int, int] | None:
        """Return the range of bytes of the half that the stores of an exe may write.

        `out` is the out record of the exe. The result is (low, high), where `high` is excluded. It
        is None if the exe stores nothing. `stores` is the number of stores of the exe. Raises
        `Fault` at the packet's `address` if the results do not fit into the half.
        """
        pes = self._writers(cluster, out)
        elements = stores * out["count"]
        if not elements or not pes.size:
            return None
        size = memory_type(ELEMENTS[out["element"]]).itemsize
        first, last = int(pes[0]), int(pes[-1])
        low = out["offset"] + first * out["stride"]
        high = out["offset"] + last * out["stride"] + (elements - 1) * out["step"] + size
        if high > self.context.memory.half_bytes:
            raise Fault(
                "out-of-range access",
                f"results of cluster {cluster} go to offsets {low:#x} to {high - 1:#x},"
                f" half a unit has {self.context.memory.half_bytes:#x} bytes",
                {"cluster": cluster, "offset": low, "end": high},
                address=address,
            )
        return low, high

    def _writers(self, cluster: int, out: Out) -> NDArray[np.intp]:
        """Return the numbers, counted through the row, of the PEs of a cluster that may write.

        If `pes` of the out record is not 0, PEs from this number on do not write.
        """
        pes = cluster * self.shape.pes + np.arange(self.shape.pes)
        return pes[pes < out["pes"]] if out["pes"] else pes

    def beats(self, cluster: int, run: Run, source: NDArray[Any]) -> Beats:
        """Return the beats of a store of a cluster's run: all elements, ordered by address.

        `source` (PEs,) is the first entry in each output queue. PEs without results are left out.
        Raises `Fault` if no PE has results, if a PE has only some of its results, or if a result
        does not fit into its element.
        """
        out = run["out"]
        writers = self._writers(cluster, out)
        count = out["count"]
        if not count or not writers.size:
            return []
        holders = self.queues.holders(cluster, source, count, "st")
        has_results = np.zeros(self.shape.pes, np.bool_)
        has_results[holders] = True
        writers = writers[has_results[writers - cluster * self.shape.pes]]
        local = writers - cluster * self.shape.pes
        number = np.arange(count)
        values = self.state.output[cluster, local[:, None], source[local][:, None] + number]
        self.state.output_reads[cluster, local] += count
        element = ELEMENTS[out["element"]]
        self._check_kind(cluster, element)
        data, overflow = in_memory(values, element)
        if overflow.any():
            pe, at = (int(x) for x in np.argwhere(overflow)[0])
            raise Fault(
                "store overflow",
                f"cluster {cluster}, PE {int(local[pe])}: the result {values[pe, at]!s}"
                f" does not fit {element}",
                {"cluster": cluster, "pe": int(local[pe]), "value": str(values[pe, at])},
            )
        steps = out["step"], run["stored"], count
        size, width = data.dtype.itemsize, self.shape.bus_bytes
        layout = store_layout if data.size <= _CACHED_ELEMENTS else store_layout.__wrapped__
        order, ranges = layout(out["offset"], out["stride"], steps, writers.tobytes(), size, width)
        all_bytes = data.reshape(-1)[order].tobytes()
        pieces = [all_bytes[at : at + width] for at in range(0, len(all_bytes), width)]
        return list(zip(ranges, pieces, strict=True))

    def _check_kind(self, cluster: int, element: str) -> None:
        """Raise `Fault` unless results and elements are both integers or both floating-point.

        `element` is the type of the elements that a store of a cluster writes.
        """
        floating = np.dtype(self.shape.sum_type).kind == "f"
        if floating != (memory_type(element).kind == "f"):
            raise Fault(
                "not available",
                f"cluster {cluster}: results of {self.shape.element} cannot be stored as {element}",
                {"cluster": cluster, "element": element},
            )
