"""Prints bytes as data directives."""

from __future__ import annotations

import struct

from macaw.asm.disassembly.labels import Labels, directive
from macaw.asm.program import Section
from macaw.isa.lazy_pattern import lazy_pattern

_ZEROS = 16  # the fewest zero bytes that become a `.space`
_STRING = lazy_pattern(rb"[\t\n\r\x20-\x7e]{3,200}\0")
_TEXT = lazy_pattern(rb"[\t\n\r\x20-\x7e]{6,}")  # a text without a zero byte at its end
_LINE = lazy_pattern(rb"[^\n]{1,64}\n?|\n")  # a piece of such a text that becomes a `.ascii`
_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\", '"': '\\"'}
_RUN = lazy_pattern(rb"\0{%d,}" % _ZEROS)


def section_lines(section: Section, labels: Labels, *, words: bool = True) -> list[str]:
    """Return the source lines of a whole section as data, with its labels."""
    places = [section.address, *labels.addresses(), section.end]
    cuts = sorted({place for place in places if section.address <= place <= section.end})
    lines = labels.first()
    for start, end in zip(cuts, [*cuts[1:], section.end], strict=True):
        lines += labels.lines(start)
        if section.nobits:
            lines += [directive(f".space {end - start}")] if end > start else []
        else:
            low, high = start - section.address, end - section.address
            lines += chunk(section.data[low:high], start, words=words)
    return lines


def chunk(data: bytes, address: int, *, words: bool) -> list[str]:
    """Return the directives for the bytes between two labels.

    `address` is the address of the first byte. With `words`, use `.word` or `.half` where address
    and length are aligned.
    """
    strings = _strings(data)
    if strings:
        return strings
    lines: list[str] = []
    place = 0
    for run in _RUN.finditer(data):
        # A `.space` takes whole words, so that what follows it stays aligned.
        start, end = run.span()
        start += -(address + start) % 4
        end -= (address + end) % 4 if end < len(data) else 0
        if end - start < _ZEROS:
            continue
        lines += _units(data[place:start], address + place, words=words)
        lines.append(directive(f".space {end - start}"))
        place = end
    return lines + _units(data[place:], address + place, words=words)


def _units(data: bytes, address: int, *, words: bool) -> list[str]:
    if words and address % 4 == 0 and len(data) % 4 == 0:
        numbers = [f"{word:#010x}" for (word,) in struct.iter_unpack("<I", data)]
        return _rows(".word", numbers, 6)
    if words and address % 2 == 0 and len(data) % 2 == 0:
        numbers = [f"{half:#06x}" for (half,) in struct.iter_unpack("<H", data)]
        return _rows(".half", numbers, 8)
    return _rows(".byte", [f"{byte:#04x}" for byte in data], 12)


def _rows(name: str, numbers: list[str], width: int) -> list[str]:
    return [
        directive(f"{name} {', '.join(numbers[place : place + width])}")
        for place in range(0, len(numbers), width)
    ]


def _strings(data: bytes) -> list[str]:
    """Return the bytes as `.asciz` and `.ascii` lines, with zeros at the end as `.space`.

    If a byte before these zeros is not text, return no lines.
    """
    lines, place = [], 0
    while (match := _STRING.match(data, place)) is not None:
        lines.append(directive(f".asciz {_quote(match[0][:-1])}"))
        place = match.end()
    rest = data[place:]
    if _TEXT.fullmatch(rest):
        return lines + [directive(f".ascii {_quote(line)}") for line in _LINE.findall(rest)]
    if not lines or any(rest):
        return []
    return lines + ([directive(f".space {len(rest)}")] if rest else [])


def _quote(text: bytes) -> str:
    return f'"{"".join(_ESCAPES.get(x, x) for x in text.decode("ascii"))}"'
