"""`python -m benchmarks --smoke` runs every benchmark once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import CASES, missing

ROOT = Path(__file__).parents[2]


@pytest.mark.once
def test_every_benchmark_runs() -> None:
    command = [sys.executable, "-m", "benchmarks", "--smoke"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name in CASES:
        assert f"\n{name}: " in f"\n{done.stdout}"
        if missing(name) is None:
            assert f"\n{name}: 0 figures" not in f"\n{done.stdout}"


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CASES, "sparse", ("no_such_module",))
    skipped = missing("sparse")
    assert skipped is not None
    assert skipped.reason == "no_such_module is not installed"
