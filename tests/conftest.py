"""Rules for all tests: in CI a skipped test is a failure; no example has a deadline.

`--long` (make test-long) adds the tests marked `long`, and gives property tests `LONGER` times as
many examples. In CI, property tests take `FEWER` examples, which are the same each time, and of a
test marked `few(n)` only n cases run.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Generator
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import settings

from tests import installed as installation
from tests.fuzzing import IN_CI

# Two busy cores make a time limit on an example a coin toss. In CI examples are the same each
# time: a commit passes or fails for what it is.
settings.register_profile("macaw", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("macaw")

# `make test` exports these; a `make` that a test starts would print its folders because of them.
for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
    os.environ.pop(name, None)

LONGER = 10
FEWER = 0.2
FEWEST = 6  # examples: no test takes fewer than these, or than it names
# Tables, pages and the tree itself are the same on each Python, and so are lowered networks and
# the results of sample programs (whose golden tests run on each, but for the longest ones): their
# tests are marked `once`.
ONCE = ("contract", "docs", "editors", "isa", "lowering", "programs", "seeds")
ALL_ONCE = "pytestmark = pytest.mark.once"
ONCE_PROGRAMS = ("digits_cnn", "digits_mlp", "digits_protected")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="the long tests too, and more examples")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip the import of files whose tests are all marked `once`, if `-m "not once"` is given."""
    if config.getoption("markexpr") != "not once":
        return None
    whole = collection_path.parent == Path(__file__).parent and collection_path.name in ONCE
    return True if whole or _is_once(collection_path) else None


def _is_once(path: Path) -> bool:
    """Whether a line of the file marks all of its tests `once`."""
    return path.suffix == ".py" and ALL_ONCE in path.read_text("utf-8").splitlines()


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before pytest looks at `-m`, and after it
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    _mark_once(items)
    is_long = config.getoption("--long")
    if not is_long:
        _leave_out(config, items, [item for item in items if item.get_closest_marker("long")])
    if is_long or IN_CI:
        for function in {getattr(item, "function", None) for item in items}:
            _change_examples(function, examples_in_ci if not is_long else examples_of_long)
    yield
    if IN_CI and not is_long:
        _leave_out(config, items, _more_than_few(items))


def _mark_once(items: list[pytest.Item]) -> None:
    tests = Path(__file__).parent
    folders = [tests / name for name in ONCE]
    folders += [tests.parent / "programs" / name for name in ONCE_PROGRAMS]
    for path, of_file in groupby(items, lambda item: item.path):
        if any(path.is_relative_to(folder) for folder in folders):
            for item in of_file:
                item.add_marker("once")


def _leave_out(config: pytest.Config, items: list[pytest.Item], some: list[pytest.Item]) -> None:
    config.hook.pytest_deselected(items=some)
    left_out = set(some)
    items[:] = [item for item in items if item not in left_out]


def _more_than_few(items: list[pytest.Item]) -> list[pytest.Item]:
    """The cases that a test marked `few(n)` omits; the n others are spread evenly."""
    found: list[pytest.Item] = []
    for (_, function), group in groupby(
        items, lambda item: (item.parent, getattr(item, "function", None))
    ):
        cases = list(group)
        mark = cases[0].get_closest_marker("few") if function else None
        if mark is None or len(cases) <= mark.args[0]:
            continue
        stay = {
            place * (len(cases) - 1) // max(1, mark.args[0] - 1) for place in range(mark.args[0])
        }
        found += [case for place, case in enumerate(cases) if place not in stay]
    return found


def examples_of_long(usual: int) -> int:
    return LONGER * usual


def examples_in_ci(usual: int) -> int:
    return min(usual, max(FEWEST, int(FEWER * usual)))


def _change_examples(function: object, number: Callable[[int], int]) -> None:
    """Give a property test `number(n)` examples if it has n now."""
    # Hypothesis keeps the settings of a test in this attribute, and offers no other place.
    if usual := getattr(function, "_hypothesis_internal_use_settings", None):
        changed = settings(usual, max_examples=number(usual.max_examples))
        function._hypothesis_internal_use_settings = changed  # type: ignore[attr-defined]


# A dead device's memory comes back by a search for reference cycles. That search need not go
# through all modules, tests and cached programs each time: it would take a quarter of a second.
def pytest_collectstart() -> None:
    gc.disable()  # nothing that is imported dies


def pytest_collection_finish() -> None:
    gc.freeze()  # and not collect: a search through all that is imported takes seconds
    gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, None, None]:
    yield
    if nextitem is None or nextitem.path != item.path:  # what the tests of a file share is gone
        _freeze_what_lives()


def _freeze_what_lives() -> None:
    gc.collect()
    gc.freeze()


def _fail_instead(report: pytest.TestReport | pytest.CollectReport) -> None:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    report.outcome = "failed"
    report.longrepr = f"{report.nodeid}: in CI a skipped test is a failure\n{reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    expected = hasattr(report, "wasxfail") or item.get_closest_marker("may_skip_in_ci")
    if IN_CI and report.skipped and not expected:
        _fail_instead(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if IN_CI and report.skipped:
        _fail_instead(report)
    return report


@pytest.fixture(autouse=True, scope="session")
def _no_second_copy() -> Generator[None, None, None]:
    """No module is imported by its old name: `import isa` would load a second copy of macaw.isa."""
    yield
    old = {"isa", "asm", "emu", "debugger", "lower"}
    assert [name for name in sys.modules if name.partition(".")[0] in old] == []


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the packages of the wheel, built once for the tests of all processes."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # the same for all workers of this run
    return installation.install_once(folder / "wheel")
