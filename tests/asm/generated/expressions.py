"""Random expressions of numbers, and their values as 64-bit integers computed without Macaw.

Operators bind as in C. A true comparison is -1, `>>` shifts zeros in, a shift by 64 or more (or by
less than 0) is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from macaw.asm.expressions import ROWS

LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!=", "<>"),
    ("<", "<=", ">", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
OPERATORS = tuple(word for level in LEVELS for word in level)
PREFIXES = ("-", "+", "~", "!")
EDGES = (
    0, 1, 2, 3, 7, 8, 31, 32, 63, 64, 65, 127, 128, 255, 256, 2047, 2048, 4095, 4096, 32767, 32768, 65535, 65536,
    (1 << 20) - 1, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1,
)  # fmt: skip


def wrapped(value: int) -> int:
    """The number that the low 64 bits are in two's complement."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def quotient(left: int, right: int) -> int:
    """The quotient, rounded towards zero."""
    size = abs(left) // abs(right)
    return size if (left < 0) == (right < 0) else -size


def shifted(left: int, right: int, word: str) -> int:
    if not 0 <= right < 64:
        return 0
    return left << right if word == "<<" else (left % (1 << 64)) >> right


VALUES: dict[str, Callable[[int, int], int]] = {
    "||": lambda a, b: 1 if a or b else 0,
    "&&": lambda a, b: 1 if a and b else 0,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "==": lambda a, b: -1 if a == b else 0,
    "!=": lambda a, b: -1 if a != b else 0,
    "<>": lambda a, b: -1 if a != b else 0,
    "<": lambda a, b: -1 if a < b else 0,
    "<=": lambda a, b: -1 if a <= b else 0,
    ">": lambda a, b: -1 if a > b else 0,
    ">=": lambda a, b: -1 if a >= b else 0,
    "<<": lambda a, b: shifted(a, b, "<<"),
    ">>": lambda a, b: shifted(a, b, ">>"),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": quotient,
    "%": lambda a, b: a - b * quotient(a, b),
}


def number(random: Random) -> tuple[str, int]:
    """A number at an edge, in one of its notations, and its value."""
    value = random.choice(EDGES)
    kind = random.randrange(6)
    if kind == 0 and 32 < value < 127:
        return f"'{chr(value)}", value
    texts = (
        str(value),
        hex(value),
        f"0X{value:X}",
        f"0{value:o}" if value else "0",
        bin(value),
        str(value),
    )
    return texts[kind], wrapped(value)


def expression(random: Random, depth: int) -> tuple[str, int | None]:
    """A text and its value; None if the text divides by zero."""
    count = random.randint(1, 4)
    items = [operand(random, depth) for _ in range(count)]
    words = [random.choice(OPERATORS) for _ in range(count - 1)]
    blank = random.choice(("", " ", " "))
    text = items[0][0] + "".join(
        f"{blank}{word} {item[0]}" for word, item in zip(words, items[1:], strict=True)
    )
    return text, climbed([value for _text, value in items], words)


def operand(random: Random, depth: int) -> tuple[str, int | None]:
    kind = random.randrange(4) if depth else 3
    if kind == 0:
        text, value = expression(random, depth - 1)
        return f"({text})", value
    if kind == 1:
        text, value = operand(random, depth - 1)
        word = random.choice(PREFIXES)
        text = f"{word} {text}" if text[0] in PREFIXES else f"{word}{text}"
        if value is None:
            return text, None
        after = {"-": -value, "+": value, "~": ~value, "!": 0 if value else 1}[word]
        return text, wrapped(after)
    return number(random)


def climbed(values: list[int | None], words: list[str]) -> int | None:
    """The value of `values` with the operators `words` between them; None is an error."""
    for level in LEVELS:
        places = [place for place, word in enumerate(words) if word in level]
        if places:
            last = places[-1]  # each level binds from left to right
            left = climbed(values[: last + 1], words[:last])
            right = climbed(values[last + 1 :], words[last + 1 :])
            if left is None or right is None or (words[last] in "/%" and right == 0):
                return None
            return wrapped(VALUES[words[last]](left, right))
    assert len(values) == 1
    return values[0]


def numeric_source(seed: str, count: int) -> tuple[str, list[int | None]]:
    """A source with a `.dword` in each line, and the values; None for a division by zero."""
    random = Random(seed)
    pairs = [expression(random, 2) for _ in range(count)]
    return "".join(f".dword {text}\n" for text, _value in pairs), [value for _text, value in pairs]


# --- expressions with names --------------------------------------------------------------------

FUNCTIONS = tuple(row.name for row in ROWS)
NAMES = (
    "here",
    "there",
    "first",
    "early",
    "late",
    "EARLY",
    "earl",
    "x",
    "w",
    "ext",
    ".",
    "1b",
    "1f",
    "2f",
    "_start",
)


def named_atom(random: Random, depth: int) -> str:
    kind = random.randrange(8)
    if kind == 0 and depth:
        return f"({named(random, depth - 1)})"
    if kind == 1 and depth:
        count = random.choice((1, 1, 1, 0, 2))
        function = random.choice((*FUNCTIONS, "%hi", "%lo", "%hj", "sizof"))
        return f"{function}({', '.join(named(random, depth - 1) for _ in range(count))})"
    if kind == 2:
        return f"{random.choice(('x', 'w', 'here', 'nosuch'))}[{subscript(random)}]"
    if kind == 3:
        return str(random.choice((0, 1, 4, 255, 2048, -2049, 1 << 32)))
    if kind == 4:
        return f"{random.choice(PREFIXES)}{random.choice(NAMES)}"
    return random.choice(NAMES)


def subscript(random: Random) -> str:
    """Subscripts of an array of 4 x 8 elements, at and beyond its bounds."""
    places = (
        "0",
        "3",
        "4",
        "-1",
        "0, 7",
        "3, 8",
        "1, 2:4",
        "0:4",
        "0:5",
        "2:1",
        ":",
        "1:",
        ":2",
        "0, 0, 0",
        "early",
        "",
    )
    return random.choice(places)


def named(random: Random, depth: int) -> str:
    atoms = [named_atom(random, depth) for _ in range(random.choice((1, 1, 2, 2, 3)))]
    text = atoms[0]
    for atom in atoms[1:]:
        text += f" {random.choice(('-', '-', '+', '+', '*', '/', '<', '==', '<<', '&'))} {atom}"
    return text


USES = (".byte {}", ".half {}", ".word {}", ".word {}", ".dword {}", ".octa {}", ".uleb128 {}", "addi a0, a0, {}", "lui a0, {}", "li a0, {}", "la a0, {}", "lw a0, {}", "j {}", "beqz a0, {}", ".space {}", ".set s, {}", "sw a0, {}, t0", ".if {}\n.endif", "s = {}", ".org {}", ".size here, {}", ".eqv t, {}", "lw a0, {}(a1)", ".balign {}")  # fmt: skip


def named_source(seed: str) -> str:
    """A source with symbols before and after, labels of three sections, and lines that use them."""
    random = Random(seed)
    lines = [
        ".device tiny",
        ".input x, int8, 4, 8",
        ".set early, 5",
        ".core cp",
        "_start: nop",
        "1: here: nop",
    ]
    for _ in range(random.randint(2, 4)):
        lines.append(random.choice(USES).format(named(random, 2)))
    lines += ["1: first: nop", ".set late, 7", ".data", "there: .word 1", "w: .array int16, 4, 8"]
    if random.random() < 0.3:
        lines.append(random.choice(USES[:7]).format(named(random, 1)))
    if random.random() < 0.3:
        lines.append(".weak ext")
    return "\n".join(lines) + "\n"
