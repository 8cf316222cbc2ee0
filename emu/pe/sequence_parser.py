"""The parser 606 of a cluster: it writes a sequence to an instruction buffer and the register file.

Seed 000 ¶106: the sequence goes to the buffer that the command names. The operands of each
instruction go to the register file, one value for each PE: the written operand plus its strides
over PEs and clusters.
"""

from __future__ import annotations

import numpy as np

from macaw.emu.faults import Fault
from macaw.emu.pe.context import RowContext
from macaw.emu.pe.sequence import MEMBERS
from macaw.emu.pe.sequence_format import (
    instructions_offset,
    parse_header,
    parse_instruction,
    parse_records,
    raw_strides,
    sequence_length,
)
from macaw.emu.pe.state import Parser, Segment
from macaw.isa.pe import INSTRUCTION_BYTES, SEQUENCE

_COUNT = MEMBERS.index("count")


class SequenceParser:
    """The parser of cluster `cluster` of a row."""

    def __init__(self, context: RowContext, cluster: int) -> None:
        self.context, self.state, self.shape = context, context.state, context.shape
        self.cluster = cluster

    def begin(self, buffer: int, segment: Segment) -> None:
        """Reserve and empty `buffer`, because the bus will bring the sequence of `segment` next."""
        if self.context.provenance is not None:
            self.context.provenance.begin_config(self.cluster, buffer)
        self.state.headers[self.cluster, buffer, _COUNT] = 0
        self.state.scalar_sums[self.cluster, buffer] = 0
        self.state.scalar_held[self.cluster, buffer] = False
        self.state.parsers[self.cluster] = Parser(
            buffer=buffer,
            address=segment["offset"],
            length=segment["length"],
            data=b"",
            parsed=0,
        )

    def append(self, data: bytes) -> None:
        """Append bytes of the sequence that came over the bus."""
        self.state.parsers[self.cluster]["data"] += data

    def parse(self, clusters: list[int]) -> bool:
        """Store the next instruction if its bytes have arrived. Return whether it was the last one.

        The parser stores one instruction in a cycle, each no earlier than the cycle after its beat.
        `clusters` are all clusters whose parsers have the same input and progress. Raises `Fault`.
        """
        parser, c = self.state.parsers[self.cluster], clusters
        data, buffer, parsed = parser["data"], parser["buffer"], parser["parsed"]
        base = self.shape.address(parser["address"])
        size = len(data)
        if size < min(parser["length"], SEQUENCE.size):
            return False  # the header is not there yet
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
        at = start + INSTRUCTION_BYTES * parsed
        if size < at + INSTRUCTION_BYTES:
            return False
        word = int.from_bytes(data[at : at + INSTRUCTION_BYTES], "little")
        source, target = parse_instruction(self.shape, header, word, base + at)
        self.state.words[c, buffer, parsed] = word
        strides = raw_strides(data, header)[parsed]
        for entry, value in enumerate((source, target)):
            pe, cluster = strides[entry]
            offsets = cluster * np.array(c)[:, None] + pe * np.arange(self.shape.pes)
            self.state.registers[c, buffer, parsed, entry] = value + offsets
        for cluster in clusters:
            self.state.parsers[cluster]["parsed"] = parsed + 1
        if parser["parsed"] < header["count"]:
            return False
        self.state.steps[c, buffer], self.state.strides[c, buffer] = parse_records(
            data, header, base
        )
        self.state.headers[c, buffer] = [header[name] for name in MEMBERS]
        self.state.origins[c, buffer] = parser["address"] + start
        if self.context.provenance is not None:
            self.context.provenance.end_config(clusters, buffer, parser["address"])
        for cluster in clusters:
            self.state.parsers[cluster] = None
        return True
