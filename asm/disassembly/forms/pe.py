"""Source of a pe part from its image: packet lists, sequences, data.

Every list and sequence is encoded again as it is read; only if the directives
would give the image's bytes is the part printed with them (`asm/forms/pe.py`
is the other direction).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from asm.disassembly.data import chunk, section_lines
from asm.disassembly.forms import Form
from asm.disassembly.labels import Labels, directive
from asm.program import Program, Section
from isa import codec, config, pe


class _Unlike(Exception):
    """Bytes that no directive of ours gives."""


class _Packet(NamedTuple):
    """A packet of a list. `out` only if the command is an exe."""

    offset: int
    command: codec.Decoded
    clusters: int
    segments: tuple[Mapping[str, int], ...]
    out: Mapping[str, int] | None
    end: int


@dataclass(frozen=True)
class _Sequence:
    """A sequence in the image; `size` bytes."""

    offset: int
    size: int
    header: Mapping[str, int]
    steps: tuple[Mapping[str, int], ...]
    instructions: tuple[codec.Decoded, ...]


class _Image(NamedTuple):
    """What the image holds; data begin at `data`."""

    lists: tuple[tuple[int, tuple[_Packet, ...]], ...]  # offset and packets
    sequences: tuple[_Sequence, ...]
    data: int


class CoreForm(Form):
    """A row's image."""

    def part(self, program: Program, section: Section, labels: Labels) -> list[str] | None:
        if section.nobits:
            return None
        try:
            image = _read(section, labels)
            return _lines(image, section, labels, _Row.of(program))
        except (_Unlike, codec.StructureError, codec.DecodeError):
            return _alignment(section) + section_lines(section, labels, words=False)


def _alignment(section: Section) -> list[str]:
    """What the first bytes of an image say for its alignment, if that is not the usual one."""
    return [directive(f".balign {section.align}")] if section.align > pe.SLOT_ALIGN else []


class _Row(NamedTuple):
    """What a row of the program's device has; the most there can be if the program does not say."""

    clusters: int
    pes: int  # of all clusters
    half: int  # bytes of half of its memory unit

    @classmethod
    def of(cls, program: Program) -> _Row:
        try:
            found = config.parse(program.config_toml)
        except config.ConfigError:
            return cls(pe.CLUSTERS, 1 << 16, 1 << 19)
        clusters = found["pe.clusters"]
        return cls(clusters, clusters * found["pe.pes"], found["mem.unit_half_bytes"])


def _aligned(offset: int, align: int) -> int:
    return offset + -offset % align


# --- reading ------------------------------------------------------------------------------


def _read(section: Section, labels: Labels) -> _Image:
    """What the image holds. Raises `_Unlike` and the codec's errors."""
    data, start = section.data, section.address
    lists: list[tuple[int, tuple[_Packet, ...]]] = []
    wanted: set[int] = set()  # offsets of the sequences that configs carry
    place = end_of_lists = 0
    while place < len(data) and not (wanted and place >= min(wanted)):
        if not wanted and lists and not labels.symbols_at(start + place):
            break
        try:
            packets, end = _read_list(data, place)
        except (_Unlike, codec.StructureError, codec.DecodeError):
            break  # a sequence or data
        lists.append((place, packets))
        wanted |= {segment["offset"] for packet in packets for segment in _carried(packet)}
        end_of_lists = end
        place = _aligned(end, pe.PACKET_ALIGN)
    sequences, end = _read_sequences(data, end_of_lists, wanted, labels, start)
    at = min(_aligned(end, pe.DATA_ALIGN), len(data))
    image = _Image(tuple(lists), tuple(sequences), at)
    if _written(image, data) != data[:at]:
        raise _Unlike
    if section.align > pe.SLOT_ALIGN and not lists:
        raise _Unlike  # nothing stands at the image's begin that could be aligned
    return image


def _carried(packet: _Packet) -> tuple[Mapping[str, int], ...]:
    """The segment of a config: its sequence."""
    return packet.segments if packet.out is None else ()


def _read_list(data: bytes, place: int) -> tuple[tuple[_Packet, ...], int]:
    """The packets from `place` on, and the offset behind the end mark."""
    packets: list[_Packet] = []
    while True:
        if place >= len(data):
            raise _Unlike
        if data[place] == pe.END_OF_LIST:
            return tuple(packets), place + 1
        packet, end = _read_packet(data, place)
        packets.append(packet)
        place = _aligned(end, pe.PACKET_ALIGN)


def _read_packet(data: bytes, place: int) -> tuple[_Packet, int]:
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
        raise _Unlike
    if not payload.out and any(segment["mode"] or segment["compress"] for segment in segments):
        raise _Unlike
    return _Packet(place, command, head["clusters"], tuple(segments), out, end), end


def _read_sequences(
    data: bytes, end: int, wanted: set[int], labels: Labels, start: int
) -> tuple[list[_Sequence], int]:
    """The sequences behind the lists, which end at `end`, and where they end themselves.

    All that a config carries must be among them; behind those, whatever has a
    name and reads as a sequence is one.
    """
    found: list[_Sequence] = []
    last = max(wanted, default=-1)
    while True:
        place = _aligned(end, pe.SEQUENCE_ALIGN)
        if place > last and not labels.symbols_at(start + place):
            break
        try:
            sequence = _read_sequence(data, place)
        except (_Unlike, codec.StructureError, codec.DecodeError):
            if place <= last:
                raise
            break
        found.append(sequence)
        end = place + sequence.size
    if not wanted <= {sequence.offset for sequence in found}:
        raise _Unlike
    return found, end


def _read_sequence(data: bytes, place: int) -> _Sequence:
    header = codec.unpack(pe.SEQUENCE, data, place)
    end = place + pe.SEQUENCE.size
    steps, instructions = [], []
    for _ in range(header["steps"]):
        steps.append(codec.unpack(pe.STEP, data, end))
        end += pe.STEP.size
    for _ in range(header["count"]):
        word = int.from_bytes(data[end : end + pe.INSTRUCTION_BYTES], "little")
        if end + pe.INSTRUCTION_BYTES > len(data):
            raise _Unlike
        instructions.append(codec.decode(pe.CORE, word, pe.INSTRUCTION_BITS, end))
        end += pe.INSTRUCTION_BYTES
    if header["then"] and not pe.THEN <= header["then"] < pe.THEN + pe.BUFFERS:
        raise _Unlike
    if any(step["instruction"] >= header["count"] for step in steps):
        raise _Unlike
    if steps and header["pipeline"] == pe.SHORT_PIPELINE:
        raise _Unlike
    return _Sequence(place, end - place, header, tuple(steps), tuple(instructions))


# --- writing, to compare ------------------------------------------------------------------


def _written(image: _Image, data: bytes) -> bytes:
    """What the directives give for lists and sequences, up to where data begin."""
    written = bytearray()
    for offset, packets in image.lists:
        written += bytes(offset - len(written))
        for packet in packets:
            written += bytes(packet.offset - len(written))
            written += _packet_bytes(packet)
        written += bytes(-len(written) % pe.PACKET_ALIGN)
        written.append(pe.END_OF_LIST)
    sizes = {}
    for sequence in image.sequences:
        written += bytes(sequence.offset - len(written))
        written += _sequence_bytes(sequence)
        sizes[sequence.offset] = sequence.size
    for _, packets in image.lists:
        for packet in packets:
            for segment in _carried(packet):
                if segment["length"] != sizes[segment["offset"]]:
                    raise _Unlike
    written += bytes(image.data - len(written))
    return bytes(written)


def _packet_bytes(packet: _Packet) -> bytes:
    head = {
        "command": codec.encode(packet.command.row, packet.command.values),
        "segments": len(packet.segments),
        "clusters": packet.clusters,
    }
    written = codec.pack(pe.PACKET, head)
    for segment in packet.segments:
        written += codec.pack(pe.SEGMENT, segment)
    return written + (codec.pack(pe.OUT, packet.out) if packet.out is not None else b"")


def _sequence_bytes(sequence: _Sequence) -> bytes:
    written = codec.pack(pe.SEQUENCE, sequence.header)
    for step in sequence.steps:
        written += codec.pack(pe.STEP, step)
    for found in sequence.instructions:
        written += codec.encode(found.row, found.values).to_bytes(pe.INSTRUCTION_BYTES, "little")
    return written


# --- printing -----------------------------------------------------------------------------


def _lines(image: _Image, section: Section, labels: Labels, row: _Row) -> list[str]:
    start = section.address
    ends = {start + item.offset: start + item.offset + item.size for item in image.sequences}
    for offset, packets in image.lists:
        last = packets[-1].end if packets else offset
        ends[start + offset] = start + _aligned(last, pe.PACKET_ALIGN) + 1
    for address in ends:
        labels.make(address)
    lines = labels.first()
    for sequence in image.sequences:
        lines += ["", *_named(start + sequence.offset, labels, sequence.size)]
        lines += _sequence_lines(sequence, start, labels)
    for offset, packets in image.lists:
        address = start + offset
        lines += ["", *_named(address, labels, ends[address] - address)]
        lines.append(directive(f".list {labels.at(address)}"))
        lines += _alignment(section) if offset == 0 else []
        for packet in packets:
            lines.append(directive(f"  {_packet_text(packet, start, labels, row)}"))
            if packet.out is not None:
                names = [labels.covering(start + item["offset"]) for item in packet.segments]
                lines[-1] += f"  # {', '.join(filter(None, names))}" if any(names) else ""
        lines.append(directive(".endlist"))
    # Other names among lists and sequences hang on the one before them.
    places = labels.addresses()
    for place in places[: bisect_left(places, start + image.data)]:
        base = max(address for address in ends if address <= place)
        for symbol in labels.symbols_at(place)[place in ends :]:
            lines += labels.derived(symbol, base)
    lines.append("")
    cuts = sorted({start + image.data, *places[bisect_left(places, start + image.data) :]})
    for low, high in zip(cuts, [*cuts[1:], section.end], strict=True):
        lines += labels.lines(low)
        lines += chunk(section.data[low - start : high - start], low, words=False)
    return lines


def _named(address: int, labels: Labels, size: int) -> list[str]:
    """Lines about the symbol that a directive defines with `size`, the first of its address."""
    symbols = labels.symbols_at(address)[:1]
    return [line for symbol in symbols for line in labels.about(symbol, size)]


def _sequence_lines(sequence: _Sequence, start: int, labels: Labels) -> list[str]:
    header = sequence.header
    address = start + sequence.offset
    words = [f".seq {labels.at(address)}"]
    for member in pe.SEQUENCE.members:
        if member.name in _IN_SEQ and (value := header[member.name]) != member.default:
            text = member.kind.format(value) if member.kind is not None else str(value)
            words.append(f"{member.name}={text}")
    lines = [directive(", ".join(words))]
    if (header["inner"], header["outer"]) != (1, 1):
        lines.append(directive(f".loop inner={header['inner']}, outer={header['outer']}"))
    for step in sequence.steps:
        lines.append(directive(_step_text(step, sequence)))
    if header["then"]:
        lines.append(directive(f".then ib={header['then'] - pe.THEN}"))
    lines += [directive(f"  {codec.describe(found)}") for found in sequence.instructions]
    return [*lines, directive(".endseq")]


_IN_SEQ = ("state", "pipeline", "activation", "reduction", "shift", "window", "pop")


def _step_text(step: Mapping[str, int], sequence: _Sequence) -> str:
    """`.step mac[0].base, inner=1, outer=2`; the number counts instructions of that mnemonic."""
    row = sequence.instructions[step["instruction"]].row
    before = sequence.instructions[: step["instruction"]]
    number = sum(found.row is row for found in before)
    names = [operand.name for operand in row.operands]
    places = {pe.ENTRY_OF[name]: name for name in names if name in pe.ENTRY_OF}
    if step["operand"] not in places:
        raise _Unlike
    operand = places[step["operand"]]
    return f".step {row.mnemonic}[{number}].{operand}, inner={step['inner']}, outer={step['outer']}"


def _packet_text(packet: _Packet, start: int, labels: Labels, row: _Row) -> str:
    text = codec.describe(packet.command)
    if packet.out is not None:
        text += _exe_text(packet.segments, packet.out, row)
    for segment in _carried(packet):
        text += f", {labels.at(start + segment['offset'])}"
    mask = packet.clusters
    if mask == (1 << row.clusters) - 1:
        return text
    if mask == 0 or mask >> row.clusters:
        raise _Unlike
    chosen = [str(cluster) for cluster in range(row.clusters) if mask >> cluster & 1]
    return f"{text}, to=({', '.join(chosen)})" if len(chosen) > 1 else f"{text}, to={chosen[0]}"


def _exe_text(segments: tuple[Mapping[str, int], ...], out: Mapping[str, int], row: _Row) -> str:
    """The operands of an exe behind its flags, every one in its explicit form."""
    text = ""
    ends = [segment["offset"] + segment["length"] for segment in segments]
    if max(*ends, out["offset"], 0) > row.half or out["pes"] > row.pes:
        raise _Unlike
    if segments:
        items = []
        for segment in segments:
            low, high = segment["offset"], segment["offset"] + segment["length"]
            words = [
                pe.SEGMENT_TYPES[segment["type"]],
                f"unit[{low:#x}:{high:#x}]",
                pe.MODES[segment["mode"]],
                *(["compress"] if segment["compress"] else []),
            ]
            items.append(" ".join(words))
        text += f", data=({', '.join(items)})"
    if any(out.values()):
        text += (
            f", out=(unit[{out['offset']:#x}], stride={out['stride']}, step={out['step']},"
            f" count={out['count']}, pes={out['pes']}, type={pe.ELEMENTS[out['element']]})"
        )
    return text
