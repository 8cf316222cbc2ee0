"""Tests share helpers in modules without tests: no module imports a module of tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("tests", "programs", "benchmarks", "docs")


def imported_modules(tree: ast.AST) -> Iterator[str]:
    """The dotted names that import statements give; `from a import b` gives both a and a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            yield origin
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def modules_of_tests(tree: ast.AST) -> list[str]:
    """The imported names of modules of tests: a component of the name begins with `test_`."""
    return [
        name
        for name in imported_modules(tree)
        if not name.startswith("macaw.")
        and any(part.startswith("test_") for part in name.split("."))
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_module_of_tests_is_imported(folder: str) -> None:
    paths = sorted((ROOT / folder).rglob("*.py"))
    assert paths
    found = {
        path.relative_to(ROOT).as_posix(): names
        for path in paths
        if (names := modules_of_tests(ast.parse(path.read_text("utf-8"))))
    }
    assert found == {}


def test_imports_of_each_form_are_found() -> None:
    source = """
import tests.test_a
from tests.test_b import f
from tests import cost, test_c
from . import test_d
def inside():
    from .test_e import g
"""
    found = modules_of_tests(ast.parse(source))
    wanted = {"tests.test_a", "tests.test_b", "tests.test_c", ".test_d", "test_e"}
    assert wanted <= set(found)
    assert not any("cost" in name for name in found)
