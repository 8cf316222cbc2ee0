"""Expressions against a model in Python's unbounded integers, and the errors in them."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macaw.asm.assembler import assemble
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.source import Source
from tests.fuzzing import fuzz, properties

pytestmark = pytest.mark.once

# C's precedence, loosest first.
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
UNARY = len(LEVELS)
PRIMARY = UNARY + 1


@dataclass(frozen=True)
class Tree:
    """An expression as text without needless brackets, and its value; None if it has none."""

    text: str
    level: int  # of its outermost operator
    value: int | None


def wrapped(value: int) -> int:
    """`value` modulo 2^64, as a signed number."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def apply(operator: str, a: int, b: int) -> int | None:
    """The model of a binary operator; None for a division by 0."""
    if operator in ("/", "%"):
        if not b:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return wrapped(quotient if operator == "/" else a - b * quotient)
    if operator in ("<<", ">>"):
        if not 0 <= b < 64:
            return 0
        return wrapped(a << b if operator == "<<" else (a & (1 << 64) - 1) >> b)
    plain = {"+": a + b, "-": a - b, "*": a * b, "|": a | b, "^": a ^ b, "&": a & b}
    if operator in plain:
        return wrapped(plain[operator])
    if operator in ("||", "&&"):
        return int(bool(a or b) if operator == "||" else bool(a and b))
    truth = {
        "==": a == b,
        "!=": a != b,
        "<>": a != b,
        "<": a < b,
        "<=": a <= b,
        ">": a > b,
        ">=": a >= b,
    }
    return -1 if truth[operator] else 0


NUMBERS = st.one_of(
    st.integers(0, 20), st.integers(0, (1 << 64) - 1), st.sampled_from([1 << 63, (1 << 64) - 1])
)
LEAVES = st.one_of(
    NUMBERS.map(lambda x: Tree(str(x), PRIMARY, wrapped(x))),
    NUMBERS.map(lambda x: Tree(hex(x), PRIMARY, wrapped(x))),
    NUMBERS.map(lambda x: Tree(bin(x), PRIMARY, wrapped(x))),
    NUMBERS.map(lambda x: Tree(f"0{x:o}", PRIMARY, wrapped(x))),
    st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="\\").map(
        lambda x: Tree(f"'{x}'", PRIMARY, ord(x))
    ),
)


def bracketed(tree: Tree, level: int) -> str:
    """The text of an operand: in brackets if its operator binds less than `level`."""
    return tree.text if tree.level >= level else f"({tree.text})"


def grown(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    """Draw an operator over smaller trees."""

    def binary(level: int, operator: str, left: Tree, right: Tree) -> Tree:
        text = f"{bracketed(left, level)} {operator} {bracketed(right, level + 1)}"
        value = None
        if left.value is not None and right.value is not None:
            value = apply(operator, left.value, right.value)
        return Tree(text, level, value)

    def unary(operator: str, operand: Tree) -> Tree:
        value = operand.value
        if value is not None:
            value = wrapped({"-": -value, "~": ~value, "!": int(not value), "+": value}[operator])
        return Tree(f"{operator}{bracketed(operand, UNARY)}", UNARY, value)

    choice = st.integers(0, UNARY - 1).flatmap(
        lambda level: st.tuples(st.just(level), st.sampled_from(LEVELS[level]))
    )
    return st.one_of(
        st.builds(lambda x, left, right: binary(x[0], x[1], left, right), choice, inner, inner),
        st.builds(unary, st.sampled_from("-~!+"), inner),
        inner.map(lambda tree: Tree(f"({tree.text})", PRIMARY, tree.value)),
    )


TREES = st.recursive(LEAVES, grown, max_leaves=25)


@fuzz
@given(TREES)
def test_against_the_model(tree: Tree) -> None:
    source = Source(f"        .dword {tree.text}")
    if tree.value is None:
        with pytest.raises(AssemblyError, match="division by zero"):
            assemble(source)
        return
    data = assemble(source).section(".data").data
    assert int.from_bytes(data, "little", signed=True) == tree.value


@properties
@given(TREES, st.sampled_from([1, 2, 4]))
def test_a_value_fits_or_the_error_says_the_range(tree: Tree, size: int) -> None:
    name = {1: ".byte", 2: ".half", 4: ".word"}[size]
    low, high = -(1 << (8 * size - 1)), (1 << 8 * size) - 1
    source = Source(f"        {name} {tree.text}")
    if tree.value is not None and low <= tree.value <= high:
        data = assemble(source).section(".data").data
        assert data == (tree.value & high).to_bytes(size, "little")
        return
    wanted = (
        "division by zero"
        if tree.value is None
        else f"{tree.value} is out of range, {low} to {high}"
    )
    with pytest.raises(AssemblyError) as caught:
        assemble(source)
    assert [item.message for item in caught.value.errors] == [wanted]


@properties
@given(TREES)
def test_a_symbol_has_the_value_of_its_expression_wherever_it_stands(tree: Tree) -> None:
    if tree.value is None:
        return
    program = assemble(Source(f" .dword x, y\n .equ x, {tree.text}\n .equ y, x\n .dword x"))
    data = program.section(".data").data
    assert {data[n : n + 8] for n in (0, 8, 16)} == {
        (tree.value & (1 << 64) - 1).to_bytes(8, "little")
    }


@fuzz
@given(st.integers(0, (1 << 32) - 1))
def test_hi_and_lo_make_the_number(value: int) -> None:
    data = assemble(Source(f" .word %hi({value}), %lo({value})")).section(".data").data
    high, low = (int.from_bytes(data[n : n + 4], "little", signed=n > 0) for n in (0, 4))
    assert 0 <= high < 1 << 20
    assert -2048 <= low < 2048
    assert (high << 12) + low & 0xFFFF_FFFF == value


def test_a_sum_of_any_length_is_taken_without_recursion() -> None:
    data = assemble(Source(" .dword " + "+".join(["1"] * 20_000))).section(".data").data
    assert int.from_bytes(data, "little") == 20_000


@pytest.mark.parametrize("text", ["(" * 20_000 + "1" + ")" * 20_000, "-" * 20_000 + "1"])
def test_nesting_without_end_is_an_error(text: str) -> None:
    with pytest.raises(AssemblyError) as caught:
        assemble(Source(f" .dword {text}\n .byte 256\n"))
    assert [item.message for item in caught.value.errors] == [
        "the expression is nested too deeply",
        "256 is out of range, -128 to 255",
    ]
