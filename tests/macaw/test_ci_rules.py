"""tests/conftest.py: in CI a skip is a failure, unless the test is marked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.once

CONFTEST = Path(__file__).parents[1] / "conftest.py"

SKIPS = """
import pytest

def test_passes(): pass

@pytest.mark.skip(reason="no time")
def test_skipped(): pass

def test_skips_itself(): pytest.skip("no tool")

@pytest.mark.may_skip_in_ci
def test_may(): pytest.skip("allowed")

@pytest.mark.xfail
def test_known(): assert False
"""


SKIPPED_MODULE = "import pytest\npytest.importorskip('no_such_module')\n"


def test_skips(collect: Collect) -> None:
    usual = {"passes": "PASSED", "known": "XFAIL"}
    found = collect("").outcomes("skips")
    assert found == usual | dict.fromkeys(("skipped", "skips_itself", "may"), "SKIPPED")
    found = collect("true").outcomes("skips")
    assert found == usual | {"skipped": "ERROR", "skips_itself": "FAILED", "may": "SKIPPED"}
    assert "no tool" in collect("true").text
    for ci in ("", "true"):
        assert ("in CI a skipped test is a failure" in collect(ci).text) is bool(ci)


def test_a_module_that_is_skipped_fails_too(collect: Collect) -> None:
    assert re.search(r"^SKIPPED .*no_such_module", collect("").text, re.M)
    assert re.search(r"^ERROR \S*test_module.py", collect("true").text, re.M)


PROPERTY = """
from pathlib import Path

from hypothesis import given, settings, strategies as st

numbers = {"usual": 35, "few": 10, "fewest": 4}
taken = {}

def counted(name):
    @settings(max_examples=numbers[name])
    @given(st.integers(0, 10**9))
    def test(number):
        taken[name] = taken.get(name, 0) + 1
    return test

test_usual, test_few, test_fewest = map(counted, numbers)

def test_shown():
    Path(__file__).with_suffix(".txt").write_text(str(list(taken.values())))
"""


@pytest.mark.parametrize(
    ("ci", "option", "taken"),
    [("", "", (35, 10, 4)), ("true", "", (7, 6, 4)), ("true", "--long", (350, 100, 40))],
)
def test_numbers_of_examples(
    collect: Collect, ci: str, option: str, taken: tuple[int, ...]
) -> None:
    done = collect(ci, *option.split())
    assert set(done.outcomes("examples").values()) == {"PASSED"}
    assert done.written("examples") == str(list(taken))


CASES = """
from pathlib import Path

import pytest

taken = {}

@pytest.mark.few(3)
@pytest.mark.parametrize("more", "ab")
@pytest.mark.parametrize("case", range(5))
def test_cases(case, more):
    taken.setdefault("cases", []).append(f"{more}{case}")

@pytest.mark.few(1)
@pytest.mark.parametrize("case", range(3))
def test_one(case):
    taken.setdefault("one", []).append(case)

@pytest.mark.few(4)
@pytest.mark.parametrize("case", range(3))
def test_all(case):
    taken.setdefault("all", []).append(case)

def test_shown():
    Path(__file__).with_suffix(".txt").write_text(str(list(taken.values())))
"""
EVERY = [[f"{more}{case}" for case in range(5) for more in "ab"], [0, 1, 2], [0, 1, 2]]


@pytest.mark.parametrize(
    ("ci", "options", "taken"),
    [
        ("", "", EVERY),
        ("true", "", [["a0", "a2", "b4"], [0], [0, 1, 2]]),
        ("true", "--long", EVERY),
        ("true", "-k 3-b or shown", [["b3"]]),  # of the cases that are chosen
    ],
)
def test_numbers_of_cases(
    collect: Collect, ci: str, options: str, taken: list[list[object]]
) -> None:
    option, _, words = options.partition(" ")
    done = collect(ci, *filter(None, (option, words)))
    assert set(done.outcomes("cases").values()) == {"PASSED"}
    assert done.written("cases") == str(taken)


FILES = {"skips": SKIPS, "module": SKIPPED_MODULE, "examples": PROPERTY, "cases": CASES}

# A module that is skipped is an error, after which pytest would run nothing.
ARGUMENTS = ("-v", "-rsE", "-p", "no:cacheprovider", "--continue-on-collection-errors")


class Collected(NamedTuple):
    """A run of pytest on all files: its folder and its output."""

    folder: Path
    text: str

    def outcomes(self, name: str) -> dict[str, str]:
        """The outcome of each test function of a file; of several cases, the last one's."""
        found = re.findall(rf"^\S*test_{name}\.py::test_(\w+)(?:\[.*\])? ([A-Z]+)", self.text, re.M)
        return dict(found)

    def written(self, name: str) -> str:
        return (self.folder / f"test_{name}.txt").read_text()


Collect = Callable[..., Collected]


@pytest.fixture(scope="module")
def collect(tmp_path_factory: pytest.TempPathFactory) -> Collect:
    """A function that runs pytest on all files with a value of CI; equal calls share one run."""

    @cache
    def run(ci: str, *options: str) -> Collected:
        folder = tmp_path_factory.mktemp("tests")
        (folder / "conftest.py").write_text(CONFTEST.read_text())
        for name, text in FILES.items():
            (folder / f"test_{name}.py").write_text(text)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *ARGUMENTS, str(folder), *options],
            capture_output=True,
            text=True,
            env={**os.environ, "CI": ci},
            check=False,
        )
        return Collected(folder, done.stdout + done.stderr)

    return run
