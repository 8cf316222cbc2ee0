"""An editor's questions about a small source: hover, definition, completion, outline, errors."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from macaw.asm.editing.completion import Suggestion
from macaw.asm.editing.document import Document
from macaw.asm.formatter import format_text
from macaw.isa import registry

TEXT = """\
        .device tiny                    # the smallest
        .input  x, int8, 4, 16
        .equ    SIZE, 0x40
        .core   pe, row=0
w:      .array  int8, 64
        .seq    layer, state=sq
          ld    activations, base=2
          mac   base=0, acc=1, balance
        .endseq
        config  ib=0, layer
        .core   cp
_start: li      a0, SIZE
1:      addi    a0, a0, -1
        bnez    a0, 1b
        lui     a1, %hi(w)
        j       1f
1:      ebreak
"""
LINES = TEXT.split("\n")


@pytest.fixture
def document() -> Document:
    return Document(TEXT, "t.s")


def at(line: int, word: str) -> tuple[int, int]:
    """The line and the column in the middle of a word of a line."""
    return line, LINES[line - 1].index(word) + 1 + len(word) // 2


def words(found: Sequence[Suggestion], kind: str) -> set[str]:
    return {item.word for item in found if item.kind == kind}


def test_a_good_source_has_no_diagnostics(document: Document) -> None:
    assert document.diagnostics == ()


def test_diagnostics_are_those_of_the_assembler() -> None:
    document = Document(".core cp\n adi a0, a0, 1\n j nowhere\n", "t.s")
    assert [(item.span.line, item.message) for item in document.diagnostics] == [
        (2, "cp has no instruction 'adi'"),
        (3, "undefined symbol 'nowhere'"),
    ]


@pytest.mark.parametrize(
    ("line", "word", "core"), [(3, "SIZE", None), (5, "w", "pe"), (12, "li", "cp")]
)
def test_core(document: Document, line: int, word: str, core: str | None) -> None:
    found = document.core_at(line)
    assert (found.name if found else None) == core


@pytest.mark.parametrize(
    ("line", "word", "said"),
    [
        (8, "mac", "Multiply each weight"),
        (13, "addi", "Add a constant"),
        (6, ".seq", ".seq NAME"),
        (12, "SIZE", "SIZE: 64 (0x40)"),
        (15, "w)", "w: array, int8, 64, 64 bytes, at 0x100000"),
        (2, "x", "x: input, int8, 4 x 16, 64 bytes, at 0x8"),
        (8, "balance", "the word balance"),
        (7, "base", "0 to 15"),
        (7, "activations", "activations"),
        (13, "a0", "a register"),
        (15, "%hi", "%hi(value)"),
    ],
)
def test_hover(document: Document, line: int, word: str, said: str) -> None:
    found = document.hover(*at(line, word))
    assert found is not None
    assert said.lower() in found.text.lower()
    assert found.span.line == line


@pytest.mark.parametrize(("line", "word"), [(1, "smallest"), (13, "-1")])
def test_nothing_to_say(document: Document, line: int, word: str) -> None:
    assert document.hover(*at(line, word)) is None
    assert document.definition(*at(line, word)) is None


@pytest.mark.parametrize(
    ("line", "word", "to"),
    [(12, "SIZE", (3, 17)), (15, "w)", (5, 1)), (10, "layer", (6, 17)), (14, "1b", (13, 1)), (16, "1f", (17, 1))],
)  # fmt: skip
def test_definition(document: Document, line: int, word: str, to: tuple[int, int]) -> None:
    found = document.definition(*at(line, word))
    assert found is not None
    assert (found.file, found.line, found.column) == ("t.s", *to)


def test_definition_of_a_local_label_in_its_own_line() -> None:
    """`1b` means the label of its own line, and `1f` the next one, as in GNU as."""
    document = Document(".core cp\n1: nop\n1: j 1b\n1: j 1f\n1: nop\n", "t.s")
    backward, forward = document.definition(3, 6), document.definition(4, 6)
    assert backward is not None
    assert forward is not None
    assert (backward.line, forward.line) == (3, 5)


def test_definition_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "w.npy").write_bytes(b"")
    document = Document('.npy "w.npy"', "t.s", tmp_path)
    found = document.definition(1, 8)
    assert found is not None
    assert Path(found.file) == tmp_path / "w.npy"
    assert Document('.npy "v.npy"', "t.s", tmp_path).definition(1, 8) is None


def test_suggestions_of_a_statement() -> None:
    text = TEXT + "        "
    found = Document(text, "t.s").completions(18, 9).items
    assert words(found, "instruction") == set(registry.core("cp").rows)
    assert {".core", ".equ", ".word"} <= words(found, "directive")
    assert ".seq" not in words(found, "directive")


def test_suggestions_of_operands() -> None:
    text = TEXT.replace("base=0, acc=1, balance", "")
    found = Document(text, "t.s").completions(8, 17).items
    assert {"balance", "sfu"} <= words(found, "word")
    assert {"base=", "acc="} <= words(found, "operand")
    assert not words(found, "symbol")


def test_suggestions_of_cores_and_devices() -> None:
    assert words(Document(".core ", "t.s").completions(1, 7).items, "core") >= {"cp", "pe"}
    bank_devices = {"aim", "ddr4_dimm", "hbm2_pim"}
    devices = {"tiny", "base", "large", "bw_s5", "bw_a10", "bw_s10", *bank_devices}
    assert words(Document(".device ", "t.s").completions(1, 9).items, "device") == devices
    text = ".core cp\n lui a0, %"
    assert "%hi" in words(Document(text, "t.s").completions(2, 11).items, "function")


def test_formatted() -> None:
    assert Document(".core cp\n li  a0,1", "t.s").format_text() == format_text(
        ".core cp\n li  a0,1"
    )
    assert Document(TEXT, "t.s").format_text().count("\n") == TEXT.count("\n")


def test_outline(document: Document) -> None:
    found = document.outline()
    assert [(entry.name, entry.kind, entry.span.line) for entry in found] == [
        ("x", "tensor", 2),
        ("SIZE", "constant", 3),
        (".core pe", "part", 4),
        (".core cp", "part", 11),
    ]
    assert [(x.name, x.kind, x.span.line) for x in found[2].children] == [
        ("w", "data", 5),
        ("layer", "data", 6),
    ]
    assert [(x.name, x.kind, x.span.line) for x in found[3].children] == [("_start", "code", 12)]


# --- macros and includes ------------------------------------------------------------------

INCLUDED = """\
        .equ    STEP, 4
.macro  Wait times=1, more:vararg
        .rept   \\times
        nop
        .endr
.endm
inside: .word   STEP
"""
INCLUDING = """\
        .include "more.inc"
.macro  twice op, rest:req
        \\op     \\rest
made\\@: \\op     \\rest
.endm
        .core   cp
        twice   li, "a0, 1"
        WAIT    STEP
        .irp    r, a0, a1
        mv      \\r, zero
        .endr
        la      a0, inside
        j       made0
"""


@pytest.fixture
def including(tmp_path: Path) -> Document:
    (tmp_path / "more.inc").write_text(INCLUDED)
    return Document(INCLUDING, str(tmp_path / "t.s"), tmp_path)


def inside(line: int, word: str) -> tuple[int, int]:
    return line, INCLUDING.split("\n")[line - 1].index(word) + 2


@pytest.mark.parametrize(
    ("line", "word", "to"),
    [
        (7, "twice", ("t.s", 2, 9)),
        (8, "WAIT", ("more.inc", 2, 9)),  # in any case of letters
        (8, "STEP", ("more.inc", 1, 17)),
        (12, "inside", ("more.inc", 7, 1)),
        (13, "made0", ("t.s", 7, 9)),  # the call that makes it
        (1, "more.inc", ("more.inc", 1, 1)),
    ],
)
def test_definitions_in_macros_and_includes(
    including: Document, line: int, word: str, to: tuple[str, int, int]
) -> None:
    found = including.definition(*inside(line, word))
    assert found is not None
    assert (Path(found.file).name, found.line, found.column) == to


@pytest.mark.parametrize(
    ("line", "word", "said"),
    [
        (7, "twice", ".macro twice op, rest:req\n        \\op     \\rest"),
        (7, "twice", "Defined in line 2."),
        (8, "WAIT", ".macro Wait times=1, more:vararg\n        .rept   \\times"),
        (8, "WAIT", "more.inc:2."),
        (12, "inside", "at 0x80000000 in .data"),
        (12, "inside", "more.inc:7."),
        (1, ".include", "Read the lines of another file"),
    ],
)
def test_hover_in_macros_and_includes(including: Document, line: int, word: str, said: str) -> None:
    found = including.hover(*inside(line, word))
    assert found is not None
    assert said in found.text


def test_a_long_macro_is_cut_in_hovers() -> None:
    text = ".macro m\n" + ".byte 1\n" * 20 + ".endm\nm\n"
    found = Document(text, "t.s").hover(23, 1)
    assert found is not None
    assert found.text.count(".byte 1") == 12
    assert "# ... 8 more lines" in found.text


def test_a_macro_hides_the_instruction_but_no_directive() -> None:
    text = ".macro nop\n.endm\n.macro .word\n.endm\n.core cp\nnop\n.word 1\n"
    document = Document(text, "t.s")
    found = document.hover(6, 1)
    assert found is not None
    assert found.text.startswith("```macaw\n.macro nop\n.endm")
    found = document.hover(7, 2)
    assert found is not None
    assert found.text.startswith("```macaw\n.word ")
    assert document.definition(7, 2) is None


def test_macros_and_symbols_of_includes_are_suggested(including: Document) -> None:
    found = including.completions(7, 9).items
    assert words(found, "macro") == {"twice", "Wait"}
    assert next(x for x in found if x.word == "twice").detail == "twice op, rest:req"
    assert {"STEP", "inside", "made0"} <= {x.word for x in including.completions(8, 17).items}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".macro m a, b:req, c=1\n mv \\", ["a", "b", "c"]),  # no .endm yet
        (".macro m a b\n.irp r, a0, a1\n mv \\", ["a", "b", "r"]),
        (".macro m a\n.rept 2\n.irpc c, 12\n.endr\n mv \\", ["a"]),
        (".macro m a\n.endm # \\\n mv \\", []),
    ],
)
def test_parameters_are_suggested_in_a_body(text: str, expected: list[str]) -> None:
    line = text.count("\n") + 1
    found = Document(text, "t.s").completions(line, len(text) - text.rfind("\n")).items
    assert [item.word for item in found] == expected


def test_the_outline_has_macros_and_nothing_from_elsewhere(including: Document) -> None:
    found = including.outline()
    assert [(entry.name, entry.kind, entry.span.line) for entry in found] == [
        ("twice", "macro", 2),
        (".core cp", "part", 6),
    ]
    assert found[0].detail == "twice op, rest:req"
    assert found[1].children == ()


def test_a_symbol_from_outside_has_no_line() -> None:
    document = Document(".word N\n", "t.s", defines={"N": 3})
    found = document.hover(1, 7)
    assert found is not None
    assert found.text.endswith("Defined with -D.")
    assert document.definition(1, 7) is None
    assert document.outline() == []


def test_operands_behind_a_tab() -> None:
    found = Document(".core\t", "t.s").completions(1, 7).items
    assert words(found, "core") >= {"cp", "pe"}


@pytest.mark.once
@pytest.mark.parametrize("cut", range(0, len(INCLUDING), 5))
def test_half_a_source_with_macros_never_fails(cut: int, tmp_path: Path) -> None:
    (tmp_path / "more.inc").write_text(INCLUDED)
    text = INCLUDING[:cut]
    document = Document(text, "t.s", tmp_path)
    line, column = text.count("\n") + 1, cut - text.rfind("\n")
    document.hover(line, column)
    document.definition(line, column)
    document.completions(line, column)
    document.outline()


@pytest.mark.once
@pytest.mark.parametrize("cut", range(0, len(TEXT), 7))
def test_half_a_source_never_fails(cut: int) -> None:
    """A source that ends anywhere, as while a user types, never raises an exception."""
    text = TEXT[:cut]
    document = Document(text, "t.s")
    line = text.count("\n") + 1
    column = cut - text.rfind("\n")
    assert isinstance(document.diagnostics, tuple)
    document.hover(line, column)
    document.definition(line, column)
    document.completions(line, column)
    document.outline()
