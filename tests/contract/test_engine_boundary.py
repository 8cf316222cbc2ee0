"""Neither engine of a core uses a private name of the other."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import pytest

from docs.trees import tree_of
from tests.contract.tree import ROOT

CORES = sorted(path.parent.name for path in (ROOT / "emu").glob("*/__init__.py"))
ENGINES = ("reference", "fast")


def engine_trees(core: str, engine: str) -> list[ast.Module]:
    """The modules of an engine: a folder, or files whose names begin with the engine's."""
    folder = ROOT / "emu" / core
    files = [*folder.glob(f"{engine}/**/*.py"), *folder.glob(f"{engine}*.py")]
    return [tree_of(path) for path in files]


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def defined(trees: Iterable[ast.Module]) -> Iterator[str]:
    """The private names that modules define: functions, classes, variables and attributes."""
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield node.name
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                yield node.attr
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def used(trees: Iterable[ast.Module]) -> Iterator[str]:
    """The names that modules import, and the attributes that they read."""
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.Attribute):
                yield node.attr


def borrowed(user: list[ast.Module], owner: list[ast.Module]) -> set[str]:
    """The private names that `user` uses and only `owner` defines."""
    names = set(used(user)) & (set(defined(owner)) - set(defined(user)))
    return set(filter(is_private, names))


@pytest.mark.parametrize("core", CORES)
def test_no_engine_uses_a_private_name_of_the_other(core: str) -> None:
    reference, fast = (engine_trees(core, engine) for engine in ENGINES)
    assert borrowed(fast, reference) == set()
    assert borrowed(reference, fast) == set()


def test_six_cores_have_both_engines() -> None:
    both = [core for core in CORES if all(engine_trees(core, engine) for engine in ENGINES)]
    assert both == ["dma", "fim", "nnp", "pe", "scalar", "vector"]


def test_a_borrowed_name_is_found() -> None:
    owner = [ast.parse("class Reference:\n    def _step(self): self._at = 1\n")]
    assert borrowed([ast.parse("def act(core): core._step()")], owner) == {"_step"}
    assert borrowed([ast.parse("def act(core): return core._at")], owner) == {"_at"}
    assert borrowed([ast.parse("class Fast:\n    def _step(self): self._step()")], owner) == set()
