"""Decodes the records of a PE row's image, for `macaw dis --raw`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from macaw.asm.columns import statement
from macaw.asm.disassembly.forms import Record
from macaw.asm.disassembly.forms.pe.image import (
    Unlike,
    align_up,
    config_segments,
    read_packet,
    read_sequence,
)
from macaw.asm.disassembly.labels import Labels
from macaw.asm.program import Section
from macaw.isa import codec, pe
from macaw.isa.model import Structure

_ERRORS = (Unlike, codec.StructureError, codec.DecodeError)


def records(section: Section, labels: Labels) -> Iterator[Record]:
    """Yield the records of the image's packets, then the records of its sequences.

    The packets are at the start of the image. The offsets of sequences come from config packets and
    from labels.
    """
    data, start = section.data, section.address
    offsets: set[int] = set()
    place = end = 0
    while place < len(data) and not (offsets and place >= min(offsets)):
        if data[place] == pe.END_OF_LIST:
            yield Record(start + place, 1, "end of list")
            end = place + 1
            place = align_up(end, pe.PACKET_ALIGN)
            if not offsets and not labels.symbols_at(start + place):
                break
            continue
        try:
            packet, end = read_packet(data, place)
        except _ERRORS:
            break
        head = codec.unpack(pe.PACKET, data, place)
        rest = _members(pe.PACKET, head, but=("command",))
        text = statement(f"packet {codec.describe(packet.command)}, {rest}")
        begins = start + place
        yield Record(start + place, pe.PACKET.size, text, begins=begins)
        place += pe.PACKET.size
        for segment in packet.segments:
            target = start + segment["offset"]
            text = _text(pe.SEGMENT, segment)
            yield Record(start + place, pe.SEGMENT.size, text, target, begins)
            place += pe.SEGMENT.size
        if packet.out is not None:
            target = start + packet.out["offset"]
            yield Record(start + place, pe.OUT.size, _text(pe.OUT, packet.out), target, begins)
        offsets |= {segment["offset"] for segment in config_segments(packet)}
        place = align_up(end, pe.PACKET_ALIGN)
    yield from _sequences(section, labels, end, offsets)


def _sequences(section: Section, labels: Labels, end: int, offsets: set[int]) -> Iterator[Record]:
    """Yield the records of a section's sequences that begin at offset `end` or after it.

    A sequence begins at each of `offsets`, to which config packets refer. A sequence also begins at
    a label that directly follows the previous sequence.
    """
    data, start = section.data, section.address
    for offset in sorted({address - start for address in labels.addresses()} | offsets):
        follows = offset == align_up(end, pe.SEQUENCE_ALIGN)
        if offset < end or not (follows or offset in offsets):
            continue
        try:
            sequence = read_sequence(data, offset)
        except _ERRORS:
            continue
        end = offset + pe.SEQUENCE.size
        first = start + end + len(sequence.records) * pe.RECORD_SIZE
        text = _text(pe.SEQUENCE, sequence.header)
        yield Record(start + offset, pe.SEQUENCE.size, text, begins=first)
        for kind, record in sequence.records:
            yield Record(start + end, kind.size, _text(kind, record), begins=first)
            end += kind.size
        for instruction in sequence.instructions:
            text, at = statement(codec.describe(instruction)), start + end
            yield Record(at, pe.INSTRUCTION_BYTES, text, begins=at)
            end += pe.INSTRUCTION_BYTES


def _text(structure: Structure, values: Mapping[str, int]) -> str:
    return statement(f"{structure.name} {_members(structure, values)}")


def _members(structure: Structure, values: Mapping[str, int], but: tuple[str, ...] = ()) -> str:
    """Return `values` as `name=value` texts, except reserved members and the names in `but`."""
    members = [
        x for x in structure.members if x.name not in but and not x.name.startswith("reserved")
    ]
    texts = [x.kind.format(values[x.name]) if x.kind else str(values[x.name]) for x in members]
    return ", ".join(f"{x.name}={text}" for x, text in zip(members, texts, strict=True))
