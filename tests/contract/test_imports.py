"""No import circle in the product; the witness is the tool of import-linter."""

from __future__ import annotations

import grimp
import pytest

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
    """`macaw.run` and its like are for users: inside, each function has one home."""
    graph = imports.graph()
    users = {name for name, found in graph.items() if "macaw.api" in found and name != "macaw"}
    assert users <= {name for name in graph if room_of(name) == ""}
