"""Pages that comments and docstrings name exist, by their path from the root of the repository."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("isa", "asm", "emu", "debugger", "src", "docs", "tests", "benchmarks", "programs")
PAGE = re.compile(r"(?<![\w/.*-])[\w./-]*\w\.md\b")


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The comments and docstrings of a module, with their first lines."""
    source = path.read_text("utf-8")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node, clean=False)
            if text is not None:
                yield node.body[0].lineno, text


def missing(path: Path) -> Iterator[str]:
    """Each page that a comment or docstring names and that is no file of the repository."""
    if not PAGE.search(path.read_text("utf-8")):
        return  # most modules: to read their tokens would take a second for each room
    for line, text in texts(path):
        for name in PAGE.findall(text):
            if not (ROOT / name).is_file():
                yield f"{path.relative_to(ROOT)}:{line}: {name}"


def modules(room: str) -> list[Path]:
    return sorted(path for path in (ROOT / room).rglob("*.py") if not path.is_symlink())


@pytest.mark.parametrize("room", ROOMS)
def test_pages_that_comments_and_docstrings_name_exist(room: str) -> None:
    assert [item for path in modules(room) for item in missing(path)] == []


def test_a_page_that_is_missing_is_noticed(tmp_path: Path) -> None:
    source = '"""By pe.md, docs/timing-pe.md and *.md."""\n# see docs/none.md\nx = "a.md"\n'
    path = tmp_path / "module.py"
    path.write_text(source, "utf-8")
    found = [name for _, text in texts(path) for name in PAGE.findall(text)]
    assert found == ["docs/none.md", "pe.md", "docs/timing-pe.md"]
    assert [(ROOT / name).is_file() for name in found] == [False, False, True]
