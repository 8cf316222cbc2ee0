"""Reads the packets of a list from on-chip memory, for the distribution unit 601."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from macaw.emu.faults import Fault
from macaw.emu.pe.sequence import ACTIVATIONS_SEGMENT, PSUMS, WEIGHTS
from macaw.emu.pe.state import UNNUMBERED, Out, Packet, Segment, Shape
from macaw.emu.pe.unit_memory import UnitMemory
from macaw.isa.codec import Decoded, DecodeError, StructureError, decode, unpack
from macaw.isa.model import Structure
from macaw.isa.pe import (
    COMMAND_BITS,
    CORE,
    DTYPES,
    ELEMENTS,
    FORMS,
    OUT,
    PACKET,
    PACKET_ALIGN,
    PAYLOADS,
    SEGMENT,
    SEGMENT_TYPES,
)
from macaw.isa.typed_records import NamedTuple

_OUT = tuple(Out.__annotations__)  # the members of the record `OUT` that are not reserved


@lru_cache(maxsize=4096)
def _members(structure: Structure, data: bytes) -> dict[str, int]:
    """Return the members of the structure at the start of `data`. Do not change the result.

    The results are cached, because most packets are read again with the next tile. Raises
    `StructureError`.
    """
    return unpack(structure, data)


@lru_cache(maxsize=256)
def _command(word: int, where: int) -> Decoded:
    """Return the command that `word`, the command byte of a packet at `where`, encodes.

    Raises `DecodeError`.
    """
    return decode(CORE, word, COMMAND_BITS, where)


class _Kinds(NamedTuple):
    """The element types that a segment can name: of partial sums, and of all other data."""

    sums: str
    elements: tuple[str, ...]


@lru_cache(maxsize=256)
def _segments(kinds: _Kinds, half_bytes: int, data: bytes, first: int, where: int) -> list[Segment]:
    """Return the segments whose records are `data`. Do not change the result, which is cached.

    `first` is the number of the first one in its packet, `where` the address of the packet. A half
    has `half_bytes` bytes. Raises `Fault` and `StructureError`.
    """
    records = (data[at : at + SEGMENT.size] for at in range(0, len(data), SEGMENT.size))
    return [
        _segment(kinds, half_bytes, _members(SEGMENT, record), number, where)
        for number, record in enumerate(records, first)
    ]


def _segment(
    kinds: _Kinds, half_bytes: int, members: dict[str, int], number: int, where: int
) -> Segment:
    end = members["offset"] + members["length"]
    if end > half_bytes:
        raise Fault(
            "out-of-range access",
            f"segment {number} is at offsets {members['offset']:#x} to {end - 1:#x},"
            f" half a unit has {half_bytes:#x} bytes",
            {"segment": number, "offset": members["offset"], "length": members["length"]},
            address=where,
        )
    if members["form"] and members["type"] != WEIGHTS:
        held = SEGMENT_TYPES[members["type"]]
        message = f"segment {number}: {FORMS[members['form']]} is for weights, it holds {held}"
        raise Fault("malformed packet", message, {"segment": number}, address=where)
    _check_element(kinds, members, number, where)
    if not members["length"]:
        message = f"segment {number} has no bytes"
        raise Fault("malformed packet", message, {"segment": number}, address=where)
    return cast("Segment", members.copy())


def _check_element(kinds: _Kinds, members: dict[str, int], number: int, where: int) -> None:
    """Raise `Fault` if segment `number` of a packet names an element type that it cannot have.

    `members` are the members of the segment's record, `where` is the address of the packet.
    """
    if not members["element"]:
        return
    kind, element = members["type"], ELEMENTS[members["element"] - 1]
    if kind not in (WEIGHTS, ACTIVATIONS_SEGMENT, PSUMS):
        message = f"segment {number}: {SEGMENT_TYPES[kind]} with an element type"
        raise Fault("malformed packet", message, {"segment": number}, address=where)
    is_sum = DTYPES[element] == kinds.sums
    if not (is_sum if kind == PSUMS else element in kinds.elements):
        message = f"segment {number}: the array has no {SEGMENT_TYPES[kind]} of {element}"
        raise Fault("not available", message, {"segment": number}, address=where)


class PacketReader:
    """Reads and decodes the packets of one row."""

    def __init__(self, memory: UnitMemory, shape: Shape) -> None:
        self.memory, self.shape = memory, shape

    def read(self, address: int, order: int) -> tuple[Packet, int]:
        """Return the packet at an offset of the half, and the offset after the packet.

        `address` is the offset. `order` becomes the number of the packet. The method does not check
        whether the segments suit the command. Raises `Fault` if the packet is misaligned, malformed
        or not completely in the half, or if the device does not have what it names.
        """
        where = self.shape.address(address)
        if address % PACKET_ALIGN:
            message = f"a packet at offset {address:#x}, which is no multiple of {PACKET_ALIGN}"
            raise Fault("misaligned access", message, {"offset": address}, address=where)
        try:
            head = _members(PACKET, self.memory.peek(address, PACKET.size))
            command = _command(head["command"], where)
            at = address + PACKET.size
            segments = self._segments(at, head["segments"], where)
            at += SEGMENT.size * len(segments)
            out: Out | None = None
            if PAYLOADS[command.row.mnemonic].out:
                members = _members(OUT, self.memory.peek(at, OUT.size))
                out = cast("Out", {name: members[name] for name in _OUT})
                at += OUT.size
        except StructureError as error:
            values: dict[str, int | str] = {"packet": address}
            raise Fault("malformed packet", str(error), values, address=where) from None
        except DecodeError as error:
            message = f"the command {error.word:#04x}: {error.detail or 'there is no such command'}"
            values = {"command": error.word}
            raise Fault(error.kind, message, values, address=where) from None
        packet = Packet(
            address=address,
            mnemonic=command.row.mnemonic,
            buffer=command.values.get("ib", command.values.get("g", 0)),
            shift=bool(command.values.get("shift", 0)),
            last=bool(command.values.get("last", 0)),
            clusters=self._clusters(head["clusters"], where),
            segments=segments,
            out=out,
            order=order,
            number=UNNUMBERED,
            opened=False,
            commanded=False,
            segment=0,
            sent=0,
            chunks=[],
            entries={},
            packed={},
        )
        return packet, at

    def _segments(self, at: int, count: int, where: int) -> list[Segment]:
        """Return the `count` segments whose records begin at offset `at` of the half.

        `where` is the address of the packet. Raises `Fault` and `StructureError`.
        """
        segments: list[Segment] = []
        kinds = _Kinds(self.shape.sum_type, self.shape.types)
        while len(segments) < count:
            # The records up to the end of the half are read together.
            inside = (self.memory.half_bytes - at) // SEGMENT.size
            number = len(segments)
            data = self.memory.peek(at, SEGMENT.size * max(min(inside, count - number), 1))
            found = _segments(kinds, self.memory.half_bytes, data, number, where)
            segments += [segment.copy() for segment in found]
            at += len(data)
        return segments

    def _clusters(self, mask: int, where: int) -> list[int]:
        if mask >> self.shape.clusters or not mask:
            message = f"the cluster mask is {mask:#x}, the row has {self.shape.clusters} clusters"
            raise Fault("malformed packet", message, {"clusters": mask}, address=where)
        return [cluster for cluster in range(self.shape.clusters) if mask >> cluster & 1]
