"""Operand kinds: the values that they accept and print, and their error messages."""

from __future__ import annotations

import pytest

from macaw.isa import registry
from macaw.isa.kinds import (
    Choice,
    Flag,
    Hexadecimal,
    Immediate,
    Kind,
    Letters,
    Named,
    OperandError,
    Register,
    Relative,
)

REGISTERS = Register((("zero", "x0"), ("ra", "x1")), "register")
CSR = Named(12, names=(("cycle", 0xC00), ("alias", 0xC00)))


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (Immediate(5), -1, "-1 is out of range, 0 to 31"),
        (Immediate(5), 32, "32 is out of range, 0 to 31"),
        (Immediate(12, signed=True), -2049, "-2049 is out of range, -2048 to 2047"),
        (Immediate(12, signed=True), 2048, "2048 is out of range, -2048 to 2047"),
        (Immediate(13, signed=True, step=2), 4096, "4096 is out of range, -4096 to 4094"),
        (Immediate(13, signed=True, step=2), 3, "3 is not a multiple of 2"),
        (Immediate(8, low_limit=1, high_limit=16), 0, "0 is out of range, 1 to 16"),
        (Immediate(8, low_limit=1, high_limit=16), 17, "17 is out of range, 1 to 16"),
        (Hexadecimal(20), 1 << 20, "1048576 is out of range, 0 to 1048575"),
        (REGISTERS, 2, "no register has the number 2, 0 to 1"),
        (REGISTERS, -1, "no register has the number -1, 0 to 1"),
        (Choice(("", "a", "b")), 0, "no choice has the number 0; one of a, b"),
        (Choice(("", "a", "b")), 3, "no choice has the number 3; one of a, b"),
        (Flag("fast"), 2, "2 is out of range, 0 to 1"),
        (Letters("iorw"), 16, "16 is out of range, 0 to 15"),
        (CSR, 4096, "4096 is out of range, 0 to 4095"),
    ],
)
def test_check_refuses_with_the_range(kind, value, message):
    with pytest.raises(OperandError) as error:
        kind.check(value)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (REGISTERS, "zero", 0),
        (REGISTERS, "x1", 1),
        (REGISTERS, "x2", None),
        (Choice(("", "a", "b")), "b", 2),
        (Choice(("", "a", "b")), "", None),
        (Choice(("", "a", "b")), "c", None),
        (Flag("fast"), "fast", 1),
        (Flag("fast"), "slow", None),
        (Letters("iorw"), "rw", 3),
        (Letters("iorw"), "wr", 3),
        (Letters("iorw"), "0", 0),
        (Letters("iorw"), "", None),
        (Letters("iorw"), "rr", None),
        (Letters("iorw"), "rx", None),
        (CSR, "cycle", 0xC00),
        (CSR, "alias", 0xC00),
        (CSR, "other", None),
        (Immediate(5), "x", None),
        (Kind(), "x", None),
    ],
)
def test_parse_knows_its_words(kind, text, value):
    assert kind.parse(text) == value


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (Kind(), 7, "7"),
        (Immediate(12, signed=True), -5, "-5"),
        (Hexadecimal(20), 0x12345, "0x12345"),
        (REGISTERS, 1, "ra"),
        (Choice(("", "a")), 1, "a"),
        (Flag("fast"), 1, "fast"),
        (Flag("fast"), 0, ""),
        (Letters("iorw"), 0b1010, "ir"),
        (Letters("iorw"), 0, "0"),
        (CSR, 0xC00, "cycle"),
        (CSR, 0x7C0, "0x7c0"),
    ],
)
def test_format(kind, value, text):
    assert kind.format(value) == text


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Kind(), "a number"),
        (Immediate(12, signed=True), "-2048 to 2047"),
        (Immediate(6, step=4), "0 to 60, a multiple of 4"),
        (Relative(13, signed=True, step=2), "an address -4096 to 4094 bytes away, a multiple of 2"),
        (Relative(8, signed=True), "an address -128 to 127 bytes away"),
        (REGISTERS, "a register, zero or ra"),
        (Choice(("", "a", "b")), "one of a, b"),
        (Flag("fast"), "the word fast, or nothing"),
        (Letters("iorw"), "letters of iorw"),
        (CSR, "a name or 0 to 4095"),
    ],
)
def test_describe(kind, text):
    assert kind.describe() == text


def test_every_word_of_every_kind_parses_and_prints_back():
    for core in registry.cores():
        for row in core.instructions:
            for operand in row.operands:
                for word in operand.kind.words():
                    value = operand.kind.parse(word)
                    assert value is not None
                    assert operand.kind.parse(operand.kind.format(value)) == value


def test_a_register_is_meant_by_its_first_name():
    """The kind of a register prints and names a register by its first name, not by an alias."""
    assert REGISTERS.stands_for(1, False) == ("ra",)


def test_plain_kinds_have_no_words_and_take_everything():
    Kind().check(-(1 << 70))
    assert Kind().words() == Immediate(4).words() == ()


def test_a_register_of_any_operand_has_one_name_the_first_of_its_file():
    """The value of a register operand stands for registers by their first names, not by aliases."""
    checked = 0
    for core in registry.cores():
        canonical = {names[0] for file in core.files for names in file.names if names}
        for row in core.instructions:
            for operand in row.operands:
                if not isinstance(operand.kind, Register):
                    continue
                for value, names in enumerate(operand.kind.names):
                    if names:
                        assert canonical.issuperset(operand.kind.stands_for(value, False)), (
                            row.mnemonic
                        )
                        checked += 1
    assert checked > 10_000
