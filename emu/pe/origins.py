"""Where a row's results came from: shadows of its queues, buffers, sums and output queues.

Each entry of a weight queue or an input buffer remembers the address from which it came, each
accumulator the products that went into it (also those that a neighbour made for it), each place of
an output queue the step that put it there. The reference engine tells of all this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from emu.origins import Origin, Origins, Source
from emu.pe.arithmetic import stored_type
from emu.pe.balancing import GIVEN
from emu.pe.loading import Loading, records_of
from emu.pe.sequence import ACTIVATIONS_SEGMENT, MEMBERS, REDUCE, decoded
from emu.pe.stages import INDEX_MASK, PLACE_SHIFT
from emu.pe.state import Op, Packet, Run
from isa.pe import ACCUMULATORS, ACTIVATIONS, ELEMENTS, FIXED_POINT, FUNCTIONS, HEADER_OF, SEQUENCE

if TYPE_CHECKING:
    from emu.pe.control import Control
    from emu.pe.row import Row

Sources = Callable[[], Iterator[Source]]
Key = tuple[int, int, int]  # cluster, PE, place of the output queue
_TIME, _SUM, _MAC, _WEIGHT, _, _ACTIVATION, _ = range(7)  # rows of what is kept of products
_KEPT = 7
_WIDEST = 8  # bytes of an element that is stored
_MEMBERS = {member.name: member for member in SEQUENCE.members}


class RowOrigins(Origins):
    """The shadows of one row."""

    def __init__(self, row: Row, number: Callable[[], int]) -> None:
        super().__init__(number)
        self.row, self.shape = row, row.shape
        count = self.shape.clusters * self.shape.pes
        self.weights = np.full((count * self.shape.weight_queue, 2), -1, np.int64)
        self.activations = np.full((count * self.shape.input_buffer, 2), -1, np.int64)
        self.mac_at = np.full(self.shape.clusters, -1, np.int64)
        self._products: list[tuple[NDArray[Any], NDArray[Any]]] = []  # what is kept; values
        self._count = 0  # of products
        self._first: dict[int, int] = {}  # by accumulator: the product from which on they count
        self._added: dict[int, list[Source]] = {}  # by accumulator: partial sums
        self.output: dict[Key, Origin] = {}
        self._stored: dict[int, list[tuple[int, Origin]]] = {}  # by address: bytes
        # By cluster and buffer: the config, and where the sequence was that it brought.
        self._configs: dict[tuple[int, int], tuple[Origin, int]] = {}

    @property
    def kept(self) -> int:
        return self._count

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

    def dense_in(self, loading: Loading, packet: Packet, segment: int, values: Any) -> None:
        """Activations or partial sums come: (slices, elements)."""
        size = values.dtype.itemsize
        kind = packet["segments"][segment]["type"]
        if kind != ACTIVATIONS_SEGMENT:
            size = np.dtype(self.shape.sum_type).itemsize
        base = self._base(packet, segment)
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
            self._added.setdefault(self._flat(cluster, pe, number), []).append(one)

    # What configures

    def configures(self, cluster: int, buffer: int) -> None:
        """The packet on the bus is a config of a buffer."""
        packet = self.row.state.packet
        at = self.row.address(packet["address"])
        made = Origin(self.number(), self.row.time, packet["mnemonic"], at)
        self._configs[cluster, buffer] = made, -1

    def configured(self, clusters: Sequence[int], buffer: int, offset: int) -> None:
        """The sequence at an offset of the half has come into a buffer."""
        for cluster in clusters:
            made, _ = self._configs[cluster, buffer]
            made = Origin(self.number(), self.row.time, made.what, made.address)
            base = self.row.device.memory.feeding_address(self.shape.row)
            self._configs[cluster, buffer] = made, base + offset

    def _settings(self, control: Control, run: Run, op: Op) -> Iterator[Source]:
        """What the header of a run's sequence says of an spu function, and which config set it."""
        key = control.cluster, run["buffer"]
        made, base = self._configs.get(key, (None, 0))
        header = self.row.state.headers[key].tolist()
        names = HEADER_OF.get(FUNCTIONS[op["function"]], ())
        curve = ACTIVATIONS[header[MEMBERS.index("activation")]]
        if "activation" in names and curve in FIXED_POINT and self.shape.element.startswith("int"):
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
        weight = data.weight_row[owner] + (load[pes] >> PLACE_SHIFT & INDEX_MASK)
        activation = data.input_row[owner] + (load[pes] & INDEX_MASK)
        kept = np.empty((_KEPT, pes.size), np.int64)
        kept[_TIME] = self.row.time
        kept[_SUM] = data.sum_row[owner] + data.sum[owner]
        kept[_MAC] = self.mac_at[owner // self.shape.pes]
        kept[_WEIGHT : _WEIGHT + 2] = self.weights[weight].T
        kept[_ACTIVATION : _ACTIVATION + 2] = self.activations[activation].T
        values = np.array([data.weight_value[weight], data.activations[activation]])
        self._products.append((kept, values))
        self._count += pes.size

    def _taken(self, total: int, begin: int, end: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """The products of a sum from the `begin`-th of the row on: what is kept, and values."""
        if len(self._products) > 1:
            kept, values = zip(*self._products, strict=True)
            self._products = [(np.concatenate(kept, 1), np.concatenate(values, 1))]
        if not self._products:
            return np.zeros((_KEPT, 0), np.int64), np.zeros((2, 0))
        kept_, values_ = self._products[0]
        some = begin + np.flatnonzero(kept_[_SUM, begin:end] == total)
        return kept_[:, some], values_[:, some]

    def _sum(self, total: int) -> Callable[[], Iterator[Source]]:
        """What is in an accumulator now, which is cleared."""
        begin, end = self._first.get(total, 0), self._count
        added = self._added.pop(total, [])
        self._first[total] = end
        return partial(self._sum_sources, total, begin, end, added)

    def held(self, cluster: int, pe: int, accumulator: int) -> list[Source]:
        """What is in an accumulator now."""
        total = self._flat(cluster, pe, accumulator)
        begin, added = self._first.get(total, 0), self._added.get(total, [])
        return list(self._sum_sources(total, begin, self._count, added))

    def _sum_sources(
        self, total: int, begin: int, end: int, added: list[Source]
    ) -> Iterator[Source]:  # fmt: skip
        size = np.dtype(self.shape.value_type).itemsize
        yield from added
        kept, values = self._taken(total, begin, end)
        for row, pair in zip(kept.T.tolist(), values.T.tolist(), strict=True):
            parts = [
                Source(name, row[at + 1], (row[at], size), None, None, value)
                for name, at, value in zip(
                    ("weight", "activation"), (_WEIGHT, _ACTIVATION), pair, strict=True
                )
            ]
            made = Origin(
                row[_WEIGHT + 1], row[_TIME], "mac", row[_MAC], "", pair[0] * pair[1],
                partial(iter, parts),
            )  # fmt: skip
            yield Source("product", made.number, None, None, made, made.value)

    # Steps of the clusters

    def started(self, control: Control, run: Run, op: Op) -> None:
        """A step of a cluster is about to start: where results go, and where they were."""
        cluster, name = control.cluster, op["name"]
        if name == "mac":
            self.mac_at[cluster] = control.address(run, op)
            return
        act = {
            "move": self._move, "ld_queue": self._ld_queue, "bypass": self._special,
            "special": self._special, "store": self._store,
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

    def _flat(self, cluster: int, pe: int, accumulator: int) -> int:
        width = self.row.state.accumulators.shape[-1]
        return (cluster * self.shape.pes + pe) * int(width) + accumulator

    def _move(
        self, control: Control, run: Run, op: Op, source: list[int], target: list[int]
    ) -> None:
        c = control.cluster
        for pe, (accumulator, place) in enumerate(zip(source, target, strict=True)):
            value = self.row.state.accumulators[c, pe, accumulator].item()
            sources = self._sum(self._flat(c, pe, accumulator))
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
                    self._added.setdefault(self._flat(c, pe, number), []).append(added)

    def _special(
        self, control: Control, run: Run, op: Op, source: list[int], target: list[int]
    ) -> None:
        c, reduces = control.cluster, op["function"] == REDUCE
        settings = [] if op["name"] == "bypass" else list(self._settings(control, run, op))
        if op["chained"] >= 0:
            for pe, place in enumerate(target):
                value = self.row.state.accumulators[c, pe, op["chained"]].item()
                sources = self._sum(self._flat(c, pe, op["chained"]))
                made = self._step(control, run, op, value, sources)
                some = [Source("sum", made.number, None, None, made, value), *settings]
                self.output[c, pe, place] = self._step(control, run, op, None, partial(iter, some))
            return
        for number in range(max(run["out"]["count"], 1)):
            parts = [
                self._result(c, pe, first + number) for pe, first in enumerate(source)
            ]  # fmt: skip
            for pe, place in enumerate(target[:1] if reduces else target):
                some = [*(parts if reduces else parts[pe : pe + 1]), *settings]
                made = self._step(control, run, op, None, partial(iter, some))
                self.output[c, pe, place + number] = made

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
        for at in range(address - _WIDEST + 1, address + size):
            before = [x for x in self._stored.get(at, ()) if x[1].number <= number]
            if before and at + before[-1][0] > address:
                yield before[-1][1]
