"""Answers to an editor about random places of generated and damaged sources, against recorded ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from lsprotocol import types

from macaw.asm.assembler import Source
from macaw.asm.diagnostics import Span
from macaw.asm.editing.document import Document
from macaw.asm.editing.outlines import Entry
from macaw.asm.editing.program import EditedProgram
from macaw.asm.editing.renaming import RenameError
from macaw.language_server.positions import Positions
from tests.asm.generated import directives, expressions, outcomes, parts, texts
from tests.asm.generated.outcomes import NAME, digest
from tests.recorded import check

pytestmark = pytest.mark.once

MAKERS: dict[str, Callable[[str], str]] = {
    "symbols": directives.symbol_source,
    "sections": directives.section_source,
    "tensors": directives.tensor_source,
    "names": expressions.named_source,
    "macros": texts.macro_source,
    "includes": texts.include_source,
    "pe": parts.pe_source,
    "fim": parts.fim_source,
    "nnp": parts.nnp_source,
}
COUNT = 8  # sources of a kind; the second half of them is damaged
PLACES = 7  # places of a source


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    texts.write_files(folder)
    return folder


def text_of(kind: str, number: int) -> str:
    text = MAKERS[kind](f"edit {kind} {number}")
    return texts.damaged(text, f"edit {kind} {number}") if number >= COUNT // 2 else text


def place(span: Span) -> str:
    name = "" if span.file == NAME else f"{Path(span.file).name}:"
    return f"{name}{span.line}:{span.column}-{span.end_column}"


def answers(source: Document, random: Random) -> Iterator[str]:
    """The answers about the whole source, then those about some places in words and at their ends."""
    words = list(source.coloured_words(0, len(source.text)))
    roles = " ".join(
        f"{word.start}-{word.end}{word.role[:3]}{'!' * word.defines}" for word in words
    )
    yield f"{len(words)} words {digest(roles)}"
    yield f"outline: {' '.join(tree(source.outline())) or 'nothing'}"
    folds = [f"{x.kind} {x.start}-{x.end}" for x in source.folds()]
    links = [f"{place(x.span)} {x.path.name}" for x in source.links()]
    yield f"folds: {', '.join(folds)}; links: {', '.join(links)}"
    for fix in source.fixes(1, source.text.count("\n") + 1):
        yield f"fix: {fix.title}, {place(fix.span)} becomes {fix.text!r}"
    notes = [f"{x.offset} {x.kind} {x.text}" for x in source.annotations(0, len(source.text))]
    yield f"{len(notes)} notes {digest(' '.join(notes))}"
    for word in sorted(random.sample(words, min(PLACES, len(words))), key=lambda x: x.start):
        offset = random.choice((word.start, word.start, (word.start + word.end) // 2, word.end))
        begin = source.text.rfind("\n", 0, offset) + 1
        line, column = source.text.count("\n", 0, offset) + 1, offset - begin + 1
        yield f"{line}:{column} {word.role} `{source.text[word.start : word.end][:30]}`"
        yield from (f"  {answer}" for answer in at_place(source, line, column))


def at_place(source: Document, line: int, column: int) -> Iterator[str]:
    hover = source.hover(line, column)
    if hover is not None:
        lines = [x for x in hover.text.splitlines() if x.strip() and not x.startswith("```")]
        shown = " ".join((lines[0] if lines else "").replace(f"{source.folder}/", "").split())
        yield f"hover {place(hover.span)}: {shown[:60]} {digest(hover.text.replace(str(source.folder), ''))}"
    definition = source.definition(line, column)
    if definition is not None:
        yield f"defined {place(definition)}"
    references = source.references(line, column)
    if references:
        yield f"occurs {' '.join(place(x.span) + '!' * x.defines for x in references)}"
    try:
        renamed = source.rename(line, column, "renamed1")
        yield f"renamed at {' '.join(place(span) for spans in renamed.values() for span in spans)}"
    except RenameError as error:
        yield f"not renamed: {str(error)[:70]}"
    found = source.completions(line, column)
    items = [f"{x.kind} {x.word}" for x in found.items]
    yield f"replaces {found.end - found.start}: {len(items)} {digest(' '.join(items))} {' '.join(items[:2])}"
    signatures = [
        f"{x.label}{'' if x.active is None else f' <{x.active}>'}"
        for x in source.signatures(line, column)
    ]
    if signatures:
        yield f"operands {len(signatures)}: {signatures[0]}"


def tree(entries: list[Entry] | tuple[Entry, ...]) -> Iterator[str]:
    for entry in entries:
        inside = " ".join(tree(list(entry.children)))
        yield f"{entry.kind} {entry.name}@{entry.span.line}:{entry.span.column}{f' ({inside})' if inside else ''}"


@pytest.mark.parametrize("kind", MAKERS)
def test_answers_at_random_places(folder: Path, kind: str) -> None:
    found: dict[str, list[str]] = {}
    for number in range(COUNT):
        text = text_of(kind, number)
        random = Random(f"places {kind} {number}")
        lines = list(answers(Document(text, NAME, folder), random))
        found[f"{kind} {number}"] = (
            lines if number % 4 == 0 else [f"{len(lines)} {digest(chr(10).join(lines))}"]
        )
    check(outcomes.FOLDER / f"editing_{kind}.txt", outcomes.records(found))


@pytest.mark.parametrize("kind", MAKERS)
def test_renamed_symbols_give_the_same_program(folder: Path, kind: str) -> None:
    """A text in which the spans of a rename have the new name assembles to the same bytes."""
    for number in range(COUNT // 2):
        text = text_of(kind, number)
        source, random = Document(text, NAME, folder), Random(f"rename {kind} {number}")
        names = [
            word
            for word in source.coloured_words(0, len(text))
            if word.role in ("symbol", "constant", "macro")
        ]
        for word in random.sample(names, min(3, len(names))):
            line = text.count("\n", 0, word.start) + 1
            try:
                spans = source.rename(
                    line, word.start - text.rfind("\n", 0, word.start), "renamed1"
                )
            except RenameError:
                continue
            if spans.keys() != {NAME}:
                continue
            renamed = with_name(text, spans[NAME], "renamed1")
            assert content(renamed, folder) == content(text, folder), (text, renamed)


def with_name(text: str, spans: list[Span], name: str) -> str:
    lines = text.split("\n")
    for span in sorted(spans, key=lambda x: (x.line, x.column), reverse=True):
        line = lines[span.line - 1]
        lines[span.line - 1] = line[: span.column - 1] + name + line[span.end_column - 1 :]
    return "\n".join(lines)


def content(text: str, folder: Path) -> object:
    return EditedProgram((Source(text, NAME, folder),)).content()


@pytest.mark.parametrize("kind", MAKERS)
def test_edits_one_after_the_other(folder: Path, kind: str) -> None:
    """Changes of the protocol, in units of UTF-16, give the text that Python's slices give.

    A document that has forgotten its program answers about the new text as a new document.
    """
    random, text = Random(f"edits {kind}"), "# é€😀 = 1\n" + text_of(kind, 0).replace("\r", "")
    positions = Positions(text, types.PositionEncodingKind.Utf16)
    for _ in range(8):
        start = random.randrange(len(text))
        end = min(len(text), start + random.choice((0, 1, 3, 20)))
        piece = random.choice(("", "x", "\n", "😀", ", 1", "\n.byte 1\n", "é"))
        change = types.TextDocumentContentChangePartial(
            types.Range(in_utf16(text, start), in_utf16(text, end)), piece
        )
        text = f"{text[:start]}{piece}{text[end:]}"
        positions = positions.after(change)
        assert positions.text == text
        assert positions.offset(in_utf16(text, start)) == start
    (folder / "one.inc").write_text(".byte 1\n", "utf-8")
    kept = Document(text, NAME, folder)
    before = kept.diagnostics
    (folder / "one.inc").write_text(".byte 1, 300\n", "utf-8")
    assert kept.diagnostics is before or kept.diagnostics == before
    kept.forget()
    assert kept.diagnostics == Document(text, NAME, folder).diagnostics
    (folder / "one.inc").write_text(texts.FILES["one.inc"], "utf-8")


def in_utf16(text: str, offset: int) -> types.Position:
    begin = text.rfind("\n", 0, offset) + 1
    return types.Position(
        text.count("\n", 0, offset), len(text[begin:offset].encode("utf-16-le")) // 2
    )
