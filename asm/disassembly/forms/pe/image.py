"""Decodes the image of a PE row: packet lists, then sequences, then data.

`read` decodes the bytes. `image_bytes` encodes the result again, as the directives would.
"""

from __future__ import annotations

from collections.abc import Mapping

from macaw.asm.disassembly.labels import Labels
from macaw.asm.program import Section
from macaw.isa import codec, pe
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.model import Structure
from macaw.isa.typed_records import NamedTuple


class Unlike(Exception):
    """The error for an image that no directives can produce."""


class Packet(NamedTuple):
    """A packet of a packet list.

    `clusters` is the mask of the clusters that receive the packet. Only exe packets have `out`.
    `offset` and `end` are byte offsets in the image.
    """

    offset: int
    command: codec.Decoded
    clusters: int
    segments: tuple[Mapping[str, int], ...]
    out: Mapping[str, int] | None
    end: int


@dataclass(frozen=True)
class Sequence:
    """An instruction sequence of `size` bytes at `offset` in the image.

    `header` has the values of its header's members. `records` has (structure, values of members)
    for each record: types, steps and strides.
    """

    offset: int
    size: int
    header: Mapping[str, int]
    records: tuple[tuple[Structure, Mapping[str, int]], ...]  # types, steps and strides
    instructions: tuple[codec.Decoded, ...]


class Image(NamedTuple):
    """The contents of an image: its packet lists and sequences.

    `lists` has (byte offset, packets) for each list. Other data begin at the byte offset `data`.
    """

    lists: tuple[tuple[int, tuple[Packet, ...]], ...]  # offset and packets
    sequences: tuple[Sequence, ...]
    data: int


def align_up(offset: int, align: int) -> int:
    """Return the first multiple of `align` that is not less than `offset`."""
    return offset + -offset % align


# --- reading ------------------------------------------------------------------------------


def read(section: Section, labels: Labels) -> Image:
    """Return the contents of an image.

    Raises `Unlike`, `StructureError` or `DecodeError` for bytes that directives cannot produce.
    """
    data, start = section.data, section.address
    lists: list[tuple[int, tuple[Packet, ...]]] = []
    offsets: set[int] = set()  # offsets of the sequences that configs carry
    place = end_of_lists = 0
    while place < len(data) and not (offsets and place >= min(offsets)):
        if not offsets and lists and not labels.symbols_at(start + place):
            break
        try:
            packets, end = _read_list(data, place)
        except (Unlike, codec.StructureError, codec.DecodeError):
            break  # a sequence or data
        lists.append((place, packets))
        offsets |= {segment["offset"] for packet in packets for segment in config_segments(packet)}
        end_of_lists = end
        place = align_up(end, pe.PACKET_ALIGN)
    sequences, end = _read_sequences(data, end_of_lists, offsets, labels, start)
    at = min(align_up(end, pe.DATA_ALIGN), len(data))
    image = Image(tuple(lists), tuple(sequences), at)
    if image_bytes(image) != data[:at]:
        raise Unlike
    if section.align > pe.SLOT_ALIGN and not lists:
        raise Unlike  # no list at the start, in which `.balign` could be
    return image


def config_segments(packet: Packet) -> tuple[Mapping[str, int], ...]:
    """Return (the segment that contains the sequence,) of a config packet; () for an exe."""
    return packet.segments[:1] if packet.out is None else ()


def data_segments(packet: Packet) -> tuple[Mapping[str, int], ...]:
    """Return those segments of a packet that its operand `data=` names in a source."""
    return packet.segments[1:] if packet.out is None else packet.segments


def _read_list(data: bytes, place: int) -> tuple[tuple[Packet, ...], int]:
    """Return the packets of the list at offset `place`, and the offset after its end mark."""
    packets: list[Packet] = []
    while True:
        if place >= len(data):
            raise Unlike
        if data[place] == pe.END_OF_LIST:
            return tuple(packets), place + 1
        packet, end = read_packet(data, place)
        packets.append(packet)
        place = align_up(end, pe.PACKET_ALIGN)


def read_packet(data: bytes, place: int) -> tuple[Packet, int]:
    """Return the packet at offset `place` of an image, and the offset after the packet.

    Raises `Unlike`, `StructureError` or `DecodeError` for bytes that directives cannot produce.
    """
    head = codec.unpack(pe.PACKET, data, place)
    command = codec.decode(pe.CORE, head["command"], pe.COMMAND_BITS, place)
    end = place + pe.PACKET.size
    segments = []
    for _ in range(head["segments"]):
        segments.append(codec.unpack(pe.SEGMENT, data, end))
        end += pe.SEGMENT.size
    out = None
    payload = pe.PAYLOADS[command.row.mnemonic]
    if payload.out:
        out = codec.unpack(pe.OUT, data, end)
        end += pe.OUT.size
    if not payload.fits([segment["type"] for segment in segments]):
        raise Unlike
    if not payload.out and any(segment["mode"] for segment in segments[:1]):
        raise Unlike
    if not payload.out and any(segment["form"] or segment["element"] for segment in segments):
        raise Unlike
    return Packet(place, command, head["clusters"], tuple(segments), out, end), end


def _read_sequences(
    data: bytes, end: int, offsets: set[int], labels: Labels, start: int
) -> tuple[list[Sequence], int]:
    """Return the sequences that follow the lists, and the offset after the last one.

    `data` is the image, which begins at address `start`; the lists end at offset `end`. `offsets`
    are the offsets of sequences that config packets name; there must be a sequence at each offset.
    A sequence after the last of these offsets is included only if it has a label.
    """
    sequences: list[Sequence] = []
    last = max(offsets, default=-1)
    while True:
        place = align_up(end, pe.SEQUENCE_ALIGN)
        if place > last and not labels.symbols_at(start + place):
            break
        try:
            sequence = read_sequence(data, place)
        except (Unlike, codec.StructureError, codec.DecodeError):
            if place <= last:
                raise
            break
        sequences.append(sequence)
        end = place + sequence.size
    if not offsets <= {sequence.offset for sequence in sequences}:
        raise Unlike
    return sequences, end


def read_sequence(data: bytes, place: int) -> Sequence:
    """Return the sequence at offset `place` of the image `data`.

    Raises `Unlike`, `StructureError` or `DecodeError` for bytes that directives cannot produce.
    """
    header = codec.unpack(pe.SEQUENCE, data, place)
    end = place + pe.SEQUENCE.size
    records, instructions = [], []
    for _ in range(header["records"]):
        kind = pe.record_kind(data, end)
        records.append((kind, codec.unpack(kind, data, end)))
        end += pe.RECORD_SIZE
    for _ in range(header["count"]):
        word = int.from_bytes(data[end : end + pe.INSTRUCTION_BYTES], "little")
        if end + pe.INSTRUCTION_BYTES > len(data):
            raise Unlike
        instructions.append(codec.decode(pe.CORE, word, pe.INSTRUCTION_BITS, end))
        end += pe.INSTRUCTION_BYTES
    if header["then"] and not pe.THEN <= header["then"] < pe.THEN + pe.BUFFERS:
        raise Unlike
    if sum(kind is pe.TYPES for kind, _ in records) > 1:
        raise Unlike
    if any(record.get("instruction", 0) >= header["count"] for _, record in records):
        raise Unlike
    stepped = any(kind is pe.STEP for kind, _ in records)
    if stepped and header["pipeline"] == pe.SHORT_PIPELINE:
        raise Unlike
    return Sequence(place, end - place, header, tuple(records), tuple(instructions))


# --- writing, to compare ------------------------------------------------------------------


def image_bytes(image: Image) -> bytes:
    """Return the bytes that directives produce for the lists and sequences of an image.

    The data that follow the sequences are not included.
    """
    data = bytearray()
    for offset, packets in image.lists:
        data += bytes(offset - len(data))
        for packet in packets:
            data += bytes(packet.offset - len(data))
            data += _packet_bytes(packet)
        data += bytes(-len(data) % pe.PACKET_ALIGN)
        data.append(pe.END_OF_LIST)
    sizes: dict[int, int] = {}
    used: dict[int, set[str]] = {}
    for sequence in image.sequences:
        data += bytes(sequence.offset - len(data))
        data += _sequence_bytes(sequence)
        sizes[sequence.offset] = sequence.size
        used[sequence.offset] = _config_data(sequence)
    for _, packets in image.lists:
        for packet in packets:
            for segment in config_segments(packet):
                if segment["length"] != sizes[segment["offset"]]:
                    raise Unlike
                types = {pe.SEGMENT_TYPES[other["type"]] for other in data_segments(packet)}
                if types != used[segment["offset"]]:
                    raise Unlike
    data += bytes(image.data - len(data))
    return bytes(data)


def _config_data(sequence: Sequence) -> set[str]:
    """Return the types of the data segments that the config packet of a sequence needs."""
    scaled = any(record.get("requantise") for _, record in sequence.records)
    from_table = sequence.header["activation"] == pe.TABLE
    uses = {"scales": scaled, "table": from_table}
    return {kind for kind, is_used in uses.items() if is_used}


def _packet_bytes(packet: Packet) -> bytes:
    head = {
        "command": codec.encode(packet.command.row, packet.command.values),
        "segments": len(packet.segments),
        "clusters": packet.clusters,
    }
    data = codec.pack(pe.PACKET, head)
    for segment in packet.segments:
        data += codec.pack(pe.SEGMENT, segment)
    return data + (codec.pack(pe.OUT, packet.out) if packet.out is not None else b"")


def _sequence_bytes(sequence: Sequence) -> bytes:
    data = codec.pack(pe.SEQUENCE, sequence.header)
    for kind, record in sequence.records:
        data += codec.pack(kind, record)
    for instruction in sequence.instructions:
        data += codec.encode(instruction.row, instruction.values).to_bytes(
            pe.INSTRUCTION_BYTES, "little"
        )
    return data
