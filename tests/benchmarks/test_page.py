"""docs/benchmarks.md is up to date with the recorded results, and judges the goals by them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import page, results, texts
from benchmarks.__main__ import CASES, DOCS, LONG, PAGE, PYTHON, RESULTS, busy, results_path
from benchmarks.figures import HIGHER, LOWER, Figure
from benchmarks.goals import AT_LEAST, AT_MOST, GOALS, NUMPY, Goal
from benchmarks.results import Origin, Result

ORIGIN = Origin(
    "2026-11-26", "0123abcd", "a processor", {"Python": "3.11.7"}, (0.5, 1.0), {NUMPY: 0.5}, 3
)
RATE = Goal("a rate", "scalar", "rate", AT_LEAST, 10, peer="a peer", limits="the interpreter")
TIME = Goal("a time", "scalar", "time", AT_MOST, 3, ("one",), calibrated=NUMPY)


def _results(*figures: Figure) -> dict[str, Result]:
    return {"scalar": Result(ORIGIN, figures)}


def test_the_page_is_made_of_the_results() -> None:
    assert page.page(DOCS) == PAGE.read_text("utf-8"), "write it: python -m benchmarks --page"


def test_the_worst_row_decides() -> None:
    found = _results(
        Figure("one", "rate", (11.0, 12.0, 30.0), HIGHER),
        Figure("two", "rate", (9.0,), HIGHER),
        Figure("three", "rate", (1.0,), HIGHER, table="of another table"),
    )
    assert page.worst(RATE, found) == ("two", 9.0)
    assert page.verdict(RATE, found) is False
    assert page.verdict(replace(RATE, rows=("one",)), found) is True
    assert page.verdict(replace(RATE, rows=("one", "four")), found) is None
    assert page.verdict(RATE, {}) is None


def test_a_calibrated_time_is_that_of_a_machine_of_speed_1() -> None:
    found = _results(Figure("one", "time", (5.0,), LOWER), Figure("two", "time", (9.0,), LOWER))
    assert page.worst(TIME, found) == ("one", 2.5)
    assert page.verdict(TIME, found) is True
    rate = replace(RATE, calibrated=NUMPY)
    assert page.worst(rate, _results(Figure("one", "rate", (5.0,), HIGHER))) == ("one", 10.0)


def test_the_table_of_goals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    never = replace(RATE, what="no figure", column="none")
    floor = ("scalar", "a floor", "rate")
    monkeypatch.setattr(page, "GOALS", (replace(RATE, rows=("one",), floor=floor), TIME, never))
    idle = _results(
        Figure("one", "rate", (11.0,), HIGHER),
        Figure("a floor", "rate", (12.5,), HIGHER),
        Figure("one", "time", (9.0,), LOWER),
    )
    results.write(tmp_path / "benchmarks.json", idle)
    results.write(
        tmp_path / page.LOADED_RESULTS.format(4), _results(Figure("one", "rate", (8.0,), HIGHER))
    )
    results.write(
        tmp_path / "benchmarks-3.13.json", _results(Figure("one", "rate", (14.0,), HIGHER))
    )
    text = page.page(tmp_path)
    assert "| measured | with a load of 4 | Python 3.13 |" in text
    assert (
        "| a rate | a peer | at least 10 | 11 | 8 | 14 | met when idle | 12.5 (a floor) | the interpreter |"
        in text
    )
    assert "| a time |  | at most 3 (calibrated) | 4.5 |  |  | missed |  |  |" in text
    assert (
        "| no figure | a peer | at least 10 |  |  |  | not measured |  | the interpreter |" in text
    )
    assert "- machine: a processor\n- date: 2026-11-26\n- commit: 0123abcd\n" in text


def test_a_floor_is_calibrated_as_its_goal_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor = ("scalar", "a floor", "rate")
    goal = replace(RATE, rows=("one",), calibrated=NUMPY, floor=floor)
    monkeypatch.setattr(page, "GOALS", (goal,))
    rates = Figure("one", "rate", (11.0,), HIGHER), Figure("a floor", "rate", (12.5,), HIGHER)
    results.write(tmp_path / "benchmarks.json", _results(*rates))
    text = page.page(tmp_path)
    assert "| at least 10 (calibrated) | 22 | met | 25 (a floor) |" in text
    assert "Measured: 2026-11-26, commit 0123abcd, a processor" in text


def test_every_goal_has_figures() -> None:
    recorded = results.read(RESULTS)
    for goal in GOALS:
        assert goal.case in CASES
        if goal.case in recorded and not recorded[goal.case].skipped:
            assert page.worst(goal, recorded) is not None, goal.what
        if goal.floor is not None and goal.floor[0] in recorded:
            case, row, column = goal.floor
            names = {(x.row, x.column) for x in recorded[case].figures}
            assert (row, column) in names, goal.what


def test_every_case_has_a_text() -> None:
    assert texts.SECTIONS.keys() == CASES.keys()
    assert set(LONG) < CASES.keys()


def test_each_condition_has_its_file() -> None:
    assert results_path(0, PYTHON) == RESULTS
    assert results_path(4, PYTHON).name == "benchmarks-load-4.json"
    assert results_path(0, (3, 13)).name == "benchmarks-3.13.json"


def test_busy_processes_end() -> None:
    with busy(1) as started:
        (process,) = started
        assert process.poll() is None
    assert process.returncode is not None
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
