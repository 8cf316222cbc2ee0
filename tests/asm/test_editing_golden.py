r"""All answers to an editor's questions about each word of a program, against recorded answers.

`editing.txt` has a block for each line: the notes, then a line for each word with its role, what
a hover shows, where the word is defined and where it occurs, and the operands of its statement. The
lists of suggestions are at the end of each file's answers. `MACAW_GOLDENS=write` writes the file;
look at it before you keep it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from macaw.asm.assembler import Source
from macaw.asm.diagnostics import Span
from macaw.asm.editing.completion import Completions
from macaw.asm.editing.document import Document
from macaw.asm.editing.outlines import Entry
from macaw.asm.editing.program import EditedProgram
from macaw.asm.editing.renaming import RenameError
from macaw.asm.editing.signatures import Signature

pytestmark = pytest.mark.once

GOLDEN = Path(__file__).with_name("editing.txt")
WRITE = os.environ.get("MACAW_GOLDENS") == "write"
FEW = 4  # words of a kind of suggestions that are all recorded

TEXTS = {
    "main.s": """\
        .device tiny                    # the smallest
        .input  x, int8, 4, 16, at=unit0
        .output y, int32, 8
        .include "parts.inc"
        .global start
        .equ    SIZE, COUNT * 2
        .core   pe, row=0
w:      .sparse "w.npy", clusters=2
        .seq    layer, state=sq, outer=SIZE
          .types activations=int8
          ld    activations, base=2
          mac   base=0, acc=1, balance
          st    base=1
          .step mac.base, inner=1
        .endseq
        config  ib=0, layer
        exe     ib=0, last, data=(x, w[0]), out=(y[0:4], pes=SIZE), to=(0, 1)
        trace_begin 0
        .core   cp
start:  li      a0, SIZE; li    a1, %lo(w)
        Twice   addi, "a0, a0, SIZE", times=COUNT
1:      addi    a0, a0, -1
        bnez    a0, 1b
        beq     a0, a1, 1f
        lw      a2, (SIZE)(a1)
        vx      a2
1:      ebreak
        .if     SIZE > 3
        .word   SIZE, y, '0', "text"
        .else
        .word   nosuch
        .endif
  /* a comment
     of lines */ .set v, 1
        .set    v, v + 1
        .irp    r, a0, a1
        mv      \\r, a3
        .endr
        .core   vc
        vadd.b  vr0, vr1, vr2
        vsplat.h vr3, a0
        .data
table:  .word   table - start, LEVEL
""",
    "parts.inc": """\
        .equ    COUNT, 1 + 1
.macro  Twice op, rest:req, times=2, more:vararg
        .rept   \\times
        \\op     \\rest
        .endr
last\\@: nop
.endm
""",
    "wrong.s": """\
        .core   cp
        adi     a0, a1, 1
        li      a0 1
        lw      a0, 4(a1
        .ascii  'text'
        .equ    SIZE, 1
        li      a1, SIZ
        Twice   x=1
        .core   fim
        mov
        .macro  m a
        li      a0, \\b
        .endm
        .core   nnp
        .hint
""",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    (folder / "w.npy").write_bytes((Path(__file__).parent / "ok" / "weights.npy").read_bytes())
    (folder / "parts.inc").write_text(TEXTS["parts.inc"], "utf-8")
    (folder / "more").mkdir()
    return folder


def document(folder: Path, name: str) -> Document:
    first = "main.s" if name == "parts.inc" else name
    source = Source(TEXTS[first], first, folder)
    whole = EditedProgram((source,), include_dirs=(), defines={"LEVEL": 3})
    return Document(TEXTS[name], name, folder, whole=whole)


NAMES = ("symbol", "constant", "label", "macro", "parameter", "register")  # roles of names


def place(span: Span) -> str:
    return f"{Path(span.file).name}:{span.line}:{span.column}-{span.end_column}"


class Lists:
    """The lists of suggestions of a file. Each gets a number when it is first needed."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def text(self, found: Completions) -> str:
        """The number of characters that a suggestion replaces, and the number of the list."""
        words: dict[str, list[str]] = {}
        for item in found.items:
            words.setdefault(item.kind, []).append(item.word)
        parts = [
            f"{len(group)} {kind} ({' '.join(group if len(group) <= FEW else (group[0], '...', group[-1]))})"
            for kind, group in words.items()
        ]
        number = self.numbers.setdefault(", ".join(parts) or "nothing", len(self.numbers))
        return f"{found.end - found.start} of list {number}"


def operands(found: Sequence[Signature]) -> str:
    """The best signature with the active operand in braces, and the number of the others."""
    if not found:
        return "nothing"
    label, active = found[0].label, found[0].active
    if active is not None:
        one = found[0].parameters[active]
        label = f"{label[: one.start]}{{{label[one.start : one.end]}}}{label[one.end :]}"
    return label + (f" +{len(found) - 1}" if found[1:] else "")


def tree(entries: Sequence[Entry], indent: str = "") -> Iterator[str]:
    for entry in entries:
        yield f"{indent}{entry.kind} {entry.name} [{entry.detail}] {place(entry.span)}".rstrip()
        yield from tree(entry.children, f"{indent}  ")


def lines_between(text: str, start: int, end: int) -> str:
    return f"{text.count(chr(10), 0, start) + 1}-{text.count(chr(10), 0, end) + 1}"


def of_file(source: Document) -> Iterator[str]:
    """The answers about the whole file."""
    yield "outline"
    yield from (f"  {line}" for line in tree(source.outline()))
    folds = [f"{x.kind} {lines_between(source.text, x.start, x.end)}" for x in source.folds()]
    yield f"folds: {', '.join(folds)}"
    yield f"links: {', '.join(f'{place(x.span)} {x.path.name}' for x in source.links())}"
    for fix in source.fixes(1, source.text.count("\n")):
        yield f"fix: {fix.title}, {place(fix.span)} becomes {fix.text!r}"


def of_word(source: Document, line: int, start: int, role: str) -> Iterator[str]:
    """The answers about the word at a column."""
    hover = source.hover(line, start)
    if hover is not None:
        words = [x for x in hover.text.splitlines() if x.strip() and not x.startswith("```")]
        text = " | ".join([words[0], *words[1:][-1:]])
        short = " ".join(text.replace(f"{source.folder}/", "").split())[:100].strip()
        yield f"hover {place(hover.span)}: {short}"
    found = source.definition(line, start)
    if found is not None:
        yield f"defined {place(found)}"
    references = source.references(line, start)
    if references:
        yield f"occurs {' '.join(place(x.span) + '!' * x.defines for x in references)}"
    if role in NAMES:
        try:
            name, span = source.name_at(line, start)
            yield f"may be renamed: {name} {place(span)}"
        except RenameError as error:
            yield f"is not renamed: {error}"


def of_line(source: Document, line: int, begin: int, end: int, lists: Lists) -> Iterator[str]:
    """The answers about a line, which is from offset `begin` to offset `end` of the text."""
    core = source.core_at(line)
    yield f"--- {line} {core.name if core is not None else ''}: {source.text[begin:end].strip()}"
    for note in source.annotations(begin, end):
        if begin <= note.offset <= end:
            yield f"note {note.offset - begin + 1} {note.kind} {note.text} ({note.explanation})"
    shown = "nothing"
    for word in source.coloured_words(begin, end):
        if begin <= word.start <= end:
            first, last = word.start - begin + 1, word.end - begin + 1
            text = f"{source.text[word.start : word.end]}: {word.role}{'!' * word.defines}"
            yield f"{text}, suggests {lists.text(source.completions(line, last))}"
            name = first + (source.text[word.start] == "\\")
            yield from (f"    {x}" for x in of_word(source, line, name, word.role))
            before, shown = shown, operands(source.signatures(line, last))
            if shown != before:
                yield f"    operands {shown}"
    yield f"at the end: {lists.text(source.completions(line, end - begin + 1))}"


def answers(source: Document) -> Iterator[str]:
    lists = Lists()
    yield f"=== {source.name}"
    yield from of_file(source)
    begin = 0
    for line, text in enumerate(source.text.split("\n")[:-1], 1):
        yield from of_line(source, line, begin, begin + len(text), lists)
        begin += len(text) + 1
    yield from (f"list {number}: {text}" for text, number in lists.numbers.items())


def recorded(name: str) -> list[str]:
    pieces = GOLDEN.read_text("utf-8").split("=== ")[1:]
    found = {piece.partition("\n")[0]: f"=== {piece}".splitlines() for piece in pieces}
    return found[name]


def test_the_answers_are_written_if_asked_for(folder: Path) -> None:
    if WRITE:
        lines = [line for name in TEXTS for line in answers(document(folder, name))]
        GOLDEN.write_text("\n".join(lines) + "\n", "utf-8")
    assert GOLDEN.read_text("utf-8").count("=== ") == len(TEXTS)


@pytest.mark.parametrize("name", TEXTS)
def test_answers_about_each_word(folder: Path, name: str) -> None:
    assert list(answers(document(folder, name))) == recorded(name)


@pytest.mark.parametrize("name", TEXTS)
def test_each_column_of_a_word_has_the_same_answer(folder: Path, name: str) -> None:
    source, starts = document(folder, name), [0]
    for text in source.text.split("\n"):
        starts.append(starts[-1] + len(text) + 1)
    for word in source.coloured_words(0, len(source.text)):
        if word.role in ("operator", "comment", "string"):
            continue
        line = source.text.count("\n", 0, word.start) + 1
        start = word.start + (source.text[word.start] == "\\")  # a parameter's name is after it
        columns = range(start - starts[line - 1] + 1, word.end - starts[line - 1] + 1)
        for ask in (source.hover, source.definition, source.references):
            assert len({str(ask(line, column)) for column in columns}) == 1
