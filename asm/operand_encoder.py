"""Encodes operands without the parser: from the text of an operand to the bits of its field.

An encoder returns bits only if the meaning of a text is certain. A line with another text is not
simple (`asm/fast_path.py`): the assembler parses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property

from macaw.asm.expressions import MODIFIERS, NotYet, Value, high_part, low_part
from macaw.asm.operands import AnyOperand, check, known_word, value_of
from macaw.asm.simple_statement import NAME, NUMBER
from macaw.asm.syntax import (
    Binary,
    Call,
    Here,
    Indexed,
    LocalLabel,
    Mistake,
    Name,
    Node,
    Number,
    walk,
)
from macaw.isa.kinds import Immediate, Kind
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.lazy_pattern import lazy_pattern
from macaw.isa.rows import Operand, PseudoOperand

WORD_BYTES = 4  # of every instruction that an encoder makes
LANE = 8 * WORD_BYTES  # bits of a word; of several words in a number the first is the lowest
_MOST = 1 << 13  # texts that an encoder remembers

_NUMBER = lazy_pattern(rf"-?(?:{NUMBER})")
_NAME = lazy_pattern(NAME)
_ADDRESS = lazy_pattern(rf"(?:(%hi|%lo)\()?({NAME}|[0-9]{{1,9}}[bf])(?(1)\))")
_INSIDE = lazy_pattern(r"(.*)\(([^()]*)\)")
_PARTS = {"%hi": high_part, "%lo": low_part}
assert set(_PARTS) <= set(MODIFIERS)

NOWHERE = Name(-1, -1, "")  # the place of a mistake that is not reported


def plain_number(text: str) -> int | None:
    """Return the value of a number such as `-12` or `0x1f`; None for any other text."""
    digits = text[1:] if text[:1] == "-" else text
    if len(digits) <= 18 and digits.isdecimal() and digits.isascii() and digits[0] != "0":
        return int(text)  # the most frequent numbers, without a regular expression
    return int(text, 0) if _NUMBER.fullmatch(text) else None


class BitsByText(dict[str, int]):
    """A cache of an operand's bits, by the operand's text.

    Access raises `KeyError` for a text whose meaning is not certain.
    """

    __slots__ = ("_resolve", "_unknown")

    def __init__(self, resolve: Callable[[str], int | None]) -> None:
        self._resolve = resolve
        self._unknown: set[str] = set()  # texts without certain meaning

    def __missing__(self, text: str) -> int:
        if text in self._unknown:
            raise KeyError(text)
        bits = self._resolve(text.strip(" \t"))
        if bits is None:
            if len(self._unknown) < _MOST:
                self._unknown.add(text)
            raise KeyError(text)
        if len(self) >= _MOST:
            self.clear()
        self[text] = bits
        return bits


@dataclass(frozen=True, slots=True)
class WordPlace:
    """The context in which the expressions for the fields of one word are evaluated.

    `.` has the value `address`, the word's address. The only symbol in the expressions is an
    operand of the statement. Its value is `value`; None means that it is not known.
    """

    address: int = 0
    value: int | None = None

    def here(self) -> Value:
        return self.address

    def name(self, node: Name) -> Value:
        if self.value is None:
            raise NotYet(node, "")
        return self.value

    def local(self, node: LocalLabel) -> Value:
        raise NotYet(node, "")

    def indexed(self, node: Indexed) -> Value:
        raise NotYet(node, "")

    def call(self, node: Call) -> Value:
        raise NotYet(node, "")

    def may_change(self, node: Node) -> bool:
        return False

    def note_use(self, node: Node) -> None:
        """Ignore the use, because the names are of no file."""

    def warn(self, message: str, node: Node, hint: str = "", *, name: str) -> None:
        """Ignore a warning, because a simple line never causes one."""


@dataclass(frozen=True)
class OperandUse:
    """A field that depends on an operand of a pseudo-instruction.

    The pseudo-instruction expands to words. The field is in the word with index `word`, and stores
    the operand `operand` of this word's instruction. `node` is the expression for the field's
    value; it contains one operand of the pseudo-instruction.
    """

    word: int
    operand: Operand
    node: Node

    @cached_property
    def direct(self) -> Callable[[int], int] | None:
        """The function that computes the field's value from the pseudo-instruction's operand.

        It is the identity, `%hi` or `%lo`. The property is None for all other expressions, such as
        those that also depend on the address of the word.
        """
        if self.operand.kind.relative:
            return None
        if isinstance(self.node, Name):
            return int
        if isinstance(self.node, Call) and isinstance(self.node.arguments[0], Name):
            return _PARTS.get(self.node.function)
        return None

    @cached_property
    def to_address(self) -> tuple[Callable[[int], int], int] | None:
        """The function and the constant in a field's expression.

        For `%lo(operand - . + 4)` these are `%lo` and 4. The function's argument is the distance
        from the word to the operand, plus the constant. The property is None for fields of other
        forms.
        """
        if not isinstance(self.node, Call) or self.node.function not in _PARTS:
            return None
        terms = list(_terms(self.node.arguments[0], 1))
        more = sum(sign * node.value for sign, node in terms if isinstance(node, Number))
        others = {sign: type(node) for sign, node in terms if not isinstance(node, Number)}
        plain = others == {1: Name, -1: Here} and sum(type(x) is not Number for _, x in terms) == 2
        return (_PARTS[self.node.function], more) if plain else None

    @cached_property
    def insert(self) -> Callable[[int], int]:
        """The function from a field value to its bits; raises `Mistake` for an illegal value."""
        kind, field, name, node = (
            self.operand.kind,
            self.operand.field,
            self.operand.name,
            self.node,
        )
        shift = LANE * self.word

        def insert(value: int) -> int:
            return field.insert(check(name, kind, value, node)) << shift

        if not isinstance(kind, Immediate) or type(kind).check is not Immediate.check:
            return insert
        if kind.step != 1 or len(field.slices) != 1 or field.slices[0].value:
            return insert
        # One piece holds the whole value: `insert_piece` does the same in fewer steps.
        low, high, shift_in_one = kind.low, kind.high, shift + field.slices[0].word
        mask = (1 << field.slices[0].width) - 1

        def insert_piece(value: int) -> int:
            if low <= value <= high:
                return (value & mask) << shift_in_one
            return insert(value)

        return insert_piece

    @cached_property
    def bits(self) -> Callable[[int, int], int]:
        """The function that computes the field's bits; it may raise `Mistake`.

        Its arguments are the value of the pseudo-instruction's operand and the address of the
        expansion's first word.
        """
        direct, insert, place = self.direct, self.insert, WORD_BYTES * self.word
        if direct is not None:
            return lambda value, start: insert(direct(value))
        if self.to_address is not None:
            part, more = self.to_address
            more -= place
            return lambda value, start: insert(part(value - start + more))

        def evaluate(value: int, start: int) -> int:
            found = value_of(self.operand, self.node, WordPlace(start + place, value))
            return self.operand.field.insert(found) << LANE * self.word

        return evaluate

    @property
    def needs_address(self) -> bool:
        """Whether the bits depend on the address of the word."""
        return self.operand.kind.relative or any(isinstance(x, Here) for x in walk(self.node))


def _terms(node: Node, sign: int) -> Iterator[tuple[int, Node]]:
    """Yield (sign, term) for each term of the sum `node`, whose own sign is `sign`: 1 or -1."""
    if isinstance(node, Binary) and node.operator in "+-":
        yield from _terms(node.left, sign)
        yield from _terms(node.right, sign if node.operator == "+" else -sign)
    else:
        yield sign, node


def is_name(node: Node, name: str) -> bool:
    """Return whether a node is a `Name` with the text `name`."""
    return isinstance(node, Name) and node.text == name


class OperandEncoder:
    """Encodes the text of an operand: a single operand, or offset and base, `imm(rs1)`."""

    def __init__(
        self,
        operand: AnyOperand,
        uses: Sequence[OperandUse],
        base: OperandEncoder | None,
        accepts: Callable[[int], bool] | None,
    ) -> None:
        self._operand = operand
        self._uses = uses
        self.base = base  # the operand in brackets
        self._accepts = accepts
        self.needs_address = any(use.needs_address for use in uses)
        # Whether the bits of a symbol without a modifier follow from its distance alone.
        self.by_distance = all(
            (isinstance(use.node, Name) and use.operand.kind.relative) or use.to_address is not None
            for use in uses
        )
        self.distances: dict[int, int] = {}  # the bits, if they depend on the distance alone
        self._addresses: dict[tuple[str, int], int] = {}
        self._symbols: dict[str, tuple[int, str, str]] = {}
        self.words = BitsByText(self._resolve)
        self.closed = BitsByText(self._before_bracket)
        self.bits = BitsByText(self._bracketed) if base is not None else self.words

    @cached_property
    def _range(self) -> range:
        """A range of numbers that the operand's field certainly stores unchanged, perhaps empty."""
        is_stored = not isinstance(self._operand, PseudoOperand) and len(self._uses) == 1
        is_plain = not self._operand.kind.by_name and not self.needs_address
        return self._natural if is_stored and is_plain else range(0)

    @cached_property
    def _natural(self) -> range:
        """A range of numbers that the operand's kind certainly accepts, perhaps empty."""
        kind = self._operand.kind
        if not isinstance(kind, Immediate) or type(kind).check is not Immediate.check:
            return range(0)
        return range(kind.low, kind.high + 1) if kind.step == 1 else range(0)

    def _bracketed(self, text: str) -> int | None:
        outer, opening, inner = text.partition("(")
        if self.base is None or not opening:
            return None
        return self.words[outer] | self.base.closed[inner]

    def _before_bracket(self, text: str) -> int | None:
        """Return the bits of the operand in `text`, the text after an opening bracket: `sp)`."""
        return self.bits[text[:-1]] if text[-1:] == ")" else None

    def _resolve(self, text: str) -> int | None:
        """Return the bits of a fixed word or a plain number; None for other texts."""
        value = plain_number(text)
        if value is not None and value in self._range:
            return self._uses[0].insert(value)
        kind = self._operand.kind
        if value is None and _NAME.fullmatch(text):
            return self._word(kind, Name(-1, -1, text))
        if value is None or kind.by_name or self.needs_address:
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
            bits |= use.operand.field.insert(value) << LANE * use.word
        return bits

    def bits_of_number(self, value: int) -> int | None:
        """Return the bits of the field for the number `value`; None if the number does not fit.

        The method is for a number that also selects the instruction's encoding, as the operand of
        `li` does. The caller has already selected the encoding.
        """
        if self.needs_address or self._operand.kind.by_name:
            return None
        return self._value(value)

    def certain_bits(self, text: str) -> int | None:
        """Return the bits for an operand's text; None if the meaning of the text is not certain."""
        bits = self.bits.get(text)
        if bits is None:
            with suppress(KeyError):
                bits = self.bits[text]
        return bits

    def _value(self, value: int, start: int = 0) -> int | None:
        bits = 0
        try:
            if value not in self._natural and isinstance(self._operand, PseudoOperand):
                check(self._operand.name, self._operand.kind, value, NOWHERE)
            for use in self._uses:
                bits |= use.bits(value, start)
        except (Mistake, NotYet):
            return None
        return bits

    def symbol(self, text: str) -> tuple[int, str, str] | None:
        """Return (base bits, modifier, symbol) for an operand's text that contains a symbol.

        Return None for other texts.

        Base bits are the bits of the register in brackets, or 0 if there is no register. The
        modifier is `%hi`, `%lo` or empty. The symbol is a name or a local label such as `1b`.
        """
        request = self._symbols.get(text)
        if request is None:
            request = self._split_symbol(text.strip(" \t"))
            if request is not None and len(self._symbols) < _MOST:
                self._symbols[text] = request
        return request

    def _split_symbol(self, text: str) -> tuple[int, str, str] | None:
        """Return (base bits, modifier, symbol) for a text with a symbol; None for other texts.

        `text` has no blanks around it. Base bits are the bits of the register in brackets, or 0.
        The modifier is `%hi`, `%lo` or empty.
        """
        if self._operand.kind.by_name:
            return None
        beside: int | None = 0
        if self.base is not None:
            inside = _INSIDE.fullmatch(text)
            if inside is None or not inside[1]:
                return None
            text, beside = inside[1], self.base._resolve(inside[2])
        match = _ADDRESS.fullmatch(text)
        if match is None or beside is None or self._operand.kind.parse(match[2]) is not None:
            return None
        return beside, match[1] or "", match[2]

    def bits_of_address(self, modifier: str, address: int, start: int) -> int | None:
        """Return the bits for a symbol at `address`; None if the grammar must encode the operand.

        `modifier` is `%hi`, `%lo` or empty. `start` is the address of the statement's first word.
        """
        if modifier and self.needs_address:
            return None
        if not self.needs_address:
            bits = self._addresses.get((modifier, address))
            if bits is None:
                bits = self._value(_PARTS[modifier](address) if modifier else address, start)
                if bits is not None and len(self._addresses) < _MOST:
                    self._addresses[modifier, address] = bits
            return bits
        if not self.by_distance:
            return self._value(address, start)
        distance = address - start
        bits = self.distances.get(distance)
        if bits is None:
            bits = self._value(address, start)
            if bits is not None and len(self.distances) < _MOST:
                self.distances[distance] = bits
        return bits
