"""Lines with each instruction of a core: operands at their bounds, just outside, and other mistakes.

All lines follow from the core's table and the seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple
from zlib import crc32

from macaw.isa import registry
from macaw.isa.kinds import Choice, Flag, Immediate, Kind, Letters, Named, Register
from macaw.isa.model import Core
from macaw.isa.rows import Instruction, Operand, PseudoOperand, Row

WRONG_KINDS = ('"text"', "1.5", "(a0)", "", "-", "1 2", "%hi(K)", "a0, a1", "K[0]", "'", "@")
HUGE = ("0x100000000", "-0x80000001", "1 << 63", "0x10000000000000000")


class Line(NamedTuple):
    """A generated line. `is_good` is None if the table alone does not say whether it assembles."""

    row: Row
    text: str
    is_good: bool | None


def misspelt(word: str, random: Random) -> str:
    """The word with one letter too few, too many, exchanged, or in upper case."""
    place = random.randrange(len(word))
    kind = random.randrange(4)
    if kind == 0 and len(word) > 1:
        return word[:place] + word[place + 1 :]
    if kind == 1:
        return word[:place] + word[place] + word[place:]
    if kind == 2 and word != word.swapcase():
        return word.swapcase()
    return word[:place] + random.choice("aeqx7") + word[place + 1 :]


def number_of(row: Row) -> int:
    """A number of 32 bits that depends on nothing but the row's syntax."""
    return crc32(f"{row.mnemonic} {row.syntax}".encode())


def drawn(rows: Sequence[Row], random: Random) -> Row:
    """A row. If rows are added to the table, most draws still give the same row."""
    place = random.getrandbits(32)
    return min(rows, key=lambda row: (number_of(row) - place) % (1 << 32))


def numbers(kind: Immediate) -> tuple[list[int], list[int]]:
    """The numbers at the bounds of a kind, and the numbers just outside or between its steps."""
    low, high, step = kind.low, kind.high, kind.step
    first, last = -(-low // step) * step, high // step * step
    good = {first, last, min(first + step, last), max(last - step, first)}
    bad = {low - 1, high + 1, first - step, last + step, last + step * 2}
    if step > 1:
        bad |= {first + 1, last - 1}
    return sorted(good), sorted(x for x in bad if not (low <= x <= high and x % step == 0))


def good_texts_of(item: Operand | PseudoOperand) -> list[str]:
    """Texts that an operand accepts. The targets of pseudo-instructions are near the line."""
    is_target = item.name == "target" and not item.kind.relative
    return ["first", "last", "1b", "1f", ". + 8", "_start"] if is_target else good_texts(item.kind)


def good_texts(kind: Kind) -> list[str]:
    """Texts that a kind accepts, the bounds first."""
    if isinstance(kind, Register):
        every = [names for names in kind.names if names]
        return list(
            dict.fromkeys(
                name for names in (every[0], every[-1], every[len(every) // 2]) for name in names
            )
        )
    if isinstance(kind, Choice):
        return [kind.words()[0], kind.words()[-1]]
    if isinstance(kind, Flag):
        return [kind.word]
    if isinstance(kind, Letters):
        return [kind.letters, kind.letters[0], kind.letters[-1], "0"]
    if not isinstance(kind, Immediate):
        return ["0", "1"]
    good, _bad = numbers(kind)
    if kind.relative:
        return [f". + {x}" if x >= 0 else f". - {-x}" for x in good] + ["first", "last", "1b", "1f"]
    texts = [str(good[0]), str(good[-1]), hex(good[-1]), *map(str, good[1:-1])]
    if isinstance(kind, Named) and kind.words():
        texts += [kind.words()[0], kind.words()[-1]]
    return texts


def bad_texts(kind: Kind, random: Random) -> list[str]:
    """Texts that a kind refuses: just outside of its bounds, misspelt, or of another kind."""
    if isinstance(kind, Register):
        last = [names[0] for names in kind.names if names][-1]
        return [
            misspelt(last, random),
            *random.sample(("x32", "7", "gr32", "vr16", "nosuch", "t7", "a"), 2),
        ]
    if isinstance(kind, Choice):
        return [misspelt(kind.words()[-1], random), "nosuch", "0"]
    if isinstance(kind, Flag):
        return [misspelt(kind.word, random), f"{kind.word}, {kind.word}"]
    if isinstance(kind, Letters):
        return [kind.letters[0] * 2, "q", "1", kind.letters.upper()]
    if not isinstance(kind, Immediate):
        return [random.choice(WRONG_KINDS)]
    _good, bad = numbers(kind)
    texts = (
        [f". + {x}" if x >= 0 else f". - {-x}" for x in bad]
        if kind.relative
        else list(map(str, bad))
    )
    texts += [random.choice(HUGE), "nosuch"]
    if isinstance(kind, Named) and kind.words():
        texts.append(misspelt(random.choice(kind.words()), random))
    return texts


def joined(row: Row, texts: dict[str, str]) -> str:
    """The line of a row with a text for each operand; operands without a text are left out."""
    parts: list[str] = []
    for item in row.operands:
        if item.name not in texts:
            continue
        text = texts[item.name]
        if item.inside:
            parts[-1:] = [f"{parts[-1] if parts else ''}({text})"]
        elif isinstance(item, Operand) and item.named:
            parts.append(f"{item.name}={text}")
        else:
            parts.append(text)
    return f"{row.mnemonic} {', '.join(parts)}".rstrip()


def base_texts(row: Row, random: Random) -> dict[str, str]:
    """A text that fits for each operand."""
    return {item.name: random.choice(good_texts_of(item)) for item in row.operands}


def good_lines(row: Row, random: Random) -> Iterator[Line]:
    """Lines in which each operand has each of its good texts once."""
    columns = {item.name: good_texts_of(item) for item in row.operands}
    count = max(map(len, columns.values()), default=1)
    for place in range(count):
        texts = {name: found[place % len(found)] for name, found in columns.items()}
        yield Line(row, joined(row, texts), True)
    optional = [x for x in row.operands if x.default is not None and not x.inside]
    if optional:
        left = {
            name: text
            for name, text in base_texts(row, random).items()
            if name not in {x.name for x in optional}
        }
        has_inner = any(x.inside for x in row.operands)
        yield Line(row, joined(row, left), None if has_inner else True)


def bad_lines(row: Row, random: Random) -> Iterator[Line]:
    """Lines in which one operand has a bad text, and lines with other mistakes."""
    for item in row.operands:
        for text in bad_texts(item.kind, random):
            line = joined(row, base_texts(row, random) | {item.name: text})
            yield Line(row, line, None if _may_fit(row, item, text) else False)
        wrong = joined(row, base_texts(row, random) | {item.name: random.choice(WRONG_KINDS)})
        yield Line(row, wrong, None)
    yield from shape_lines(row, random)


def _may_fit(row: Row, item: Operand | PseudoOperand, text: str) -> bool:
    """Whether a text that the kind refuses may be good for another row of the mnemonic."""
    return (
        not isinstance(row, Instruction)
        or isinstance(item.kind, Register)
        or text == "nosuch"
        or item.kind.relative
    )


def shape_lines(row: Row, random: Random) -> Iterator[Line]:
    """Lines with too few or too many operands, empty ones, names, and a misspelt mnemonic."""
    base = base_texts(row, random)
    line = joined(row, base)
    texts = [
        f"{line}, zero" if base else f"{line} zero",
        f"{misspelt(row.mnemonic, random)}{line[len(row.mnemonic) :]}",
    ]
    if base:
        names = list(base)
        short = dict(base)
        del short[names[-1]]
        texts += [
            joined(row, short),
            f"{line},",
            f"{row.mnemonic} , {line[len(row.mnemonic) + 1 :]}",
        ]
        named = ", ".join(f"{name}={text}" for name, text in base.items())
        first = names[0]
        texts += [
            f"{row.mnemonic} {named}",
            f"{line}, {first}={base[first]}",
            f"{line}, {misspelt(first, random)}={base[first]}",
        ]
        texts.append(line.replace(", ", " ", 1) if ", " in line else f"{line})")
    texts = random.sample(texts, min(5, len(texts)))
    yield from (Line(row, text, None) for text in texts)


def rows(core: Core, *, all_of: str = "") -> Iterator[tuple[Row, bool]]:
    """The rows of a core, and whether a row is the first one with its syntax and kinds of operands.

    Rows that the control core has too are left out for other cores, unless `all_of` names it.
    """
    control = registry.control()
    known = set(control.rows) if core is not control and core.name != all_of else set()
    seen: set[object] = set()
    every: tuple[Row, ...] = (*core.instructions, *core.pseudos)
    for row in every:
        if row.mnemonic in known and not row.mnemonic.startswith("trace"):
            continue
        key = row.syntax, tuple(item.kind for item in row.operands)
        yield row, key not in seen
        seen.add(key)
