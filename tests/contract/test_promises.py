"""Promises of the project's own files: versions that exist, a limit on time, a small demo."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
# Installed exactly so on Python 3.11, and sample programs run: a bound may name no other version
# before that has been done with it (F46: `lark>=1.2` named a version that was never published).
INSTALLED = {
    "click>=8.1",
    "lark>=1.2.1",
    "numpy>=1.26",
    "prompt-toolkit>=3.0.36",
    "pygments>=2.15",
    "rich>=13",
}


def test_lower_bounds_are_versions_that_were_installed() -> None:
    assert set(PROJECT["project"]["dependencies"]) == INSTALLED


def test_a_test_that_runs_for_ever_ends(pytestconfig: pytest.Config) -> None:
    """pytest-timeout is installed and ends each test after 900 s at the latest (F47)."""
    assert pytestconfig.pluginmanager.has_plugin("timeout")
    assert 0 < float(pytestconfig.getini("timeout")) <= 900


def test_the_demo_installs_nothing_that_only_tests_need(tmp_path: Path) -> None:
    """`make demo` does not install the tests' packages, so that it takes a minute (F50)."""
    command = ["make", "-n", "demo", f"VENV={tmp_path / 'none'}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "pip install" in done.stdout
    assert ".[test" not in done.stdout
