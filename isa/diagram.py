"""Draws the bits of an instruction as a row of boxes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from macaw.isa.rows import Field, Instruction

WIDTH = 78  # columns of a drawing; a wider one is drawn in several pieces


def diagram(row: Instruction) -> str:
    """Return a text drawing of the bits of an instruction word, from high to low.

    A box shows the bits of a field with a fixed value, and the name of any other field. The drawing
    has four lines of text. If these lines would be longer than `WIDTH`, the word is divided, and
    each part of it is drawn in four lines, one part below the other.
    """
    pieces: list[tuple[int, int, str]] = []
    for item in row.format.fields:
        for piece in item.slices:
            pieces.append((piece.word, piece.width, _content(row, item, piece.value, piece.width)))
    pieces.sort(reverse=True)
    runs = 1
    while True:
        size = -(-len(pieces) // runs)
        drawn = [_boxes(pieces[at : at + size]) for at in range(0, len(pieces), size)]
        if all(len(line) <= WIDTH for box in drawn for line in box) or size == 1:
            return "\n".join(line for box in drawn for line in box)
        runs += 1


def _boxes(pieces: Sequence[tuple[int, int, str]]) -> tuple[str, ...]:
    """Return four lines that draw consecutive bit ranges of a word, high bits first, as boxes.

    The first line has the bit numbers. Each of `pieces` is (lowest bit, width in bits, text in the
    box).
    """
    top, middle = " ", "|"
    for low, width, content in pieces:
        high = low + width - 1
        ends = f"{high} {low}" if width > 1 else f"{low}"
        size = max(len(content), len(ends)) + 2
        top += (f"{high}{low:>{size - len(str(high))}}" if width > 1 else f"{low:^{size}}") + " "
        middle += f"{content:^{size}}|"
    rule = re.sub(r"[^|]", "-", middle).replace("|", "+")
    return tuple(line.rstrip() for line in (top, rule, middle, rule))


def _content(row: Instruction, item: Field, low: int, width: int) -> str:
    """Return the text for `width` bits of the field `item`, from bit `low` of the word on.

    The text has the bits that `row` fixes, or else the field's name.
    """
    if item.name in row.fixed:
        return f"{row.fixed[item.name] >> low & (1 << width) - 1:0{width}b}"
    if item.name.startswith("reserved"):
        return "0" * width
    if len(item.slices) == 1 and not low:
        return item.name
    return f"{item.name}[{low + width - 1}:{low}]" if width > 1 else f"{item.name}[{low}]"
