"""The checker of tables: a test for each error, and for tables without errors."""

from __future__ import annotations

import pytest

from macaw.isa.kinds import Flag, Immediate, Register
from macaw.isa.model import (
    Core,
    Counter,
    Directive,
    Fault,
    Member,
    Queue,
    RegisterFile,
    Setting,
    SpecialRegister,
    Structure,
    Window,
    checked,
)
from macaw.isa.rows import Alternative, Field, Format, Instruction, Pseudo, TableError

REGISTER = Register((("r0",), ("r1",)))
BYTE = Format(
    "byte",
    8,
    (Field("op", "7:6"), Field("a", "5:4", Immediate(2)), Field("b", "3:0", Immediate(4))),
    1,
)
LOOSE = Format(
    "loose", 8, (Field("op", "7:6"), Field("reserved", "5:4"), Field("b", "3:0", Immediate(4))), 1
)
KINDS = {"a": Immediate(2), "b": Immediate(4), "r": REGISTER}


def row(mnemonic="one", form=BYTE, fixed=None, syntax="a, b", meaning="Do it."):
    return Instruction(mnemonic, form, {"op": 0} if fixed is None else fixed, syntax, meaning)


def pseudo(mnemonic="two", syntax="a", lines=("one {a}, 0",), meaning="Do it.", **more):
    alternatives = more.pop("alternatives", (Alternative(tuple(lines)),))
    return Pseudo(mnemonic, syntax, KINDS, alternatives, meaning, **more)


def core(*instructions, **more):
    return Core(
        name="toy",
        title="a toy",
        number=99,
        section=".toy",
        executable=True,
        instructions=instructions or (row(),),
        **more,
    )


def refused(table, message):
    with pytest.raises(TableError) as error:
        checked(table)
    assert str(error.value) == message


def test_a_window_has_a_direction():
    table = core(windows=(Window("pipe", 0x3000, 12, 64, "inout", "Both ways."),))
    refused(table, "toy: the window pipe is neither in nor out")


def test_a_table_without_mistakes_is_returned():
    table = core(row(), row("three", fixed={"op": 1}), pseudos=(pseudo(),))
    assert checked(table) is table
    assert [len(rows) for rows in table.rows.values()] == [1, 1, 1]


# Rows


def test_overlapping_patterns():
    refused(core(row(), row("other")), "toy: one and other overlap")
    refused(
        core(row(), row("other", fixed={"op": 0, "a": 1}, syntax="b")), "toy: one and other overlap"
    )


def test_reserved_bits_do_not_tell_rows_apart():
    other = row("other", LOOSE, {"op": 0, "reserved": 1}, "b")
    refused(core(row("one", LOOSE, syntax="b"), other), "toy: other: 1 does not fit field reserved")


def test_rows_of_different_widths_do_not_overlap():
    wide = Format(
        "wide",
        12,
        (Field("op", "11:6"), Field("a", "5:4", Immediate(2)), Field("b", "3:0", Immediate(4))),
        2,
    )
    checked(core(row(), row("other", wide)))
    third = row("third", fixed={"op": 0, "a": 1}, syntax="b")  # its mask comes after the wide one
    refused(core(row(), row("other", wide), third), "toy: one and third overlap")


def test_unspecified_bits():
    refused(core(row(syntax="a")), "toy: one: the bits of field b are unspecified")


def test_reserved_fields_may_stay_unspecified():
    assert checked(core(row(form=LOOSE, syntax="b"))).instructions[0].reserved == 0x30
    refused(core(row(form=LOOSE, syntax="")), "toy: one: the bits of field b are unspecified")


def test_duplicate_mnemonic():
    refused(core(row(), row(fixed={"op": 1})), "toy: mnemonic one is declared twice")
    refused(core(pseudos=(pseudo("one"),)), "toy: mnemonic one is declared twice")


def test_field_fixed_and_operand():
    refused(core(row(fixed={"op": 0, "a": 1})), "toy: one: field a is fixed and an operand")


def test_fixed_field_that_the_format_lacks():
    refused(core(row(fixed={"op": 0, "c": 1})), "toy: one: format byte has no field c")


def test_operand_that_the_format_lacks():
    refused(core(row(syntax="a, b, c")), "toy: one: format byte has no field c")


def test_operand_without_kind():
    refused(
        core(row(fixed={}, syntax="op, a, b")),
        "toy: one: field op has no kind and cannot be an operand",
    )


def test_fixed_value_that_does_not_fit():
    refused(core(row(fixed={"op": 4})), "toy: one: 4 does not fit field op")
    refused(core(row(fixed={"op": -1})), "toy: one: -1 does not fit field op")


def test_operand_twice():
    refused(core(row(syntax="a, b, a")), "toy: one: an operand occurs twice in 'a, b, a'")


def test_syntax_that_is_none():
    refused(core(row(syntax="a, b!")), "toy: one: 'b!' is not an operand's syntax")


def test_row_without_meaning():
    refused(core(row(meaning="")), "toy: one: has no meaning")


# Formats


def test_bits_that_belong_to_no_field():
    gap = Format("gap", 8, (Field("op", "7:6"), Field("b", "3:0", Immediate(4))), 1)
    refused(core(row(form=gap, syntax="b")), "toy: format gap: bits 0x30 belong to no field")


def test_fields_that_overlap():
    twice = Format("twice", 8, (Field("op", "7:4"), Field("b", "4:0", Immediate(4))), 1)
    refused(core(row(form=twice, syntax="b")), "toy: format twice: field b overlaps another")


@pytest.mark.parametrize("place", ["3:4", "7:4=3:1", "7:4=0:3"])
def test_place_that_is_no_run_of_bits(place):
    with pytest.raises(TableError, match=f"field x: '{place}' is not a run of bits"):
        _ = Field("x", place).slices


def test_split_field_inserts_and_extracts():
    split = Field("target", "31=12 30:25=10:5 11:8=4:1 7=11", signed=True)
    assert split.width == 13
    for value in (-4096, -2, 0, 2, 2048, 4094):
        assert split.extract(split.insert(value)) == value
    assert split.insert(-4096) == 1 << 31
    assert split.mask == 0xFE000F80


# Operands


def test_syntax_of_operands():
    memory = Format(
        "m",
        8,
        (
            Field("f", "7", Flag("fast")),
            Field("a", "6:4", Immediate(3)),
            Field("r", "3:0", REGISTER),
        ),
        1,
    )
    found = row(form=memory, fixed={}, syntax="a(r), [f]").operands
    assert [(o.name, o.default, o.named, o.inside) for o in found] == [
        ("a", 0, False, ""),  # what stands in front of brackets may be left out
        ("r", None, False, "a"),
        ("f", 0, False, ""),
    ]
    named = row(syntax="a=3, b=").operands
    assert [(o.name, o.default, o.named) for o in named] == [("a", 3, True), ("b", None, True)]


# Pseudo-instructions


def test_pseudo_expands_to_an_unknown_instruction():
    refused(
        core(pseudos=(pseudo(lines=("none {a}, 0",)),)),
        "toy: two: expands to 'none {a}, 0', no instruction",
    )


def test_pseudo_expands_to_a_pseudo():
    refused(
        core(pseudos=(pseudo(), pseudo("three", lines=("two {a}",)))),
        "toy: three: expands to 'two {a}', no instruction",
    )


def test_pseudo_uses_an_operand_that_it_has_not():
    refused(core(pseudos=(pseudo(lines=("one {a}, {b}",)),)), "toy: two: has no operand b")


def test_pseudo_forgets_an_operand():
    refused(core(pseudos=(pseudo(syntax="a, b"),)), "toy: two: forgets b")


def test_pseudo_without_expansion():
    refused(core(pseudos=(pseudo(alternatives=()),)), "toy: two: has no expansion")


def test_pseudo_operand_without_kind():
    refused(core(pseudos=(pseudo(syntax="a, c"),)), "toy: two: the operand c has no kind")


@pytest.mark.parametrize("text", ["a!", "[a]", "a="])
def test_pseudo_syntax_that_is_none(text):
    refused(core(pseudos=(pseudo(syntax=text),)), f"toy: two: '{text}' is not an operand's syntax")


def test_pseudo_chooses_by_no_operand():
    refused(core(pseudos=(pseudo(choose="b"),)), "toy: two: cannot choose by b, no operand")
    choosy = (Alternative(("one {a}, 0",), bool),)
    refused(
        core(pseudos=(pseudo(alternatives=choosy),)),
        "toy: two: does not say by which operand to choose",
    )


def test_pseudo_without_meaning():
    refused(core(pseudos=(pseudo(meaning=""),)), "toy: two: has no meaning")


def test_overload_of_nothing():
    refused(core(pseudos=(pseudo(overloads=True),)), "toy: two overloads no other row")


def test_overloads_that_cannot_be_told_apart():
    refused(
        core(pseudos=(pseudo("one", "a, b", ("one {a}, {b}",), overloads=True),)),
        "toy: two rows of one take the same operands",
    )


def test_overloads_differ_in_number_shape_or_registers():
    forms = (
        pseudo("one", overloads=True),
        pseudo("one", "a, r", ("one {a}, {r}",), overloads=True),
        pseudo("one", "a(r)", ("one {a}, {r}",), overloads=True),
    )
    assert len(checked(core(pseudos=forms)).rows["one"]) == 4


# What else a table declares


def test_structure_twice():
    one = Structure("s", (Member("m", "u8", "it"),), "S.")
    refused(core(structures=(one, one)), "toy: structure s is declared twice")


def test_structure_with_a_member_twice():
    refused(
        core(structures=(Structure("s", (Member("m", "u8", "it"),) * 2, "S."),)),
        "structure s: a member occurs twice",
    )


def test_structure_with_an_unknown_type():
    refused(
        core(structures=(Structure("s", (Member("m", "u9", "it"),), "S."),)),
        "structure s: m has no type u9",
    )


@pytest.mark.parametrize(
    ("part", "what", "item"),
    [
        ("queues", "queue", Queue("x", "toy.x", "It.", "x")),
        ("counters", "counter", Counter("x", "it")),
        ("faults", "fault", Fault("x", "It.")),
        ("settings", "setting", Setting("x", 1, "it")),
        ("specials", "special register", SpecialRegister("x", 0, "ro", "It.")),
        ("files", "register", RegisterFile("f", 32, (("x",),), "It.")),
    ],
)
def test_declared_twice(part, what, item):
    refused(core(**{part: (item, item)}), f"toy: {what} x is declared twice")


@pytest.mark.parametrize(
    ("part", "item"),
    [
        ("queues", Queue("x", "toy.x", "", "x")),
        ("counters", Counter("x", "")),
        ("faults", Fault("x", "")),
        ("settings", Setting("x", 1, "")),
    ],
)
def test_declared_without_meaning(part, item):
    refused(core(**{part: (item,)}), "toy: x has no meaning")


def test_directives_are_kept():
    assert checked(core(directives=(Directive(".d", ".d", "It."),))).directives[0].name == ".d"


def test_structure_by_name():
    one = Structure("s", (Member("m", "u8", "it"), Member("n", "u32", "it")), "S.")
    table = checked(core(structures=(one,)))
    assert table.structure("s") is one
    assert (one.size, dict(one.offsets)) == (5, {"m": 0, "n": 1})
    with pytest.raises(KeyError):
        table.structure("t")
