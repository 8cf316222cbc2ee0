"""The sizes of the product's modules and functions are limited, so that each is read quickly."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from statistics import median

import pytest

from docs.trees import tree_of
from tests.contract import imports

MOST = 500  # lines
MEDIAN = 160
MOST_OF_A_FUNCTION = 65  # lines without the docstring and the parameters
# A table of declared fields; a loop that would call a function in each simulated cycle.
LONG = {("macaw.emu.pe.state", "fields"), ("macaw.emu.pe.fast.queue_occupancy", "_stretch")}


def test_no_module_is_long() -> None:
    lengths = {
        name: len(path.read_text("utf-8").splitlines()) for name, path in imports.modules().items()
    }
    assert {name: length for name, length in lengths.items() if length >= MOST} == {}
    assert median(lengths.values()) < MEDIAN


def long_functions(tree: ast.Module) -> Iterator[str]:
    """The names of functions that have more lines than allowed."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
            has_text = ast.get_docstring(node) is not None and len(node.body) > 1
            first = node.body[has_text].lineno
            if node.end_lineno - first >= MOST_OF_A_FUNCTION:
                yield node.name


@pytest.mark.once
def test_no_function_is_long() -> None:
    modules = imports.modules().items()
    found = {(name, long) for name, path in modules for long in long_functions(tree_of(path))}
    assert found == LONG


def test_lines_of_a_function_are_counted_after_its_docstring() -> None:
    def function(lines: int) -> ast.Module:
        return ast.parse('def f(a,\n      b):\n    """Text.\n\n    More."""\n' + "    a\n" * lines)

    assert list(long_functions(function(MOST_OF_A_FUNCTION))) == []
    assert list(long_functions(function(MOST_OF_A_FUNCTION + 1))) == ["f"]
