"""Symbols that several files define, and uses of symbols before they have a value."""

from __future__ import annotations

import pytest

from macaw.asm.assembler import assemble
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.source import Source

MAIN = " .core cp\n_start: la a1, f\n"


def messages(*texts: str) -> list[str]:
    try:
        assemble([Source(text, f"{name}.s") for name, text in zip("abc", texts, strict=False)])
    except AssemblyError as error:
        return [f"{x.span.file}:{x.span.line}: {x.message}" for x in error.diagnostics]
    return []


@pytest.mark.parametrize("own", [".weak f\nf: nop", "f: nop\n .weak f"])
def test_a_definition_of_another_file_replaces_a_weak_one(own: str) -> None:
    """The other file's symbol counts, also if the own symbol becomes weak after its definition."""
    two = [Source(f"{MAIN} {own}\n", "a.s"), Source(" .core cp\nf: ret\n .global f\n", "b.s")]
    program = assemble(two)
    place = program.symbol("f").value
    assert program.line_at(place) is not None
    assert program.section(".text.cp").data[-4:] == (0x8067).to_bytes(4, "little")
    assert place == program.section(".text.cp").end - 4
    # auipc a1, 0; addi a1, a1, DISTANCE
    distance = int.from_bytes(program.section(".text.cp").data[4:8], "little") >> 20
    assert program.symbol("_start").value + distance == place
    assert messages(f"{MAIN}f: nop\n .global f\n", " .core cp\nf: ret\n .global f\n") == [
        "b.s:3: 'f' is defined twice"
    ]


@pytest.mark.parametrize("second", [" .global n\n .set n, 2\n", " .set n, 2\n .global n\n"])
def test_files_that_set_one_global_symbol_are_an_error(second: str) -> None:
    """As in GNU ld, also if the `.global` comes first and both files set a number."""
    first = " .data\n .global n\n .set n, 1\n .set n, 3\n .word n\n"
    assert messages(first, second) == ["b.s:2: 'n' is defined twice"]
    assert not messages(first, " .data\n .set n, 2\n .set n, 4\n .word n\n")
    assert not messages(first, " .data\n .weak n\n .set n, 2\n .set n, 4\n .word n\n")


@pytest.mark.parametrize("own", ["n: .word 1", " n = 2", " .lcomm n, 4", " .local n\n .comm n, 4"])
@pytest.mark.parametrize("use", [" .word n", " .set m, n", " .dword later + n", " .if n\n .endif"])
def test_a_symbol_is_that_of_its_file_or_of_another_one(use: str, own: str) -> None:
    """Lines that use another file's number cannot come before a definition of this file."""
    first, second = " .data\n .global n\nn = 5\n", f" .data\n{use}\n{own}\nlater:\n"
    (found,) = messages(first, second)
    assert found.endswith("'n' is defined here, but lines above use that of a.s:3")
    assert not messages(f" .data\n{own}\n{use}\nlater:\n" if ".if" not in use else "", first)
    assert not messages(first, f" .data\n{use}\nlater:\n")
    assert not messages(first, f" .data\n .weak n\n{use}\n n = 3\nlater:\n")
    assert messages(first, f" .data\n{use}\n .global n\n{own}\nlater:\n")
    # A label's address is known late enough: the own label counts.
    label = " .data\n .global n\nn: .word 5\n"
    assert ".if" in use or not messages(label, f" .data\n{use}\n{own}\nlater:\n")


@pytest.mark.parametrize("use", [" j end", " beqz a0, end", " call end", " lw a0, end"])
def test_a_jump_leads_to_the_label_of_its_file(use: str) -> None:
    """This is so also if the label follows, and a file before shares a label of the same name."""
    first = " .core cp\n .global end\n nop\nend: nop\n"
    words = [
        assemble([Source(first, "a.s"), Source(f" .core cp\n{use}\n nop\n{name}: nop\n", "b.s")])
        .parts("cp")[0]
        .data
        for name, use in (("end", use), ("own", use.replace("end", "own")))
    ]
    assert words[0] == words[1]


@pytest.mark.parametrize(
    "use",
    [" .word end - start", " .set n, end - start", " .space end - start", " .word start < end"],
)
def test_a_distance_is_between_labels_of_one_file(use: str) -> None:
    """Lines that use a distance in another file cannot come before labels of the same names."""
    first = " .data\n .global start, end\nstart: .word 1\nend:\n"
    own = "start: .word 1, 2\nend:\n"
    found = messages(first, f" .data\n{use}\n{own}")
    assert [x.split(": ", 1)[1] for x in found] == [
        "'start' is defined here, but lines above use that of a.s:3",
        "'end' is defined here, but lines above use that of a.s:4",
    ]
    assert not messages(first, f" .data\n{use}\n")
    assert not messages(first, f" .data\n{own}{use}\n")
    assert not messages(first, f" .data\n .word end, start\n{own}")


@pytest.mark.parametrize(
    "use",
    [
        " .org end + 16",
        " .view v, int8, 2, at=end",
        " .view v, int8, 1, at=end[1]",
        " .word sizeof(end)",
    ],
)
def test_a_place_is_a_label_of_one_file(use: str) -> None:
    """Lines that use the place or size of another file's label come after an own definition."""
    first = " .data\n .global end\nend: .array int8, 4\n"
    own = " .word 7\nend: .array int16, 5\n"
    found = messages(first, f" .data\n{use}\n{own}")
    assert [x.split(": ", 1)[1] for x in found] == [
        "'end' is defined here, but lines above use that of a.s:3"
    ]
    assert not messages(first, f" .data\n{use}\n")
    assert not messages(first, f" .data\n{own}{use}\n")


def test_a_symbol_set_to_a_later_label_is_in_its_section() -> None:
    """As in GNU as; a distance of labels has no section. The own label counts, not a shared one."""
    lines = (
        " .set p, end\n .set q, p + 4\n .set r, s\n .set s, q\n .set t, 1f\n"
        " .set n, end - here\nhere: .word p, q, n\n1:\nend: .word 1, 2\n"
    )
    first = " .data\n .global end\n .word 9\nend: .word 1\n"
    program = assemble([Source(first, "a.s"), Source(f" .data\n{lines}", "b.s")])
    found = {x.name: (x.section, x.value - program.symbol("here").value) for x in program.symbols}
    expected = {"p": 12, "q": 16, "r": 16, "s": 16, "t": 12}
    assert {name: found[name] for name in expected} == {
        name: (".data", offset) for name, offset in expected.items()
    }
    number = program.symbol("n")
    assert (number.section, number.value) == (None, 12)
    start = program.symbol("here").value
    assert data_words(first, f" .data\n{lines}")[2:5] == [start + 12, start + 16, 12]


@pytest.mark.parametrize("count", [2000])
@pytest.mark.parametrize("step", [1, -1])
def test_many_symbols_may_be_set_to_each_other(count: int, step: int) -> None:
    """The first or the last of them is a later label."""
    lines = [f" .set p{i}, p{i + step}" for i in range(1, count + 1)]
    ends = f" .set p0, end\n .set p{count + 1}, end\n"
    program = assemble(Source(f" .data\n{ends}" + "\n".join(lines) + "\n .word p5\nend:\n", "a.s"))
    assert program.symbol("p5").value == program.symbol("end").value


def test_a_view_may_have_the_name_of_the_label_at_which_it_lies() -> None:
    """The sources of compiled networks have such views; later uses mean the view."""
    first = " .data\n .global end\nend: .array int8, 4\n"
    view = " .view end, int8, 2, at=end\n"
    assert not messages(first, f" .data\n{view} .word sizeof(end)\n")
    found = messages(first, f" .data\n .word sizeof(end)\n{view}")
    assert [x.split(": ", 1)[1] for x in found] == [
        "'end' is defined here, but lines above use that of a.s:3"
    ]


@pytest.mark.parametrize("own", ["{0}: .word 9", " .set {0}, 9", " .local {0}\n .comm {0}, 4"])
@pytest.mark.parametrize("place", ["place", "place + 4"])
@pytest.mark.parametrize("export", [" .global n", " .weak n"])
def test_an_own_symbol_has_priority_over_an_address_of_another_file(
    export: str, place: str, own: str
) -> None:
    """As in GNU as and ld, also if the other file gives the address by `.set`."""
    first = f" .data\n{export}\nplace: .word 1, 2\n .set n, {place}\n"
    second = " .data\n .word {0}, {0} + 4\n" + own + "\n"
    found = data_words(first, second.format("n"))
    assert found == data_words(first, second.format("other"))


@pytest.mark.parametrize("use", [" .word n", " .byte n, 0, 0, 0", " .set m, n\n .word m"])
def test_a_strong_number_has_priority_over_a_weak_one_of_an_earlier_file(use: str) -> None:
    weak, strong = " .data\n .weak n\n .set n, 5\n .set n, 6\n", " .data\n .global n\n .set n, 7\n"
    assert data_words(weak, f" .data\n{use}\n", strong) == [7]
    assert data_words(weak, f" .data\n{use}\n .global n\n .set n, 7\n") == [7]
    assert data_words(weak, f" .data\n{use}\n .set n, 8\n") == [8]
    assert data_words(weak, f" .data\n{use}\n") == [6]


def test_a_strong_label_has_priority_over_a_weak_address() -> None:
    weak = " .data\nd: .word 7\n .weak n\n .set n, d + 4\n .word n\n"
    assert data_words(weak, " .data\n .global n\nn: .word 1\n") == [7, 0x80000008, 1]
    assert data_words(weak) == [7, 0x80000004]


def data_words(*texts: str) -> list[int]:
    """The words of .data that files together give; the first one assembles to none."""
    program = assemble(
        [Source(text, f"{name}.s") for name, text in zip("abc", texts, strict=False)]
    )
    data = program.section(".data").data
    return [int.from_bytes(data[place : place + 4], "little") for place in range(0, len(data), 4)]


@pytest.mark.parametrize("other", [" .global n\nn = 99\n", " .data\n .weak n\nn: .word 7\n"])
@pytest.mark.parametrize("use", [" .data\n .word n\n{}", " .data\n{} .word n\n"])
def test_a_local_common_symbol_is_of_its_own_file(other: str, use: str) -> None:
    """It is, whatever other files share under its name."""
    mine = use.format(" .local n\n .comm n, 4, 4\n")
    zeros = assemble([Source(mine, "a.s"), Source(other, "b.s")]).section(".bss")
    assert data_words(mine, other)[0] == zeros.address
    if use.index("{") < use.index(".word"):
        assert data_words(other, mine)[-1] == zeros.address


@pytest.mark.parametrize("files", [(0, 1), (1, 0)])
def test_a_common_symbol_replaces_a_weak_one(files: tuple[int, int]) -> None:
    """As in GNU ld; a definition that is not weak replaces the common symbol."""
    common = " .data\n .comm n, 8, 4\n .word n\n"
    texts = [common, " .data\n .weak n\nn: .word 7\n .word n\n"]
    program = assemble([Source(texts[place], f"{place}.s") for place in files])
    symbol = program.symbol("n")
    assert (symbol.section, symbol.size, symbol.is_weak) == (".bss", 8, False)
    assert data_words(*(texts[place] for place in files)).count(symbol.value) == 2
    strong = " .data\n .global n\nn: .word 7\n"
    assert assemble([Source(common, "a.s"), Source(strong, "b.s")]).symbol("n").section == ".data"


def test_a_tensor_has_one_declaration_in_all_files() -> None:
    assert messages(" .input x, int8, 4\n", " .output x, int8, 4\n") == [
        "b.s:1: 'x' is defined twice"
    ]


def test_nothing_after_an_unknown_core_is_another_error() -> None:
    """Its sections, instructions and directives are accepted, and their symbols are defined."""
    text = (
        " .core bogus\nx: add a0, a0, a0\n .data\ny: .word 1\n .section .mine\n .foo z, 1\n"
        " .core cp\n la a0, y\n la a1, z\n la a2, x\n la a3, w\n"
    )
    assert messages(text) == [
        "a.s:1: no core that runs programs is called 'bogus'", "a.s:11: undefined symbol 'w'"
    ]  # fmt: skip


def test_a_label_that_follows_is_no_number_of_a_conditional() -> None:
    assert messages(" .core cp\n .if 1f\n nop\n .endif\n1: nop\n j 1b\n") == [
        "a.s:2: the value must be known here: it is a label that follows"
    ]
    assert messages(" .core cp\n .if x\n nop\n .endif\nx: nop\n") == [
        "a.s:2: the value must be known here: 'x' is not defined before"
    ]
    assert messages(" .core cp\nx: .if x\n nop\n .endif\n") == [
        "a.s:2: the value must be known here: it is an address, and nothing is laid out yet"
    ]


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ('.ascii"a b"', "612062"),
        ('.ascii"a,b"', "612c62"),
        ('.ascii"(", ".byte 2"', "2802"),
        (".byte(1+(2,3", None),
        (".byte(1+[2])", None),
        (".byte+(1 + 2)", "03"),
        (".byte+' '", "20"),
    ],
)
def test_quotes_and_brackets_inside_of_an_argument(argument: str, expected: str | None) -> None:
    """Blanks and commas in quotes do not end an argument, nor do blanks in brackets."""
    text = f' .core cp\n .data\n.macro m a, b=" "\n \\a\n \\b\n.endm\n m {argument}\n'
    if expected is None:
        assert messages(text)
        return
    assert assemble(Source(text, "a.s")).section(".data").data.hex() == expected
