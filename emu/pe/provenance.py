"""Where a row's results came from: shadows of its queues, buffers, sums and output queues.

Each entry of a weight queue or an input buffer remembers the address from which it came, each
accumulator the products that went into it (also those that a neighbour made for it), each place of
an output queue the step that put it there. The reference engine tells of all this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.origins import Origin, Origins, Place, Source
from macaw.emu.pe import provenance_labels as contents
from macaw.emu.pe.arithmetic import stored_type
from macaw.emu.pe.balancing import GIVEN
from macaw.emu.pe.data_loading import Loading, records_of
from macaw.emu.pe.product_log import ACTIVATION, KEPT, MAC, SUM, TIME, WEIGHT, Products
from macaw.emu.pe.reference.datapath import INDEX_MASK, PLACE_SHIFT
from macaw.emu.pe.sequence import ACTIVATIONS_SEGMENT, MEMBERS, REDUCE, decoded
from macaw.emu.pe.state import Op, Packet, Run
from macaw.isa.pe import (
    ACCUMULATORS,
    ACTIVATIONS,
    ELEMENTS,
    FIXED_POINT,
    FUNCTIONS,
    HEADER_OF,
    SCALAR_REDUCTIONS,
    SCALAR_SOURCE,
    SCALARS,
    SEQUENCE,
)

if TYPE_CHECKING:
    from macaw.emu.pe.control_unit import Control
    from macaw.emu.pe.row import Row

Sources = Callable[[], Iterator[Source]]
Key = tuple[int, int, int]  # cluster, PE, place of the output queue
_WIDEST = max(stored_type(element).itemsize for element in ELEMENTS)  # bytes that are stored
_MEMBERS = {member.name: member for member in SEQUENCE.members}


class RowOrigins(Origins):
    """The shadows of one row."""

    fields = frozenset(contents.TOLD)
    clears = fields

    def __init__(self, row: Row, number: Callable[[], int]) -> None:
        super().__init__(number)
        self.row, self.shape = row, row.shape
        count = self.shape.clusters * self.shape.pes
        self.weights = np.full((count * self.shape.weight_queue, 2), -1, np.int64)
        self.activations = np.full((count * self.shape.input_buffer, 2), -1, np.int64)
        self.mac_at = np.full(self.shape.clusters, -1, np.int64)
        self.lds: dict[int, tuple[int, int]] = {}  # by number of what came: time, ld
        self.products = Products(np.dtype(self.shape.value_type).itemsize)
        self.output: dict[Key, Origin] = {}
        self._stored: dict[int, list[tuple[int, Origin]]] = {}  # by address: bytes
        # By cluster and buffer: the config, and where the sequence was that it brought.
        self.configs: dict[tuple[int, int], tuple[Origin, int]] = {}
        self._reduced: dict[int, list[Origin]] = {}  # by cluster: of the reduction at work
        self.scalars: dict[Key, list[Origin]] = {}  # by cluster, buffer, accumulator of 604

    @property
    def kept(self) -> int:
        return self.products.count

    # What came over the bus

    def _base(self, packet: Packet, segment: int) -> int:
        memory = self.row.device.memory
        offset = packet["segments"][segment]["offset"]
        return memory.feeding_address(self.row.shape.row) + offset

    def weights_in(
        self, loading: Loading, packet: Packet, segment: int, data: bytes, sliding: bool,
        places: NDArray[Any], entries: NDArray[Any],
    ) -> None:  # fmt: skip
        """Entries of a segment went to places of the weight queues (of all PEs, flat)."""
        size = loading.entry["value"].itemsize
        if sliding:
            offsets = np.arange(len(data) // size) * size
        elif packet["segments"][segment]["compress"]:
            offsets = np.flatnonzero(np.frombuffer(data, loading.entry["value"])) * size
        else:
            step = loading.entry.itemsize
            assert loading.entry.fields is not None
            inside = loading.entry.fields["value"][1]
            records, _ = records_of(data, step)
            runs = [start + inside + step * np.arange(count) for start, count in records]
            offsets = np.concatenate([np.zeros(0, np.int64), *runs])
        self.weights[places, 0] = self._base(packet, segment) + offsets[entries]
        self.weights[places, 1] = self.number()
        self._came(packet["clusters"][0], packet, segment)

    def _came(self, cluster: int, packet: Packet, segment: int) -> None:
        """The ld of a cluster has taken a segment."""
        run, op = self.row.controls[cluster].taker(packet, segment)
        self.lds[self.number()] = self.row.time, self.row.controls[cluster].address(run, op)

    def dense_in(self, loading: Loading, packet: Packet, segment: int, values: Any) -> None:
        """Activations or partial sums come: (slices, elements)."""
        size = values.dtype.itemsize
        kind = packet["segments"][segment]["type"]
        if kind != ACTIVATIONS_SEGMENT:
            size = np.dtype(self.shape.sum_type).itemsize
        base = self._base(packet, segment)
        self._came(packet["clusters"][0], packet, segment)
        address = base + np.arange(values.size).reshape(values.shape) * size
        starts = self.row.targets(packet, segment)
        for cluster, start in zip(packet["clusters"], starts.tolist(), strict=True):
            slices = loading.slices_of(cluster, packet, segment)
            for pe, (first, mine) in enumerate(zip(start, slices.tolist(), strict=True)):
                if kind == ACTIVATIONS_SEGMENT:
                    flat = (cluster * self.shape.pes + pe) * self.shape.input_buffer + first
                    self.activations[flat : flat + values.shape[1], 0] = address[mine]
                    self.activations[flat : flat + values.shape[1], 1] = self.number()
                else:
                    run, op = self.row.controls[cluster].taker(packet, segment)
                    at = self.row.controls[cluster].address(run, op)
                    some = address[mine].tolist(), values[mine].tolist()
                    self._psums(cluster, pe, first, at, *some)

    def _psums(
        self, cluster: int, pe: int, first: int, at: int,
        addresses: Sequence[int], values: Sequence[Any],
    ) -> None:  # fmt: skip
        size = np.dtype(self.shape.sum_type).itemsize
        for number, (address, value) in enumerate(zip(addresses, values, strict=True)):
            source = Source("psum", self.number(), (address, size), None, None, value)
            made = Origin(
                self.number(), self.row.time, "ld", at, "", value, partial(iter, [source])
            )
            self.output[cluster, pe, first + number] = made
            one = Source("psum", self.number(), None, None, made, value)
            self.products.add(self.flat(cluster, pe, number), one)

    # What configures

    def configures(self, cluster: int, buffer: int) -> None:
        """The packet on the bus is a config of a buffer."""
        packet = self.row.state.packet
        at = self.row.address(packet["address"])
        made = Origin(self.number(), self.row.time, packet["mnemonic"], at)
        self.configs[cluster, buffer] = made, -1
        for number in range(SCALARS):
            self.scalars.pop((cluster, buffer, number), None)

    def configured(self, clusters: Sequence[int], buffer: int, offset: int) -> None:
        """The sequence at an offset of the half has come into a buffer."""
        for cluster in clusters:
            made, _ = self.configs[cluster, buffer]
            made = Origin(self.number(), self.row.time, made.what, made.address)
            base = self.row.device.memory.feeding_address(self.shape.row)
            self.configs[cluster, buffer] = made, base + offset

    def _settings(self, control: Control, run: Run, op: Op) -> Iterator[Source]:
        """What the header of a run's sequence says of an spu function, and which config set it."""
        key = control.cluster, run["buffer"]
        made, base = self.configs.get(key, (None, 0))
        header = self.row.state.headers[key].tolist()
        names = HEADER_OF.get(FUNCTIONS[op["function"]], ())
        curve = ACTIVATIONS[header[MEMBERS.index("activation")]]
        floating = np.dtype(self.shape.value_type).kind == "f"
        if "activation" in names and curve in FIXED_POINT and not floating:
            names = (*names, "shift")
        for name in names:
            legal = _MEMBERS[name].legal
            value = header[MEMBERS.index(name)]
            shown = legal.format(value) if legal.by_name else value
            place = None if made is None else (base + SEQUENCE.offsets[name], 1)
            number = self.number() if made is None else made.number
            yield Source(name, number, place, None, made, shown, setting=True)

    # What is multiplied

    def multiplied(self, taken: NDArray[Any], load: NDArray[Any]) -> None:
        """PEs in `taken` multiply what their loads name; a given one is of the right neighbour."""
        data = self.row.datapath
        pes = np.flatnonzero(taken)
        owner = pes + (load[pes] >= GIVEN)
        kept, values = self.loads(owner, load[pes])
        kept[SUM] = data.sum_row[owner] + data.sum[owner]
        self.products.multiplied(kept, values)

    def loads(
        self, owner: NDArray[Any], load: NDArray[Any]
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """What loads of some PEs name: what is kept of it, and the numbers (2, loads)."""
        data = self.row.datapath
        weight = data.weight_row[owner] + (load >> PLACE_SHIFT & INDEX_MASK)
        activation = data.input_row[owner] + (load & INDEX_MASK)
        kept = np.empty((KEPT, owner.size), np.int64)
        kept[TIME] = self.row.time
        kept[MAC] = self.mac_at[owner // self.shape.pes]
        kept[WEIGHT : WEIGHT + 2] = self.weights[weight].T
        kept[ACTIVATION : ACTIVATION + 2] = self.activations[activation].T
        return kept, np.array([data.weight_value[weight], data.activations[activation]])

    # Steps of the clusters

    def started(self, control: Control, run: Run, op: Op) -> None:
        """A step of a cluster is about to start: where results go, and where they were."""
        cluster, name = control.cluster, op["name"]
        if name == "mac":
            self.mac_at[cluster] = control.address(run, op)
            return
        act = {
            "move": self._move, "ld_queue": self._ld_queue, "bypass": self._special,
            "special": self._special, "store": self._store, "scalar": self._scalar,
        }.get(name)  # fmt: skip
        if act is not None:
            source, target = control.steps.operands(run, op)
            act(control, run, op, source.tolist(), target.tolist())

    def _step(
        self, control: Control, run: Run, op: Op, value: Any, sources: Sources
    ) -> Origin:  # fmt: skip
        word = int(self.row.state.words[control.cluster, run["buffer"], op["place"]])
        what, at = decoded(word).row.mnemonic, control.address(run, op)
        return Origin(self.number(), self.row.time, what, at, "", value, sources)

    def flat(self, cluster: int, pe: int, accumulator: int) -> int:
        width = self.row.state.accumulators.shape[-1]
        return (cluster * self.shape.pes + pe) * int(width) + accumulator

    def _move(
        self, control: Control, run: Run, op: Op, source: list[int], target: list[int]
    ) -> None:
        c = control.cluster
        for pe, (accumulator, place) in enumerate(zip(source, target, strict=True)):
            value = self.row.state.accumulators[c, pe, accumulator].item()
            sources = self.products.take(self.flat(c, pe, accumulator))
            self.output[c, pe, place] = self._step(control, run, op, value, sources)

    def _ld_queue(
        self, control: Control, run: Run, op: Op, source: list[int], target: list[int]
    ) -> None:
        c, state = control.cluster, self.row.state
        for pe, first in enumerate(source):
            for number in range(ACCUMULATORS):
                if state.output_written[c, pe, first + number]:
                    value = state.output[c, pe, first + number].item()
                    before = self.output.get((c, pe, first + number))
                    added = Source("psum", self.number(), None, None, before, value)
                    self.products.add(self.flat(c, pe, number), added)

    def _special(
        self, control: Control, run: Run, op: Op, source: list[int], target: list[int]
    ) -> None:
        c, passes = control.cluster, op["name"] == "bypass"
        settings = [] if passes else list(self._settings(control, run, op))
        count = 1 if op["chained"] >= 0 else max(run["out"]["count"], 1)
        self._reduced[c] = []
        for number in range(count):
            parts = self._parts(control, run, op, [first + number for first in source], count)
            if op["function"] == REDUCE and not passes:
                some = [*parts.values(), *settings]
                made = self._step(control, run, op, None, partial(iter, some))
                self._reduced[c].append(made)
                if self._to_scalars(control, run):
                    key = c, run["buffer"], target[0] + number
                    self.scalars.setdefault(key, []).append(made)
                else:
                    self.output[c, 0, target[0] + number] = made
                continue
            for pe, part in parts.items():
                one = partial(iter, [part, *settings])
                self.output[c, pe, target[pe] + number] = self._step(control, run, op, None, one)

    def _parts(
        self, control: Control, run: Run, op: Op, places: list[int], count: int
    ) -> dict[int, Source]:
        """By PE a value that an spu takes; of the output queue those that hold one."""
        c, parts = control.cluster, {}
        if op["chained"] < 0:
            written = self.row.state.output_written[c]
            for pe, place in enumerate(places):
                if written[pe, place]:
                    parts[pe] = self._result(c, pe, place)
            return parts
        for pe in range(self.shape.pes):
            value = self.row.state.accumulators[c, pe, op["chained"]].item()
            sources = self.products.take(self.flat(c, pe, op["chained"]))
            made = self._step(control, run, op, value, sources)
            parts[pe] = Source("sum", made.number, None, None, made, value)
        return parts

    def _to_scalars(self, control: Control, run: Run) -> bool:
        """Whether reductions of a run's sequence go to the scalar unit."""
        header = self.row.state.headers[control.cluster, run["buffer"]]
        return int(header[MEMBERS.index("reduction")]) in SCALAR_REDUCTIONS

    def reduced(self, cluster: int, values: Sequence[Any]) -> None:
        """A reduction has ended: its results."""
        for made, value in zip(self._reduced.pop(cluster, ()), values, strict=True):
            made.value = value.item()

    def _scalar(
        self, control: Control, run: Run, op: Op, source: list[int], target: list[int]
    ) -> None:
        c, number = control.cluster, source[0] - SCALAR_SOURCE
        value = self.row.state.scalar_sums[c, run["buffer"], number].item()
        sources = self.combined(self.scalars.pop((c, run["buffer"], number), []))
        self.output[c, 0, target[0]] = self._step(control, run, op, value, partial(iter, sources))

    def combined(self, reductions: list[Origin]) -> list[Source]:
        """The reductions of which an accumulator of the scalar unit is the sum or the greatest."""
        return [Source("reduced", x.number, None, None, x, x.value) for x in reductions]

    def _result(self, cluster: int, pe: int, place: int) -> Source:
        value = self.row.state.output[cluster, pe, place].item()
        before = self.output.get((cluster, pe, place))
        return Source("result", self.number(), None, None, before, value)

    def _store(
        self, control: Control, run: Run, op: Op, source: list[int], target: list[int]
    ) -> None:
        c, out = control.cluster, run["out"]
        base = self.row.device.memory.feeding_address(self.shape.row) + out["offset"]
        size = stored_type(ELEMENTS[out["element"]]).itemsize
        for pe, first in enumerate(source):
            place = c * self.shape.pes + pe
            if out["pes"] and place >= out["pes"]:
                continue
            for number in range(out["count"]):
                address = base + place * out["stride"] + (run["stored"] + number) * out["step"]
                one = self._result(c, pe, first + number)
                made = self._step(control, run, op, one.value, partial(iter, [one]))
                self._stored.setdefault(address, []).append((size, made))

    def written(self, number: int, address: int, size: int) -> Iterator[Origin]:
        found = []
        for at in range(address - _WIDEST + 1, address + size):
            before = [x for x in self._stored.get(at, ()) if x[1].number <= number]
            if before and at + before[-1][0] > address:
                found.append((before[-1][1].number, at, *before[-1]))
        told: set[int] = set()  # bytes: of stores to the same ones the last one counts
        made = []
        for _, at, length, one in sorted(found, key=lambda item: item[:2], reverse=True):
            own = set(range(max(at, address), min(at + length, address + size)))
            if not own & told:
                told |= own
                made.append(replace(one, part=(min(own) - address, len(own))))
        yield from sorted(made, key=lambda item: item.part or (0, 0))

    def made(self, place: Place, before: int) -> Iterator[Origin]:
        """Of now; `before` is not looked at, for nobody asks for what a row held earlier."""
        yield from contents.made(self, place)
