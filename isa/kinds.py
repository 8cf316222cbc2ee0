"""Operand kinds: what a source may write for an operand, and how a disassembly prints it.

The assembler and the disassembler use the same class. If a kind is `by_name`, it parses the
operand's text itself (`parse`). For all other kinds the assembler evaluates the text as an
expression. `check` raises `OperandError`, with a message that gives the range.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import ClassVar

from macaw.isa.lazy_dataclass import dataclass

_MOST_LISTED = 3  # registers that `Register.describe` names one by one


class OperandError(ValueError):
    """The error for a value that an operand cannot have; the message gives the reason."""

    fault = "illegal instruction"  # the fault of a word with such a value


class ReservedBitError(OperandError):
    """The error for an operand's field in which a bit is set that must be 0."""

    fault = "reserved bit set"


@dataclass(frozen=True)
class Kind:
    """The base class of operand kinds. It accepts every number as a value, and no word.

    A disassembly leaves out an operand with the value `unprinted`, which is its default.
    """

    # a value that the disassembler does not print, because it is the default
    unprinted: ClassVar[int | None] = None
    by_name = False  # the text is a word that the kind knows, not an expression
    relative = False  # the source gives an address, the field contains the distance to it
    optional = False  # the source may omit it (a flag)

    def parse(self, text: str) -> int | None:
        """Return the field value for the operand `text`; None if this kind does not accept it."""
        return None

    def check(self, value: int) -> None:
        """Raise `OperandError` unless `value` is legal for the operand's field."""

    def format(self, value: int) -> str:
        """Return the source text of `value`."""
        return str(value)

    def describe(self) -> str:
        """Return the accepted texts in words, for the manual and for error messages."""
        return "a number"

    def words(self) -> tuple[str, ...]:
        """Return the words that this kind accepts, for completion and hints."""
        return ()

    def stands_for(self, value: int, written: bool) -> tuple[str, ...] | None:
        """Return the names of the registers that a value means, one name for each register.

        Return None if values of this kind are not registers. For some kinds, an instruction reads
        more registers than it writes. With `written`, return only the registers that it writes.
        """
        return None

    def about(self, word: str) -> str:
        """Return a sentence with the meaning of an accepted word; "" if the word needs none."""
        return ""

    def hint(self, text: str) -> str:
        """Return a hint for a text that this kind does not accept; "" if it has no hint."""
        return ""


@dataclass(frozen=True)
class Immediate(Kind):
    """The operand kind for a number of `bits` bits, signed or unsigned, a multiple of `step`.

    `low_limit` and `high_limit` replace the least and the greatest number that the bits allow.
    """

    bits: int
    signed: bool = False
    step: int = 1
    low_limit: int | None = None
    high_limit: int | None = None

    @cached_property
    def low(self) -> int:
        natural = -(1 << (self.bits - 1)) if self.signed else 0
        return natural if self.low_limit is None else self.low_limit

    @cached_property
    def high(self) -> int:
        natural = (1 << (self.bits - (1 if self.signed else 0))) - self.step
        return natural if self.high_limit is None else self.high_limit

    def check(self, value: int) -> None:
        if not self.low <= value <= self.high:
            raise OperandError(f"{value} is out of range, {self.low} to {self.high}")
        if value % self.step:
            raise OperandError(f"{value} is not a multiple of {self.step}")

    def describe(self) -> str:
        text = f"{self.low} to {self.high}"
        return text if self.step == 1 else f"{text}, a multiple of {self.step}"


@dataclass(frozen=True)
class Hexadecimal(Immediate):
    """The operand kind for a number that is printed in hexadecimal (upper immediates, masks)."""

    def format(self, value: int) -> str:
        return hex(value)


@dataclass(frozen=True)
class Address(Hexadecimal):
    """The operand kind for an address in memory, written as a symbol or an expression."""

    def describe(self) -> str:
        return f"an address, {self.low:#x} to {self.high:#x}"


@dataclass(frozen=True)
class Relative(Immediate):
    """The operand kind for an address that the word stores as a distance.

    The field contains the distance in bytes from the instruction to the address.
    """

    relative = True

    def describe(self) -> str:
        text = f"an address {self.low} to {self.high} bytes away"
        return text if self.step == 1 else f"{text}, a multiple of {self.step}"


@dataclass(frozen=True)
class Register(Kind):
    """The operand kind for a register of one register file, written by any of its names."""

    names: tuple[tuple[str, ...], ...]  # for each number: the printed name, then aliases
    file: str = "register"
    by_name = True

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, names in enumerate(self.names) for name in names}

    def parse(self, text: str) -> int | None:
        return self._numbers.get(text)

    def check(self, value: int) -> None:
        if not 0 <= value < len(self.names):
            raise OperandError(f"no {self.file} has the number {value}, 0 to {len(self.names) - 1}")

    def format(self, value: int) -> str:
        return self.names[value][0]

    def describe(self) -> str:
        if len(self.names) <= _MOST_LISTED:
            first, last = (names[0] for names in self.names[:-1]), self.names[-1][0]
            return f"a {self.file}, {' or '.join((', '.join(first), last)).removeprefix(' or ')}"
        return f"a {self.file}, {self.names[0][0]} to {self.names[-1][0]}"

    def words(self) -> tuple[str, ...]:
        return tuple(self._numbers)

    def stands_for(self, value: int, written: bool) -> tuple[str, ...]:
        return self.names[value][:1]


@dataclass(frozen=True)
class Choice(Kind):
    """The operand kind for one word of a list. The field contains the index of the word."""

    choices: tuple[str, ...]  # an empty text: the value has no word
    by_name = True

    def parse(self, text: str) -> int | None:
        return self.choices.index(text) if text and text in self.choices else None

    def check(self, value: int) -> None:
        if not 0 <= value < len(self.choices) or not self.choices[value]:
            raise OperandError(f"no choice has the number {value}; {self.describe()}")

    def format(self, value: int) -> str:
        return self.choices[value]

    def describe(self) -> str:
        words = self.words()
        return ("one of " if len(words) > 1 else "") + ", ".join(words)

    def words(self) -> tuple[str, ...]:
        return tuple(word for word in self.choices if word)


@dataclass(frozen=True)
class Flag(Kind):
    """The operand kind for a flag: its field is 1 if the source has the word `word`, else 0."""

    word: str
    by_name = True
    optional = True

    def parse(self, text: str) -> int | None:
        return 1 if text == self.word else None

    def check(self, value: int) -> None:
        if value not in (0, 1):
            raise OperandError(f"{value} is out of range, 0 to 1")

    def format(self, value: int) -> str:
        return self.word if value else ""

    def describe(self) -> str:
        return f"the word {self.word}, or nothing"

    def words(self) -> tuple[str, ...]:
        return (self.word,)


@dataclass(frozen=True)
class Letters(Kind):
    """The operand kind for a set of one-letter flags, such as `iorw` of `fence`.

    The first letter is the highest bit of the field.
    """

    letters: str
    by_name = True

    def parse(self, text: str) -> int | None:
        if text == "0":
            return 0
        value = 0
        for letter in text:
            if letter not in self.letters:
                return None
            bit = 1 << (len(self.letters) - 1 - self.letters.index(letter))
            if value & bit:
                return None
            value |= bit
        return value if text else None

    def check(self, value: int) -> None:
        if not 0 <= value < 1 << len(self.letters):
            raise OperandError(f"{value} is out of range, 0 to {(1 << len(self.letters)) - 1}")

    def format(self, value: int) -> str:
        top = len(self.letters) - 1
        return "".join(x for i, x in enumerate(self.letters) if value >> (top - i) & 1) or "0"

    def describe(self) -> str:
        return f"letters of {self.letters}"


@dataclass(frozen=True)
class Named(Immediate):
    """The operand kind for a number that may have a name, such as the number of a CSR.

    A source writes the name or an expression. `noun` says for messages what the names name.
    """

    names: tuple[tuple[str, int], ...] = field(default=())
    noun: str = ""  # what the names are names of, for messages

    @cached_property
    def _values(self) -> dict[str, int]:
        return dict(self.names)

    @cached_property
    def _texts(self) -> dict[int, str]:
        return {value: name for name, value in reversed(self.names)}

    def parse(self, text: str) -> int | None:
        return self._values.get(text)

    def format(self, value: int) -> str:
        return self._texts.get(value, hex(value))

    def describe(self) -> str:
        return f"a name or {super().describe()}"

    def words(self) -> tuple[str, ...]:
        return tuple(self._values)
