"""The corpus: comments in each source of `ok` and `err` say what the assembler must give for it."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macaw.asm import syntax
from macaw.asm.assembler import assemble
from macaw.asm.data import DataError
from macaw.asm.diagnostics import AssemblyError, Diagnostic
from macaw.asm.directives import DIRECTIVES
from macaw.asm.files import FileError
from macaw.asm.floats import FloatError
from macaw.asm.layout import LayoutError
from macaw.asm.parser import parse
from macaw.asm.report import Report
from macaw.asm.source import Source, SourceText, logical_lines
from macaw.asm.statement_context import StatementContext
from macaw.asm.text_directives import TEXT_DIRECTIVES
from macaw.isa import registry
from macaw.isa.model import Core
from tests.asm import expectations
from tests.asm.corpus import EXPANDING_DIRECTIVE, FOLDER, ROOT, VALID_SOURCES, source_of
from tests.fuzzing import fuzz

pytestmark = pytest.mark.once

ERR = sorted((FOLDER / "err").glob("*.s"))


@pytest.mark.parametrize("path", VALID_SOURCES, ids=lambda path: path.stem)
def test_ok(path: Path) -> None:
    said, others = expectations.expected(path)
    program = assemble(source_of(path))
    found = [expectations.of(item) for item in program.warnings if isinstance(item, Diagnostic)]
    assert sorted(found) == said
    whole: dict[str, str] = {}
    for what, rest in others:
        if what == "bytes":
            name, _, data = rest.partition(" ")
            whole[name] = whole.get(name, "") + data
        else:
            found_part, wanted = expectations.compare(program, what, rest)
            assert found_part == wanted, rest
    for name, data in whole.items():
        assert program.section(name).data.hex(" ", 4) == bytes.fromhex(data).hex(" ", 4)


@pytest.mark.parametrize("path", ERR, ids=lambda path: path.stem)
def test_err(path: Path) -> None:
    said, _ = expectations.expected(path)
    with pytest.raises(AssemblyError) as caught:
        assemble(source_of(path))
    assert sorted(map(expectations.of, caught.value.diagnostics)) == said
    # In the order of the lines, and one error a line in each expansion.
    spans = [item.chain[-1].span if item.chain else item.span for item in caught.value.diagnostics]
    places = [(span.line, span.column) for span in spans]
    assert places == sorted(places)
    found = [(item.span, item.chain) for item in caught.value.errors]
    assert len(found) == len(set(found))


PLAIN = [path for path in VALID_SOURCES if not EXPANDING_DIRECTIVE.search(path.read_text("utf-8"))]
JUNK = (" )(", " 5 5", ",,", " @", ' "x')
BREAKS = [
    (path, line.start + len(line.text), junk)
    for path in PLAIN
    for line in logical_lines(SourceText(path.read_text("utf-8"), path.name), lambda _: None)
    for junk in JUNK
    # A string without its end swallows the start of a comment that goes on.
    if not (path.stem == "comments" and '"' in junk)
]


@fuzz
@given(st.sampled_from(BREAKS))
def test_one_bad_line_is_one_error_and_the_good_lines_have_none(
    case: tuple[Path, int, str],
) -> None:
    path, place, junk = case
    text = source_of(path).text
    with pytest.raises(AssemblyError) as caught:
        assemble(Source(text[:place] + junk + text[place:], "broken.s", path.parent))
    assert len(caught.value.errors) == 1
    assert caught.value.errors[0].span.line == text.count("\n", 0, place) + 1


TYPOS = [
    (path, line.start + statement.head.end)
    for path in PLAIN
    for line in logical_lines(SourceText(path.read_text("utf-8"), path.name), lambda _: None)
    for statement in (parse(line.text),)
    if statement.head is not None and statement.head.text != "="
]


@fuzz
@given(st.sampled_from(TYPOS))
def test_a_misspelt_word_is_one_error_and_is_taken_for_what_was_meant(
    case: tuple[Path, int],
) -> None:
    path, end = case
    text = source_of(path).text
    with pytest.raises(AssemblyError) as caught:
        assemble(Source(text[:end] + text[end - 1] + text[end:], "typo.s", path.parent))
    assert len(caught.value.errors) == 1
    assert caught.value.errors[0].span.line == text.count("\n", 0, end) + 1


# The exceptions that report a mistake.
SAYING = (syntax.Mistake, FileError, DataError, FloatError, LayoutError)
TELLING = ((Report, "warning"), (Report, "at_file"), (StatementContext, "warn"))

# Messages that no source of the corpus can hold, and the test that has them instead; "" if the
# place passes on what another one says.
ELSEWHERE = {
    "'the device is that of --device; .device and .setting do not count'": "test_settings.py::test_the_caller_s_device_replaces_both",
    "why": "",  # a value that must be known now; NotYet has the message
    "self.files[0] if self.files else ''": "test_assembler.py::test_memories_that_are_too_small",
    "f'-D {name}={value}: the value is no number'": "test_assembler.py::test_symbols_from_outside",
    "f\"'{name.text}' is defined here, but lines above use that of {source.name}:{line}\"": "test_definitions.py::test_a_symbol_is_that_of_its_file_or_of_another_one",
    "f'-D {name}={value}: the number does not fit 64 bits'": "test_assembler.py::test_symbols_from_outside",
    "message": "test_assembler.py::test_files_that_cannot_be_read",
    "str(source)": "test_assembler.py::test_files_that_cannot_be_read",
    "f'cannot read the file: {error}'": "test_assembler.py::test_files_that_cannot_be_read",
    "f\"'{name}' cannot be read: a text without a folder reads no files\"": "test_data.py::test_files_are_found_below_their_folders_only",
    "f\"'{path.name}' cannot be read: {error}\"": "test_data.py::test_a_file_that_cannot_be_opened",
}


def spoken() -> list[tuple[str, range, str]]:
    """The calls in the assembler's code that report something: file, lines, message expression."""
    names = {kind.__name__ for kind in SAYING} | {name for _, name in TELLING}
    found = []
    for file in (ROOT / "src" / "macaw" / "asm").rglob("*.py"):  # as code objects name them
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
            if name not in names:
                continue
            texts = [
                x for x in node.args if isinstance(x, ast.Constant | ast.JoinedStr | ast.BinOp)
            ]
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            found.append((str(file), lines, ast.unparse((texts or node.args)[0])))
    return found


def test_every_message_has_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """The corpus reaches each place of the assembler that reports an error or a warning."""
    reached: set[tuple[str, int]] = set()

    def note(depth: int) -> None:
        frame = sys._getframe(depth)
        reached.add((frame.f_code.co_filename, frame.f_lineno))

    for kind in SAYING:

        def noting(self: Any, *args: Any, _original: Any = kind.__init__, **named: Any) -> None:
            note(2)
            _original(self, *args, **named)

        monkeypatch.setattr(kind, "__init__", noting)
    for owner, name in TELLING:
        said = getattr(owner, name)

        def telling(*args: Any, _original: Any = said, **named: Any) -> Any:
            note(2)
            return _original(*args, **named)

        monkeypatch.setattr(owner, name, telling)
    for path in ERR:
        with pytest.raises(AssemblyError):
            assemble(source_of(path))
    for path in VALID_SOURCES:
        assemble(source_of(path))
    missing = [
        f"{Path(file).relative_to(ROOT)}:{lines.start}: {message}"
        for file, lines, message in spoken()
        if message not in ELSEWHERE and not any((file, line) in reached for line in lines)
    ]
    assert missing == []


def test_what_is_said_elsewhere_is_tested_there() -> None:
    messages = {message for _, _, message in spoken()}
    assert set(ELSEWHERE) <= messages
    for place in filter(None, ELSEWHERE.values()):
        file, _, test = place.partition("::")
        assert f"def {test}(" in (FOLDER / file).read_text("utf-8"), place


def first_words(path: Path) -> set[str]:
    """The first word of each statement of a source, also in the bodies of macros."""
    text = SourceText(path.read_text("utf-8"), path.name)
    heads = [HEAD.match(line.text) for line in logical_lines(text, lambda _: None)]
    return {head[2] or head[1] for head in heads if head}


HEAD = re.compile(r"(?:[\w.$]+\s*:\s*)*([\w.$]+)\s*(==?(?!=))?")
USED = {word for path in VALID_SOURCES for word in first_words(path)}


@pytest.mark.parametrize("core", registry.cores(), ids=lambda core: core.name)
def test_every_mnemonic_and_directive_has_a_source(core: Core) -> None:
    """Each row of the tables occurs in a source of the corpus, so a new row needs a source."""
    rows = {*core.rows, *(row.name for row in core.directives)} if core.section else set()
    assert (rows | set(DIRECTIVES) | set(TEXT_DIRECTIVES)) - USED == set()


def test_every_source_says_what_it_shows() -> None:
    """Each file begins with a comment that says what it is about."""
    said = {path: path.read_text("utf-8").splitlines()[0] for path in (*VALID_SOURCES, *ERR)}
    assert [path.name for path, line in said.items() if not line.startswith("#")] == []
