"""Random sources of macros, repetitions, conditionals and includes, and damaged lines of any source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

Maker = Callable[[str], str]
FILES = {
    "one.inc": ".byte 1\n.set shared, 5\n",
    "macros.inc": ".macro inner a, b=2\n.byte \\a, \\b\n.endm\n",
    "open.inc": ".macro open a\n.byte \\a\n",
    "branch.inc": ".if 1\n.byte 3\n",
    "end.inc": ".byte 1\n.end\n.byte 2\n",
    "wrong.inc": ".byte 1\n.byte 256, nosuch\n",
    "again.inc": '.include "again.inc"\n',
    "two.inc": '.include "one.inc"\n.include "wrong.inc"\n',
    "part.inc": ".core cp\ntwo: nop\n",
    "empty.inc": "",
}
PARAMETERS = ("a", "b", "ab", "more")
QUALIFIERS = ("", "", "", "=1", '="x y"', "=", ":req", ":vararg", ":reqq", ":req=1", " = 2")
WORDS = (
    "0",
    "1",
    "-1",
    "n",
    "n+1",
    "(n + 1)",
    '"p, q"',
    '""',
    "'c'",
    "a b",
    "x",
    "8(sp)",
    "\\a",
    "1 + 2",
    "b=3",
    "a=4",
    "c=5",
    "",
)
BODY = (
    ".byte \\a", ".byte \\a, \\b", '.ascii "\\a|\\b"', ".byte \\@", "l\\@: .byte 1", "\\a\\()_x = 1", ".byte \\()1", ".byte \\c", ".byte \\(a)", ".exitm", ".byte \\ab, \\more",
    ".set n, n + 1", "1: .word 1b", ".word 2f", "\\a", ".error \"\\a\"", ".warning \"w\"", ".print \"\\b\"", ".byte 300", ".ascii \"\\\\a\"", "label: .byte 1",
)  # fmt: skip
PLAIN = (".byte n", ".byte 1", ".set n, n + 1", ".word n - 1", "m0 1", "m1 1, 2", "m0", "m1", "m2 0", "M0 2", "mo 1", ".purgem m0", ".purgem m9", ".endm", ".endr", ".endif", ".else", ".elseif 1", ".exitm", ".macro", ".rept", ".irp", ".print \"here\"", ".print here", ".error", ".err", ".warning", ".error 5", ".end")  # fmt: skip
CONDITIONS = (
    ".if n", ".if n - 1", ".if", ".if late", ".if \"a\"", ".ifeq n", ".ifne n - 1", ".ifgt n", ".ifge n - 2", ".iflt n - 1", ".ifle n", ".ifdef n", ".ifdef nosuch", ".ifndef late", ".ifdef 1",
    ".ifb", ".ifb x", ".ifnb \\a", ".ifc a, a", ".ifc a b,a  b", ".ifnc a,b", ".ifc a", ".ifeqs \"a\", \"a\"", ".ifnes \"a\", \"b\"", ".ifeqs a, b", ".iff 1",
)  # fmt: skip
CLOSED = {"m": ".endm", "r": ".endr", "c": ".endif"}


def block(random: Random, depth: int, inside: bool) -> list[str]:
    """Lines that may use the parameters of a macro if they are inside of one."""
    lines: list[str] = []
    for _ in range(random.choice((1, 1, 2, 3))):
        kind = random.randrange(9) if depth else random.randrange(5)
        if kind < 3 and inside:
            lines.append(random.choice(BODY))
        elif kind < 5:
            lines.append(random.choice(PLAIN))
        elif kind == 5:
            count = random.choice(
                ("0", "1", "2", "3", "n", "-1", "late", "", "1, 2", "\\a" if inside else "4")
            )
            lines += [f".rept {count}", *block(random, depth - 1, inside), _end(random, ".endr")]
        elif kind == 6:
            values = ", ".join(random.choice(WORDS) for _ in range(random.choice((0, 1, 2, 3))))
            name = random.choice(("a", "b", "ab", "1", ""))
            lines += [
                f".irp {name}, {values}",
                *block(random, depth - 1, True),
                _end(random, ".endr"),
            ]
        elif kind == 7:
            letters = random.choice(("", "1", "12", "0a1", '"1 2"', "é"))
            lines += [f".irpc a, {letters}", *block(random, depth - 1, True), _end(random, ".endr")]
        else:
            lines += [random.choice(CONDITIONS), *block(random, depth - 1, inside)]
            if random.random() < 0.4:
                lines += [
                    random.choice((".else", ".elseif n", ".elseif late", ".else 1", ".elseif"))
                ]
                lines += block(random, depth - 1, inside)
            lines.append(_end(random, random.choice((".endif", ".endif", ".endc"))))
    return lines


def _end(random: Random, word: str) -> str:
    return (
        word
        if random.random() < 0.94
        else random.choice((".endm", ".endr", ".endif", f"{word} 1", "# none"))
    )


def macro_source(seed: str) -> str:
    """Two or three macros, calls of them, and lines between."""
    random = Random(seed)
    lines = [".data", ".set n, 1"]
    for place in range(random.choice((1, 2, 2))):
        names = random.sample(PARAMETERS, random.randint(0, 3))
        parameters = [name + random.choice(QUALIFIERS) for name in names]
        head = f".macro m{place}{random.choice((' ', ' ', ', '))}{random.choice((', ', ' ')).join(parameters)}"
        lines += [head.rstrip(), *block(random, 1, True), _end(random, ".endm")]
    for _ in range(random.randint(1, 3)):
        words = ", ".join(random.choice(WORDS) for _ in range(random.choice((0, 1, 1, 2, 3))))
        lines.append(f"m{random.choice('001')} {words}".rstrip())
    lines += block(random, 2, False)
    return "\n".join([*lines, ".set late, 1"]) + "\n"


def include_source(seed: str) -> str:
    """Includes, also in macros, repetitions and conditions."""
    random = Random(seed)
    lines = [random.choice((".data", ".core cp\nnop")), ".set n, 1"]
    names = (
        *FILES,
        *FILES,
        "nosuch.inc",
        "on.inc",
        "../one.inc",
        "sub",
        "",
        "sub/deep.inc",
        "deep.inc",
    )
    for _ in range(random.choice((1, 2, 2, 3))):
        name = random.choice(names)
        line = random.choice(
            (
                f'.include "{name}"',
                f'.include "{name}"',
                f'l{random.randrange(9)}: .include "{name}"',
                f".include {name}",
                f'.include "{name}", 1',
            )
        )
        wrapped = random.choice(
            (
                [line],
                [line],
                [".rept 2", line, ".endr"],
                [".macro inc", line, ".endm", "inc"],
                [".if n", line, ".endif"],
                [".if 0", line, ".endif"],
            )
        )
        lines += [
            *wrapped,
            random.choice(
                (
                    ".byte n",
                    "inner 1",
                    "inner",
                    "open 1",
                    ".byte shared",
                    ".byte share",
                    "j two",
                    ".endif",
                )
            ),
        ]
    return "\n".join(lines) + "\n"


def write_files(folder: Path) -> None:
    """Write the files that the sources include."""
    import numpy as np

    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    (folder / "sub").mkdir()
    (folder / "sub" / "deep.inc").write_text('.byte 8\n.include "one.inc"\n', "utf-8")
    (folder / "a.bin").write_bytes(bytes(range(8)))
    np.save(folder / "a.npy", np.arange(-6, 6, dtype=np.int16).reshape(3, 4))
    weights = np.zeros((9, 6), np.int8)
    weights[::2, ::3], weights[4, 5], weights[8, 0] = 1, -128, 127
    np.save(folder / "w.npy", weights)
    np.save(folder / "h.npy", np.linspace(-2, 2, 20, dtype=np.float32).reshape(4, 5))


# --- damage ------------------------------------------------------------------------------------

PIECES = ("(", ")", "[", "]", ",", ":", "=", '"', "'", "\\", ".", "..", "%", "#", "//", "/*", "*/", ";", "1", "0x", "0b2", "09", "1e", "a", "-", "~", "!", "@", "$", "\t", "é", "\x01", " ", "{", "<-", "1b", "\u2028")  # fmt: skip


def damaged(text: str, seed: str) -> str:
    """The text with one to three places where characters are missing, inserted, doubled or exchanged."""
    random = Random(seed)
    for _ in range(random.randint(1, 3)):
        place = random.randrange(max(1, len(text)))
        kind = random.randrange(5)
        if kind == 0:
            text = text[:place] + text[place + random.choice((1, 1, 2, 9)) :]
        elif kind == 1:
            text = text[:place] + random.choice(PIECES) + text[place:]
        elif kind == 2:
            lines = text.split("\n")
            row = random.randrange(len(lines))
            lines.insert(random.randrange(len(lines)), lines[row])
            text = "\n".join(lines)
        elif kind == 3:
            lines = text.split("\n")
            del lines[random.randrange(len(lines))]
            text = "\n".join(lines)
        else:
            text = text[:place] + random.choice(PIECES) + text[place + 1 :]
    return text
