"""Names, blocks, annotations and corrections in a program of several files."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from macaw.asm.assembler import Source
from macaw.asm.diagnostics import ERROR
from macaw.asm.editing import blocks
from macaw.asm.editing.document import Document
from macaw.asm.editing.fixes import Fix
from macaw.asm.editing.program import EditedProgram
from macaw.asm.editing.renaming import RenameError
from tests.asm.corpus import FOLDER

pytestmark = pytest.mark.once

FILES = {
    "a.s": """\
        .include "c.inc"
        .global shared, table
        .core   cp
_start: li      a0, SIZE
shared: la      a1, table
        twice   addi, "a0, a0, SIZE"
1:      addi    a0, a0, -1
        bnez    a0, 1b
        j       1f
1:      ebreak
        .data
table:  .word   SIZE, BOTH
""",
    "b.s": """\
        .include "c.inc"
        .core   vc
        la      a0, table           # table
BOTH = 1
        .if     0
        .word   table
        .endif
""",
    "c.inc": """\
        .equ    SIZE, 4 * 4
        .equ    BOTH, SIZE + 1
.macro  twice op, rest:req
        \\op     \\rest
        .rept   1
        \\op     \\rest
        .endr
.endm
""",
}


def program(folder: Path, texts: Mapping[str, str] = FILES) -> EditedProgram:
    """The program of the given sources, whose include is on the disk."""
    (folder / "c.inc").write_text(texts["c.inc"])
    names = [name for name in texts if name.endswith(".s")]
    return EditedProgram(tuple(Source(texts[x], str(folder / x), folder) for x in names))


def document(folder: Path, name: str, texts: Mapping[str, str] = FILES) -> Document:
    return Document(texts[name], str(folder / name), folder, whole=program(folder, texts))


def at(name: str, line: int, word: str, texts: Mapping[str, str] = FILES) -> tuple[int, int]:
    return line, texts[name].split("\n")[line - 1].index(word) + 1


def places(folder: Path, name: str, line: int, word: str) -> set[tuple[str, int, int]]:
    """The file, line and column of each reference to the word."""
    found = document(folder, name).references(*at(name, line, word))
    return {(Path(x.span.file).name, x.span.line, x.span.column) for x in found}


def test_the_program_is_right(tmp_path: Path) -> None:
    assert document(tmp_path, "a.s").diagnostics == ()


SIZES = {("c.inc", 1, 17), ("c.inc", 2, 23), ("a.s", 4, 21), ("a.s", 6, 32), ("a.s", 12, 17)}
TABLES = {("a.s", 2, 25), ("a.s", 5, 21), ("a.s", 12, 1), ("b.s", 3, 21), ("b.s", 6, 17)}


@pytest.mark.parametrize(
    ("name", "line", "word", "expected"),
    [
        ("a.s", 4, "SIZE", SIZES),
        ("c.inc", 1, "SIZE", SIZES),  # of both sources that include it
        ("b.s", 3, "table", TABLES),  # also in text that is skipped, not in comments
        ("a.s", 12, "table", TABLES),
        ("a.s", 7, "1:", {("a.s", 7, 1), ("a.s", 8, 21)}),
        ("a.s", 9, "1f", {("a.s", 9, 17), ("a.s", 10, 1)}),
        ("c.inc", 3, "twice", {("c.inc", 3, 9), ("a.s", 6, 9)}),
        ("c.inc", 4, "op", {("c.inc", 3, 15), ("c.inc", 4, 10), ("c.inc", 6, 10)}),
        ("a.s", 7, "a0", {("a.s", 4, 17), ("a.s", 7, 17), ("a.s", 7, 21), ("a.s", 8, 17)}),
        ("b.s", 3, "# table", set()),
        ("b.s", 2, "vc", set()),
    ],
)  # fmt: skip
def test_references(
    tmp_path: Path, name: str, line: int, word: str, expected: set[tuple[str, int, int]]
) -> None:
    assert places(tmp_path, name, line, word) == expected


def test_an_included_symbol_is_one_in_all_sources_that_include_it(tmp_path: Path) -> None:
    """A symbol of c.inc is the same symbol in both sources, although b.s sets it again."""
    found = places(tmp_path, "a.s", 12, "BOTH")
    assert found == {("c.inc", 2, 17), ("a.s", 12, 23), ("b.s", 4, 1)}


def test_a_name_of_two_sources_is_two_symbols(tmp_path: Path) -> None:
    """Without `.global`, a name in one source and the same name in another are two symbols."""
    texts = {"a.s": ".equ N, 1\n.word N\n", "b.s": "N: .word N\n", "c.inc": ""}
    found = document(tmp_path, "a.s", texts).references(2, 7)
    assert {Path(x.span.file).name for x in found} == {"a.s"}


def test_pieces_of_names_are_no_references() -> None:
    """A name joined with a macro's parameter is another name, so no reference."""
    text = """\
        .core   cp
value:  .word   0
        .macro  load n
        la      a0, value\\n
        la      a0, \\n\\()value
        la      a0, value
        .endm
"""
    found = Document(text, "t.s").references(2, 1)
    assert [place.span.line for place in found] == [2, 6]


def test_highlights_are_those_of_the_file(tmp_path: Path) -> None:
    found = document(tmp_path, "b.s").highlights(*at("b.s", 3, "table"))
    assert [(x.span.line, x.defines) for x in found] == [(3, False), (6, False)]
    here = document(tmp_path, "a.s").highlights(*at("a.s", 12, "table"))
    assert [x.defines for x in here] == [False, False, True]


def renamed(folder: Path, name: str, line: int, word: str, new: str) -> dict[str, str]:
    """The texts of all files after a renaming."""
    spans = document(folder, name).rename(*at(name, line, word), new)
    texts = dict(FILES)
    for file, found in spans.items():
        lines = texts[Path(file).name].split("\n")
        for span in sorted(found, key=lambda x: -x.column):
            text = lines[span.line - 1]
            lines[span.line - 1] = text[: span.column - 1] + new + text[span.end_column - 1 :]
        texts[Path(file).name] = "\n".join(lines)
    return texts


@pytest.mark.parametrize(
    ("name", "line", "word", "new", "count"),
    [
        ("b.s", 3, "table", "words", 5),
        ("c.inc", 1, "SIZE", ".Lsize", 5),
        ("a.s", 6, "twice", "again", 2),
        ("c.inc", 4, "op", "what", 3),
        ("a.s", 7, "1:", "77", 2),
    ],
)
def test_a_renamed_program_is_the_same(
    tmp_path: Path, name: str, line: int, word: str, new: str, count: int
) -> None:
    texts = renamed(tmp_path, name, line, word, new)
    assert sum(text.count(new) for text in texts.values()) == count
    before = program(tmp_path).content()
    after = program(tmp_path, texts)
    assert after.assembly.report.diagnostics() == ()
    assert after.content() == before


@pytest.mark.parametrize(
    ("name", "line", "word", "new", "why"),
    [
        ("a.s", 4, "SIZE", "a b", "'a b' is no name"),
        ("a.s", 7, "1:", "one", "'one' is no number of a local label"),
        ("a.s", 9, "1f", "x", "'x' is no number of a local label"),
        ("a.s", 4, "a0", "a1", "'a0' is a register"),
        ("a.s", 4, "SIZE", "shared", "'SIZE' cannot be 'shared': 'shared' is defined twice"),
        ("a.s", 4, "SIZE", "BOTH", "'SIZE' cannot be 'BOTH': "),
        ("b.s", 2, "vc", "cp", "there is no name here"),
        ("c.inc", 1, "4 *", "x", "there is no name here"),
    ],
)
def test_what_cannot_be_renamed(
    tmp_path: Path, name: str, line: int, word: str, new: str, why: str
) -> None:
    with pytest.raises(RenameError, match=re.escape(why)):
        document(tmp_path, name).rename(*at(name, line, word), new)


@pytest.mark.parametrize(
    ("text", "column", "why"),
    [
        (".word nowhere\n", 8, "no symbol is called 'nowhere'"),
        (".word N\n", 7, "'N' is defined outside of the program, with -D"),
        ("nothing 1\n", 3, "no macro is called 'nothing'"),
        (".macro m\nl\\@: nop\n.endm\n.core cp\nm\nj l0\n", 0, "is defined in no line that can be"),
    ],
)
def test_a_name_without_a_definition_cannot_be_renamed(text: str, column: int, why: str) -> None:
    line = 1 if column else 6
    found = Document(text, "t.s", defines={"N": 3})
    with pytest.raises(RenameError, match=re.escape(why)):
        found.rename(line, column or 3, "new")


def test_the_entry_cannot_be_renamed_if_the_program_would_begin_elsewhere() -> None:
    source = Document(".core cp\n nop\n_start: nop\n", "t.s")
    with pytest.raises(RenameError, match="the program would not stay the same"):
        source.rename(3, 2, "begin")


def test_a_name_at_a_position(tmp_path: Path) -> None:
    name, span = document(tmp_path, "a.s").name_at(*at("a.s", 4, "SIZE"))
    assert (name, span.line, span.column, span.end_column) == ("SIZE", 4, 21, 25)


@pytest.mark.parametrize(
    "word", ["if", "ifdef", "ifndef", "ifnotdef", "ifeq", "ifne", "ifge", "ifgt", "ifle", "iflt",
             "ifb", "ifnb", "ifc", "ifnc", "ifeqs", "ifnes"],
)  # fmt: skip
def test_each_conditional_is_a_fold(word: str) -> None:
    text = f"        .{word}    x\n        nop\n        .endif\n"
    (block,) = Document(text, "t.s").folds()
    assert (block.kind, text.count("\n", 0, block.end)) == (blocks.CONDITIONAL, 2)


def test_folds() -> None:
    text = """\
# One comment
# of two lines
        .core   pe, row=0
        .seq    a
          mac
        .endseq
        .if     1
        .byte   1
        .else
        .byte   2
        .endif
/* a long
   one */
        .core   cp
.macro  m
        .rept   2
        nop
        .endr
.endm
# alone
"""
    source = Document(text, "t.s")
    found = [
        (block.kind, text.count("\n", 0, block.start) + 1, text.count("\n", 0, block.end) + 1)
        for block in source.folds()
    ]
    assert found == [
        (blocks.COMMENT, 1, 2),
        (blocks.PART, 3, 13),
        (blocks.BODY, 4, 6),
        (blocks.CONDITIONAL, 7, 8),
        (blocks.CONDITIONAL, 9, 11),
        (blocks.COMMENT, 12, 13),
        (blocks.PART, 14, 20),
        (blocks.MACRO, 15, 19),
        (blocks.REPETITION, 16, 18),
    ]


def test_notes(tmp_path: Path) -> None:
    text = """\
        .device tiny
        .equ    A, 7
        .equ    B, A * 2        # twice
        .set    v, 1
        .set    v, v + 1
        .core   vc
start:  li      a0, B
        li      a1, 0x12345678
        bnez    a0, start
        lw      a0, (a1)
        vadd.b  vr0, vr1, vr2
        nosuch  a0
        .word   A
"""
    source = Document(text, "t.s")
    found = [
        (text.count("\n", 0, note.offset) + 1, note.text, text[: note.offset].split()[-1])
        for note in source.annotations(0, len(text))
    ]
    assert found == [
        (3, "= 7", "A"),
        (3, "= 14", "2"),
        (5, "= 2", "1"),
        (7, "0x80000000", "start:"),
        (7, "= 14", "B"),
        (7, "1 cycle", "B"),
        (8, "2 cycles", "0x12345678"),
        (9, "1 cycle, 2 if taken", "start"),
        (10, "2+ cycles", "(a1)"),
        (11, "3 cycles", "vr2"),
        (13, "= 7", "A"),
    ]


def test_links(tmp_path: Path) -> None:
    (tmp_path / "w.npy").write_bytes(b"")
    text = '.npy "w.npy" # "w.npy"\n.asciz "w.npy"\n.npy "none.npy"\nx: .incbin "w.npy", 0\n'
    found = list(Document(text, "t.s", tmp_path).links())
    assert [(x.span.line, x.span.column, x.path) for x in found] == [
        (1, 7, tmp_path / "w.npy"),
        (4, 13, tmp_path / "w.npy"),
    ]


def test_coloured_words(tmp_path: Path) -> None:
    source = document(tmp_path, "a.s")
    text = FILES["a.s"]
    roles = {
        (text[word.start : word.end], word.role, word.defines)
        for word in source.coloured_words(0, len(text))
    }
    assert roles >= {
        ("_start", "label", True),
        ("li", "instruction", False),
        ("SIZE", "constant", False),
        ("table", "symbol", False),
        ("table", "label", True),
        ("twice", "macro", False),
        (".word", "directive", False),
        ("cp", "word", False),
        ("a0", "register", False),
        ("-", "operator", False),
    }
    included = document(tmp_path, "c.inc")
    found = [
        (word.role, word.defines)
        for word in included.coloured_words(0, 999)
        if FILES["c.inc"][word.start : word.end] in ("op", "\\op")
    ]
    assert found == [("parameter", True), ("parameter", False), ("parameter", False)]


def test_a_file_that_is_included_begins_in_the_part_of_its_include() -> None:
    texts = {"a.s": '.core pe, row=0\n.include "c.inc"\n', "c.inc": "x: .word 1\n"}
    folder = Path("/nowhere")
    whole = EditedProgram(
        (Source(texts["a.s"], "/nowhere/a.s", folder),), text_of=lambda path: texts.get(path.name)
    )
    assert whole.files.keys() == {"/nowhere/a.s"}  # there is no such file on the disk


def test_the_text_in_the_editor_counts(tmp_path: Path) -> None:
    """An included file has its text in the editor, not on disk.

    Its core is that of the source that includes the file.
    """
    (tmp_path / "c.inc").write_text("wrong\n")
    source = Source('.core vc\n.include "c.inc"\n', str(tmp_path / "a.s"), tmp_path)
    edited = " vadd.b vr0, vr0, vr0\n"
    whole = EditedProgram((source,), text_of=lambda path: edited)
    assert whole.assembly.report.diagnostics() == ()
    included = Document(edited, str(tmp_path / "c.inc"), tmp_path, whole=whole)
    core = included.core_at(1)
    assert core is not None
    assert core.name == "vc"
    assert included.hover(1, 3) is not None


@pytest.mark.parametrize("name", ["c.inc", "b.s", "other.s"])
def test_a_text_that_the_program_does_not_have_yet(tmp_path: Path, name: str) -> None:
    """A file opened in the editor knows the symbols of the source that includes it.

    A file that no source includes knows the symbols of the first source.
    """
    (tmp_path / "c.inc").write_text("nop\n")
    texts = {"a.s": ".core cp\nx: .word 1\n", "b.s": '.core vc\n.equ x, 5\n.include "c.inc"\n'}
    sources = (Source(text, str(tmp_path / each), tmp_path) for each, text in texts.items())
    whole = EditedProgram(tuple(sources))
    edited = Document(" li a0, x\n", str(tmp_path / name), tmp_path, whole=whole)
    found = edited.definition(1, 9)
    assert found is not None
    assert Path(found.file).name == ("a.s" if name == "other.s" else "b.s")
    core = edited.core_at(1)
    assert core is not None
    assert core.name == ("vc" if name == "c.inc" else "cp")  # a text without parts is cp's


# --- corrections ---------------------------------------------------------------------------

MISSPELT = [
    path
    for path in sorted((FOLDER / "err").glob("*.s"))
    if "did you mean" in path.read_text("utf-8")
]


def with_fix(text: str, fix: Fix) -> str:
    """The text after a correction."""
    lines = text.split("\n")
    line = lines[fix.span.line - 1]
    before, after = line[: fix.span.column - 1], line[fix.span.end_column - 1 :]
    lines[fix.span.line - 1] = before + fix.text + after
    return "\n".join(lines)


def corrected(source: Document, text: str) -> tuple[int, str]:
    """The number of "did you mean" corrections, and the text after the last correction alone."""
    found = [
        fix
        for fix in source.fixes(1, text.count("\n") + 1)
        if fix.diagnostic.hint.startswith("did you mean '")
    ]
    return len(found), with_fix(text, found[-1]) if found else text


@pytest.mark.parametrize("path", MISSPELT, ids=lambda path: path.stem)
def test_each_did_you_mean_is_a_correction(path: Path) -> None:
    """Each "did you mean" hint gives a correction, after which the error has changed or is gone."""
    text = path.read_text("utf-8")
    while True:
        source = Document(text, str(path), path.parent)
        guesses = [x for x in source.diagnostics if x.hint.startswith("did you mean '")]
        count, after = corrected(source, text)
        assert count == len(guesses)
        if not guesses:
            return
        assert len(after.split("\n")) == len(text.split("\n"))
        errors = {
            (x.span.line, x.message) for x in Document(after, str(path), path.parent).diagnostics
        }
        last = guesses[-1]
        assert (last.span.line, last.message) not in errors
        text = after


@pytest.mark.parametrize(
    ("line", "title", "after"),
    [
        (" add a0 a1, a2", "Insert ','", " add a0, a1, a2"),
        (" add a0, a1  a2", "Insert ','", " add a0, a1,  a2"),
        ("loop  addi a0, a0, -1", "Insert ':'", "loop:  addi a0, a0, -1"),
        ("start", "Insert ':'", "start:"),
        (" lw a0, 4(sp", "Insert ')'", " lw a0, 4(sp)"),
        (" addi a0, a1, 5)", "Remove ')'", " addi a0, a1, 5"),
        (" add a0,, a1, a2", "Remove ','", " add a0, a1, a2"),
        (" add %a0, a1, a2", "Remove '%'", " add a0, a1, a2"),
        (" .asciz 'hello'", "Change 'hello' to \"hello\"", ' .asciz "hello"'),
        (' .asciz "hello', "Insert '\"'", ' .asciz "hello"'),
    ],
)
def test_a_mark_that_is_missing_or_too_much_is_corrected(line: str, title: str, after: str) -> None:
    text = f".core cp\n{line}\n"
    (fix,) = Document(text, "t.s").fixes(2, 2)
    assert fix.title == title
    # A blank after an inserted mark, if there was one before it, stays.
    assert with_fix(text, fix) == f".core cp\n{after}\n"
    assert not [x for x in Document(with_fix(text, fix), "t.s").diagnostics if x.severity == ERROR]


def test_every_mark_of_the_corpus_is_corrected() -> None:
    """After a correction without "did you mean", the error at its place has changed or is gone."""
    count = 0
    for path in sorted((FOLDER / "err").glob("*.s")):
        text = path.read_text("utf-8")
        for fix in Document(text, str(path), path.parent).fixes(1, text.count("\n") + 1):
            if fix.diagnostic.hint.startswith("did you mean '"):
                continue
            after = Document(with_fix(text, fix), str(path), path.parent).diagnostics
            wrong = fix.diagnostic
            assert (wrong.span, wrong.message) not in {(x.span, x.message) for x in after}, path
            count += 1
    assert count >= 20


def test_a_mark_is_inserted_into_the_body_of_a_macro() -> None:
    text = ".macro do a\n add \\a a1, a2\n.endm\n.core cp\n do a0\n"
    (fix,) = Document(text, "t.s").fixes(5, 5)
    assert with_fix(text, fix) == text.replace("\\a a1", "\\a, a1")


# --- sources without .core -----------------------------------------------------------------

PLAIN = "        .globl  f\nf:      addi    a0, a0, 1\n        lw      a1, 4(sp)\n        ret\n"


def test_a_source_without_core_is_cps_everywhere() -> None:
    source, same = Document(PLAIN, "t.s"), Document(f"        .core cp\n{PLAIN}", "t.s")
    assert source.diagnostics == ()
    for line, column in ((2, 10), (2, 17), (3, 10), (4, 10)):
        hover, other = source.hover(line, column), same.hover(line + 1, column)
        assert hover is not None
        assert other is not None
        assert hover.text == other.text
    for line, column in ((2, 9), (2, 24), (3, 21)):
        mine, other_items = source.completions(line, column), same.completions(line + 1, column)
        assert [x.word for x in mine.items] == [x.word for x in other_items.items]
        assert len(mine.items) > 5
    assert "a0" in [x.word for x in source.completions(2, 17).items]
    assert source.signatures(2, 17) == same.signatures(3, 17)
    shift = len(same.text) - len(PLAIN)
    words = [(x.role, x.start) for x in source.coloured_words(0, len(PLAIN))]
    theirs = same.coloured_words(shift, len(same.text))
    assert words == [(x.role, x.start - shift) for x in theirs]
    assert list(source.annotations(0, len(PLAIN)))
    core = source.core_at(1)
    assert core is not None
    assert core.name == "cp"


def test_a_mistake_in_a_source_without_core_is_shown() -> None:
    source = Document(PLAIN.replace("addi ", "adi "), "t.s")
    (wrong,) = source.diagnostics
    assert wrong.message == "cp has no instruction 'adi'"
    assert [x.text for x in source.fixes(2, 2)] == ["andi"]


def test_gnu_says_that_the_beginning_is_cps() -> None:
    text = f"{PLAIN}        .core   vc\n        vadd.b  vr0, vr0, vr0\n"
    for gnu in (False, True):
        source = Source(text, "t.s")
        document = Document(text, "t.s", whole=EditedProgram((source,), gnu=gnu))
        assert bool(document.diagnostics) is not gnu
        hover = document.hover(2, 10)
        assert (hover is not None) is gnu
        assert document.hover(6, 10) is not None


def test_a_correction_in_an_expansion_changes_the_call() -> None:
    text = ".macro do op\n \\op a0, a0, 1\n.endm\n.core cp\n do adi\n"
    source = Document(text, "t.s")
    (fix,) = source.fixes(5, 5)
    assert (fix.title, fix.span.line) == ("Change 'adi' to 'andi'", 5)
    assert fix.diagnostic.severity == ERROR
    assert list(source.fixes(4, 4)) == []


@pytest.mark.parametrize("line", [".word %hi 5", "addi a0, a0, %lo 5", ".byte 'ab'", "li a0, 'ab'"])
def test_there_is_no_correction_that_leads_to_another_error(line: str) -> None:
    source = Document(f" .core cp\n {line}\n", "t.s")
    assert source.diagnostics
    assert list(source.fixes(1, 2)) == []


def test_links_after_lines_without_strings(tmp_path: Path) -> None:
    (tmp_path / "w.npy").write_bytes(b"")
    text = 'nop\n\n.npy "w.npy"\n.asciz "w.npy"; .npy "w.npy"\n'
    found = [(x.span.line, x.span.column) for x in Document(text, "t.s", tmp_path).links()]
    assert found == [(3, 7), (4, 23)]
