"""tests/conftest.py: in CI a skip is a failure, unless the test is marked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

CONFTEST = Path(__file__).parents[1] / "conftest.py"

TESTS = """
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


@pytest.mark.parametrize(
    ("ci", "counts"),
    [("", ["1 passed", "3 skipped"]), ("true", ["1 failed", "1 passed", "1 skipped", "1 error"])],
)
def test_skips(tmp_path: Path, ci: str, counts: list[str]) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text())
    (tmp_path / "test_it.py").write_text(TESTS)
    output = collect(tmp_path, ci)
    assert all(count in output for count in [*counts, "1 xfailed"])
    assert ("in CI a skipped test is a failure" in output) is bool(ci)
    assert ("no tool" in output) is bool(ci)


def test_a_module_that_is_skipped_fails_too(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text())
    (tmp_path / "test_it.py").write_text("import pytest\npytest.importorskip('no_such_module')\n")
    assert "1 skipped" in collect(tmp_path, "")
    assert "1 error" in collect(tmp_path, "true")


PROPERTY = """
from pathlib import Path

from hypothesis import given, settings, strategies as st

numbers = {"usual": 100, "few": 20, "fewest": 4}
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
    [("", "", (100, 20, 4)), ("true", "", (20, 10, 4)), ("true", "--long", (1000, 200, 40))],
)
def test_numbers_of_examples(tmp_path: Path, ci: str, option: str, taken: tuple[int, ...]) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text())
    (tmp_path / "test_it.py").write_text(PROPERTY)
    assert "4 passed" in collect(tmp_path, ci, *option.split())
    assert (tmp_path / "test_it.txt").read_text() == str(list(taken))


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
def test_numbers_of_cases(tmp_path: Path, ci: str, options: str, taken: list[list[object]]) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text())
    (tmp_path / "test_it.py").write_text(CASES)
    option, _, words = options.partition(" ")
    assert " passed" in collect(tmp_path, ci, *filter(None, (option, words)))
    assert (tmp_path / "test_it.txt").read_text() == str(taken)


def collect(folder: Path, ci: str, *options: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder), *options],
        capture_output=True,
        text=True,
        env={**os.environ, "CI": ci},
        check=False,
    )
    return done.stdout + done.stderr
