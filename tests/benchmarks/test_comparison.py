"""`python -m benchmarks --compare` finds planted slowdowns, and reports nothing for noise."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import results
from benchmarks.__main__ import compared
from benchmarks.comparison import compare
from benchmarks.figures import HIGHER, LOWER, Figure, ratio
from benchmarks.results import Origin, Result, ResultsError

ROOT = Path(__file__).parents[2]
FIGURES = 12
PAIRS = 10  # of pages that are compared


def page(seed: int, noise: float, factor: float = 1, better: str = LOWER) -> dict[str, Result]:
    """A result with figures of five noisy samples; the fourth figure is `factor` times as slow."""
    pick, figures = random.Random(seed), []
    for number in range(FIGURES):
        slow = factor if number == 3 else 1.0
        base = 10.0 * (number + 1) * (slow if better == LOWER else 1 / slow)
        samples = tuple(base * math.exp(pick.gauss(0, noise)) for _ in range(5))
        figures.append(Figure(f"row {number}", "ms", samples, better))
    origin = Origin("2026-11-24", "0123abcd", "a machine", {}, (0.5, 1.0), {"NumPy": 1.0})
    return {"case": Result(origin, tuple(figures))}


@pytest.mark.once
@pytest.mark.parametrize(("factor", "noise"), [(1.02, 0.003), (1.05, 0.008), (1.2, 0.03)])
@pytest.mark.parametrize("better", [LOWER, HIGHER])
def test_a_planted_slowdown_is_named(factor: float, noise: float, better: str) -> None:
    found = [
        compare(page(seed, noise, better=better), page(seed + 1, noise, factor, better))
        for seed in range(0, 2 * PAIRS, 2)
    ]
    named = [[x.figure for x in item.slower] for item in found]
    assert sum("row 3: ms" in names for names in named) >= 0.8 * PAIRS
    assert all(item.compared == FIGURES for item in found)
    factors = [x.factor for item in found for x in item.slower if x.figure == "row 3: ms"]
    assert factors == pytest.approx([factor] * len(factors), rel=4 * noise)


@pytest.mark.once
@pytest.mark.parametrize("noise", [0.002, 0.02, 0.1])
def test_noise_is_no_change(noise: float) -> None:
    found = [compare(page(n, noise), page(n + 1, noise)) for n in range(0, 2 * PAIRS, 2)]
    assert sum(bool(x.slower or x.faster) for x in found) <= 1


def test_a_faster_figure_is_no_failure() -> None:
    found = compare(page(1, 0.01, 1.3), page(2, 0.01))
    assert [x.figure for x in found.faster] == ["row 3: ms"]
    assert not found.slower


def test_the_exit_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, slow = tmp_path / "old.json", tmp_path / "slow.json"
    results.write(old, page(1, 0.01))
    results.write(slow, page(2, 0.01, 1.2))
    assert compared([str(old), str(old)]) == 0
    assert compared([str(old), str(slow)]) == 1
    assert "slower: case, row 3: ms: " in capsys.readouterr().out


def test_results_come_back_from_a_file(tmp_path: Path) -> None:
    saved = page(1, 0.01)
    results.write(tmp_path / "r.json", saved)
    assert results.read(tmp_path / "r.json") == saved


def test_other_machines_are_compared_by_ratios_alone() -> None:
    old, new = page(1, 0.01), page(2, 0.01, 1.5)
    shared = (Figure("row", "times", (2.0, 2.1, 2.0, 2.1, 2.0), LOWER, "a peer"),)
    fast = Origin("2026-11-24", "0123abcd", "a machine", {}, (), {"NumPy": 2.0})
    found = compare(
        {"case": Result(old["case"].origin, old["case"].figures + shared)},
        {"case": Result(fast, new["case"].figures + shared)},
    )
    assert found.compared == 1
    assert "only ratios are compared" in found.notes[0]
    assert not found.slower


def test_few_samples_are_not_compared() -> None:
    one = {"case": Result(page(1, 0)["case"].origin, (Figure("row", "ms", (3.0,), LOWER),))}
    assert compare(one, one).notes == ("1 figures have fewer than 5 samples and are not compared",)


def test_a_file_without_results(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    with pytest.raises(ResultsError, match="there is no such file"):
        results.read(path)
    path.write_text("[]")
    with pytest.raises(ResultsError, match="no results of benchmarks"):
        results.read(path)
    path.write_text('{"format": 9, "cases": {}}')
    with pytest.raises(ResultsError, match="its format is 9, not 1"):
        results.read(path)


def test_the_command_names_a_file_without_results(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    command = [sys.executable, "-m", "benchmarks", "--compare", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == f"{path}: there is no such file\n"


def test_a_ratio_is_formed_round_by_round() -> None:
    assert ratio("a", "times", (4, 9), (2, 3), LOWER, "b").samples == (2, 3)
    assert ratio("a", "times", (4, 9), (1, 2, 3), LOWER, "b").samples == (2, 4.5)
