"""Notes that an editor shows inside the lines of a source: values, addresses and cycles."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from macaw.asm.editing import occurrences
from macaw.asm.editing.file_view import FileView
from macaw.asm.editing.source_tokens import (
    COMMENT_TEXT,
    HEADS,
    INSTRUCTION,
    NUMBER,
    Token,
    TokenLine,
)
from macaw.asm.layout import Area
from macaw.asm.object_symbols import address_of
from macaw.asm.symbols import Definition
from macaw.isa.config import Configuration
from macaw.isa.model import Core
from macaw.isa.rows import Instruction, Row

VALUE, ADDRESS, CYCLES = "value", "address", "cycles"
_SETTING = re.compile(r"[a-z_.]+_[a-z_]+")
_CYCLES = re.compile(r"([0-9]+)((?:\b.*)?)")
_IF_TAKEN = re.compile("; ([0-9]+) if taken")


@dataclass(frozen=True, slots=True)
class Annotation:
    """A note that the editor shows after the text at `offset`. `kind` is VALUE, ADDRESS or CYCLES.

    `explanation` is a longer text, which the editor shows on request.
    """

    kind: str
    offset: int
    text: str
    explanation: str


def of_lines(view: FileView, start: int, end: int) -> Iterator[Annotation]:
    """Yield the notes for the lines from the offset `start` up to `end`."""
    emitted = _emitted(view)
    for line in view.file.tokens.between(start, end):
        if line.tokens:
            notes = [*_values(view, line), *_cycles(view, line, emitted)]
            yield from sorted(notes, key=lambda note: note.offset)


# --- values and addresses ---


def _values(view: FileView, line: TokenLine) -> Iterator[Annotation]:
    """Yield notes with the values of constants and the addresses of labels in a line.

    A constant that the line defines gets a note unless its value is written as a number. A constant
    that the line uses gets a note if no line sets it again. A label gets a note in the line that
    defines it.
    """
    code = [token for token in line.tokens if token.role != COMMENT_TEXT]
    code_end = line.start + (code[-1].end if code else 0)
    for item in occurrences.in_line(line):
        if item.kind != occurrences.SYMBOLS:
            continue
        symbol = view.symbol(item.name)
        if symbol is None or symbol.is_bad:
            continue
        end, text = line.start + item.end, f"the value of {item.name}"
        if isinstance(symbol.value, int) and not symbol.is_label:
            if item.defines:
                if not _is_number(line, item.end):
                    yield Annotation(VALUE, code_end, _number(symbol), text)
            elif _is_settled(view, item.name):
                yield Annotation(VALUE, end, _number(symbol), text)
        elif item.defines and isinstance(symbol.area, Area) and symbol.area.base is not None:
            address = address_of(symbol)
            section = symbol.area.section
            text = f"the address of {item.name}, in {section}"
            is_label = line.text[item.end : item.end + 1] == ":"
            yield Annotation(ADDRESS, end + is_label, f"{address:#x}", text)


def _number(symbol: Definition) -> str:
    value = symbol.value
    assert isinstance(value, int)
    return f"= {value}" if abs(value) < 1 << 16 else f"= {value & (1 << 64) - 1:#x}"


def _is_settled(view: FileView, name: str) -> bool:
    """Return whether a symbol has the same value in the whole program: no line sets it again."""
    return not any(name in scope.first for scope in view.scopes)


def _is_number(line: TokenLine, start: int) -> bool:
    """Return whether the rest of the statement after an offset is only a number."""
    rest = [x for x in line.tokens if x.start >= start and x.text not in ("=", ",")]
    rest = [x for x in rest if x.role != COMMENT_TEXT]
    return len(rest) == 1 and rest[0].role == NUMBER


# --- cycles ---


def _emitted(view: FileView) -> Sequence[int]:
    """Return, for each assembled word, the offset of its statement in the file's text.

    The offsets ascend. If a statement assembles to two words, its offset occurs twice, as 14 in
    [0, 14, 14, 30].
    """
    offsets: list[int] = []
    for _area, source, _offsets, places in view.program.assembly.line_table.runs():
        if source.name == view.file.name and source.text == view.file.text:
            offsets.extend(places)
    return sorted(offsets)


def _cycles(view: FileView, line: TokenLine, places: Sequence[int]) -> Iterator[Annotation]:
    """Yield a note with the cycles of each instruction of a line.

    `places` are the offsets of the statements of all assembled words, as `_emitted` returns them.
    """
    core = view.core_at(line.start)
    if core is None:
        return
    for statement in line.statements():
        head = next((token for token in statement if token.role in HEADS), None)
        if head is None or head.role != INSTRUCTION:
            continue
        first = bisect_left(places, line.start + statement[0].start)
        end = line.start + statement[-1].end
        words = bisect_left(places, end) - first
        found = _of_instruction(core, head, words, view.program.assembly.config)
        if found is not None:
            yield Annotation(CYCLES, end, *found)


def _of_instruction(
    core: Core, head: Token, words: int, config: Configuration
) -> tuple[str, str] | None:
    """Return (note, explanation) about the cycles of the instruction whose mnemonic is `head`.

    The instruction is assembled to `words` words. Return None if its cycles are not certain.
    """
    costs = [_cost(core, row, words, config) for row in core.rows.get(head.text, ())]
    known = {cost for cost in costs if cost is not None}
    if len(known) != 1:
        return None
    cycles, rest = known.pop()
    taken = _IF_TAKEN.fullmatch(rest)
    more = "+" if rest and not taken else ""
    note = f"{cycles}{more} cycle{'s' * (cycles > 1 or bool(more))}"
    return note + (f", {taken[1]} if taken" if taken else ""), f"{head.text}: {cycles}{rest}"


def _cost(core: Core, row: Row, words: int, config: Configuration) -> tuple[int, str] | None:
    """Return (cycles, condition) of an instruction or pseudo-instruction on a device.

    The condition is the text with which the table row restricts the number of cycles; it is empty
    if the row has no such text. Return None if the number of cycles is not known.
    """
    if isinstance(row, Instruction):
        match = _CYCLES.fullmatch(_with_settings(core, row.cycles, config))
        return None if match is None else (int(match[1]), match[2])
    lines = next((x.lines for x in row.alternatives if len(x.lines) == words), ())
    parts = [_cost(core, core.by_mnemonic[line.split()[0]], 1, config) for line in lines]
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    return sum(part[0] for part in known), next((part[1] for part in known if part[1]), "")


def _with_settings(core: Core, text: str, config: Configuration) -> str:
    """Return a text about cycles in which the device's numbers replace the names of settings."""

    def number(match: re.Match[str]) -> str:
        name = match[0]
        return str(config[name if name in known else f"{core.name}.{name}"])

    known = {setting.name for setting in core.settings}
    return _SETTING.sub(number, text)
