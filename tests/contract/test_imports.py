"""The product has no import circle; the tool of import-linter agrees with the one here."""

from __future__ import annotations

import ast
from pathlib import Path

import grimp
import pytest

from docs import trees
from tests.contract import imports

ROOMS = ("asm", "debugger", "emu", "isa", "lowering", "")  # "": the front


def room_of(module: str) -> str:
    name = f"{module}.".split(".")[1]
    return name if name in ROOMS else ""


@pytest.mark.parametrize("room", ROOMS)
def test_room_has_no_circle(room: str) -> None:
    found = [names for names in imports.circles(imports.graph()) if room in map(room_of, names)]
    assert found == []


def test_circles_are_found() -> None:
    edges = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"e"}, "f": {"a"}}
    assert imports.circles(edges) == [["b", "c"]]


def test_imports_are_those_that_import_linter_sees() -> None:
    seen = grimp.build_graph("macaw", cache_dir=None)
    graph = imports.graph()
    assert set(graph) == seen.modules
    for module, found in graph.items():
        above = {x for x in seen.modules if module.startswith(f"{x}.")}
        assert found == seen.find_modules_directly_imported_by(module) - above, module


def test_only_the_package_itself_names_the_front() -> None:
    """Only the root package imports macaw.api; other modules import what they use directly."""
    graph = imports.graph()
    users = {name for name, found in graph.items() if "macaw.api" in found and name != "macaw"}
    assert users <= {name for name in graph if room_of(name) == ""}


def test_docstrings_and_imports_need_no_syntax_tree() -> None:
    """The docstring and imports that pages read from a module's text equal its syntax tree's."""
    for path in imports.modules().values():
        tree = trees.tree_of(path)
        origins = {
            node.module for node in trees.statements(tree) if isinstance(node, ast.ImportFrom)
        }
        inside = {origin for origin in origins if origin and origin.startswith("macaw.")}
        assert trees.origins_of(path) == inside, path
        assert trees.docstring_of(path) == (ast.get_docstring(tree) or ""), path


def test_what_begins_otherwise_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    for text, docstring in (
        ("x = 1\n", ""), ("'one'\n", "one"), ('"""a\\x62"""\n', "ab"),
        ('"""Indented.\n\n    Text.\n"""\n', "Indented.\n\nText."), ('"""', None),
    ):  # fmt: skip
        path.write_text(text)
        trees.tree_of.cache_clear()
        if docstring is None:
            with pytest.raises(SyntaxError):
                trees.docstring_of(path)
        else:
            assert trees.docstring_of(path) == docstring
