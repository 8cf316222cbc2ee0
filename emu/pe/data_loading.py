"""The data loading unit 502: it writes the segments of an exe to queues, buffers and accumulators.

Weights arrive as pairs index + value, in one record (count, entries) for each slice. They may also
arrive dense, without indices; then this unit adds the indices. Activations are dense; this unit
makes their bitmask (seed 000 ¶90-91). The unit writes a segment to the PEs when its last byte has
arrived.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.pe.context import RowContext
from macaw.emu.pe.element_types import dtype_of, mark_blocks, segment_type
from macaw.emu.pe.output_queues import OutputQueues
from macaw.emu.pe.sequence import (
    ACTIVATIONS_SEGMENT,
    BY_CLUSTER,
    COMPRESS,
    DENSE,
    MEMBERS,
    SLICED,
    WEIGHTS,
    WINDOW,
    slices,
    slices_of,
)
from macaw.emu.pe.state import Op, Packet, Run
from macaw.emu.pe.weight_records import Records, entry_type, records_of
from macaw.isa.pe import ACCUMULATORS, BLOCKS, WEIGHTS_RECORD

_STATE, _WINDOW = MEMBERS.index("state"), MEMBERS.index("window")
# The first entry of each slice, its number of entries, and the entries of all slices.
Entries = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]


class DataLoading:
    """The data loading units of all PEs of a row."""

    def __init__(self, context: RowContext, queues: OutputQueues) -> None:
        self.context, self.state, self.shape = context, context.state, context.shape
        self.queues = queues

    # Before the first beat

    def has_room(self, cluster: int, run: Run, op: Op, packet: Packet, segment: int) -> bool:
        """Return whether a cluster's weight queues have room for segment `segment` of a packet.

        The result is True for segments that are not weights. Raises `Fault`, for the ld step `op`
        of the run, if the run has more weights than a queue can hold.
        """
        described = packet["segments"][segment]
        if described["type"] != WEIGHTS:
            return True
        # The queues do not have the earlier segments of the same beat yet.
        counts = np.zeros(self.shape.pes, np.int64)
        for number in range(packet["segment"], segment + 1):
            if packet["segments"][number]["type"] == WEIGHTS:
                counts += self._entry_counts(cluster, run, packet, number)
        own = self.state.segment_entries[cluster, run["buffer"]] + counts
        if (own > self.shape.weight_queue).any():
            raise self._overflow(cluster, run, op, own)
        return bool((self.state.weight_count[cluster] + counts <= self.shape.weight_queue).all())

    def _entry(self, packet: Packet, segment: int) -> np.dtype[Any]:
        """Return the NumPy type of an entry of a packet's segment of weights. Raises `Fault`."""
        return entry_type(dtype_of(segment_type(self.context.clusters, packet, segment)))

    def _entry_counts(
        self, cluster: int, run: Run, packet: Packet, segment: int
    ) -> NDArray[np.int64]:
        """Return how many entries each PE of a cluster gets from a segment of weights.

        The result has shape (PEs,). `run` is the run that takes the segment of the packet.
        """
        described, known = packet["segments"][segment], packet["entries"]
        if self._sliding(cluster, run) or described["form"] == DENSE:
            size = self._entry(packet, segment)["value"].itemsize
            elements = described["length"] // size // self._count(packet, segment)
            return np.full(self.shape.pes, elements)
        if segment not in known and described["form"] == COMPRESS:
            known[segment] = self._compressed(packet, segment)[0].tolist()
        if segment not in known:
            data = self.context.memory.peek(described["offset"], described["length"])
            known[segment] = [count for _, count in self._records(data, packet, segment)]
        return np.array(known[segment])[slices_of(self.shape, cluster, packet, segment)]

    def packed_bytes(self, packet: Packet, segment: int) -> int:
        """Return how many bytes a segment has after the compressor has left out the zeros.

        The result has a record for each slice: a count, and entries (index + value). The segment
        belongs to `packet`. The number follows from the present contents of the on-chip unit.
        """
        counts, _ = self._compressed(packet, segment)
        entry = self._entry(packet, segment)
        return int(counts.size * WEIGHTS_RECORD.size + counts.sum() * entry.itemsize)

    def _compressed(
        self, packet: Packet, segment: int, data: bytes | None = None
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Compress a dense segment. Return the number of entries of each slice, and all entries.

        The segment belongs to `packet`. An entry is the index and value of an element that is not
        zero. `data` are the bytes of the segment; with None they are read from the on-chip unit.
        """
        described, entry = packet["segments"][segment], self._entry(packet, segment)
        if data is None:
            data = self.context.memory.peek(described["offset"], described["length"])
        values = np.frombuffer(data, entry["value"])
        values = values.reshape(self._count(packet, segment), -1)
        which, index = np.nonzero(values)
        entries = np.zeros(index.size, entry)
        entries["index"], entries["value"] = index, values[which, index]
        return np.bincount(which, minlength=values.shape[0]), entries

    def _sliding(self, cluster: int, run: Run) -> bool:
        """Return whether the sequence of a run has the state sw (sliding window).

        The weight queues then contain dense data, and each mac processes a window of them.
        """
        return bool(self.state.headers[cluster, run["buffer"], _STATE] == WINDOW)

    def _overflow(self, cluster: int, run: Run, op: Op, entries: NDArray[np.int64]) -> Fault:
        pe, capacity = int(entries.argmax()), self.shape.weight_queue
        most = int(entries[pe])
        return Fault(
            "queue overflow",
            f"cluster {cluster}, PE {pe}: {most} weights, the queue holds {capacity}",
            {"cluster": cluster, "pe": pe, "entries": most, "capacity": capacity},
            address=self.context.clusters[cluster].address(run, op),
        )

    # After the last beat

    def fill_queues(self, packet: Packet, segment: int, data: bytes) -> None:
        """Append a segment of weights to the weight queues 503. Raises `Fault`.

        The segment belongs to `packet`, and `data` are its bytes. For a run with a sliding window
        (state sw), these are plain elements; for other runs, weights in the form of the segment.
        """
        groups: dict[bool, list[tuple[int, Run, Op]]] = {}
        for cluster in packet["clusters"]:
            run, op = self.context.clusters[cluster].taker(packet, segment)
            groups.setdefault(self._sliding(cluster, run), []).append((cluster, run, op))
        for sliding, takers in groups.items():
            find = self._dense_entries if sliding else self._sparse_entries
            self._append(packet, segment, takers, find(data, packet, segment), sliding, data)

    def fill_dense(
        self, packet: Packet, segment: int, data: bytes, starts: NDArray[np.int32]
    ) -> None:
        """Write the `data` of a segment of activations or partial sums of a packet to the PEs.

        Raises `Fault`. `starts`, of shape (clusters, PEs), has for each PE the first element of its
        input buffer (of its output queue for partial sums) that its slice fills.
        """
        kind = packet["segments"][segment]["type"]
        values = self.dense_values(packet, segment, data)
        if self.context.provenance is not None:
            self.context.provenance.record_dense(packet, segment, values, starts)
        if kind == ACTIVATIONS_SEGMENT and self.shape.mixes:
            self._mark_types(packet, segment, starts, values.shape[1])
        if kind == ACTIVATIONS_SEGMENT and (starts == starts[0, 0]).all():
            self._fill_all(packet, segment, int(starts[0, 0]), values)
            return
        for cluster, start in zip(packet["clusters"], starts, strict=True):
            part = values[slices_of(self.shape, cluster, packet, segment)]
            if kind == ACTIVATIONS_SEGMENT:
                self._fill_activations(cluster, start, part)
            else:
                self.fill_psums(cluster, start, part)

    def dense_values(
        self, packet: Packet, segment: int, data: bytes, segments: int = 0
    ) -> NDArray[Any]:
        """Return the elements of a packet's segment of activations or partial sums.

        The shape is (slices, elements). If `segments` is not 0, `data` has the bytes of that many
        segments, which differ only in their offsets, and the shape is (segments, slices, elements).
        """
        dense_type = self.shape.sum_type
        if packet["segments"][segment]["type"] == ACTIVATIONS_SEGMENT:
            dense_type = dtype_of(segment_type(self.context.clusters, packet, segment))
        little = np.dtype(dense_type).newbyteorder("<")
        values = np.frombuffer(data, little).astype(dense_type)
        count = self._count(packet, segment)
        return values.reshape(segments, count, -1) if segments else values.reshape(count, -1)

    def _count(self, packet: Packet, segment: int) -> int:
        mode = packet["segments"][segment]["mode"]
        return slices(self.shape, mode, len(packet["clusters"]))

    # Weights

    def _records(self, data: bytes, packet: Packet, segment: int) -> Records:
        """Return, for each weights record in `data`, where its entries begin, and their number.

        `data` are the bytes of a segment of `packet`. The place of the entries is an index in
        `data`. If there are fewer records than slices, the last slices are empty. Raises `Fault`.
        """
        count = self._count(packet, segment)
        records, end = records_of(data, self._entry(packet, segment).itemsize)
        if len(records) > count:
            message = f"segment {segment} has more than {count} weights records, a slice each"
            raise self._fault("slice mismatch", message, packet)
        if end < len(data):
            message = f"segment {segment}: weights record {len(records)} at byte {end} is cut off"
            raise self._fault("malformed packet", message, packet)
        return records + ((len(data), 0),) * (count - len(records))

    def _fault(self, kind: str, message: str, packet: Packet) -> Fault:
        address = self.shape.address(packet["address"])
        return Fault(kind, message, {"packet": packet["address"]}, address=address)

    def _sparse_entries(self, data: bytes, packet: Packet, segment: int) -> Entries:
        """Return the index of each slice's first entry, each slice's entry count, and all entries.

        `data` are the bytes of a segment of weights of `packet`. Raises `Fault`.
        """
        form = packet["segments"][segment]["form"]
        if form == COMPRESS:
            counts, entries = self._compressed(packet, segment, data)
            return np.cumsum(counts) - counts, counts, entries
        if form == DENSE:
            starts, counts, entries = self._dense_entries(data, packet, segment)
            entries["index"] = np.arange(entries.size) % max(int(counts[0]), 1)
            return starts, counts, entries
        records = self._records(data, packet, segment)
        counts = np.array([count for _, count in records], np.int64)
        entry = self._entry(packet, segment)
        size = entry.itemsize
        pieces = [data[start : start + count * size] for start, count in records]
        entries = np.frombuffer(b"".join(pieces), entry)
        return np.cumsum(counts) - counts, counts, entries

    def _dense_entries(self, data: bytes, packet: Packet, segment: int) -> Entries:
        """Return the index of each slice's first entry, each slice's entry count, and all entries.

        `data` are dense: plain elements, without indices. All entries get the index 0; with a
        sliding window, each mac sets the indices when it starts.
        """
        entry = self._entry(packet, segment)
        values = np.frombuffer(data, entry["value"])
        slices_ = self._count(packet, segment)
        elements = values.size // slices_
        entries = np.zeros(values.size, entry)
        entries["value"] = values
        starts = np.arange(slices_, dtype=np.int64) * elements
        return starts, np.full(slices_, elements, np.int64), entries

    def _append(
        self,
        packet: Packet,
        segment: int,
        takers: list[tuple[int, Run, Op]],
        entries_by_slice: Entries,
        sliding: bool,
        data: bytes,
    ) -> None:
        """Append the entries of each PE's slice to its weight queue. Raises `Fault`.

        `takers` has the clusters that take the segment, with the run and the ld step of each.
        `entries_by_slice` is a result of `_sparse_entries` or `_dense_entries`; `sliding` says
        whether the run has a sliding window. `data` are the bytes of the segment, which only the
        record of origins needs.
        """
        state, queue = self.state, self.shape.weight_queue
        clusters = [cluster for cluster, _, _ in takers]
        parts = np.array([slices_of(self.shape, cluster, packet, segment) for cluster in clusters])
        starts, counts, entries = entries_by_slice
        new = counts[parts]
        totals = state.weight_count[clusters] + new
        for (cluster, run, op), total in zip(takers, totals, strict=True):
            if (total > queue).any():  # the bytes changed after the call of `has_room`
                raise self._overflow(cluster, run, op, total)
        # The entries that PE p gets are numbers first[p] to first[p] + gets[p] - 1 of all.
        gets = new.reshape(-1)
        first = np.cumsum(gets) - gets
        number = np.arange(int(gets.sum()))
        chosen = np.repeat(starts[parts].reshape(-1) - first, gets) + number
        tail = (state.weight_head[clusters] + state.weight_count[clusters]).reshape(-1)
        place = np.repeat(tail - first, gets) + number
        if (tail + gets > queue).any():
            place %= queue
        pes = np.array(clusters)[:, None] * self.shape.pes + np.arange(self.shape.pes)
        place += np.repeat(pes.reshape(-1) * queue, gets)
        index = entries["index"].take(chosen)
        if self.context.provenance is not None:
            self.context.provenance.record_weights(packet, segment, data, sliding, place, chosen)
        state.weight_index.reshape(-1)[place] = index
        state.weight_value.reshape(-1)[place] = entries["value"].take(chosen)
        state.weight_count[clusters] = totals
        state.weights_high[clusters] = np.maximum(state.weights_high[clusters], totals)
        ends = np.cumsum(new.sum(axis=1)).tolist()
        for (cluster, run, _), counts_of_pes, begin, end in zip(
            takers, new, [0, *ends], ends, strict=False
        ):
            state.segment_entries[cluster, run["buffer"]] += counts_of_pes
            if self.shape.mixes:
                kind = segment_type(self.context.clusters, packet, segment)
                state.queue_types[cluster, run["buffer"]] |= 1 << kind
            reach = int(index[begin:end].max()) if end > begin else -1
            if sliding:
                reach = int(state.headers[cluster, run["buffer"], _WINDOW]) - 1
            run["reach"] = max(run["reach"], reach)

    # Activations

    def _fill_activations(self, cluster: int, start: NDArray[Any], values: NDArray[Any]) -> None:
        """Write activations `values` (PEs, elements) to the input buffers 504 of a cluster.

        `start` (PEs,) is the first element that each PE writes. The method also sets the bitmasks.
        In the block that contains the end of the load, the elements after this end become "not
        loaded".
        """
        state, size = self.state, self.shape.input_block
        elements, pes = values.shape[1], np.arange(self.shape.pes)[:, None]
        self._check_joins(cluster, start)
        places = start[:, None] + np.arange(elements)
        state.activations[cluster, pes, places] = values
        end = start[:, None] + elements
        element, block_end = np.arange(self.shape.input_buffer), -(-end // size) * size
        state.bitmask[cluster][(element >= end) & (element < block_end)] = False
        state.bitmask[cluster, pes, places] = values != 0
        block = np.arange(BLOCKS)
        filled = (block >= start[:, None] // size) & (block < block_end // size)
        loaded = state.block_loaded[cluster]
        loaded[filled] = np.minimum(end - block * size, size)[filled]

    def _mark_types(
        self, packet: Packet, segment: int, starts: NDArray[np.int32], elements: int
    ) -> None:
        """Record the element type of the blocks that a packet's segment of activations fills.

        `starts` has the first element that each PE writes, in shape (clusters, PEs), and `elements`
        is the number of elements for each PE.
        """
        size, clusters = self.shape.input_block, packet["clusters"]
        loaded = self.state.block_types[clusters]
        ends = -(-(starts + elements) // size)
        kind = segment_type(self.context.clusters, packet, segment)
        mark_blocks(loaded, starts // size, ends, starts % size > 0, kind)
        self.state.block_types[clusters] = loaded

    def _fill_all(self, packet: Packet, segment: int, first: int, values: NDArray[Any]) -> None:
        """Write a segment of activations to the input buffers of all the packet's clusters at once.

        This is possible because all PEs write from the same element `first` on. `values` has the
        slices of the segment.
        """
        state, size, clusters = self.state, self.shape.input_block, packet["clusters"]
        if first % size:
            for cluster in clusters:
                self._check_joins(cluster, np.full(self.shape.pes, first))
        end = first + values.shape[1]
        block_end = -(-end // size) * size
        where = slice(None) if len(clusters) == self.shape.clusters else clusters
        parts = self._by_owner(values, packet, segment)
        state.activations[where, :, first:end] = parts
        state.bitmask[where, :, first:end] = parts != 0
        state.bitmask[where, :, end:block_end] = False
        state.block_loaded[where, :, first // size : block_end // size] = size
        state.block_loaded[where, :, block_end // size - 1] -= block_end - end

    def _by_owner(self, values: NDArray[Any], packet: Packet, segment: int) -> NDArray[Any]:
        """Return a segment's slices as an array that broadcasts to (clusters, PEs, elements).

        Which slice a PE gets depends on the segment's mode: its own, that of its cluster, or the
        one that has the same number in each cluster. `values` has the slices, in shape (slices,
        elements); the segment belongs to `packet`.
        """
        mode = packet["segments"][segment]["mode"]
        if mode == BY_CLUSTER:
            return values[:, None]
        return values.reshape(-1, self.shape.pes, values.shape[1]) if mode == SLICED else values

    def _check_joins(self, cluster: int, starts: NDArray[Any]) -> None:
        """Raise `Fault` if a load to a cluster's input buffers would leave a gap in a block.

        `starts` (PEs,) has the first element that each PE writes. There is a gap if the load starts
        inside a block, and an earlier element of the block is not loaded.
        """
        block, inside = np.divmod(starts, self.shape.input_block)
        gaps = inside > self.state.block_loaded[cluster, np.arange(self.shape.pes), block]
        if gaps.any():
            pe = int(np.flatnonzero(gaps)[0])
            base = int(starts[pe])
            raise Fault(
                "queue underflow",
                f"ld activations, base={base}: the {int(inside[pe])} elements of its block"
                f" before it are not all loaded in cluster {cluster}",
                {"cluster": cluster, "base": base},
            )

    # Partial sums

    def fill_psums(self, cluster: int, start: NDArray[Any], values: NDArray[Any]) -> None:
        """Write 1 to 4 partial sums to the output queue and the accumulators of each PE.

        The PEs are those of a cluster. `values` has shape (PEs, sums); sum i is added to
        accumulator i of the PE. `start` has each PE's first entry in the output queue, in shape
        (PEs,). Raises `Fault` if a sum overflows.
        """
        elements = values.shape[1]
        places = start[:, None] + np.arange(elements)
        state = self.state
        state.output[cluster, np.arange(self.shape.pes)[:, None], places] = values
        state.output_writes[cluster] += elements
        self.queues.mark_written(cluster, start, elements)
        for number in range(elements):
            self._add(cluster, number, values[:, number])

    def psums_from_queue(self, cluster: int, start: NDArray[Any]) -> None:
        """Add results from the output queues of a cluster to accumulators 0 to 3.

        The results of a PE are in four consecutive entries; `start` (PEs,) is the first entry of
        each PE. Entries that were never written are left out. Raises `Fault` if all entries of all
        PEs are left out, or if a sum overflows.
        """
        state, pes = self.state, np.arange(self.shape.pes)
        places = start[:, None] + np.arange(ACCUMULATORS)
        inside = places < self.shape.output_queue
        places = np.where(inside, places, 0)
        is_written = state.output_written[cluster, pes[:, None], places] & inside
        if not is_written.any():
            block = int(start[0]) // self.shape.output_block
            raise Fault(
                "queue underflow",
                f"ld psums: nothing was written to block {block} of the output queue"
                f" of cluster {cluster}",
                {"cluster": cluster, "block": block},
            )
        state.output_reads[cluster] += is_written.sum(axis=1)
        for number in np.flatnonzero(is_written.any(axis=0)).tolist():
            values = state.output[cluster, pes, places[:, number]]
            self._add(
                cluster, number, np.where(is_written[:, number], values, values.dtype.type(0))
            )

    def _add(self, cluster: int, number: int, values: NDArray[Any]) -> None:
        old = self.state.accumulators[cluster, :, number]
        total, overflow = self.context.adder.total(old, values)
        if overflow is not None:
            pe = int(np.flatnonzero(overflow)[0])
            raise Fault(
                "accumulator overflow",
                f"cluster {cluster}, PE {pe}: accumulator {number} holds {old[pe]!s},"
                f" and the partial sum {values[pe]!s} is to be added",
                {"cluster": cluster, "pe": pe, "accumulator": number},
            )
        old[...] = total
