"""Checks the segments of an ELF executable, and makes sections for bytes outside of sections."""

from __future__ import annotations

from collections.abc import Iterator

from macaw.asm import elf_format as elf
from macaw.asm.elf_format import ElfError, SectionHeader, Segment
from macaw.asm.program import Section


def check(data: bytes, number: int, segment: Segment) -> None:
    """Raise `ElfError` for a segment that cannot be loaded."""
    what = f"segment {number}"
    if segment.kind in (elf.PT_DYNAMIC, elf.PT_INTERP):
        raise ElfError("the file is dynamically linked; link it with -static -nostdlib")
    if segment.kind != elf.PT_LOAD or not (segment.size or segment.file_size):
        return  # GNU ld keeps an empty segment of a linker script
    if segment.offset + segment.file_size > len(data) and segment.file_size:
        raise ElfError(
            f"{what}: {segment.file_size:#x} bytes at offset {segment.offset:#x}"
            f" exceed the file's {len(data):#x} bytes"
        )
    if segment.file_size > segment.size:
        raise ElfError(
            f"{what}: {segment.file_size:#x} bytes in the file, {segment.size:#x} in memory"
        )
    for address in (segment.address, segment.load_address):
        if address + segment.size > elf.TOP:
            raise ElfError(f"{what}: {address:#x} + {segment.size:#x} is more than 32 bits")
    align = segment.align
    if align > 1 and (align & (align - 1) or (segment.offset - segment.address) % align):
        raise ElfError(
            f"{what}: offset {segment.offset:#x} and address {segment.address:#x}"
            f" do not agree with the alignment {align:#x}"
        )


def load_distance(header: SectionHeader, segments: tuple[Segment, ...], what: str) -> int:
    """Return the distance in bytes from a section's address to its load address in its segment.

    Raises `ElfError` if no segment contains the section; `what` names the section in the message.
    """
    if header.size == 0:
        return 0
    for segment in segments:
        inside = header.address - segment.address
        if segment.kind != elf.PT_LOAD or not 0 <= inside <= segment.size - header.size:
            continue
        if header.kind != elf.SHT_NOBITS:
            if inside + header.size > segment.file_size or header.offset != segment.offset + inside:
                raise ElfError(
                    f"{what}: offset {header.offset:#x} is not where its segment has it in the file"
                )
        elif inside < segment.file_size:
            raise ElfError(f"{what}: it should be zeros, but its segment has bytes there")
        return segment.load_address - segment.address
    raise ElfError(f"{what}: no segment loads {header.size:#x} bytes at {header.address:#x}")


def with_bare(
    data: bytes, sections: dict[int, Section], segments: tuple[Segment, ...]
) -> dict[int, Section]:
    """Return `sections`, and a new section for each piece of a segment that no section contains.

    Stripped files have such pieces. If the file has sections, a piece that is all zero is padding
    and gets no section.
    """
    result = dict(sections)
    covered = sorted((item.address, item.end) for item in sections.values())
    for number, segment in enumerate(segments):
        if segment.kind != elf.PT_LOAD:
            continue
        flags = "ax" if segment.flags & elf.PF_X else "aw" if segment.flags & elf.PF_W else "a"
        filled = segment.address + segment.file_size
        gaps = list(_gaps(segment.address, segment.address + segment.size, covered))
        if gaps != [(segment.address, segment.address + segment.size)]:
            flags = "a"  # bytes beside code, such as file headers, are not executable
        for start, end in gaps:
            # The part of the gap that the file fills, then the part that it leaves zero.
            for low, high in ((start, min(end, filled)), (max(start, filled), end)):
                offset = low - segment.address + segment.offset
                contents = data[offset : offset + high - low] if low < filled else b""
                if low >= high or (sections and not any(contents)):
                    continue
                result[-len(result) - 1] = Section(
                    f".segment.{number}.{low:x}",
                    None,
                    None,
                    low,
                    low - segment.address + segment.load_address,
                    contents,
                    high - low,
                    1,
                    flags,
                )
    return result


def _gaps(start: int, end: int, covered: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield those pieces of the range from `start` to `end` that are in no range of `covered`.

    `covered` is sorted.
    """
    for low, high in covered:
        if high <= start or low >= end:
            continue
        if low > start:
            yield start, low
        start = max(start, high)
    if start < end:
        yield start, end
