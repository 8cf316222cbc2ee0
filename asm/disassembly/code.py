"""Prints sections of instructions as source lines."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import lru_cache

from macaw.asm.columns import statement, with_comment
from macaw.asm.disassembly.data import chunk
from macaw.asm.disassembly.forms import Naming, PartPrinter
from macaw.asm.disassembly.labels import INDENT, Labels
from macaw.asm.program import Section
from macaw.isa import codec
from macaw.isa.aliases import with_alias
from macaw.isa.model import Core
from macaw.isa.typed_records import NamedTuple

WORD = 4  # bytes of an instruction
_TOP = 0xFFFF_FFFF
_MOST_KEPT = 1 << 17  # decoded words of a core that are stored


class Word(NamedTuple):
    """A word of a code section: the instruction that it encodes, or None, and its source text.

    `bare` is the text without pseudo-instructions. If the instruction names another address, as a
    jump does, both texts depend on the word's own address. Then they are empty, and `distances` has
    the distance in bytes to each address that the instruction names. `reason` says why a word is no
    instruction.
    """

    instruction: codec.Decoded | None
    text: str  # in columns; empty if the instruction names an address; a `.word` for data
    bare: str  # as `text`, but without pseudo-instructions
    distances: tuple[int, ...] = ()  # from the instruction to the addresses that it names
    reason: str = ""  # why the word is data

    def text_at(self, core: Core, address: int, name: Naming) -> str:
        """Return the source text of the word at `address`, with its operands in their column.

        `name` is a function that returns the name of an address, or None.
        """
        if self.text or self.instruction is None:
            return self.text
        return statement(with_alias(core, codec.describe(self.instruction, address, name)))

    def bare_at(self, address: int) -> str:
        """Return the source text of the word at `address`.

        The text has no pseudo-instructions, and addresses are numbers.
        """
        if self.bare or self.instruction is None:
            return self.bare
        return statement(codec.describe(self.instruction, address))


class _Decoded(dict[int, Word]):
    """A cache of the decoded words of a core, by their 32-bit values: most words occur often."""

    def __init__(self, core: Core) -> None:
        super().__init__()
        self.core = core

    def __missing__(self, value: int) -> Word:
        if len(self) >= _MOST_KEPT:
            self.clear()
        self[value] = found = _decode(self.core, value)
        return found


@lru_cache(maxsize=16)
def _decoded(core: Core) -> _Decoded:
    return _Decoded(core)


def word(core: Core, value: int) -> Word:
    """Return the word `value`, decoded as an instruction of the core or, failing that, as data."""
    return _decoded(core)[value]


def _decode(core: Core, value: int) -> Word:
    try:
        instruction = codec.decode(core, value, 8 * WORD)
    except codec.DecodeError as error:
        return _no_instruction(value, str(error))
    if codec.encode(instruction.row, instruction.values) != value:
        reason = (
            f"{core.name}: {value:#x} is {instruction.row.mnemonic} with bits that it does not name"
        )
        return _no_instruction(value, reason)
    relative = [operand.name for operand in instruction.row.operands if operand.kind.relative]
    if relative:
        return Word(instruction, "", "", tuple(instruction.values[name] for name in relative))
    text = codec.describe(instruction)
    return Word(instruction, statement(with_alias(core, text)), statement(text))


def _no_instruction(value: int, reason: str) -> Word:
    text = statement(f".word {value:#010x}")
    return Word(None, text, text, reason=reason)


def words(section: Section, core: Core) -> Iterator[tuple[int, int, Word]]:
    """Yield (address, value, `Word`) for each whole word of the section."""
    data = _whole(section)
    values = struct.unpack(f"<{len(data) // WORD}I", data)
    found = map(_decoded(core).__getitem__, values)
    return zip(range(section.address, section.end, WORD), values, found, strict=False)


def make_targets(section: Section, core: Core, labels: Labels) -> None:
    """Give a label to every word of the section to which an instruction of the section refers."""
    start, end = section.address, section.end
    for address, _, item in words(section, core):
        for distance in item.distances:
            target = address + distance & _TOP
            if start <= target < end and target % WORD == 0:
                labels.make(target)


def section_lines(
    section: Section, core: Core, labels: Labels, exact: Naming, near: Naming, printer: PartPrinter
) -> list[str]:
    """Return the source lines of a section of instructions.

    A word that encodes no instruction becomes data, with the reason in a comment. `exact` returns
    the names of jump targets, `near` the names of other addresses for comments. `printer` prints
    instructions whose source form differs from the syntax of their table rows.
    """
    lines = labels.first()
    start = section.address
    named = {start + (place - start) // WORD * WORD for place in labels.addresses()}
    begins, own_line = printer.begins, printer.line if printer.has_lines else None
    for address, _, item in words(section, core):
        if address in named:
            lines += labels.lines(address, WORD)
            if labels.at(address) is not None:
                printer.forget()
        text, instruction = item.text, item.instruction
        if instruction is None:
            lines.append(with_comment(INDENT + text, f"# {item.reason}"))
            printer.forget()
            continue
        own = own_line(instruction, address) if own_line is not None else None
        line = own or INDENT + (text or item.text_at(core, address, exact))
        if printer.begun or instruction.row.mnemonic in begins:
            target = printer.target_of(instruction, address)
            if target is not None and (name := near(target)) is not None:
                line = with_comment(line, f"# {name}")
        lines.append(line)
    rest = start + len(_whole(section))
    for address in range(rest, section.end):
        lines += labels.lines(address)
        lines += chunk(section.data[address - start :][:1], address, words=False)
    return lines + labels.lines(section.end)


def _whole(section: Section) -> bytes:
    """Return the bytes of the section without the bytes after its last whole word."""
    return section.data[: len(section.data) // WORD * WORD]
