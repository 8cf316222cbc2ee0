"""`benchmarks.listening` removes the tests for listeners from the emulator that it compiles."""

from __future__ import annotations

import ast

import pytest

from benchmarks.listening import WithoutTests


@pytest.mark.parametrize(
    ("text", "wanted", "removed"),
    [
        ("if self.listeners:\n    a()\nb()", "pass\nb()", 1),
        ("if not core.listeners:\n    a()\nelse:\n    b()", "a()", 1),
        ("if self.listeners or x:\n    a()", "if x:\n    a()", 1),
        (
            "if x and not self.listeners and (y or None):\n    a()",
            "if x and (y or None):\n    a()",
            1,
        ),
        ("if x and self.listeners:\n    a()", "pass", 1),
        ("if self.on_wait is not None:\n    a()\nelse:\n    b()", "b()", 1),
        ("a = {} if self.listeners else b", "a = b", 1),
        ("self.listeners = []\nif x is None or True:\n    a()", "", 0),
    ],
)
def test_tests_for_listeners_are_removed(text: str, wanted: str, removed: int) -> None:
    transformer = WithoutTests()
    made = ast.unparse(transformer.visit(ast.parse(text)))
    assert made == (wanted or text)
    assert transformer.removed == removed
