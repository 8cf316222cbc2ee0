"""Prints the image of a row of the PE array as source: packet lists, sequences, data.

The module prints directives only if they produce the same bytes. To find out, `image` encodes every
list and sequence again and compares the bytes. `records` serves `macaw dis --raw`. `asm/forms/pe`
is the inverse.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping

from macaw.asm.columns import with_comment
from macaw.asm.disassembly.data import chunk, section_lines
from macaw.asm.disassembly.forms import PartPrinter, Record
from macaw.asm.disassembly.forms.pe.image import (
    Image,
    Packet,
    Sequence,
    Unlike,
    align_up,
    config_segments,
    data_segments,
    read,
)
from macaw.asm.disassembly.forms.pe.records import records
from macaw.asm.disassembly.labels import Labels, directive, in_body
from macaw.asm.program import Program, Section
from macaw.isa import codec, config, pe
from macaw.isa.model import Structure
from macaw.isa.typed_records import NamedTuple


class PePrinter(PartPrinter):
    """Prints the image of one row of the PE array."""

    def part(self, program: Program, section: Section, labels: Labels) -> list[str] | None:
        if section.nobits:
            return None
        try:
            image = read(section, labels)
            return _lines(image, section, labels, _Row.of(program))
        except (Unlike, codec.StructureError, codec.DecodeError):
            return _alignment(section) + section_lines(section, labels, words=False)

    def records(self, section: Section, labels: Labels) -> Iterator[Record]:
        return records(section, labels)


def _alignment(section: Section) -> list[str]:
    """Return an alignment directive for the image; no lines if the usual alignment applies."""
    return [directive(f".balign {section.align}")] if section.align > pe.SLOT_ALIGN else []


class _Row(NamedTuple):
    """The sizes of a PE row on the program's device.

    `clusters` and `pes` count the clusters, and the PEs of all clusters together. `half` is the
    size in bytes of a half of the row's memory unit. If the device's configuration is wrong, the
    sizes are the greatest possible ones.
    """

    clusters: int
    pes: int  # PEs of all clusters together
    half: int  # bytes of half of its memory unit

    @classmethod
    def of(cls, program: Program) -> _Row:
        try:
            device = config.parse(program.config_toml)
        except config.ConfigError:
            return cls(pe.CLUSTERS, 1 << 16, 1 << 19)
        clusters = device["pe.clusters"]
        return cls(clusters, clusters * device["pe.pes"], device["mem.unit_half_bytes"])


# --- printing -----------------------------------------------------------------------------


def _lines(image: Image, section: Section, labels: Labels, row: _Row) -> list[str]:
    start = section.address
    ends = {start + item.offset: start + item.offset + item.size for item in image.sequences}
    for offset, packets in image.lists:
        last = packets[-1].end if packets else offset
        ends[start + offset] = start + align_up(last, pe.PACKET_ALIGN) + 1
    for address in ends:
        labels.make(address)
    lines = labels.first()
    for sequence in image.sequences:
        lines += ["", *_symbol_lines(start + sequence.offset, labels, sequence.size)]
        lines += _sequence_lines(sequence, start, labels)
    for offset, packets in image.lists:
        address = start + offset
        lines += ["", *_symbol_lines(address, labels, ends[address] - address)]
        lines.append(directive(f".list {labels.at(address)}"))
        lines += _alignment(section) if offset == 0 else []
        for packet in packets:
            line = directive(_packet_text(packet, start, labels, row))
            names = [labels.covering(start + item["offset"]) for item in data_segments(packet)]
            if any(names):
                line = with_comment(line, f"# {', '.join(filter(None, names))}")
            lines.append(line)
        lines.append(directive(".endlist"))
    # The further names of a list or sequence, and names inside of it, are defined relative to its
    # first name.
    places = labels.addresses()
    for place in places[: bisect_left(places, start + image.data)]:
        base = max(address for address in ends if address <= place)
        for symbol in labels.symbols_at(place)[place in ends :]:
            lines += labels.relative_definition(symbol, base)
    lines.append("")
    cuts = sorted({start + image.data, *places[bisect_left(places, start + image.data) :]})
    for low, high in zip(cuts, [*cuts[1:], section.end], strict=True):
        lines += labels.lines(low)
        lines += chunk(section.data[low - start : high - start], low, words=False)
    return lines if lines[-1] else lines[:-1]


def _symbol_lines(address: int, labels: Labels, size: int) -> list[str]:
    """Return the `.global`, `.type` and `.size` lines of the first symbol at `address`.

    If there is no symbol, return no lines. After these lines, the caller prints a directive of
    `size` bytes, which defines the symbol.
    """
    symbols = labels.symbols_at(address)[:1]
    return [line for symbol in symbols for line in labels.about(symbol, size)]


def _sequence_lines(sequence: Sequence, start: int, labels: Labels) -> list[str]:
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
    for kind, record in sequence.records:
        lines.append(directive(_record_text(kind, record, sequence)))
    if header["then"]:
        lines.append(directive(f".then ib={header['then'] - pe.THEN}"))
    lines += [in_body(codec.describe(item)) for item in sequence.instructions]
    return [*lines, directive(".endseq")]


_IN_SEQ = ("state", "pipeline", "activation", "reduction", "shift", "window", "pop")


def _record_text(kind: Structure, record: Mapping[str, int], sequence: Sequence) -> str:
    """Return a record as a directive, for example `.step mac[0].base, inner=1, outer=2`.

    The number in brackets is the instruction's index among those with the same mnemonic in
    `sequence`.
    """
    if kind is pe.TYPES:
        members = [member for member in kind.members if member.name in pe.TYPE_MEMBERS]
        words = [f"{x.name}={x.legal.format(record[x.name])}" for x in members]
        return f".{kind.name} {', '.join(words)}"
    instruction = sequence.instructions[record["instruction"]]
    row, before = instruction.row, sequence.instructions[: record["instruction"]]
    number = sum(other.row is row for other in before)
    names = [operand.name for operand in row.operands]
    places = {pe.ENTRY_OF[name]: name for name in names if name in pe.ENTRY_OF}
    strides = kind is pe.STRIDE
    entry = record["operand"] - pe.STRIDE_KIND * strides
    if entry not in (pe.strided(row, instruction.values) if strides else places):
        raise Unlike
    names = ["pe", "cluster"] if strides else ["inner", "outer"]
    options = ", ".join(f"{name}={record[name]}" for name in names)
    return f".{kind.name} {row.mnemonic}[{number}].{places[entry]}, {options}"


def _packet_text(packet: Packet, start: int, labels: Labels, row: _Row) -> str:
    text = codec.describe(packet.command)
    if packet.out is not None:
        text += _exe_text(packet.segments, packet.out, row)
    for segment in config_segments(packet):
        text += f", {labels.at(start + segment['offset'])}"
    if packet.out is None:
        text += _data_text(data_segments(packet), row)
    mask = packet.clusters
    if mask == (1 << row.clusters) - 1:
        return text
    if mask == 0 or mask >> row.clusters:
        raise Unlike
    chosen = [str(cluster) for cluster in range(row.clusters) if mask >> cluster & 1]
    return f"{text}, to=({', '.join(chosen)})" if len(chosen) > 1 else f"{text}, to={chosen[0]}"


def _exe_text(segments: tuple[Mapping[str, int], ...], out: Mapping[str, int], row: _Row) -> str:
    """Return, as text, the operands of an exe packet that are written after the flags.

    These are `data=`, for the packet's `segments`, and `out=`, for its out record.
    """
    if out["offset"] > row.half or out["pes"] > row.pes:
        raise Unlike
    text = _data_text(segments, row)
    if any(out.values()):
        text += (
            f", out=(unit[{out['offset']:#x}], stride={out['stride']}, step={out['step']},"
            f" count={out['count']}, pes={out['pes']}, type={pe.ELEMENTS[out['element']]})"
        )
    return text


def _data_text(segments: tuple[Mapping[str, int], ...], row: _Row) -> str:
    """Return a comma and the operand `data=` of a packet; an empty text if `segments` is empty."""
    if not segments:
        return ""
    items = []
    for segment in segments:
        low, high = segment["offset"], segment["offset"] + segment["length"]
        if high > row.half:
            raise Unlike
        words = [
            pe.SEGMENT_TYPES[segment["type"]],
            f"unit[{low:#x}:{high:#x}]",
            pe.MODES[segment["mode"]],
            *([pe.FORMS[segment["form"]]] if segment["form"] else []),
            *([pe.ELEMENTS[segment["element"] - 1]] if segment["element"] else []),
        ]
        items.append(" ".join(words))
    return f", data=({', '.join(items)})"


PRINTER = PePrinter
