"""Words as instructions."""

from __future__ import annotations

import struct
from functools import lru_cache

from asm.disassembly.data import chunk
from asm.disassembly.forms import Naming, form
from asm.disassembly.labels import Labels, directive
from asm.program import Section
from isa import codec
from isa.model import Core

WORD = 4  # bytes of an instruction


@lru_cache(maxsize=1 << 16)  # each word is asked for twice, and many stand more than once
def _decoded(core: Core, word: int) -> codec.Decoded | str:
    """The instruction, or why there is none that gives this word again."""
    try:
        found = codec.decode(core, word, 8 * WORD)
    except codec.DecodeError as error:
        return str(error)
    if codec.encode(found.row, found.values) != word:
        return f"{core.name}: {word:#x} is {found.row.mnemonic} with bits that it does not name"
    return found


def make_targets(section: Section, core: Core, labels: Labels) -> None:
    """Give every address in the section that an instruction of it names a label."""
    for place, (word,) in enumerate(struct.iter_unpack("<I", _whole(section))):
        address = section.address + WORD * place
        found = _decoded(core, word)
        if isinstance(found, str):
            continue
        for operand in found.row.operands:
            if operand.kind.relative:
                target = address + found.values[operand.name] & 0xFFFF_FFFF
                if section.holds(target) and target % WORD == 0:
                    labels.make(target)


def section_lines(
    section: Section, core: Core, labels: Labels, exact: Naming, near: Naming
) -> list[str]:
    """A section of instructions; words that are none are data that say why.

    `exact` names jump targets; `near` names other addresses that code means, in a comment.
    """
    meant = form(core.name)
    lines = labels.first()
    whole = _whole(section)
    for place, (word,) in enumerate(struct.iter_unpack("<I", whole)):
        address = section.address + WORD * place
        lines += labels.lines(address, WORD)
        if labels.at(address) is not None:
            meant.forget()
        found = _decoded(core, word)
        if isinstance(found, str):
            lines.append(directive(f".word {word:#010x}  # {found}"))
            meant.forget()
            continue
        text = codec.describe(found, address, exact)
        target = meant.see(found, address)
        name = None if target is None else near(target)
        lines.append(directive(text if name is None else f"{text}  # {name}"))
    rest = section.address + len(whole)
    for address in range(rest, section.end):
        lines += labels.lines(address)
        lines += chunk(section.data[address - section.address :][:1], address, words=False)
    return lines + labels.lines(section.end)


def _whole(section: Section) -> bytes:
    """The section's bytes up to the last whole word."""
    return section.data[: len(section.data) // WORD * WORD]
