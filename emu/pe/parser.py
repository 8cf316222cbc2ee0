"""The parser 606 of a cluster: a configuration into an instruction buffer and the register file.

Seed 000 ¶106: the sequence goes to the buffer that the command names, and the operands of each
instruction, as they are for each PE, to entries of the register file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from emu.faults import Fault
from emu.pe import operands
from emu.pe.sequence import MEMBERS, decoded
from emu.pe.state import Parser, Segment, Shape
from isa.codec import DecodeError, StructureError, unpack
from isa.pe import (
    BUFFERS,
    ENTRY_OF,
    INSTRUCTION_BYTES,
    SEQUENCE,
    SEQUENCE_LENGTH,
    SHORT_PIPELINE,
    STATES,
    STEP,
    THEN,
)

if TYPE_CHECKING:
    from emu.pe.row import Row

_COUNT = MEMBERS.index("count")


class SequenceParser:
    """The parser of cluster `cluster` of a row; all it knows lies in the row's state."""

    def __init__(self, row: Row, cluster: int) -> None:
        self.row, self.state, self.shape = row, row.state, row.shape
        self.cluster = cluster

    def begin(self, buffer: int, segment: Segment) -> None:
        """Take `buffer` and empty it; the sequence of `segment` is about to come."""
        if self.row.remembered is not None:
            self.row.remembered.configures(self.cluster, buffer)
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

    def configure(self, data: bytes) -> None:
        """Bytes of a sequence have come."""
        self.state.parsers[self.cluster]["data"] += data

    def parse(self, clusters: list[int]) -> bool:
        """Store the next instruction of a configuration that has come; whether it was the last.

        An instruction a cycle, each in the cycle after its beat at the earliest. `clusters` are
        this one and others that are as far with the same one. Raises `Fault`.
        """
        parser, c = self.state.parsers[self.cluster], clusters
        data, buffer, parsed = parser["data"], parser["buffer"], parser["parsed"]
        base = self.row.address(parser["address"])
        size = len(data)
        if size < min(parser["length"], SEQUENCE.size):
            return False  # the header is not there yet
        header = parse_header(data, base)
        start = instructions_offset(header)
        if sequence_length(header) != parser["length"]:
            raise Fault(
                "malformed packet",
                f"a sequence of {header['count']} instructions and {header['steps']} steps has"
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
        self.state.registers[c, buffer, parsed, 0] = source
        self.state.registers[c, buffer, parsed, 1] = target
        for cluster in clusters:
            self.state.parsers[cluster]["parsed"] = parsed + 1
        if parser["parsed"] < header["count"]:
            return False
        self.state.steps[c, buffer] = parse_steps(data, header, base)
        self.state.headers[c, buffer] = [header[name] for name in MEMBERS]
        self.state.origins[c, buffer] = parser["address"] + start
        if self.row.remembered is not None:
            self.row.remembered.configured(clusters, buffer, parser["address"])
        for cluster in clusters:
            self.state.parsers[cluster] = None
        return True


def instructions_offset(header: dict[str, int]) -> int:
    """Bytes from a sequence's start to its first instruction."""
    return SEQUENCE.size + STEP.size * header["steps"]


def sequence_length(header: dict[str, int]) -> int:
    """Bytes of a sequence in memory."""
    return instructions_offset(header) + INSTRUCTION_BYTES * header["count"]


def parse_header(data: bytes, address: int) -> dict[str, int]:
    """The header at the start of a sequence. Raises `Fault` (malformed packet)."""
    try:
        header = unpack(SEQUENCE, data)
    except StructureError as error:
        values: dict[str, int | str] = {"length": len(data)}
        raise Fault("malformed packet", str(error), values, address=address) from None
    then, sliding = header["then"], STATES[header["state"]] == "sw"
    wrong = {
        f"then is {then}, neither 0 nor {THEN} to {THEN + BUFFERS - 1}": (
            then != 0 and not THEN <= then < THEN + BUFFERS
        ),
        f"{header['steps']} steps need the stages SU and WB, pipeline=4": (
            header["steps"] != 0 and header["pipeline"] == SHORT_PIPELINE
        ),
        "a sliding window of no entries": sliding and not header["window"],
    }
    for what, found in wrong.items():
        if found:
            raise Fault("malformed packet", f"a sequence: {what}", {"then": then}, address=address)
    return header


def parse_steps(data: bytes, header: dict[str, int], address: int) -> NDArray[np.int32]:
    """By instruction and operand the inner and outer step of a sequence. Raises `Fault`."""
    found = np.zeros((SEQUENCE_LENGTH, 2, 2), np.int32)
    given = set()
    start = instructions_offset(header)
    for number in range(header["steps"]):
        at = SEQUENCE.size + STEP.size * number
        try:
            step = unpack(STEP, data, at)
        except StructureError as error:
            values: dict[str, int | str] = {"step": number}
            raise Fault("malformed packet", str(error), values, address=address + at) from None
        place, operand = step["instruction"], step["operand"]
        names: list[str] = []
        if place < header["count"]:
            where = start + INSTRUCTION_BYTES * place
            row = decoded(int.from_bytes(data[where : where + INSTRUCTION_BYTES], "little")).row
            names = [name for name in (x.name for x in row.operands) if name in ENTRY_OF]
        why = ""
        if operand not in {ENTRY_OF[name] for name in names}:
            why = "there is no such operand"
        elif (place, operand) in given:
            why = "it has a step already"
        if why:
            message = f"step {number}, of operand {operand} of instruction {place}: {why}"
            raise Fault("malformed packet", message, {"step": number}, address=address + at)
        given.add((place, operand))
        found[place, operand] = step["inner"], step["outer"]
    return found


def parse_instruction(
    shape: Shape, header: dict[str, int], word: int, address: int
) -> tuple[int, int]:
    """The operands of an instruction as its register-file entries. Raises `Fault`."""
    try:
        found = decoded(word)
    except DecodeError as error:
        message = f"the word {word:#06x}: {error.detail or 'no instruction of a sequence'}"
        raise Fault(error.kind, message, {"word": word}, address=address) from None
    return operands.meaning(found.row)(shape, header, word, found.values, address)
