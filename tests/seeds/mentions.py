"""Finds the paragraphs of the seeds that a test names: `seed 004 ¶46`, `seed 004 ¶46, ¶50-52`."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.seeds.table import numbers

ROOT = Path(__file__).parents[2]
_RANGE = r"¶\d+(?:-¶?\d+)?"
_MENTION = re.compile(rf"seed (\d{{3}}),? ({_RANGE}(?:(?:,| and|, and) {_RANGE})*)")


class MissingTestError(LookupError):
    """The table names a test that does not exist."""


def mentioned(text: str) -> set[tuple[str, int]]:
    """(seed, paragraph) of each mention in a text of source code."""
    plain = re.sub(r"\s+#?\s*", " ", text)
    found = set()
    for seed, places in _MENTION.findall(plain):
        listed = places.replace(", and ", ", ").replace(" and ", ", ").replace("¶", "")
        found |= {(seed, number) for number in numbers(listed)}
    return found


def named_by(test: str) -> set[tuple[str, int]]:
    """The paragraphs that a test, its module's docstring, or a golden folder's files name.

    Raises `MissingTestError` if there is no such test.
    """
    if "::" not in test:
        return _golden_folder(test)
    path, *names = test.split("::")
    text, tree = _module(path)
    body: list[ast.stmt] = tree.body
    node: ast.stmt | None = None
    for name in names:
        node = next((item for item in body if getattr(item, "name", None) == name), None)
        if node is None:
            raise MissingTestError(test)
        body = getattr(node, "body", [])
    if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
        raise MissingTestError(test)
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    own = "\n".join(text.splitlines()[first - 1 : node.end_lineno])
    return mentioned(own) | mentioned(ast.get_docstring(tree) or "")


@cache
def _module(path: str) -> tuple[str, ast.Module]:
    if not (ROOT / path).is_file():
        raise MissingTestError(path)
    text = (ROOT / path).read_text("utf-8")
    return text, ast.parse(text)


@cache
def _golden_folder(path: str) -> set[tuple[str, int]]:
    folder = ROOT / path
    if not (folder / "golden.toml").is_file():
        raise MissingTestError(f"{path}: no golden folder")
    sources = [file for file in folder.iterdir() if file.suffix in {".s", ".py", ".md", ".toml"}]
    return set().union(*(mentioned(file.read_text("utf-8")) for file in sources))
