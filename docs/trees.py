"""Reads modules of the product for pages: syntax trees (parsed once), docstrings and imports."""

from __future__ import annotations

import ast
import gc
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_QUOTES = '"""'
_FROM = re.compile(r"^[ \t]*from (macaw\.[\w.]+) import\b", re.M)


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a file.

    The cache keeps all trees, which have a million nodes together. They are frozen: otherwise
    Python's search for garbage goes through them again and again, and takes three quarters of the
    time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(path.read_text("utf-8"))
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


# To parse all modules takes seconds; these two read the text of a module alone.
def docstring_of(path: Path) -> str:
    """Return the docstring of a module; an empty text if it has none."""
    text = path.read_text("utf-8")
    quoted, plain, _ = text.removeprefix(_QUOTES).partition(_QUOTES)
    if not text.startswith(_QUOTES) or not plain or "\\" in quoted:
        return ast.get_docstring(tree_of(path)) or ""
    return inspect.cleandoc(quoted)


def origins_of(path: Path) -> set[str]:
    """Return the modules of `macaw` from which a module imports names, as it writes them."""
    return set(_FROM.findall(path.read_text("utf-8")))


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements below a node, those in functions too; no expression is visited."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, field, ()):
            yield child
            yield from statements(child)
