"""The words of an island's blocks: what a program is made of, and its source.

A block is written as words and repetitions of them; sources and predictions are made of the same
list. Columns and rows are text for the assembler, for they take no part in the timing; pushed and
pulled columns do, for their rows open and close.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from macaw.isa.fim_circuit import GIO, IOSA, OPERATIONS, ROP, RZ, Operation

# What a word is, for the timing.
PLAIN, ACT, OPERATE, PULL, PUSH, POINT, LOCK, UNLOCK = range(8)
# The operations that programs use, by their places in OPERATIONS.
READ, STORE, MOVE, FROM_RZ, COMPUTE, COMPUTE_ALONE = map(
    OPERATIONS.index,
    (
        Operation(ROP, IOSA),
        Operation(IOSA, RZ),
        Operation(ROP, GIO),
        Operation(ROP, RZ),
        Operation(RZ, ROP, IOSA),
        Operation(RZ, ROP, GIO),
    ),
)
# By operation: the registers for which it waits until what was pulled is there.
_REGISTERS = [[name for name in (*row.reads, row.to) if name in (ROP, GIO)] for row in OPERATIONS]


@dataclass(frozen=True)
class Word:
    """A word: its text, what it is, how often it is done, and what else its time depends on.

    OPERATE: `operation` is a place in OPERATIONS, `value` the number of its `Mode` if it computes.
    PULL, PUSH, LOCK, UNLOCK: `value` is the buffer's number; `every`: one column for all banks.
    POINT (a pointer of a buffer moves): start and end go to these columns, -1: where they are.
    """

    text: str
    kind: int = PLAIN
    count: int = 1
    value: int = 0
    operation: int = 0
    register: str = ""  # of PULL
    every: bool = False
    start: int = -1
    end: int = -1


@dataclass(frozen=True)
class Repeat:
    """Words that stand in the program several times; `counter` counts up behind each, from 0."""

    count: int
    body: tuple[Item, ...]
    counter: str = ""


Item = Word | Repeat


@dataclass(frozen=True)
class Mode:
    """What the ALU does: function, arrangement, format by their numbers, and accumulate."""

    function: int
    arrangement: int
    form: int
    accumulates: bool = False


@dataclass(frozen=True)
class Block:
    """A block: its banks and its words without `end`.

    `modes` are those that COMPUTE names, `row` is the row that is open at the end.
    """

    banks: tuple[int, ...]
    items: tuple[Item, ...]
    modes: tuple[Mode, ...]
    row: int

    def lines(self, label: str = "") -> list[str]:
        """The source."""
        head = f"{label}: " if label else ""
        numbers = ", ".join(map(str, self.banks))
        if len(self.banks) == self.banks[-1] - self.banks[0] + 1 > 1:
            numbers = f"{self.banks[0]}-{self.banks[-1]}"
        return [f"{head}.block banks={numbers}", *_lines(self.items), "end"]


def _lines(items: Sequence[Item]) -> Iterator[str]:
    for item in items:
        if isinstance(item, Word):
            yield item.text
            continue
        if item.counter:
            yield f".set {item.counter}, 0"
        if item.count > 1:
            yield f".rept {item.count}"
        yield from _lines(item.body)
        if item.counter and item.count > 1:
            yield f".set {item.counter}, {item.counter} + 1"
        if item.count > 1:
            yield ".endr"


def size(items: Sequence[Item]) -> int:
    """Words of a program."""
    return sum(1 if isinstance(item, Word) else item.count * size(item.body) for item in items)


def flat(items: Sequence[Item]) -> list[Word]:
    """The words one after the other."""
    words: list[Word] = []
    for item in items:
        if isinstance(item, Word):
            words.append(item)
        else:
            words += flat(item.body) * item.count
    return words
