"""The program object: lookups by address and name."""

from __future__ import annotations

import pytest

from macaw.asm.program import Line, Program, Section, Symbol, Tensor, natural_sizes


def section(name: str, address: int, size: int, core: str | None = None) -> Section:
    return Section(name, core, None, address, address, bytes(size), size, 4, "aw")


PROGRAM = Program(
    sections=(section(".b", 0x2000, 16), section(".a", 0x1000, 16), section(".empty", 0x1000, 0)),
    symbols=(
        Symbol("late", 0x1008, 4, ".a", "notype", False),
        Symbol("main", 0x1000, 8, ".a", "func", True),
        Symbol("alias", 0x1000, 8, ".a", "func", False),
        Symbol("end", 0x1010, 0, ".a", "notype", False),
        Symbol("five", 5, 0, None, "notype", False),
        Symbol("five", 6, 0, None, "notype", True),
    ),
    tensors=(Tensor("x", "input", "int16", (2, 3), 0x2000), Tensor("y", "output", "int8", (), 0)),
    lines=(Line(".a", 0x1004, "f.s", 2, 1), Line(".a", 0x1000, "f.s", 1, 1)),
)


def test_section_at_takes_bounds_and_ignores_empty_sections() -> None:
    assert PROGRAM.section_at(0xFFF) is None
    for address in (0x1000, 0x100F):
        found = PROGRAM.section_at(address)
        assert found is not None
        assert found.name == ".a"
    assert PROGRAM.section_at(0x1010) is None
    assert PROGRAM.section(".b").end == 0x2010
    with pytest.raises(KeyError):
        PROGRAM.section(".c")


def test_symbol_at_gives_the_nearest_before_and_prefers_global_ones() -> None:
    found = PROGRAM.symbol_at(0x1007)
    assert found is not None
    assert (found[0].name, found[1]) == ("main", 7)
    found = PROGRAM.symbol_at(0x100C)
    assert found is not None
    assert (found[0].name, found[1]) == ("late", 4)
    assert PROGRAM.symbol_at(0x2000) is None
    assert PROGRAM.symbol_at(0x5000) is None


def test_symbol_at_names_nothing_after_the_end_of_a_tensor() -> None:
    """Data of a known size contain their own bytes only; a label goes on to the next symbol."""
    program = Program(
        sections=(section(".a", 0x1000, 64),),
        symbols=(
            Symbol("x", 0x1000, 12, ".a", "object", False),
            Symbol("label", 0x1020, 4, ".a", "notype", False),
            Symbol("unsized", 0x1030, 0, ".a", "object", False),
        ),
        tensors=(),
        lines=(),
    )
    names = {address: program.symbol_at(address) for address in (0x100B, 0x100C, 0x1028, 0x1034)}
    found = {address: item and (item[0].name, item[1]) for address, item in names.items()}
    assert found == {
        0x100B: ("x", 11), 0x100C: None, 0x1028: ("label", 8), 0x1034: ("unsized", 4)
    }  # fmt: skip


def test_symbol_at_names_data_around_data_that_have_ended() -> None:
    """An independent search: the nearest of the symbols that contain the address."""
    parts = {"outer": (0, 40), "big": (8, 24), "first": (8, 4), "inner": (16, 4), "over": (28, 8)}
    symbols = [
        Symbol(name, 0x1000 + start, size, ".a", "object", False)
        for name, (start, size) in parts.items()
    ]
    program = Program((section(".a", 0x1000, 64),), tuple(symbols), (), ())
    for place in range(64):
        around = [x for x in parts.items() if x[1][0] <= place < sum(x[1])]
        nearest = max((x[1][0] for x in around), default=0)
        found = program.symbol_at(0x1000 + place)
        if not around:
            assert found is None, place
            continue
        assert found is not None, place
        assert found[1] == place - nearest
        assert found[0].name in [name for name, (start, _) in around if start == nearest]
    texts = [program.symbol_at(0x1000 + place) for place in (12, 20, 27, 34, 36)]
    assert [item and (item[0].name, item[1]) for item in texts] == [
        ("big", 4), ("big", 12), ("big", 19), ("over", 6), ("outer", 36)
    ]  # fmt: skip


def test_symbol_by_name_prefers_the_global_one() -> None:
    assert PROGRAM.symbol("five").value == 6
    with pytest.raises(KeyError):
        PROGRAM.symbol("six")


def test_line_at() -> None:
    for address, line in ((0x1000, 1), (0x1003, 1), (0x1004, 2), (0x100F, 2)):
        found = PROGRAM.line_at(address)
        assert found is not None
        assert found.line == line
    assert PROGRAM.line_at(0x2000) is None
    assert PROGRAM.line_at(0) is None


def test_tensors() -> None:
    assert (PROGRAM.tensor("x").elements, PROGRAM.tensor("x").size) == (6, 12)
    assert (PROGRAM.tensor("y").elements, PROGRAM.tensor("y").size) == (1, 1)
    assert [item.name for item in PROGRAM.inputs] == ["x"]
    assert [item.name for item in PROGRAM.outputs] == ["y"]


def test_symbols_have_one_order_whatever_order_they_are_given_in() -> None:
    turned = Program(sections=PROGRAM.sections, symbols=PROGRAM.symbols[::-1])
    assert turned.symbols == PROGRAM.symbols
    names = [symbol.name for symbol in PROGRAM.symbols]
    assert names == ["alias", "late", "end", "five", "main", "five"]


def test_parts_are_in_the_order_of_their_index() -> None:
    rows = [Section(f".pe.{i}", "pe", i, i * 16, i * 16, b"", 4, 4, "a") for i in (2, 0, 1)]
    program = Program(sections=(*rows, section(".data", 0x1000, 4)))
    assert [item.index for item in program.parts("pe")] == [0, 1, 2]


def test_natural_sizes_reach_to_the_next_symbol_or_the_end() -> None:
    sizes = natural_sizes(PROGRAM.section(".a"), [0x1008, 0x1000, 0x1010, 0x1000])
    assert sizes == {0x1000: 8, 0x1008: 8, 0x1010: 0}
    assert natural_sizes(PROGRAM.section(".b"), []) == {}
