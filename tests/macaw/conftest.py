"""Fixtures: ways to run the command, and programs for it."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.macaw.command_runs import run_apart, run_here

ROOT = Path(__file__).parents[2]
LAYER = ROOT / "programs" / "layer"
HELLO = ROOT / "programs" / "hello" / "hello.s"

Macaw = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def macaw(tmp_path: Path) -> Macaw:
    """A function that runs `macaw` with arguments in the test's folder, in this process."""

    def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        return run_here(arguments, tmp_path, environment)

    return run


@pytest.fixture
def macaw_apart(tmp_path: Path) -> Macaw:
    """Like `macaw`, in a new process: for tests of what a process does at its start or end."""

    def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        return run_apart(arguments, tmp_path, environment)

    return run


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    """The path of a copy of the sample `layer`, without its recording, in the test's folder."""
    for name in ("layer.s", "weights.npy", "x.npy", "golden.toml"):
        (tmp_path / name).write_bytes((LAYER / name).read_bytes())
    return tmp_path / "layer.s"


@pytest.fixture
def expected_y() -> np.ndarray:
    """The outputs of the layer for its x, by NumPy."""
    return np.load(LAYER / "weights.npy").astype(np.int32) @ np.load(LAYER / "x.npy")


@pytest.fixture
def source(tmp_path: Path) -> Callable[[str], Path]:
    """A function that writes an assembly source into the test's folder and returns its path."""

    def write(text: str, name: str = "p.s") -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write
