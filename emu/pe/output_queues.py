"""What leaves the accumulators: output queue 513, stores, return bus.

Seed 000 ¶96-97; the layout of results in memory is the out record of an exe (macaw.isa.pe.OUT).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.pe.arithmetic import stored, stored_type
from macaw.emu.pe.state import FREE, STORE, Out, Run
from macaw.isa.pe import ELEMENTS

if TYPE_CHECKING:
    from macaw.emu.pe.row import Row

Pes = NDArray[np.intp] | slice
EVERY_PE = slice(None)

Ranges = list[tuple[int, int]]  # offset in the half, bytes
Beats = list[tuple[Ranges, bytes]]


_REMEMBERED = 4096  # elements of a store whose places are kept in mind


@lru_cache(maxsize=64)
def laid_out(
    offset: int, stride: int, steps: tuple[int, int, int], writers: bytes, size: int, width: int
) -> tuple[NDArray[np.intp], tuple[Ranges, ...]]:
    """The order of a store's elements by address, and the ranges of each beat.

    `steps` are step, elements that have been stored before, count of a PE; `writers` the indices of
    the PEs. All rows that do the same have the same.
    """
    step, before, count = steps
    address = offset + np.frombuffer(writers, np.intp)[:, None] * stride
    address = (address + (before + np.arange(count)) * step).reshape(-1)
    order = np.argsort(address, kind="stable")
    if width % size:
        return order, tuple(_cut(address[order].tolist(), size, width))
    return order, tuple(_cut_evenly(address[order], size, width))


def _cut_evenly(addresses: NDArray[np.int64], size: int, width: int) -> list[Ranges]:
    """The ranges of each beat if it holds a whole number of elements."""
    a_beat = width // size
    begins = np.ones(addresses.size, np.bool_)
    begins[1:] = np.diff(addresses) != size
    begins[::a_beat] = True
    first = np.flatnonzero(begins)
    length = np.diff(first, append=addresses.size) * size
    ranges = list(zip(addresses[first].tolist(), length.tolist(), strict=True))
    count = -(-addresses.size // a_beat)
    if len(ranges) == count:
        return [[one] for one in ranges]
    ends = np.searchsorted(first, np.arange(1, count + 1) * a_beat).tolist()
    return [ranges[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def _cut(addresses: list[int], size: int, width: int) -> list[Ranges]:
    """The ranges of each beat; elements may go on in the next one."""
    found: list[Ranges] = []
    ranges: Ranges = []
    room = 0
    for address in addresses:
        at, end = address, address + size
        while at < end:
            if not room:
                ranges = []
                room = width
                found.append(ranges)
            length = min(end - at, room)
            if ranges and sum(ranges[-1]) == at:
                ranges[-1] = (ranges[-1][0], ranges[-1][1] + length)
            else:
                ranges.append((at, length))
            at += length
            room -= length
    return found


class Results:
    """Output queues and the return bus of a row."""

    def __init__(self, row: Row) -> None:
        self.row, self.state, self.shape = row, row.state, row.shape
        self.pes = np.arange(self.shape.pes)

    # Output queue

    def mark_written(
        self, cluster: int, starts: NDArray[Any], count: int, pes: Pes = EVERY_PE
    ) -> None:
        """Places of `pes` from `starts` on, one for each, were written; the rest of the last
        block was not.
        """
        size = self.shape.output_block
        written = self.state.output_written[cluster]
        start = int(starts[0])
        if (starts == start).all():
            written[pes, start : start + count] = True
            written[pes, start + count : -(-(start + count) // size) * size] = False
            return
        place, ends = np.arange(self.shape.output_queue), starts[:, None] + count
        inside = (place >= starts[:, None]) & (place < ends)
        rest = (place >= ends) & (place < -(-ends // size) * size)
        written[pes] = (written[pes] | inside) & ~rest

    def holders(
        self, cluster: int, starts: NDArray[Any], count: int, what: str
    ) -> NDArray[np.intp]:
        """The PEs that hold `count` results from their `starts` on; the others hold none of them.

        Raises `Fault` if nobody does, or if one holds a part of them.
        """
        places = starts[:, None] + np.arange(count)
        written = self.state.output_written[cluster, self.pes[:, None], places]
        if written.all():
            return self.pes
        whole = written.all(axis=1)
        torn = written.any(axis=1) & ~whole
        if torn.any() or not whole.any():
            pe = int(np.flatnonzero(torn)[0]) if torn.any() else 0
            place = int(places[pe, np.flatnonzero(~written[pe])[0]])
            raise Fault(
                "queue underflow",
                f"{what}: nothing was written to place {place}"
                f" (block {place // self.shape.output_block}) of cluster {cluster}'s output queue",
                {"cluster": cluster, "pe": pe, "place": place},
            )
        return np.flatnonzero(whole)

    def move(self, cluster: int, source: NDArray[Any], target: NDArray[Any]) -> None:
        """nonsf: an accumulator of each PE through buffer 508 to the output queue; it is cleared.

        `source` is the accumulator of each PE, `target` the place, (PEs,).
        """
        state = self.state
        value = state.accumulators[cluster, self.pes, source]
        state.buffer[cluster] = value
        state.output[cluster, self.pes, target] = value
        state.accumulators[cluster, self.pes, source] = 0
        state.output_writes[cluster] += 1
        self.mark_written(cluster, target, 1)

    def bypass(self, cluster: int, source: NDArray[Any], target: NDArray[Any], count: int) -> None:
        """Raw partial sums go past the SFU, by selectors 514 and 515."""
        pes = self.holders(cluster, source, count, "spu")
        output, places = self.state.output[cluster], np.arange(count)
        to, of = target[pes][:, None] + places, source[pes][:, None] + places
        output[pes[:, None], to] = output[pes[:, None], of]
        self.state.output_reads[cluster, pes] += count
        self.state.output_writes[cluster, pes] += count
        self.mark_written(cluster, target[pes], count, pes)

    # Stores

    def span(self, cluster: int, out: Out, stores: int, address: int) -> tuple[int, int] | None:
        """The bytes of the half between which all stores of an exe lie, None if there are none.

        Raises `Fault`, at the packet's `address`, if they do not fit the half.
        """
        pes = self._writers(cluster, out)
        elements = stores * out["count"]
        if not elements or not pes.size:
            return None
        size = stored_type(ELEMENTS[out["element"]]).itemsize
        first, last = int(pes[0]), int(pes[-1])
        low = out["offset"] + first * out["stride"]
        high = out["offset"] + last * out["stride"] + (elements - 1) * out["step"] + size
        if high > self.row.half_bytes:
            raise Fault(
                "out-of-range access",
                f"results of cluster {cluster} go to offsets {low:#x} to {high - 1:#x},"
                f" half a unit has {self.row.half_bytes:#x} bytes",
                {"cluster": cluster, "offset": low, "end": high},
                address=address,
            )
        return low, high

    def _writers(self, cluster: int, out: Out) -> NDArray[np.intp]:
        """PE indices of a cluster that write: those below out.pes, or all."""
        pes = cluster * self.shape.pes + self.pes
        return pes[pes < out["pes"]] if out["pes"] else pes

    def beats(self, cluster: int, run: Run, source: NDArray[Any]) -> Beats:
        """The beats of a store: elements in the order of their addresses, as many as a beat holds.

        Raises `Fault`: a place that nothing has written, a result that does not fit.
        """
        out = run["out"]
        writers = self._writers(cluster, out)
        count = out["count"]
        if not count or not writers.size:
            return []
        holders = self.holders(cluster, source, count, "st")
        held = np.zeros(self.shape.pes, np.bool_)
        held[holders] = True
        writers = writers[held[writers - cluster * self.shape.pes]]
        local = writers - cluster * self.shape.pes
        number = np.arange(count)
        values = self.state.output[cluster, local[:, None], source[local][:, None] + number]
        self.state.output_reads[cluster, local] += count
        element = ELEMENTS[out["element"]]
        self._check_kind(cluster, element)
        data, over = stored(values, element)
        if over.any():
            pe, at = (int(x) for x in np.argwhere(over)[0])
            raise Fault(
                "store overflow",
                f"cluster {cluster}, PE {int(local[pe])}: the result {values[pe, at]!s}"
                f" does not fit {element}",
                {"cluster": cluster, "pe": int(local[pe]), "value": str(values[pe, at])},
            )
        steps = out["step"], run["stored"], count
        size, width = data.dtype.itemsize, self.shape.bus_bytes
        laid = laid_out if data.size <= _REMEMBERED else laid_out.__wrapped__
        order, ranges = laid(out["offset"], out["stride"], steps, writers.tobytes(), size, width)
        whole = data.reshape(-1)[order].tobytes()
        return [(list(some), whole[i * width : (i + 1) * width]) for i, some in enumerate(ranges)]

    def _check_kind(self, cluster: int, element: str) -> None:
        """Integers are stored as integers, floating results as floating elements."""
        floating = np.dtype(self.shape.sum_type).kind == "f"
        if floating != (stored_type(element).kind == "f"):
            raise Fault(
                "not available",
                f"cluster {cluster}: results of {self.shape.element} cannot be stored as {element}",
                {"cluster": cluster, "element": element},
            )

    # Return bus

    def return_cycle(self) -> None:
        """Ask for the next beat of the return bus: a beat a cycle, clusters in turn."""
        state = self.state
        if state.returning != FREE or all(units[STORE] == FREE for units in state.units):
            return
        for turn in range(self.shape.clusters):
            cluster = (state.return_turn + turn) % self.shape.clusters
            if state.units[cluster][STORE] == FREE:
                continue
            op = self.row.controls[cluster].storing()
            if op is not None:
                state.returning = cluster
                state.returned = FREE
                ranges, data = op["beats"][0]
                self.row.write(ranges, data)
                return

    def take_in(self) -> None:
        """The beat of the return bus was written: on with the next one."""
        state = self.state
        if state.returning == FREE or state.returned == FREE:
            return
        cluster = state.returning
        control = self.row.controls[cluster]
        op = control.storing()
        assert op is not None  # its beat was written
        state.return_beats += 1
        state.return_bytes += len(op["beats"][0][1])
        state.return_turn = (cluster + 1) % self.shape.clusters
        state.returning = FREE
        control.store_beat_done(state.returned)
