"""The imports of the product, read from its source: `python -m tests.contract.imports [ROOM]`.

All of them count: those inside functions and those for types alone.
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
    """The file of each module, a package's `__init__.py` by the package's name."""
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
    """The names that a module's import statements give, each with the module it is taken from."""
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
    """By module the modules that it imports; a package that holds the module is none of them."""
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
    """Sets of modules each of which leads to all others of its set, the largest first."""
    names = sorted(edges)
    number = {name: place for place, name in enumerate(names)}
    pairs = [(number[a], number[b]) for a in names for b in edges[a]]
    rows, columns = np.array(pairs, np.intp).reshape(-1, 2).T
    matrix = csr_array((np.ones(len(pairs), np.int8), (rows, columns)), (len(names),) * 2)
    count, labels = connected_components(matrix, connection="strong")
    sets = [[names[place] for place in np.flatnonzero(labels == label)] for label in range(count)]
    return sorted((names for names in sets if len(names) > 1), key=len, reverse=True)


def main() -> None:
    """Print the circles of the product, or those of a room."""
    edges = graph()
    for names in circles(edges):
        if any(name.startswith(tuple(sys.argv[1:]) or "macaw") for name in names):
            print(f"{len(names)} modules lead to each other:")
            for name in names:
                print(f"  {name} -> {', '.join(sorted(edges[name] & set(names)))}")


if __name__ == "__main__":
    main()
