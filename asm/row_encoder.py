"""Rows made ready for plain lines: the text of each operand leads straight to its bits.

Everything is derived from the tables: a `RowEncoder` is a row (of a pseudo-instruction
an alternative of its expansion), its slots (`asm/operand_encoder.py`) are the operands as written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from macaw.asm.expressions import NotYet
from macaw.asm.instructions import template
from macaw.asm.operand_encoder import (
    LANE,
    NOWHERE,
    WORD_BYTES,
    Bits,
    Placed,
    Slot,
    Use,
    is_name,
    walk,
)
from macaw.asm.operands import AnyOperand, bind, choose, value_of
from macaw.asm.syntax import Here, Mistake, Name, Node, Number, Statement, transform
from macaw.isa.model import Core
from macaw.isa.rows import Alternative, Instruction, Operand, Pseudo, Row


@dataclass(frozen=True, eq=False, slots=True)
class RowEncoder:
    """A row for plain lines. `encode` gives its words, the first one lowest, or raises
    `KeyError` or `ValueError`; None: an operand always needs a symbol."""

    row: Row
    words: int
    base: int
    slots: tuple[Slot, ...]
    encode: Callable[[str], int] | None
    chooses: bool  # by a value: it must be known

    def partly(self, texts: Sequence[str]) -> tuple[int, Slot, str, str] | None:
        """The bits that are known, the slot that waits, and the modifier and symbol in it."""
        if len(texts) != len(self.slots) or self.chooses:
            return None
        bits, waiting = self.base, None
        for slot, text in zip(self.slots, texts, strict=True):
            try:
                if slot.is_distance:
                    raise KeyError(text)
                bits |= slot.bits[text]
            except KeyError:
                request = slot.symbol(text) if waiting is None else None
                if request is None:
                    return None
                beside, modifier, name = request
                bits |= beside
                waiting = slot, modifier, name
        return None if waiting is None else (bits, *waiting)


def _encoder(base: int, slots: Sequence[Slot]) -> Callable[[str], int] | None:
    if len(slots) == 0:
        return partial(_encode_none, base)
    if len(slots) == 1:
        return partial(_encode_one, base, slots[0].bits)
    if len(slots) == 2:
        return _two(base, slots[0].bits, slots[1].bits)
    if len(slots) == 3:
        return _three(base, slots[0].bits, slots[1].bits, slots[2].bits)
    return None


def _encode_none(base: int, text: str) -> int:
    if text:
        raise KeyError(text)
    return base


def _encode_one(base: int, first: Bits, text: str) -> int:
    return base | first[text]


def _two(base: int, first: Bits, second: Bits) -> Callable[[str], int]:
    def encode(text: str) -> int:
        one, two = text.split(",")
        return base | first[one] | second[two]

    return encode


def _three(base: int, first: Bits, second: Bits, third: Bits) -> Callable[[str], int]:
    def encode(text: str) -> int:
        one, two, three = text.split(",")
        return base | first[one] | second[two] | third[three]

    return encode


def _plan(
    core: Core, row: Row, alternative: Alternative | None, shared: dict[object, Slot]
) -> RowEncoder | None:
    """The plan of a row, or None if no plain line can be sure of it."""
    if any(_is_free(operand) for operand in row.operands):
        return None
    base, uses, words = 0, {operand.name: list[Use]() for operand in row.operands}, 1
    if isinstance(row, Instruction):
        if row.format.size != WORD_BYTES:
            return None
        base = row.match
        for operand in row.operands:
            uses[operand.name].append(Use(0, operand, Name(-1, -1, "$" + operand.name)))
    else:
        assert alternative is not None
        words = len(alternative.lines)
        for number, line in enumerate(alternative.lines):
            bits = _expanded(core, row, line, number, uses)
            if bits is None:
                return None
            base |= bits << LANE * number
    accepts = None
    if isinstance(row, Pseudo) and row.choose:
        accepts = partial(_is_chosen, row, alternative)
    inner = {operand.inside: operand for operand in row.operands if operand.inside}

    def slot(operand: AnyOperand) -> Slot:
        brackets = inner.get(operand.name)
        within = None if brackets is None else slot(brackets)
        chosen = accepts if isinstance(row, Pseudo) and operand.name == row.choose else None
        result = Slot(operand, uses[operand.name], within, chosen)
        if isinstance(operand, Operand) and within is None:
            # Rows of a format share their fields, and what is known of their texts.
            result = shared.setdefault((operand.field, operand.name), result)
        return result

    slots = tuple(slot(operand) for operand in row.operands if not operand.inside)
    encode = None if any(slot.needs_place for slot in slots) else _encoder(base, slots)
    return RowEncoder(row, words, base, slots, encode, bool(accepts))


def _is_free(operand: AnyOperand) -> bool:
    """Whether an operand may be missing, which brackets alone may."""
    return operand.kind.optional or (isinstance(operand, Operand) and operand.named)


def _is_chosen(row: Pseudo, alternative: Alternative | None, value: int) -> bool:
    first = next((x for x in row.alternatives if x.when is None or x.when(value)), None)
    return (first or row.alternatives[-1]) is alternative


def _expanded(
    core: Core, row: Pseudo, text: str, number: int, uses: Mapping[str, list[Use]]
) -> int | None:
    """Enter where a line of an expansion uses the operands; gives the bits that never change."""
    line = template(text)
    assert line.head is not None

    def sample(item: Node) -> Node | None:
        for operand in row.operands:
            if is_name(item, "$" + operand.name):
                words = operand.kind.words() if operand.kind.by_name else ()
                return Name(-1, -1, words[0]) if words else Number(-1, -1, 0)
        return None

    example = transform(line, sample)
    assert isinstance(example, Statement)  # as `line` is: only its operands change
    try:
        inner = choose(core.rows[line.head.text], example)
        assert isinstance(inner, Instruction)
        if inner.format.size != WORD_BYTES or any(_is_free(x) for x in inner.operands):
            return None
        nodes = bind(inner, line).given
        bits = inner.match
        for operand in inner.operands:
            node = nodes.get(operand.name)
            names = [x.text[1:] for x in walk(node or NOWHERE) if isinstance(x, Name)]
            used = [name for name in names if name in uses]
            if node is None:
                bits |= operand.field.insert(operand.default or 0)
            elif not used:
                if any(isinstance(x, Here) for x in walk(node)):
                    return None
                bits |= operand.field.insert(value_of(operand, node, Placed()))
            elif len(used) == 1:
                uses[used[0]].append(Use(number, operand, node))
            else:
                return None
    except (Mistake, NotYet):
        return None
    return bits


def _shape(row: Row) -> tuple[bool, ...]:
    """Which of the operands as written have brackets."""
    inner = {operand.inside for operand in row.operands if operand.inside}
    return tuple(operand.name in inner for operand in row.operands if not operand.inside)


def _is_doubtful(row: Row, earlier: Sequence[Row]) -> bool:
    """Whether a plain line cannot tell that none of the rows before is meant."""
    return any(
        _shape(other) == _shape(row) and any(not operand.kind.by_name for operand in other.operands)
        for other in earlier
    )


def _plans(core: Core, rows: Sequence[Row], shared: dict[object, Slot]) -> tuple[RowEncoder, ...]:
    encoders: list[RowEncoder | None] = []
    for place, row in enumerate(rows):
        if _is_doubtful(row, rows[:place]):
            continue
        alternatives = row.alternatives if isinstance(row, Pseudo) else (None,)
        encoders += [_plan(core, row, alternative, shared) for alternative in alternatives]
    return tuple(plan for plan in encoders if plan is not None)


# What `Entries` gives for a mnemonic: the first plan's `encode` if that makes one word, other
# plans for lines without symbols, plans for lines with one.
Entry = tuple[Callable[[str], int] | None, tuple[RowEncoder, ...], tuple[RowEncoder, ...]]
_UNKNOWN: Entry = (None, (), ())


class Entries(dict[str, Entry]):
    """The plans of a core by mnemonic, made when they are asked for."""

    def __init__(self, core: Core | None, watched: Sequence[str] = ()) -> None:
        self._core = core
        self._watched = watched
        self._shared: dict[object, Slot] = {}

    def __missing__(self, mnemonic: str) -> Entry:
        rows = self._core.rows.get(mnemonic) if self._core is not None else None
        if self._core is None or rows is None or mnemonic in self._watched:
            return _UNKNOWN
        encoders = _plans(self._core, rows, self._shared)
        first = encoders[0].encode if encoders and encoders[0].words == 1 else None
        others = encoders[1:] if first is not None else encoders
        entry = self[mnemonic] = (
            first,
            tuple(plan for plan in others if plan.encode is not None),
            tuple(plan for plan in encoders if not plan.chooses and plan.slots),
        )
        return entry


NOTHING = Entries(None)


@lru_cache(maxsize=64)
def entries(core: Core, watched: tuple[str, ...]) -> Entries:
    """The plans of a core, for all programs of this process; none for the `watched` mnemonics."""
    return Entries(core, watched)
