"""Rows made ready for plain lines: the text of each operand leads straight to its bits.

Everything is derived from the tables: a `Plan` is a row (of a pseudo-instruction
an alternative of its expansion), a `Slot` one of its operands as written. A slot
knows for certain what a text means, or it says nothing and the grammar is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

from asm.expressions import MODIFIERS, NotYet, Value, high_part, low_part
from asm.instructions import template
from asm.operands import AnyOperand, bind, check, choose, known_word, value_of
from asm.plain import NAME, NUMBER
from asm.syntax import Binary, Call, Here, Indexed, Local, Mistake, Name, Node, Number, transform
from isa.kinds import Kind
from isa.model import Alternative, Core, Instruction, Operand, Pseudo, PseudoOperand, Row

WORD_BYTES = 4  # of every instruction that a plan makes
_LANE = 8 * WORD_BYTES
_MOST = 1 << 13  # texts that a slot remembers

_NUMBER = re.compile(rf"-?(?:{NUMBER})")
_NAME = re.compile(NAME)
_ADDRESS = re.compile(rf"(?:(%hi|%lo)\()?({NAME}|[0-9]{{1,9}}[bf])(?(1)\))")
_INSIDE = re.compile(r"(.*)\(([^()]*)\)")
_PARTS = {"%hi": high_part, "%lo": low_part}
assert set(_PARTS) <= set(MODIFIERS)

NOWHERE = Name(-1, -1, "")


def plain_number(text: str) -> int | None:
    """The value of a number that is written plainly; None for any other text."""
    return int(text, 0) if _NUMBER.fullmatch(text) else None


class Bits(dict[str, int]):
    """The bits that an operand's text stands for. `KeyError`: that is not certain."""

    __slots__ = ("_resolve",)

    def __init__(self, resolve: Callable[[str], int | None]) -> None:
        self._resolve = resolve

    def __missing__(self, text: str) -> int:
        bits = self._resolve(text.strip(" \t"))
        if bits is None:
            raise KeyError(text)
        if len(self) >= _MOST:
            self.clear()
        self[text] = bits
        return bits


@dataclass(frozen=True, slots=True)
class _Placed:
    """The place of a word and the value of an operand: all that an expansion asks for."""

    address: int = 0
    value: int | None = None

    def here(self) -> Value:
        return self.address

    def name(self, node: Name) -> Value:
        if self.value is None:
            raise NotYet(node, "")
        return self.value

    def local(self, node: Local) -> Value:
        raise NotYet(node, "")

    def indexed(self, node: Indexed) -> Value:
        raise NotYet(node, "")

    def call(self, node: Call) -> Value:
        raise NotYet(node, "")

    def warn(self, message: str, node: Node) -> None:
        """Say nothing: a warning belongs to a line that is not plain."""


@dataclass(frozen=True)
class _Use:
    """Where an operand goes: the field of a word, and the expression that holds it."""

    word: int
    operand: Operand
    node: Node

    @cached_property
    def direct(self) -> Callable[[int], int] | None:
        """The field's value by the operand's, where nothing else decides."""
        if self.operand.kind.relative:
            return None
        if isinstance(self.node, Name):
            return int
        if isinstance(self.node, Call) and isinstance(self.node.arguments[0], Name):
            return _PARTS.get(self.node.function)
        return None

    @cached_property
    def to_place(self) -> tuple[Callable[[int], int], int] | None:
        """For `%lo(operand - . + 4)`: the function, and what is added to the distance."""
        if not isinstance(self.node, Call) or self.node.function not in _PARTS:
            return None
        terms = list(_terms(self.node.arguments[0], 1))
        more = sum(sign * node.value for sign, node in terms if isinstance(node, Number))
        others = {sign: type(node) for sign, node in terms if not isinstance(node, Number)}
        plain = others == {1: Name, -1: Here} and sum(type(x) is not Number for _, x in terms) == 2
        return (_PARTS[self.node.function], more) if plain else None

    def bits(self, value: int, start: int) -> int:
        """The bits of a number; `start` is the address of the first word. Raises `Mistake`."""
        kind = self.operand.kind
        if self.direct is not None:
            value = check(self.operand.name, kind, self.direct(value), self.node)
        elif self.to_place is not None:
            part, more = self.to_place
            distance = value - start - WORD_BYTES * self.word + more
            value = check(self.operand.name, kind, part(distance), self.node)
        else:
            place = _Placed(start + WORD_BYTES * self.word, value)
            value = value_of(self.operand, self.node, place)
        return self.operand.field.insert(value) << _LANE * self.word

    @property
    def needs_place(self) -> bool:
        """Whether the bits hang on where the word lies."""
        return self.operand.kind.relative or any(isinstance(x, Here) for x in _walk(self.node))


def _terms(node: Node, sign: int) -> Iterator[tuple[int, Node]]:
    """What a sum adds (1) and takes away (-1)."""
    if isinstance(node, Binary) and node.operator in "+-":
        yield from _terms(node.left, sign)
        yield from _terms(node.right, sign if node.operator == "+" else -sign)
    else:
        yield sign, node


def _is(node: Node, name: str) -> bool:
    return isinstance(node, Name) and node.text == name


def _walk(node: Node) -> Iterator[Node]:
    found: list[Node] = []
    transform(node, lambda item: found.append(item))
    return iter(found)


class Slot:
    """An operand as written: one of the row's, or two for `imm(rs1)`."""

    def __init__(
        self,
        operand: AnyOperand,
        uses: Sequence[_Use],
        base: Slot | None,
        accepts: Callable[[int], bool] | None,
    ) -> None:
        self._operand = operand
        self._uses = uses
        self._base = base  # what stands in the brackets
        self._accepts = accepts
        self._needs_place = any(use.needs_place for use in uses)
        # Whether the bits are those of the distance, and nothing else.
        self.is_distance = (
            len(uses) == 1 and isinstance(uses[0].node, Name) and uses[0].operand.kind.relative
        )
        self._distances: dict[int, int] = {}
        self._words = Bits(self._resolve)
        self.bits = Bits(self._bracketed) if base is not None else self._words

    def _bracketed(self, text: str) -> int | None:
        outer, opening, inner = text.partition("(")
        if self._base is None or not opening or inner[-1:] != ")":
            return None
        return self._words[outer] | self._base.bits[inner[:-1]]

    def _resolve(self, text: str) -> int | None:
        """The bits of a word of the operand's kind, or of a number that may stand here."""
        kind = self._operand.kind
        if _NAME.fullmatch(text):
            return self._word(kind, Name(-1, -1, text))
        value = plain_number(text)
        if value is None or kind.by_name or self._needs_place:
            return None
        if self._accepts is not None and not self._accepts(value):
            return None
        return self._value(value)

    def _word(self, kind: Kind, node: Name) -> int | None:
        if known_word(kind, node) is None:
            return None
        bits = 0
        for use in self._uses:
            value = known_word(use.operand.kind, node)
            if value is None or not isinstance(use.node, Name):
                return None
            bits |= use.operand.field.insert(value) << _LANE * use.word
        return bits

    def _value(self, value: int, start: int = 0) -> int | None:
        bits = 0
        try:
            if isinstance(self._operand, PseudoOperand):
                check(self._operand.name, self._operand.kind, value, NOWHERE)
            for use in self._uses:
                bits |= use.bits(value, start)
        except (Mistake, NotYet):
            return None
        return bits

    def symbol(self, text: str) -> tuple[int, str, str] | None:
        """What a text asks of a symbol: the bits beside it, `%hi`, `%lo` or "", its name or 1b."""
        if self._operand.kind.by_name:
            return None
        beside: int | None = 0
        text = text.strip(" \t")
        if self._base is not None:
            inside = _INSIDE.fullmatch(text)
            if inside is None or not inside[1]:
                return None
            text, beside = inside[1], self._base._resolve(inside[2])
        match = _ADDRESS.fullmatch(text)
        if match is None or beside is None or self._operand.kind.parse(match[2]) is not None:
            return None
        return beside, match[1] or "", match[2]

    def late(self, modifier: str, address: int, start: int) -> int | None:
        """The bits of an address, the first word lying at `start`; None: the grammar is asked."""
        if modifier:
            return None if self._needs_place else self._value(_PARTS[modifier](address), start)
        if not self.is_distance:
            return self._value(address, start)
        distance = address - start
        bits = self._distances.get(distance)
        if bits is None:
            bits = self._value(address, start)
            if bits is not None and len(self._distances) < _MOST:
                self._distances[distance] = bits
        return bits


@dataclass(frozen=True, eq=False, slots=True)
class Plan:
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
                asked = slot.symbol(text) if waiting is None else None
                if asked is None:
                    return None
                beside, modifier, name = asked
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
) -> Plan | None:
    """The plan of a row, or None if no plain line can be sure of it."""
    if any(_is_free(operand) for operand in row.operands):
        return None
    base, uses, words = 0, {operand.name: list[_Use]() for operand in row.operands}, 1
    if isinstance(row, Instruction):
        if row.format.size != WORD_BYTES:
            return None
        base = row.match
        for operand in row.operands:
            uses[operand.name].append(_Use(0, operand, Name(-1, -1, "$" + operand.name)))
    else:
        assert alternative is not None
        words = len(alternative.lines)
        for number, line in enumerate(alternative.lines):
            bits = _expanded(core, row, line, number, uses)
            if bits is None:
                return None
            base |= bits << _LANE * number
    accepts = None
    if isinstance(row, Pseudo) and row.choose:
        accepts = partial(_is_chosen, row, alternative)
    inner = {operand.inside: operand for operand in row.operands if operand.inside}

    def slot(operand: AnyOperand) -> Slot:
        brackets = inner.get(operand.name)
        within = None if brackets is None else slot(brackets)
        chosen = accepts if isinstance(row, Pseudo) and operand.name == row.choose else None
        made = Slot(operand, uses[operand.name], within, chosen)
        if isinstance(operand, Operand) and within is None:
            # Rows of a format share their fields, and what is known of their texts.
            made = shared.setdefault((operand.field, operand.name), made)
        return made

    slots = tuple(slot(operand) for operand in row.operands if not operand.inside)
    encode = None if any(slot._needs_place for slot in slots) else _encoder(base, slots)
    return Plan(row, words, base, slots, encode, bool(accepts))


def _is_free(operand: AnyOperand) -> bool:
    """Whether an operand may be missing, which brackets alone may."""
    return operand.kind.optional or (isinstance(operand, Operand) and operand.named)


def _is_chosen(row: Pseudo, alternative: Alternative | None, value: int) -> bool:
    first = next((x for x in row.alternatives if x.when is None or x.when(value)), None)
    return (first or row.alternatives[-1]) is alternative


def _expanded(
    core: Core, row: Pseudo, text: str, number: int, uses: Mapping[str, list[_Use]]
) -> int | None:
    """Enter where a line of an expansion uses the operands; gives the bits that never change."""
    line = template(text)
    assert line.head is not None

    def sample(item: Node) -> Node | None:
        for operand in row.operands:
            if _is(item, "$" + operand.name):
                words = operand.kind.words() if operand.kind.by_name else ()
                return Name(-1, -1, words[0]) if words else Number(-1, -1, 0)
        return None

    example = transform(line, sample)
    try:
        inner = choose(core.rows[line.head.text], example)  # type: ignore[arg-type]
        assert isinstance(inner, Instruction)
        if inner.format.size != WORD_BYTES or any(_is_free(x) for x in inner.operands):
            return None
        given = bind(inner, line).given
        bits = inner.match
        for operand in inner.operands:
            node = given.get(operand.name)
            names = [x.text[1:] for x in _walk(node or NOWHERE) if isinstance(x, Name)]
            used = [name for name in names if name in uses]
            if node is None:
                bits |= operand.field.insert(operand.default or 0)
            elif not used:
                if any(isinstance(x, Here) for x in _walk(node)):
                    return None
                bits |= operand.field.insert(value_of(operand, node, _Placed()))
            elif len(used) == 1:
                uses[used[0]].append(_Use(number, operand, node))
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


def _plans(core: Core, rows: Sequence[Row], shared: dict[object, Slot]) -> tuple[Plan, ...]:
    found: list[Plan | None] = []
    for place, row in enumerate(rows):
        if _is_doubtful(row, rows[:place]):
            continue
        alternatives = row.alternatives if isinstance(row, Pseudo) else (None,)
        found += [_plan(core, row, alternative, shared) for alternative in alternatives]
    return tuple(plan for plan in found if plan is not None)


# What `Entries` gives for a mnemonic: the first plan's `encode` if that makes one word, other
# plans for lines without symbols, plans for lines with one.
Entry = tuple[Callable[[str], int] | None, tuple[Plan, ...], tuple[Plan, ...]]
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
        found = _plans(self._core, rows, self._shared)
        first = found[0].encode if found and found[0].words == 1 else None
        others = found[1:] if first is not None else found
        entry = self[mnemonic] = (
            first,
            tuple(plan for plan in others if plan.encode is not None),
            tuple(plan for plan in found if not plan.chooses and plan.slots),
        )
        return entry


NOTHING = Entries(None)


@lru_cache(maxsize=64)
def entries(core: Core, watched: tuple[str, ...]) -> Entries:
    """The plans of a core, for all programs of this process; none for the `watched` mnemonics."""
    return Entries(core, watched)
