"""Writes a program as an image for loaders that do not read ELF: raw bytes, or Intel HEX.

An image contains the bytes that a loader writes, at load addresses. It omits sections of zeros,
because the loader clears the memory first.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import pairwise

from macaw.asm.program import Program, Section
from macaw.isa import memory_map
from macaw.isa.errors import MacawError

# The first address of each memory; `cores` are the memories inside of cores.
MEMORIES = {
    "local": memory_map.LOCAL,
    "cores": memory_map.INSTRUCTIONS,
    "external": memory_map.EXTERNAL,
}
FORMATS = ("bin", "hex")
MOST_ZEROS = 1 << 24  # bytes between two sections of a raw image
_RECORD_BYTES = 16
_BLOCK = 1 << 16  # bytes of addresses that one extended address serves
_DATA, _END, _UPPER_ADDRESS, _START = 0, 1, 4, 5  # kinds of records


class ImageError(MacawError, ValueError):
    """The error for a program that cannot have an image of the requested kind.

    If another kind of image can represent the program, the hint names that kind.
    """


def write(program: Program, kind: str, memory: str | None = None) -> bytes:
    """Return the image of a program: of the memory `memory`, or of all memories if it is None.

    `kind` is one of `FORMATS`. Raises `ImageError`.
    """
    sections = _sections(program, memory)
    return _raw(sections) if kind == "bin" else _hex(sections, program.entry)


def memory_of(section: Section) -> str:
    """Return the memory into which the loader puts a section."""
    below = {name: base for name, base in MEMORIES.items() if base <= section.load_address}
    return max(below, key=below.__getitem__)


def _sections(program: Program, memory: str | None) -> list[Section]:
    """Return the sections that an image of `memory` contains, sorted by load address."""
    sections = [
        item for item in program.sections if item.data and memory in (None, memory_of(item))
    ]
    if not sections:
        where = f" in {memory} memory" if memory else ""
        raise ImageError(f"an image of nothing: the program has no bytes{where}")
    return sorted(sections, key=lambda item: item.load_address)


def _raw(sections: Sequence[Section]) -> bytes:
    """Return the bytes from the lowest address to the highest, with zeros between sections."""
    memories = list(dict.fromkeys(memory_of(item) for item in sections))
    if len(memories) > 1:
        first, second = (
            next(item for item in sections if memory_of(item) == name) for name in memories[:2]
        )
        raise ImageError(
            f"a raw image holds one memory: {first.name} is loaded at {first.load_address:#010x},"
            f" {second.name} at {second.load_address:#010x}",
            f"choose the memory {' or '.join(memories)}, or the format hex",
        )
    for one, other in pairwise(sections):
        gap = other.load_address - one.load_address - one.size
        if gap > MOST_ZEROS:
            raise ImageError(
                f"{gap} bytes lie between {one.name} and {other.name}, a raw image takes"
                f" {MOST_ZEROS} at most",
                "the format hex holds no gaps",
            )
    start, image = sections[0].load_address, bytearray()
    for item in sections:
        image += bytes(item.load_address - start - len(image)) + item.data
    return bytes(image)


def _hex(sections: Sequence[Section], entry: int | None) -> bytes:
    """Return the sections as Intel HEX with 32-bit addresses: data, entry address, end record."""
    lines: list[str] = []
    block = 0
    for section in sections:
        for address, data in _pieces(section):
            if address // _BLOCK != block:
                block = address // _BLOCK
                lines.append(_record(0, _UPPER_ADDRESS, struct.pack(">H", block)))
            lines.append(_record(address % _BLOCK, _DATA, data))
    if entry is not None:
        lines.append(_record(0, _START, struct.pack(">I", entry)))
    lines.append(_record(0, _END, b""))
    return "".join(lines).encode("ascii")


def _pieces(section: Section) -> Iterator[tuple[int, bytes]]:
    """Yield (address, bytes) of the data records; no record crosses a 64 KiB boundary."""
    address, end = section.load_address, section.load_address + len(section.data)
    while address < end:
        stop = min(end, address + _RECORD_BYTES, address - address % _BLOCK + _BLOCK)
        first = address - section.load_address
        yield address, section.data[first : first + stop - address]
        address = stop


def _record(address: int, kind: int, data: bytes) -> str:
    whole = struct.pack(">BHB", len(data), address, kind) + data
    return f":{(whole + bytes((-sum(whole) & 0xFF,))).hex().upper()}\n"
