"""`make quick`: its list names existing tests, chosen for the lines that they execute."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import numpy as np

from tests import quick
from tests.mutants.choosing import RecordedTest
from tests.mutants.paths import ROOT


def test_each_test_of_the_list_exists() -> None:
    """Each name of the list is a test; `python -m tests.quick` makes the list anew."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for line in quick.LIST.read_text("utf-8").splitlines():
        path, _, name = line.partition("::")
        wanted[path].add(name)
    assert len(wanted) > 30
    for path, names in wanted.items():
        body = ast.parse((ROOT / path).read_text("utf-8")).body
        there = {node.name for node in body if isinstance(node, ast.FunctionDef)}
        assert names <= there, path


def case(name: str, seconds: float, *places: int) -> RecordedTest:
    return RecordedTest(name, seconds, np.array(places, np.uint32))


CASES = [
    case("a.py::wide[1]", 0.1, *range(20)),
    case("a.py::wide[2]", 0.1, *range(10, 30)),
    case("a.py::same", 0.1, 3, 4),
    case("b.py::slow", 9, *range(40)),
    case("b.py::other", 0.3, 30, 31, 32),
    case("golden.toml::golden", 0.1, 50),
]


def test_cases_of_a_function_are_one_test() -> None:
    found = {test.name: test for test in quick.functions(CASES)}
    assert list(found) == ["a.py::wide", "a.py::same", "b.py::slow", "b.py::other"]
    assert found["a.py::wide"].places.tolist() == list(range(30))
    assert found["a.py::wide"].seconds == 2 * (0.1 + quick.OVERHEAD)


def test_tests_are_chosen_for_new_lines_a_second(tmp_path: Path) -> None:
    tests = quick.functions(CASES)
    chosen, executed = quick.choose(tests, 60, 5)
    assert [test.name for test in chosen] == ["a.py::wide", "b.py::other"]
    assert executed == 33
    quick.write(chosen, tmp_path / "list")
    assert (tmp_path / "list").read_text() == "a.py::wide\nb.py::other\n"
    chosen, executed = quick.choose(tests, 60, 50)
    assert [test.name for test in chosen] == ["a.py::wide", "b.py::other", "b.py::slow"]
    assert executed == 40
    assert quick.choose(tests, 60, 0.1) == ([], 0)
