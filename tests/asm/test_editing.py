"""What an editor is told, of a small source whose answers can be read off it."""

from pathlib import Path

import pytest

from asm.editing import Document, Suggestion
from asm.formatter import formatted
from isa import registry

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
    """The place in the middle of a word of a line."""
    return line, LINES[line - 1].index(word) + 1 + len(word) // 2


def words(found: list[Suggestion], kind: str) -> set[str]:
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
        (15, "%hi", "%hi(...)"),
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


def test_definition_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "w.npy").write_bytes(b"")
    document = Document('.npy "w.npy"', "t.s", tmp_path)
    found = document.definition(1, 8)
    assert found is not None
    assert Path(found.file) == tmp_path / "w.npy"
    assert Document('.npy "v.npy"', "t.s", tmp_path).definition(1, 8) is None


def test_suggestions_of_a_statement() -> None:
    text = TEXT + "        "
    found = Document(text, "t.s").suggestions(18, 9)
    assert words(found, "instruction") == set(registry.core("cp").rows)
    assert {".core", ".equ", ".word"} <= words(found, "directive")
    assert ".seq" not in words(found, "directive")


def test_suggestions_of_operands() -> None:
    text = TEXT.replace("base=0, acc=1, balance", "")
    found = Document(text, "t.s").suggestions(8, 17)
    assert {"balance", "sfu"} <= words(found, "word")
    assert {"base=", "acc="} <= words(found, "operand")
    assert {"w", "x", "layer"} <= words(found, "symbol")
    assert "SIZE" in words(found, "constant")


def test_suggestions_of_cores_and_devices() -> None:
    assert words(Document(".core ", "t.s").suggestions(1, 7), "core") >= {"cp", "pe"}
    assert words(Document(".device ", "t.s").suggestions(1, 9), "device") == {
        "tiny",
        "base",
        "large",
    }
    text = ".core cp\n lui a0, %"
    assert "%hi" in words(Document(text, "t.s").suggestions(2, 11), "word")


def test_formatted() -> None:
    assert Document(".core cp\n li  a0,1", "t.s").formatted() == formatted(".core cp\n li  a0,1")
    assert Document(TEXT, "t.s").formatted().count("\n") == TEXT.count("\n")


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


@pytest.mark.parametrize("cut", range(0, len(TEXT), 7))
def test_half_a_source_never_fails(cut: int) -> None:
    """While somebody types, nothing is whole."""
    text = TEXT[:cut]
    document = Document(text, "t.s")
    line = text.count("\n") + 1
    column = cut - text.rfind("\n")
    assert isinstance(document.diagnostics, tuple)
    document.hover(line, column)
    document.definition(line, column)
    document.suggestions(line, column)
    document.outline()
