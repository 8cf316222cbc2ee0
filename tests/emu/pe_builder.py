"""Builds packets, sequences and weights as bytes in a unit, and runs a row on them without cp."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from macaw.emu.device import Builder, Device
from macaw.emu.engines import ENGINES
from macaw.emu.faults import Stop
from macaw.emu.pe import build
from macaw.emu.pe.row import Row
from macaw.isa import codec
from macaw.isa.config import Configuration
from macaw.isa.pe import (
    CORE,
    DESTINATIONS,
    ELEMENTS,
    END_OF_LIST,
    FORMS,
    FUNCTIONS,
    MODES,
    OUT,
    PACKET,
    SEGMENT,
    SEGMENT_TYPES,
    SEQUENCE,
    STEP,
    STRIDE,
    STRIDE_KIND,
    TYPES,
)

TINY = {"pe.rows": 1, "pe.clusters": 2, "pe.pes": 4}
NAMES = {"int8": "int8", "int16": "int16", "fp16": "float16", "fp32": "float32"}
SUMS = {"int8": "int32", "int16": "int64", "fp16": "float32", "fp32": "float32"}
STORED = {
    "int8": "int8",
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
    "fp16": "float16",
    "fp32": "float32",
}


def instruction(text: str) -> int:
    """The word of an instruction, for example `mac base=1 acc=2` or `spu nonsf src=0 dst=1`."""
    mnemonic, *operands = text.split()
    row = CORE.by_mnemonic[mnemonic]
    values: dict[str, int] = {}
    for operand in operands:
        name, equals, value = operand.partition("=")
        if equals:
            values[name] = int(value)
        elif name in DESTINATIONS:
            values["destination"] = DESTINATIONS.index(name)
        elif name in FUNCTIONS:
            values["function"] = FUNCTIONS.index(name)
        else:
            values[name] = 1
    return codec.encode(row, values)


Segment = tuple[str, str, bytes | range]
# A step: instruction, operand, inner, outer. A stride: instruction, operand, PE, cluster.
Steps = Sequence[tuple[int, int, int, int]]


def sequence(
    *lines: str,
    words: Sequence[int] | None = None,
    steps: Steps = (),
    strides: Steps = (),
    types: dict[str, int] | None = None,
    **header: int,
) -> bytes:
    """The bytes of a sequence; `header` has the fields that differ from the defaults.

    `types` has the fields of its record of element types.
    """
    found = [instruction(line) for line in lines] if words is None else list(words)
    records = len(steps) + len(strides) + (types is not None)
    head = codec.pack(SEQUENCE, {"count": len(found), "records": records, **header})
    if types is not None:
        head += codec.pack(TYPES, types)
    names = ("instruction", "operand", "inner", "outer")
    head += b"".join(codec.pack(STEP, dict(zip(names, step, strict=True))) for step in steps)
    names = ("instruction", "operand", "pe", "cluster")
    for place, entry, *rest in strides:
        values = (place, STRIDE_KIND + entry, *rest)
        head += codec.pack(STRIDE, dict(zip(names, values, strict=True)))
    return head + b"".join(word.to_bytes(2, "little") for word in found)


def record(indices: Sequence[int], values: Sequence[float], element: str) -> bytes:
    """A record of weights: count, then index and value of each."""
    dtype = np.dtype([("index", "<u2"), ("value", np.dtype(NAMES[element]).newbyteorder("<"))])
    entries = np.zeros(len(indices), dtype)
    entries["index"], entries["value"] = indices, values
    return len(indices).to_bytes(2, "little") + entries.tobytes()


def sparse(matrix: NDArray[Any], element: str) -> bytes:
    """A record for each row of a matrix, without zeros."""
    rows = []
    for row in np.asarray(matrix):
        indices = np.flatnonzero(row)
        rows.append(record(indices.tolist(), row[indices].tolist(), element))
    return b"".join(rows)


SegmentBytes = tuple[str, str, bytes]  # type, mode and further words, contents


def scales(values: ArrayLike, mode: str = "sliced") -> SegmentBytes:
    """A segment of scales."""
    return "scales", mode, np.asarray(values, "<f4").tobytes()


def element_types(weights: str, activations: str, **others: int) -> dict[str, int]:
    """The fields of a record of types for these element types."""
    numbers = {"weights": weights, "activations": activations}
    return {name: 1 + ELEMENTS.index(x) for name, x in numbers.items()} | others


@dataclass
class Unit:
    """The contents of a half of a unit: packets at 0, everything else from `data_at` on."""

    config: dict[str, Any] = field(default_factory=dict)
    data_at: int = 0x2000
    packets: bytearray = field(default_factory=bytearray)
    data: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        self.configuration = Configuration("test", TINY | self.config)
        self.element = str(self.configuration["pe.element"])
        widest = str(self.configuration["pe.widest"])
        self.sums = SUMS[self.element if widest == "element" else widest]

    def put(self, data: bytes, align: int = 4) -> int:
        """Place bytes in the half; return their offset."""
        while len(self.data) % align:
            self.data.append(0)
        self.data += data
        return self.data_at + len(self.data) - len(data)

    def space(self, size: int) -> int:
        """Place zeros for results; return their offset."""
        return self.put(bytes(size), 8)

    def config_packet(
        self,
        ib: int,
        *lines: str,
        clusters: int | None = None,
        steps: Steps = (),
        strides: Steps = (),
        types: dict[str, int] | None = None,
        data: Sequence[SegmentBytes] = (),
        **header: int,
    ) -> None:
        """Add a config of a sequence, with its scales and its table (`data`)."""
        made = sequence(*lines, words=None, steps=steps, strides=strides, types=types, **header)
        self.config_bytes(ib, made, clusters, data)

    def config_bytes(
        self,
        ib: int,
        made: bytes,
        clusters: int | None = None,
        data: Sequence[SegmentBytes] = (),
    ) -> None:
        """Add a config of a sequence given as bytes, with its scales and its table (`data`)."""
        command = codec.encode(CORE.by_mnemonic["config"], {"ib": ib})
        self.packet(command, [("sequence", "broadcast", made), *data], clusters)

    def exe(
        self,
        ib: int,
        *segments: Segment,
        out: dict[str, int] | None = None,
        shift: int = 0,
        last: int = 0,
        clusters: int | None = None,
    ) -> None:
        """Add an exe; a segment is (type, mode, bytes), or the offsets of data placed before."""
        command = codec.encode(CORE.by_mnemonic["exe"], {"ib": ib, "shift": shift, "last": last})
        self.packet(command, segments, clusters, out or {})

    def packet(
        self,
        command: int,
        segments: Sequence[Segment],
        clusters: int | None = None,
        out: dict[str, int] | None = None,
    ) -> None:
        """Add a packet with any command, with an out record if `out` is given."""
        if clusters is None:
            clusters = (1 << int(self.configuration["pe.clusters"])) - 1
        head = {"command": command, "segments": len(segments), "clusters": clusters}
        self.packets += codec.pack(PACKET, head)
        for kind, words, data in segments:
            mode, *others = words.split()
            place = data if isinstance(data, range) else range(self.put(data), self.put(b"", 1))
            where = {"offset": place.start, "length": len(place)}
            for word in others:
                if word in FORMS:
                    where["form"] = FORMS.index(word)
                else:
                    where["element"] = 1 + ELEMENTS.index(word)
            numbers = {"type": SEGMENT_TYPES.index(kind), "mode": MODES.index(mode)}
            self.packets += codec.pack(SEGMENT, numbers | where)
        if out is not None:
            self.packets += codec.pack(OUT, out)

    def weights(
        self, matrix: NDArray[Any], mode: str = "sliced", element: str = ""
    ) -> tuple[str, str, bytes]:
        """A segment of weights, with a record for each row."""
        return "weights", mode, sparse(matrix, element or self.element)

    def compressed(
        self, matrix: NDArray[Any], mode: str = "sliced", element: str = ""
    ) -> tuple[str, str, bytes]:
        """A segment of dense weights that the distribution unit compresses."""
        data = np.asarray(matrix).astype(NAMES[element or self.element]).tobytes()
        return "weights", f"{mode} compress", data

    def numbered(
        self, matrix: NDArray[Any], mode: str = "sliced", element: str = ""
    ) -> tuple[str, str, bytes]:
        """A segment of dense weights that the loading unit numbers."""
        data = np.asarray(matrix).astype(NAMES[element or self.element]).tobytes()
        return "weights", f"{mode} dense", data

    def dense(
        self, values: ArrayLike, mode: str = "broadcast", element: str = ""
    ) -> tuple[str, str, bytes]:
        """A segment of activations."""
        dtype = NAMES[element or self.element]
        return "activations", mode, np.asarray(values).astype(dtype).tobytes()

    def psums(self, values: ArrayLike, mode: str = "sliced") -> tuple[str, str, bytes]:
        """A segment of partial sums."""
        return "psums", mode, np.asarray(values).astype(self.sums).tobytes()

    def table(self, values: ArrayLike) -> SegmentBytes:
        """A segment of a table; `values` are its 256 entries."""
        return "table", "broadcast", np.asarray(values).astype(NAMES[self.element]).tobytes()

    def out(self, size: int, element: str, **members: int) -> dict[str, int]:
        """An out record for results in `size` new bytes of the half."""
        width = np.dtype(STORED[element]).itemsize
        found = {"count": 1, "step": width, **members}
        found.setdefault("stride", found["count"] * width)
        return {"offset": self.space(size), "element": ELEMENTS.index(element), **found}

    def machine(self, *others: Builder, engine: str = ENGINES[0]) -> Machine:
        """A device of one row (and `others`), whose feeding half has this unit's contents."""
        return Machine(self, *others, engine=engine)


class Machine:
    """A device without cp: the list at offset 0 is dispatched at cycle 0."""

    def __init__(self, unit: Unit, *others: Builder, engine: str = ENGINES[0]) -> None:
        self.unit = unit
        self.device = Device(unit.configuration, build=[build, *others], engine=engine)
        row = self.device.cores["pe[0]"]
        assert isinstance(row, Row)
        self.row = row
        half = self.device.memory.feeding_address(0)
        assert len(unit.packets) < unit.data_at
        self.device.memory.poke(half, bytes(unit.packets) + bytes([END_OF_LIST]))
        self.device.memory.poke(half + unit.data_at, bytes(unit.data))
        self.half = half
        self.device.dispatch(1, 0, 0)

    def run(self, **limits: int) -> Stop:
        """Run to the end; a fault is an error of the test."""
        stop = self.device.run(**limits)
        if stop.fault is not None:
            raise AssertionError(str(stop))
        return stop

    def read(self, out: dict[str, int], count: int) -> NDArray[Any]:
        """The first `count` elements of results, as they lie in memory."""
        dtype = np.dtype(STORED[ELEMENTS[out["element"]]])
        data = self.device.memory.peek(self.half + out["offset"], count * dtype.itemsize)
        return np.frombuffer(data, dtype)

    def at(self, cycle: int) -> Any:
        """The row's state when all cycles before `cycle` are over."""
        self.run(until=cycle)
        self.row.sync()
        return self.row.state


def machine_of_product(weights: Any, x: Any, balance: bool, **config: Any) -> Machine:
    unit = Unit({"pe.clusters": 1, "pe.pes": len(weights), **config})
    flag = " balance" if balance else ""
    unit.config_packet(0, "ld both base=0", f"mac base=0 acc=1{flag}")
    unit.exe(0, unit.weights(np.array(weights)), unit.dense(x))
    return unit.machine()


def int_ones(*shape: int) -> NDArray[np.int64]:
    return np.ones(shape, np.int64)
