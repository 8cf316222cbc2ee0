"""The corpus: every source in `ok` and `err` says itself what has to come of it."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asm import syntax
from asm.assembler import assemble
from asm.diagnostics import AssemblyError, Diagnostic
from asm.parser import parse
from asm.source import Source, SourceText, logical_lines
from tests.asm import expectations
from tests.fuzzing import fuzz

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
OK = sorted((HERE / "ok").glob("*.s"))
ERR = sorted((HERE / "err").glob("*.s"))


def source(path: Path) -> Source:
    """A source under a name that is the same wherever the tests run."""
    return Source(path.read_text("utf-8"), str(path.relative_to(ROOT)), path.parent)


@pytest.mark.parametrize("path", OK, ids=lambda path: path.stem)
def test_ok(path: Path) -> None:
    said, others = expectations.expected(path)
    program = assemble(source(path))
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
        assemble(source(path))
    assert sorted(map(expectations.of, caught.value.diagnostics)) == said
    # In the order of the lines, and one error a line.
    places = [(item.span.line, item.span.column) for item in caught.value.diagnostics]
    assert places == sorted(places)
    places = [(item.span.line, item.span.column) for item in caught.value.errors]
    assert len(places) == len(set(places))


JUNK = (" )(", " 5 5", ",,", " @", ' "x')
BREAKS = [
    (path, line.start + len(line.text), junk)
    for path in OK
    for line in logical_lines(SourceText(path.read_text("utf-8"), path.name), lambda _: None)
    for junk in JUNK
    # A string without its end swallows the begin of a comment that goes on.
    if not (path.stem == "comments" and '"' in junk)
]


@fuzz
@given(st.sampled_from(BREAKS))
def test_one_bad_line_is_one_error_and_the_good_lines_have_none(
    case: tuple[Path, int, str],
) -> None:
    path, place, junk = case
    text = source(path).text
    with pytest.raises(AssemblyError) as caught:
        assemble(Source(text[:place] + junk + text[place:], "broken.s", path.parent))
    assert len(caught.value.errors) == 1
    assert caught.value.errors[0].span.line == text.count("\n", 0, place) + 1


TYPOS = [
    (path, line.start + statement.head.end)
    for path in OK
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
    text = source(path).text
    with pytest.raises(AssemblyError) as caught:
        assemble(Source(text[:end] + text[end - 1] + text[end:], "typo.s", path.parent))
    assert len(caught.value.errors) == 1
    assert caught.value.errors[0].span.line == text.count("\n", 0, end) + 1


# Said of what no source of the corpus can hold: tests of their own have these.
ELSEWHERE = {"why"}


def test_every_mistake_has_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each place of the assembler that says a mistake is reached by the corpus."""
    reached: set[tuple[str, int]] = set()
    original = syntax.Mistake.__init__

    def noting(self: syntax.Mistake, *args: Any, **named: Any) -> None:
        frame = sys._getframe(1)
        reached.add((frame.f_code.co_filename, frame.f_lineno))
        original(self, *args, **named)

    monkeypatch.setattr(syntax.Mistake, "__init__", noting)
    for path in ERR:
        with pytest.raises(AssemblyError):
            assemble(source(path))
    missing = []
    for file in (ROOT / "asm").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "Mistake":
                continue
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            message = ast.unparse(node.args[0])
            if message not in ELSEWHERE and not any((str(file), n) in reached for n in lines):
                missing.append(f"{file.relative_to(ROOT)}:{node.lineno}: {message}")
    assert missing == []
