"""The product's imports, read from its source: `python -m tests.contract.imports [ROOM]`.

Imports inside functions and imports for types alone count, too.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from docs.trees import statements, tree_of

ROOT = Path(__file__).parents[2]
# By package the folder that holds it; links of src/macaw are not followed.
PACKAGES = {
    "macaw": "src/macaw",
    **{f"macaw.{room}": room for room in ("isa", "asm", "emu", "debugger")},
}


@cache
def modules() -> dict[str, Path]:
    """The file of each module by the module's name; a package stands for its `__init__.py`."""
    names = {}
    for package, folder in PACKAGES.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            inner = path.relative_to(ROOT / folder)
            if package == "macaw" and (ROOT / folder / inner.parts[0]).is_symlink():
                continue
            if not (path.parent / "__init__.py").exists():
                continue  # a file of a sample that `macaw new` copies
            parts = [package, *inner.with_suffix("").parts]
            names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def imports(name: str, path: Path) -> Iterator[str]:
    """The dotted names that a module imports; `from a import b` gives a.b."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in statements(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = parts[: len(parts) + 1 - node.level] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{origin}.{alias.name}" for alias in node.names)


@cache
def graph() -> dict[str, set[str]]:
    """The modules that each module imports, without the packages that contain the module."""
    paths = modules()
    edges: dict[str, set[str]] = {}
    for name, path in paths.items():
        wanted = set()
        for origin in imports(name, path):
            module = origin if origin in paths else origin.rpartition(".")[0]
            if module in paths and module != name and not name.startswith(f"{module}."):
                wanted.add(module)
        edges[name] = wanted
    return edges


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other, directly or through others; the largest first."""
    names = sorted(edges)
    number = {name: place for place, name in enumerate(names)}
    pairs = [(number[a], number[b]) for a in names for b in edges[a]]
    rows, columns = np.array(pairs, np.intp).reshape(-1, 2).T
    matrix = csr_array((np.ones(len(pairs), np.int8), (rows, columns)), (len(names),) * 2)
    count, labels = connected_components(matrix, connection="strong")
    sets = [[names[place] for place in np.flatnonzero(labels == label)] for label in range(count)]
    return sorted((names for names in sets if len(names) > 1), key=len, reverse=True)


def main() -> None:
    """Print the import circles of the product, or of one room."""
    edges = graph()
    for names in circles(edges):
        if any(name.startswith(tuple(sys.argv[1:]) or "macaw") for name in names):
            print(f"{len(names)} modules lead to each other:")
            for name in names:
                print(f"  {name} -> {', '.join(sorted(edges[name] & set(names)))}")


if __name__ == "__main__":
    main()
