"""The parser 606 of a cluster: it writes a sequence to an instruction buffer and the register file.

Seed 000 ¶106: the parser writes the sequence to the buffer that the command names. It writes the
operands of each instruction to the register file, one value for each PE: the operand in the
sequence, plus its stride over PEs times the PE's number, and likewise for the cluster's number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.pe.context import RowContext
from macaw.emu.pe.element_types import ACTIVATIONS_TYPE, dtype_of
from macaw.emu.pe.sequence import BROADCAST, MEMBERS, SCALES, slices, slices_of
from macaw.emu.pe.sequence_format import (
    check_data,
    instructions_offset,
    operand_types,
    parse_header,
    parse_instruction,
    parse_records,
    raw_strides,
    sequence_length,
    types_record,
)
from macaw.emu.pe.state import Packet, Parser, Segment
from macaw.isa.pe import (
    ELEMENTS,
    INSTRUCTION_BYTES,
    MODES,
    SCALE_DTYPE,
    SEGMENT_TYPES,
    SEQUENCE,
    TABLE_ENTRIES,
)

_COUNT = MEMBERS.index("count")


class SequenceParser:
    """The parser of cluster `cluster` of a row."""

    def __init__(self, context: RowContext, cluster: int) -> None:
        self.context, self.state, self.shape = context, context.state, context.shape
        self.cluster = cluster

    def begin(self, buffer: int, segments: Sequence[Segment]) -> None:
        """Reserve and empty `buffer`, because the bus will bring the segments of a config next.

        The first segment is the sequence.
        """
        segment, *rest = segments
        types = [other["type"] for other in rest]
        if self.context.provenance is not None:
            self.context.provenance.begin_config(self.cluster, buffer)
        self.state.headers[self.cluster, buffer, _COUNT] = 0
        self.state.scalar_sums[self.cluster, buffer] = 0
        self.state.scalar_held[self.cluster, buffer] = False
        self.state.scales[self.cluster, buffer] = 0
        self.state.tables[self.cluster, buffer] = 0
        self.state.parsers[self.cluster] = Parser(
            buffer=buffer,
            address=segment["offset"],
            length=segment["length"],
            data=b"",
            parsed=0,
            coming=types,
            brings=list(types),
        )

    def append(self, data: bytes) -> None:
        """Append bytes of the sequence that the bus has brought."""
        self.state.parsers[self.cluster]["data"] += data

    def store(self, packet: Packet, number: int, data: bytes) -> None:
        """Store the scales or the table that segment `number` of a config brings.

        `data` has all bytes of the segment. Raises `Fault` if the segment has a wrong size or mode,
        if a scale is not finite, or if a table is for floating-point elements.
        """
        kind, parser = packet["segments"][number]["type"], self.state.parsers[self.cluster]
        buffer = parser["buffer"]
        if kind == SCALES:
            self.state.scales[self.cluster, buffer] = self._scales(packet, number, data)
        else:
            self.state.tables[self.cluster, buffer] = self._table(packet, number, data)
        parser["coming"].remove(kind)
        if self.context.provenance is not None:
            self.context.provenance.record_config_data(self.cluster, buffer, packet, number)

    def _scales(self, packet: Packet, number: int, data: bytes) -> NDArray[np.float32]:
        """Return the scale of each PE from `data`, segment `number` of a config, of shape (PEs,).

        Raises `Fault`.
        """
        segment, dtype = packet["segments"][number], np.dtype(SCALE_DTYPE).newbyteorder("<")
        count = slices(self.shape, segment["mode"], len(packet["clusters"]))
        if len(data) != count * dtype.itemsize:
            message = (
                f"segment {number}: {len(data)} bytes of scales,"
                f" {count} slices of one {SCALE_DTYPE} have {count * dtype.itemsize}"
            )
            raise self._fault("slice mismatch", message, packet)
        values = np.frombuffer(data, dtype)
        wrong = np.flatnonzero(~np.isfinite(values))
        if wrong.size:
            place = int(wrong[0])
            message = f"segment {number}: scale {place} is {values[place]!s}, not a finite number"
            raise self._fault("malformed packet", message, packet)
        return values[slices_of(self.shape, self.cluster, packet, number)]

    def _table(self, packet: Packet, number: int, data: bytes) -> NDArray[Any]:
        """Return the entries of the table in `data`, segment `number` of a config: (entries,).

        Raises `Fault`.
        """
        data_before = self.state.parsers[self.cluster]["data"]
        types = types_record(data_before, parse_header(data_before, 0), 0)
        element = self._types(operand_types(types))[ACTIVATIONS_TYPE]
        dtype = np.dtype(dtype_of(element)).newbyteorder("<")
        if dtype.kind == "f":
            message = f"segment {number}: a table is for integers, the elements are {dtype.name}"
            raise self._fault("not available", message, packet)
        if packet["segments"][number]["mode"] != BROADCAST:
            mode = MODES[packet["segments"][number]["mode"]]
            message = f"segment {number}: a table is broadcast, not {mode}"
            raise self._fault("malformed packet", message, packet)
        if len(data) != TABLE_ENTRIES * dtype.itemsize:
            message = (
                f"segment {number}: a table of {len(data)} bytes, {TABLE_ENTRIES} entries of"
                f" {dtype.name} have {TABLE_ENTRIES * dtype.itemsize}"
            )
            raise self._fault("malformed packet", message, packet)
        return np.frombuffer(data, dtype)

    def _types(self, named: tuple[int, int]) -> list[int]:
        """Return the element types of weights and activations, as indices in ELEMENTS.

        `named` has both types as a sequence names them: 0 for the default, else 1 + the index.
        """
        return [x - 1 if x else ELEMENTS.index(self.shape.element) for x in named]

    def _fault(self, kind: str, message: str, packet: Packet) -> Fault:
        address = self.shape.address(packet["address"])
        return Fault(kind, message, {"packet": packet["address"]}, address=address)

    def parse(self, clusters: list[int]) -> bool:
        """Store the next instruction if its bytes have arrived.

        The parser stores one instruction in a cycle, at the earliest in the cycle after the
        instruction's beat. Return whether the config is complete: whether all instructions, and the
        scales and the table that follow them, are stored. `clusters` are all clusters whose parsers
        are in the same state; this parser stores the instruction for all of them. Raises `Fault`.
        """
        parser, c = self.state.parsers[self.cluster], clusters
        data, buffer, parsed = parser["data"], parser["buffer"], parser["parsed"]
        base = self.shape.address(parser["address"])
        size = len(data)
        if size < min(parser["length"], SEQUENCE.size):
            return False  # the header has not arrived yet
        header = parse_header(data, base)
        start = instructions_offset(header)
        if sequence_length(header) != parser["length"]:
            raise Fault(
                "malformed packet",
                f"a sequence of {header['count']} instructions and {header['records']} records has"
                f" {sequence_length(header)} bytes, the segment {parser['length']}",
                {"length": parser["length"]},
                address=base,
            )
        if parsed < header["count"]:
            if not self._store_instruction(header, clusters, parsed, data, base):
                return False
            for cluster in clusters:
                self.state.parsers[cluster]["parsed"] = parsed + 1
        if parser["parsed"] < header["count"] or parser["coming"]:
            return False
        records = parse_records(data, header, base)
        self.state.steps[c, buffer], self.state.strides[c, buffer] = records.steps, records.strides
        self.state.scaled[c, buffer] = records.scaled
        self.state.types[c, buffer] = self._types(records.types)
        self.state.headers[c, buffer] = [header[name] for name in MEMBERS]
        self.state.origins[c, buffer] = parser["address"] + start
        if self.context.provenance is not None:
            self.context.provenance.end_config(clusters, buffer, parser["address"])
        for cluster in clusters:
            self.state.parsers[cluster] = None
        return True

    def _store_instruction(
        self, header: dict[str, int], clusters: list[int], place: int, data: bytes, base: int
    ) -> bool:
        """Store instruction number `place` of a sequence if its bytes are in `data`.

        Return whether the instruction was stored. `header` is the sequence's header, `base` the
        sequence's address. The instruction is stored for all `clusters`. Raises `Fault`.
        """
        at = instructions_offset(header) + INSTRUCTION_BYTES * place
        if len(data) < at + INSTRUCTION_BYTES:
            return False
        parser, c = self.state.parsers[self.cluster], clusters
        buffer = parser["buffer"]
        if not place:
            brings = [SEGMENT_TYPES[kind] for kind in parser["brings"]]
            check_data(self.shape, data, header, brings, base)
        word = int.from_bytes(data[at : at + INSTRUCTION_BYTES], "little")
        source, target = parse_instruction(self.shape, header, word, base + at)
        self.state.words[c, buffer, place] = word
        strides = raw_strides(data, header)[place]
        for entry, value in enumerate((source, target)):
            pe, cluster = strides[entry]
            offsets = cluster * np.array(c)[:, None] + pe * np.arange(self.shape.pes)
            self.state.registers[c, buffer, place, entry] = value + offsets
        return True
