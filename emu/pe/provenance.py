"""Provenance: records where the results of a row come from (reference engine).

`provenance_records` declares the records; `provenance_labels` finds the origins of single values.
A *setting* is here a value that only configures a step (`macaw.emu.origins.Source.setting`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.origins import Extent, Origin, Place, Source
from macaw.emu.pe import provenance_labels
from macaw.emu.pe.arithmetic import memory_type, table_index
from macaw.emu.pe.cluster import Cluster
from macaw.emu.pe.element_types import dtype_of, segment_type
from macaw.emu.pe.loads import FROM_NEIGHBOUR
from macaw.emu.pe.product_log import SUM
from macaw.emu.pe.provenance_records import ProvenanceRecords, TakenSegment
from macaw.emu.pe.sequence import ACTIVATION as SPU_ACTIVATION
from macaw.emu.pe.sequence import (
    ACTIVATIONS_SEGMENT,
    COMPRESS,
    DENSE,
    MEMBERS,
    REDUCE,
    REQUANTISE,
    SCALES,
    TABLE_SEGMENT,
    decode_word,
    slices_of,
)
from macaw.emu.pe.state import Op, Packet, Run
from macaw.emu.pe.weight_records import entry_type, records_of
from macaw.isa.pe import (
    ACCUMULATORS,
    ACTIVATIONS,
    ELEMENTS,
    FIXED_POINT,
    FUNCTIONS,
    HEADER_OF,
    OUT,
    PACKET,
    SCALAR_REDUCTIONS,
    SCALAR_SOURCE,
    SCALARS,
    SCALE_DTYPE,
    SEGMENT,
    SEGMENT_TYPES,
    SEQUENCE,
    TABLE,
)

Sources = Callable[[], Iterator[Source]]
_WIDEST = max(
    memory_type(element).itemsize for element in ELEMENTS
)  # bytes of the widest element that a store writes
_MEMBERS = {member.name: member for member in SEQUENCE.members}


class RowProvenance(ProvenanceRecords):
    """The records of where the values of one row come from, with the methods that fill them."""

    fields = frozenset(provenance_labels.LABELS)
    clears = fields

    @property
    def step_count(self) -> int:
        return self.products.count

    # Data from the bus

    def observe(self, kind: str, time: int, values: dict[str, Any]) -> None:
        if kind == "packet":
            self.packets[int(values["order"])] = int(values["address"])

    def _base(self, packet: Packet, segment: int) -> int:
        return self.memory.base + packet["segments"][segment]["offset"]

    def record_weights(
        self, packet: Packet, segment: int, data: bytes, sliding: bool,
        places: NDArray[Any], entries: NDArray[Any],
    ) -> None:  # fmt: skip
        """Record where a segment of weights of a packet was stored.

        Item i of `entries` is the index of an entry in the segment. That entry was stored at the
        place that item i of `places` says; places are counted through the weight queues of all PEs.
        `data` has the bytes of the segment. With `sliding`, these bytes are dense.
        """
        kind = segment_type(self.clusters, packet, segment)
        entry = entry_type(dtype_of(kind))
        size = entry["value"].itemsize
        form = packet["segments"][segment]["form"]
        if sliding or form == DENSE:
            offsets = np.arange(len(data) // size) * size
        elif form == COMPRESS:
            offsets = np.flatnonzero(np.frombuffer(data, entry["value"])) * size
        else:
            step = entry.itemsize
            assert entry.fields is not None
            inside = entry.fields["value"][1]
            records, _ = records_of(data, step)
            runs = [start + inside + step * np.arange(count) for start, count in records]
            offsets = np.concatenate([np.zeros(0, np.int64), *runs])
        self.weights[places, 0] = self._base(packet, segment) + offsets[entries]
        self.weights[places, 1] = self.number()
        self._record_ld(packet["clusters"][0], packet, segment, size)

    def _record_ld(self, cluster: int, packet: Packet, segment: int, item: int) -> None:
        """Record that a cluster's ld has taken segment `segment` of a packet.

        The elements of the segment have `item` bytes.
        """
        run, op = self.clusters[cluster].taker(packet, segment)
        chosen = packet["segments"][segment]
        place = packet["address"] + PACKET.size + SEGMENT.size * segment
        base, size = self._base(packet, segment), chosen["length"]
        choice = Source(
            SEGMENT_TYPES[chosen["type"]],
            self.number(),
            (self.memory.base + place, SEGMENT.size),
            None,
            self._packet(packet["mnemonic"], self.shape.address(packet["address"])),
            Extent(base, size),
            setting=True,
        )
        at = self.clusters[cluster].address(run, op)
        taken = TakenSegment(base, size, self.core.time, at, choice, item)
        self.segments.setdefault(self.number(), []).append(taken)

    def _packet(self, mnemonic: str, address: int) -> Origin:
        """Return the packet at `address` as the origin of a setting.

        The bit of `address` that selects one of the on-chip unit's halves is 0. `mnemonic` is the
        name of the packet's command.
        """
        return Origin(self.number(), self.core.time, mnemonic, address)

    def record_dense(
        self, packet: Packet, segment: int, values: NDArray[Any], starts: NDArray[np.int32]
    ) -> None:
        """Record where a packet's segment of activations or partial sums was stored.

        `values` has shape (slices, elements). `starts`, of shape (clusters, PEs), has for each PE
        the first element of its input buffer (of its output queue for partial sums) that its slice
        fills.
        """
        size = values.dtype.itemsize
        kind = packet["segments"][segment]["type"]
        if kind != ACTIVATIONS_SEGMENT:
            size = np.dtype(self.shape.sum_type).itemsize
        base = self._base(packet, segment)
        self._record_ld(packet["clusters"][0], packet, segment, size)
        address = base + np.arange(values.size).reshape(values.shape) * size
        for cluster, start in zip(packet["clusters"], starts.tolist(), strict=True):
            slices = slices_of(self.shape, cluster, packet, segment)
            for pe, (first, slice_number) in enumerate(zip(start, slices.tolist(), strict=True)):
                if kind == ACTIVATIONS_SEGMENT:
                    flat = (cluster * self.shape.pes + pe) * self.shape.input_buffer + first
                    self.activations[flat : flat + values.shape[1], 0] = address[slice_number]
                    self.activations[flat : flat + values.shape[1], 1] = self.number()
                else:
                    run, op = self.clusters[cluster].taker(packet, segment)
                    at = self.clusters[cluster].address(run, op)
                    addresses_values = address[slice_number].tolist(), values[slice_number].tolist()
                    self._psums(cluster, pe, first, at, *addresses_values)

    def _psums(
        self, cluster: int, pe: int, first: int, at: int,
        addresses: Sequence[int], values: Sequence[Any],
    ) -> None:  # fmt: skip
        size = np.dtype(self.shape.sum_type).itemsize
        for number, (address, value) in enumerate(zip(addresses, values, strict=True)):
            source = Source("psum", self.number(), (address, size), None, None, value)
            origin = Origin(
                self.number(), self.core.time, "ld", at, "", value, partial(iter, [source])
            )
            self.output[cluster, pe, first + number] = origin
            psum = Source("psum", self.number(), None, None, origin, value)
            self.products.add_psum(self.flat(cluster, pe, number), psum)

    # Configuration

    def begin_config(self, cluster: int, buffer: int) -> None:
        """Record that the packet on the bus begins to configure buffer `buffer` of a cluster."""
        packet = self.state.packet
        at = self.shape.address(packet["address"])
        origin = Origin(self.number(), self.core.time, packet["mnemonic"], at)
        self.configs[cluster, buffer] = origin, -1
        for number in range(SCALARS):
            self.scalars.pop((cluster, buffer, number), None)
            self.cleared.add((cluster, buffer, number))
        for kind in (SCALES, TABLE_SEGMENT):
            self.config_data.pop((cluster, buffer, kind), None)

    def end_config(self, clusters: Sequence[int], buffer: int, offset: int) -> None:
        """Record that a buffer of `clusters` now contains the sequence at `offset` of the half."""
        for cluster in clusters:
            origin, _ = self.configs.get((cluster, buffer), (None, -1))
            if origin is None:  # it began before the record
                continue
            origin = Origin(self.number(), self.core.time, origin.what, origin.address)
            base = self.memory.base
            self.configs[cluster, buffer] = origin, base + offset

    def record_config_data(self, cluster: int, buffer: int, packet: Packet, segment: int) -> None:
        """Record that a cluster's buffer got scales or a table from segment `segment` of a config.

        `packet` is the config.
        """
        kind = packet["segments"][segment]["type"]
        size = np.dtype(SCALE_DTYPE).itemsize if kind == SCALES else 0
        addresses = self._base(packet, segment) + size * slices_of(
            self.shape, cluster, packet, segment
        )
        self.config_data[cluster, buffer, kind] = self.number(), addresses.tolist()

    def config_source(
        self, key: tuple[int, int], kind: int, pe: int, entry: int, value: Any
    ) -> Source:
        """Return an entry of a buffer's scales or table as a setting of an spu function.

        `key` is (cluster, buffer), and `kind` the type of the segment. `entry` is the number of the
        entry in the table; for scales it is 0, and `pe` is the number of the PE. `value` is the
        value of the entry.
        """
        origin, _ = self.configs.get(key, (None, 0))
        number, addresses = self.config_data.get((*key, kind), (self.number(), []))
        size = value.itemsize
        is_known = addresses and (origin is not None or not self.is_partial)
        place = (addresses[pe] + entry * size, size) if is_known else None
        name = "scale" if kind == SCALES else "table"
        return Source(name, number, place, None, origin, value.item(), setting=True)

    def _own_settings(self, key: tuple[int, int], op: Op, pe: int, value: Any) -> list[Source]:
        """Return those settings of an spu instruction that differ by PE or by value.

        An spu is an instruction of the special-function unit; `op` is its step. The settings are
        the scale of the PE `pe`, or the table entry for `value`. `key` is (cluster, buffer).
        """
        function, state = op["function"], self.state
        if function == REQUANTISE and state.scaled[key]:
            return [self.config_source(key, SCALES, pe, 0, state.scales[(*key, pe)])]
        activation = state.headers[key][MEMBERS.index("activation")]
        if function == SPU_ACTIVATION and activation == TABLE:
            entry = table_index(np.array(value)).item()
            return [self.config_source(key, TABLE_SEGMENT, pe, entry, state.tables[(*key, entry)])]
        return []

    def _settings(self, cluster: Cluster, run: Run, op: Op) -> Iterator[Source]:
        """Yield the members of a sequence's header that the step `op` uses, as sources.

        The step is an spu, an instruction of the special-function unit, of a run of `cluster`. Each
        source names the config packet that set the member.
        """
        key = cluster.number, run["buffer"]
        origin, base = self.configs.get(key, (None, 0))
        header = self.state.headers[key].tolist()
        names = HEADER_OF.get(FUNCTIONS[op["function"]], ())
        if op["function"] == REQUANTISE and self.state.scaled[key]:
            names = ()
        curve = ACTIVATIONS[header[MEMBERS.index("activation")]]
        floating = np.dtype(self.shape.value_type).kind == "f"
        if "activation" in names and curve in FIXED_POINT and not floating:
            names = (*names, "shift")
        for name in names:
            legal = _MEMBERS[name].legal
            value = header[MEMBERS.index(name)]
            shown = legal.format(value) if legal.by_name else value
            place = None if origin is None else (base + SEQUENCE.offsets[name], 1)
            number = self.number() if origin is None else origin.number
            yield Source(name, number, place, None, origin, shown, setting=True)

    # Products

    def add_products(self, multiplies: NDArray[Any], load: NDArray[Any]) -> None:
        """Record the products that the PEs in the mask `multiplies` (PEs,) make now.

        `load`, of shape (PEs,), is the load of each PE.
        """
        data = self.arrays
        pes = np.flatnonzero(multiplies)
        owner = pes + (load[pes] >= FROM_NEIGHBOUR)
        rows, values = self.loads(owner, load[pes])
        rows[SUM] = data.sum_row[owner] + data.mac_sum[owner]
        self.products.add_products(rows, values)

    # Steps of the clusters

    def record_step(self, cluster: Cluster, run: Run, op: Op) -> None:
        """Record the values that step `op` of a run reads when it starts.

        Also record the step as the origin of its results. The run is one of `cluster`.
        """
        name = op["name"]
        if name == "mac":
            self.mac_at[cluster.number] = cluster.address(run, op)
            return
        act = {
            "move": self._move, "ld_queue": self._ld_queue, "bypass": self._special,
            "special": self._special, "store": self._store, "scalar": self._scalar,
        }.get(name)  # fmt: skip
        if act is not None:
            source, target = cluster.operands(run, op)
            act(cluster, run, op, source.tolist(), target.tolist())

    def _step(self, cluster: Cluster, run: Run, op: Op) -> Callable[[Any, Sources], Origin]:
        """Return a function that makes the origin of one result of step `op`, which starts now.

        The arguments of this function are the result's value and sources. The step belongs to a run
        of `cluster`.
        """
        word = int(self.state.words[cluster.number, run["buffer"], op["place"]])
        what, at = decode_word(word).row.mnemonic, cluster.address(run, op)
        return partial(Origin, self.number(), self.core.time, what, at, "")

    def _move(
        self, cluster: Cluster, run: Run, op: Op, source: list[int], target: list[int]
    ) -> None:
        c, step = cluster.number, self._step(cluster, run, op)
        for pe, (accumulator, place) in enumerate(zip(source, target, strict=True)):
            value = self.state.accumulators[c, pe, accumulator].item()
            sources = self._sum_sources(c, pe, accumulator)
            self.output[c, pe, place] = step(value, sources)

    def _sum_sources(self, cluster: int, pe: int, accumulator: int) -> Sources:
        """Clear the record of an accumulator; return a function that yields its sources.

        The accumulator is one of PE `pe` of a cluster. Its sources are, as settings, the segments
        from which its weights and activations came, then its partial sums and products.
        """
        return partial(self._with_segments, self.products.take(self.flat(cluster, pe, accumulator)))

    def _with_segments(self, sources: Sources) -> Iterator[Source]:
        data = list(sources())
        chosen: dict[Extent, Source] = {}
        for source in data:
            parts = source.origin.sources() if source.origin is not None else ()
            for part in parts:
                if part.memory is not None:
                    taken = self.segment(part.number, part.memory[0])
                    if taken is not None:
                        chosen.setdefault(taken.choice.value, taken.choice)
        yield from chosen.values()
        yield from data

    def _out(self, run: Run) -> list[Source]:
        """Return, as a setting, the `out` record of a run's exe: where it stores its results."""
        out, packet = run["out"], self.packets.get(run["order"])
        shown: dict[str, Any] = {"base": Extent(self.memory.base + out["offset"])}
        shown |= {"stride": out["stride"], "step": out["step"], "count": out["count"]}
        shown |= {"pes": out["pes"], "element": ELEMENTS[out["element"]]}
        if packet is None:
            return [Source("out", self.number(), None, None, None, shown, setting=True)]
        offset = packet - self.shape.address(0)
        place = self.memory.base + offset + PACKET.size + SEGMENT.size * len(run["segments"])
        origin = self._packet("exe", packet)
        return [Source("out", self.number(), (place, OUT.size), None, origin, shown, setting=True)]

    def _ld_queue(
        self, cluster: Cluster, run: Run, op: Op, source: list[int], target: list[int]
    ) -> None:
        c, state = cluster.number, self.state
        for pe, first in enumerate(source):
            for number in range(ACCUMULATORS):
                if state.output_written[c, pe, first + number]:
                    value = state.output[c, pe, first + number].item()
                    before = self.output.get((c, pe, first + number))
                    added = Source("psum", self.number(), None, None, before, value)
                    self.products.add_psum(self.flat(c, pe, number), added)

    def _special(
        self, cluster: Cluster, run: Run, op: Op, source: list[int], target: list[int]
    ) -> None:
        c, passes = cluster.number, op["name"] == "bypass"
        step = self._step(cluster, run, op)
        settings = [] if passes else list(self._settings(cluster, run, op))
        count = 1 if op["chained"] >= 0 else max(run["out"]["count"], 1)
        self.reductions[c] = []
        for number in range(count):
            parts = self._parts(cluster, run, op, [first + number for first in source])
            if op["function"] == REDUCE and not passes:
                all_sources = [*parts.values(), *settings]
                origin = step(None, partial(iter, all_sources))
                self.reductions[c].append(origin)
                if self._to_scalars(cluster, run):
                    key = c, run["buffer"], target[0] + number
                    self.scalars.setdefault(key, []).append(origin)
                else:
                    self.output[c, 0, target[0] + number] = origin
                continue
            for pe, part in parts.items():
                buffer = c, run["buffer"]
                own = [] if passes else self._own_settings(buffer, op, pe, part.value)
                sources = partial(iter, [part, *settings, *own])
                self.output[c, pe, target[pe] + number] = step(None, sources)

    def _parts(self, cluster: Cluster, run: Run, op: Op, places: list[int]) -> dict[int, Source]:
        """Return the values that step `op` of a run takes from the PEs, as {PE number: source}.

        The step is an instruction `spu` of the special-function unit. `places` has, for each PE,
        the entry in its output queue. PEs without a written result are left out.
        """
        c, parts = cluster.number, {}
        if op["chained"] < 0:
            is_written = self.state.output_written[c]
            for pe, place in enumerate(places):
                if is_written[pe, place]:
                    parts[pe] = self._result(c, pe, place)
            return parts
        step = self._step(cluster, run, op)
        values = self.state.accumulators[c, :, op["chained"]].tolist()
        for pe, value in enumerate(values):
            sources = self._sum_sources(c, pe, op["chained"])
            origin = step(value, sources)
            parts[pe] = Source("sum", origin.number, None, None, origin, value)
        return parts

    def _to_scalars(self, cluster: Cluster, run: Run) -> bool:
        """Return whether reductions of the sequence of a cluster's run go to the scalar unit."""
        header = self.state.headers[cluster.number, run["buffer"]]
        return int(header[MEMBERS.index("reduction")]) in SCALAR_REDUCTIONS

    def end_reduction(self, cluster: int, values: Sequence[Any]) -> None:
        """Record `values`, the results of a reduction that has ended in a cluster."""
        origins = self.reductions.pop(cluster, [])
        if self.is_partial and not origins:
            return  # it began before the record
        for origin, value in zip(origins, values, strict=True):
            origin.value = value.item()

    def _scalar(
        self, cluster: Cluster, run: Run, op: Op, source: list[int], target: list[int]
    ) -> None:
        c, number = cluster.number, source[0] - SCALAR_SOURCE
        value = self.state.scalar_sums[c, run["buffer"], number].item()
        key = c, run["buffer"], number
        sources = self.reduction_sources(key, self.scalars.pop(key, []))
        self.cleared.add(key)
        self.output[c, 0, target[0]] = self._step(cluster, run, op)(value, partial(iter, sources))

    def _result(self, cluster: int, pe: int, place: int) -> Source:
        value = self.state.output[cluster, pe, place].item()
        before = self.output.get((cluster, pe, place))
        return Source("result", self.number(), None, None, before, value)

    def _store(
        self, cluster: Cluster, run: Run, op: Op, source: list[int], target: list[int]
    ) -> None:
        c, out = cluster.number, run["out"]
        base = self.memory.base + out["offset"]
        size = memory_type(ELEMENTS[out["element"]]).itemsize
        settings, step = self._out(run), self._step(cluster, run, op)
        for pe, first in enumerate(source):
            place = c * self.shape.pes + pe
            if out["pes"] and place >= out["pes"]:
                continue
            for number in range(out["count"]):
                address = base + place * out["stride"] + (run["stored"] + number) * out["step"]
                result = self._result(c, pe, first + number)
                sources = partial(iter, [*settings, result])
                origin = step(result.value, sources)
                self.store_origins.setdefault(address, []).append((size, origin))

    def writers(self, number: int, address: int, size: int) -> Iterator[Origin]:
        stores = []
        for at in range(address - _WIDEST + 1, address + size):
            before = [x for x in self.store_origins.get(at, ()) if x[1].number <= number]
            if before and at + before[-1][0] > address:
                stores.append((before[-1][1].number, at, *before[-1]))
        covered: set[int] = set()  # bytes that a later store has overwritten
        origins = []
        for _, at, length, origin in sorted(stores, key=lambda item: item[:2], reverse=True):
            part = set(range(max(at, address), min(at + length, address + size)))
            if not part & covered:
                covered |= part
                origins.append(replace(origin, part=(min(part) - address, len(part))))
        self.require(len(covered) == size)
        yield from sorted(origins, key=lambda item: item.part or (0, 0))

    def makers(self, place: Place, before: int) -> Iterator[Origin]:
        """Yield the origins of the present values in `place`, some elements of the state.

        `before` is ignored, because only the present is recorded.
        """
        yield from provenance_labels.origins_of(self, place)
