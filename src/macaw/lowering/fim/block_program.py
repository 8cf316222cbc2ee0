"""Represents the programs of an island's blocks, for writing them as source and predicting times.

A word is one 32-bit instruction of an island. A block is a list of words and of repeated words.
Most words have the columns and rows that they access only in their text, because the prediction
does not need them. A word that sets the pointers of a buffer also has the two columns as integers:
`push` and `pull` open the rows of these columns, which takes time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from macaw.isa.fim_circuit import GIO, IOSA, OPERATIONS, ROP, RZ, Operation
from macaw.isa.lazy_dataclass import dataclass

# The kind of a word, for the timing.
PLAIN, ACT, OPERATE, PULL, PUSH, POINT, LOCK, UNLOCK = range(8)
# The operations that programs use, as indices in OPERATIONS.
READ, STORE, MOVE, FROM_RZ, TO_GIO, COMPUTE, COMPUTE_ALONE = map(
    OPERATIONS.index,
    (
        Operation(ROP, IOSA),
        Operation(IOSA, RZ),
        Operation(ROP, GIO),
        Operation(ROP, RZ),
        Operation(GIO, RZ),
        Operation(RZ, ROP, IOSA),
        Operation(RZ, ROP, GIO),
    ),
)


@dataclass(frozen=True)
class Word:
    """An instruction of an island: its source text, its kind, its repeat count, and its operands.

    The operands are only those that affect the time:

    - OPERATE: `operation` is an index into OPERATIONS; if it computes, `value` is the index of its
      mode in `Block.modes`.
    - PULL, PUSH, LOCK, UNLOCK: `value` is the number of the buffer. A PULL fills the register
      `register`; `every` says that all banks get the same column.
    - POINT sets the start and end pointers of buffer number `value` to the columns `start` and
      `end`, counted over all banks of the island; -1 leaves a pointer unchanged.
    """

    text: str
    kind: int = PLAIN
    count: int = 1
    value: int = 0
    operation: int = 0
    register: str = ""  # the register of a PULL
    every: bool = False
    start: int = -1
    end: int = -1


@dataclass(frozen=True)
class Repeat:
    """Words that the source repeats `count` times.

    `counter` is the name of an assembler symbol that counts the repetitions from 0, or empty.
    """

    count: int
    body: tuple[Item, ...]
    counter: str = ""


@dataclass(frozen=True)
class Loop:
    """Words that the block executes `count` times, between the words `loop` and `endloop`."""

    count: int
    body: tuple[Word, ...]


Item = Word | Repeat | Loop


@dataclass(frozen=True)
class Mode:
    """A setting of the ALU of a bank's circuit.

    `function`, `arrangement` and `form` are indices in `FUNCTIONS`, `ARRANGEMENTS` and `FORMATS` of
    `macaw.isa.fim_circuit`. `accumulates` says whether the ALU adds its results to those in Rz.
    """

    function: int
    arrangement: int
    form: int
    accumulates: bool = False


@dataclass(frozen=True)
class Block:
    """A block: its banks and its words without the final `end`.

    Words refer to `modes` by index. `row` is the row that is open when the block ends.
    """

    banks: tuple[int, ...]
    items: tuple[Item, ...]
    modes: tuple[Mode, ...]
    row: int

    def lines(self, label: str = "") -> list[str]:
        """Return the source lines of the block; the first line has `label` if it is not empty."""
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
        if isinstance(item, Loop):
            yield from (f"loop {item.count}", *_lines(item.body), "endloop")
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
    """Return the number of words of `items`.

    The words of a `Repeat` count once for each repetition. The words of a `Loop` count only once,
    and `loop` and `endloop` are two more.
    """
    words = 0
    for item in items:
        if isinstance(item, Word):
            words += 1
        elif isinstance(item, Loop):
            words += 2 + len(item.body)
        else:
            words += item.count * size(item.body)
    return words


_LOOP, _ENDLOOP = Word("loop"), Word("endloop")


def runs(items: Sequence[Item]) -> Iterator[tuple[list[Word], int]]:
    """Yield the words of a program, in the order in which the island executes them.

    Each pair is (words, count): the island executes these words `count` times.
    """
    for are_words, group in groupby(items, lambda item: isinstance(item, Word)):
        if are_words:
            yield [item for item in group if isinstance(item, Word)], 1
            continue
        for item in group:
            if isinstance(item, Loop):
                yield [_LOOP], 1
                yield [*item.body, _ENDLOOP], item.count
            elif isinstance(item, Repeat):
                inner = [word for words, count in runs(item.body) for word in words * count]
                yield inner, item.count
