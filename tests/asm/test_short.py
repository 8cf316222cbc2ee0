"""The fast path and the grammar give the same program or the same mistakes for simple lines."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.sources import assembly
from macaw.asm import parser, statement_parser
from macaw.asm.assembler import assemble
from macaw.asm.source import Source
from macaw.asm.syntax import Statement
from macaw.isa import registry
from macaw.isa.config import load
from macaw.isa.kinds import Immediate, Kind, Letters, Named
from macaw.isa.rows import Row
from tests.asm.both_ways import both
from tests.fuzzing import EXAMPLES, fuzz, tries

pytestmark = pytest.mark.once

HERE = Path(__file__).parent
fewer = settings(fuzz, max_examples=EXAMPLES // 4)  # each assembles twice
CP = registry.core("cp")
ROWS = [row for rows in CP.rows.values() for row in rows]
SYMBOLS = (
    "1b",
    "1f",
    "2f",
    "07b",
    "one",
    "two",
    ".Lthree",
    "shared",
    "number",
    "beyond",
    "tensor",
    "missing",
    "a1",
    "add",
)
ODD = (
    "",
    "x32",
    "a 0",
    "1f",
    "1b",
    ".",
    "one+4",
    "-one",
    "(a0)",
    "0x",
    "08",
    "1.5",
    "'a'",
    "%lo(",
    "a0=1",
    "#",
    ";",
)


def operand(kind: Kind, chance: random.Random) -> str:
    """The text of an operand: mostly valid, sometimes out of range or of another kind."""
    dice = chance.random()
    if dice < 0.06:
        return chance.choice(ODD)
    if dice < 0.12:
        return chance.choice(SYMBOLS)
    if isinstance(kind, Immediate):
        if kind.relative or dice < 0.3 or kind.high > 1 << 30:
            symbol = chance.choice(SYMBOLS)
            return chance.choice((symbol, symbol, f"%lo({symbol})", f"%hi({symbol})"))
        if isinstance(kind, Named) and kind.names and dice < 0.5:
            return chance.choice(kind.words())
        if dice < 0.4:
            value = chance.choice((kind.low, kind.high, kind.low - 1, kind.high + 1, 1 << 32, -1))
        else:
            value = chance.randint(kind.low, kind.high)
        return chance.choice((str, hex))(value)
    if isinstance(kind, Letters):
        return kind.format(chance.randrange(1 << len(kind.letters)))
    return chance.choice(kind.words())


def instruction(row: Row, chance: random.Random) -> str:
    """A line with the row's mnemonic, mostly with valid operands."""
    texts: list[str] = []
    for item in row.operands:
        text = operand(item.kind, chance)
        if item.inside:
            texts[-1] += f"({text})"
        else:
            texts.append(text)
    if texts and chance.random() < 0.03:
        texts.pop()
    elif chance.random() < 0.03:
        texts.append("a0")
    comma = chance.choice((", ", ",", " , ", ",\t"))
    return f"{row.mnemonic}{chance.choice((' ', chr(9), '   '))}{comma.join(texts)}"


def data(chance: random.Random) -> str:
    """A line with numbers or symbols as data."""
    numbers = (0, 1, -1, 127, 255, 256, -128, -129, 65535, -32769, 1 << 31, 1 << 32, 1 << 63)
    items = [
        str(chance.choice(numbers)) if chance.random() < 0.85 else chance.choice(SYMBOLS + ODD)
        for _ in range(chance.randrange(1, 5))
    ]
    name = chance.choice((".byte", ".half", ".word", ".dword", ".4byte", ".long"))
    return f"{name} {', '.join(items)}"


def other(chance: random.Random) -> str:
    """A line that is never simple, and changes the meaning of the lines after it."""
    return chance.choice(
        (
            ".data", ".text", ".text", ".bss", ".section .data.cp", ".align 2", ".balign 4", ".space 3",
            ".set number, 12", "number = number + 1", ".set one, 5", ".global shared, one", "1: nop", "2:",
            '.asciz "a # b"', "/* over\nlines */ nop", "nop; nop", ".core cp", ".core pe", ".core bad",
            "trace_begin 1", "trace_begin 1", "j 1b", "j 1f", ".type one, function", ".size two, 8", ".equ two, .",
            ".macro addi a:vararg\nnop\n.endm", ".macro Add a, b\n\\a: mv a0, \\b\nbeq a0, a1, 1f\n.endm", "add x\\@, a1",
            ".purgem addi", ".rept 2", ".endr", ".irp r, a0, a1\nmv \\r, a0\nj 1b\n.endr", ".if number > 12", ".if 0", ".else",
            ".endif", ".ifdef one", ".endm", ".exitm", ".rept 3\n1: lw a0, one\n.word one\n.endr",
            '.ascii "a", "b"', '.ascii ""', '.string "\u00e4 \t; // #" # c', '.asciz "a\\n"', '.asciz "open', ".balign 1",
            ".balign 64", ".balign 3", ".balign 8, 1", ".text # c", ".data // c", ".data 1", ".bss;", ".text.more", ".data x",
            "\x0cnop", "nop\x0b", "add\xa0a0, a0, a0", "\u2003nop", "two:\x0c", ".core vc",
            ".word one - two", ".word sizeof(one)", "la a0, one + 4", "x: y: nop", "addi a0, a0, one - two",
        )
    )  # fmt: skip


def line(chance: random.Random, labels: list[str]) -> str:
    dice = chance.random()
    text = ""
    if dice < 0.6:
        text = instruction(chance.choice(ROWS), chance)
    elif dice < 0.75:
        text = data(chance)
    elif dice < 0.85:
        text = other(chance)
    if chance.random() < 0.15 and labels:
        text = f"{labels.pop()}:{chance.choice(('', ' '))}{text}"
    elif chance.random() < 0.08:
        text = f"{chance.choice(('1', '2', '7', '01', 'one', '1: 2'))}: {text}"
    before = chance.choice(("", " ", "\t", "        "))
    after = chance.choice(("", "", "", " ", "  # a", "// b", " /* c */", "\r"))
    return f"{before}{text}{after}"


BEFORE = ".core cp\n.global shared, tensor\nshared: nop\n.data\ntensor: .word 1\nmine: .word 2\n"


@fewer
@given(st.randoms(use_true_random=False), st.booleans())
def test_random_sources(chance: random.Random, several: bool) -> None:
    labels = ["one", "two", ".Lthree", "a1", "add", "loop", "more"]
    lines = [chance.choice((".core cp", ".core cp", "", ".core pe"))]
    lines += [line(chance, labels) for _ in range(chance.randrange(1, 25))]
    if chance.random() < 0.7:  # else most symbols are missing
        lines += [f"{name}:" for name in labels]
        lines += [".core cp", ".set beyond, 0x7fffffff", "missing:"]
    both("\n".join(lines) + chance.choice(("", "\n")), before=BEFORE if several else "")


@fewer
@given(st.integers(0, 1 << 30), st.randoms(use_true_random=False))
def test_changed_programs(seed: int, chance: random.Random) -> None:
    text = assembly(80, seed=seed)
    words = re.findall(r"[\w.]+|[^\w\s]", text)
    for _ in range(chance.randrange(0, 4)):
        place = chance.randrange(len(text))
        end = place + chance.randrange(3)
        new = chance.choice(
            (chance.choice(words), chr(chance.randrange(1, 300)), "", "\n", ";", "0x7fffffff")
        )
        text = text[:place] + new + text[end:]
    both(text)


CORPUS = sorted(path for name in ("ok", "err", "gnu_sources") for path in (HERE / name).glob("*.s"))


@pytest.mark.few(90)
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_corpus(path: Path) -> None:
    both(path.read_text("utf-8"), path.parent)


@pytest.mark.parametrize("mnemonic", sorted(CP.rows))
def test_every_row(mnemonic: str) -> None:
    """Each row of the table, with valid operands, gives equal words with and without the fast path.

    Each row has its own program, so that no mistake hides another one.
    """
    chance = random.Random(mnemonic)
    for row in CP.rows[mnemonic]:
        for _ in range(tries(6)):
            both(f".core cp\none: two: nop\n{instruction(row, chance)}\n.Lthree: a1: add:\nnop\n")


COUNTED = (
    ".set n, n + 1", ".set n, n - 0x10", ".set n,0", ".set m, n", ".set m, -5", ".equ k , m+1", ".set n, later",
    ".set later, 1", ".set label, 2", ".set n, n * 2", "m = n + 1", ".global m", ".set n, 9223372036854775807",
    ".word n, m", ".byte n", ".half m - 1, 7", ".dword n + 1", ".word label + 1", "label: nop", "x: .word n",
    "addi a0, a0, n", "lw a0, m(a1)", "lui a0, %hi(m)", "addi a0, a0, %lo(n)", "li a0, n", "j n", "beq a0, a1, m",
    ".rept 3\n.word n\n.set n, n + 1\n.endr", ".rept 2\naddi a0, a0, n\n.set n, n + 1000\n.endr", ".data", ".text",
)  # fmt: skip


@fewer
@given(st.lists(st.sampled_from(COUNTED), max_size=12), st.booleans())
def test_counted_symbols(lines: list[str], are_defined: bool) -> None:
    before = [".core cp", *([".set n, 1", ".set m, 2", ".set k, 3"] if are_defined else [])]
    both("\n".join([*before, *lines]) + "\n")


def parsed_texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list to which each text that the grammar parses is added from now on."""
    texts: list[str] = []
    parse = parser.parse

    def counted(text: str) -> Statement:
        texts.append(text)
        return parse(text)

    monkeypatch.setattr(statement_parser, "parse", counted)
    return texts


def test_a_counted_repetition_needs_no_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    body = ".rept 100\n.word n\naddi a0, a0, n\n.set n, n + 1\n.endr\n"
    texts = parsed_texts(monkeypatch)
    assemble(Source(f".core cp\n.set n, 0\n{body}", "counted.s"))
    assert not [text for text in texts if "n + 1" in text or text.startswith((".word", "addi"))]


def test_all_of_a_program_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The grammar parses directives only, so the comparisons above do test the fast path."""
    asked = parsed_texts(monkeypatch)
    assemble(Source(assembly(1000), "plain.s"))
    assert {text.split()[0] for text in asked if not text.startswith("default.")} <= {
        ".core", ".text", ".data", ".asciz", ".balign", ".section",
    }  # fmt: skip


def test_a_line_with_two_unknown_symbols_has_one_error() -> None:
    found = both(".core cp\n.word no, way\n la a0, nowhere\n nop\n")
    assert isinstance(found, tuple)
    assert [str(item) for item in found] == [
        "short.s:2:7: error: undefined symbol 'no'",
        "short.s:3:9: error: undefined symbol 'nowhere'",
    ]


@pytest.mark.parametrize("directive", [".set", ".equ"])
def test_a_label_that_its_own_line_sets(directive: str) -> None:
    found = both(f".core cp\none: {directive} one, 5\n .word one\n")
    assert isinstance(found, tuple)
    assert [item.message for item in found] == ["'one' is defined twice"]


def test_a_branch_too_far_forward_and_backward() -> None:
    far = "nop\n" * 1025
    found = both(f".core cp\nback:\n beq a0, a1, on\n{far} beq a0, a1, back\non: nop\n")
    assert isinstance(found, tuple)
    # The second one is known to be wrong at once and takes no place: 4 + 4 * 1025.
    assert [item.message for item in found] == [
        "target: the distance 4104 is out of range, -4096 to 4094",
        "target: the distance -4104 is out of range, -4096 to 4094",
    ]


def test_memory_ends_at_the_same_line() -> None:
    device = load("base").changed({"mem.external_bytes": 1 << 20})
    rows = ".dword 1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6\n" * 560
    found = both(f".core cp\n.data\n.space {(1 << 20) - 70000}\n{rows}nop\n", device=device)
    assert isinstance(found, tuple)
    assert [item.span.line for item in found] == [1, *range(4 + 70000 // 128, 565)]


@pytest.mark.parametrize(
    "directive", [".2byte", ".4byte", ".8byte", ".word", ".4bytes", ".4byte.b"]
)
def test_numbers_of_symbols_by_directives_that_begin_with_a_digit(directive: str) -> None:
    for head in ("", "x: ", "1: "):
        both(f"{head}{directive} later\n .core cp\n nop\n.data\n{head[:1]}later: .byte 1\n")
        both(f".core cp\n nop\n.data\n{head}{directive} missing, 5\n")
        both(f".core cp\n nop\n.data\n{head}{directive} later # text\nlater: .byte 1\n")


@pytest.mark.parametrize("last", [".text", ".data", ".bss", "end: .bss", "end:", "nop"])
@pytest.mark.parametrize("line_end", ["", "\n", "\r\n"])
def test_the_last_line_needs_no_line_end(last: str, line_end: str) -> None:
    both(f".core cp\n nop\n nop\n ret\n {last}{line_end}")


@pytest.mark.parametrize(
    "body", [".byte 1", ".word 1\n.half 2", ".byte 1\nnop", ".half 1\nnop\n.half 2"]
)
@pytest.mark.parametrize("before", ["nop", ".byte 3", ".data"])
def test_rounds_of_a_repetition_that_leave_a_word_s_boundary(before: str, body: str) -> None:
    both(f".core cp\n{before}\n.rept 5\n{body}\n.endr\n.byte 7\n")
