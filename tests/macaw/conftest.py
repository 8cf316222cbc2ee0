"""Programs that several tests of the command run."""

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
    """Runs `macaw` with the arguments in the test's folder, in this process."""

    def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        return run_here(arguments, tmp_path, environment)

    return run


@pytest.fixture
def macaw_apart(tmp_path: Path) -> Macaw:
    """The same in a process of its own: for what a process does at its start or its end."""

    def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        return run_apart(arguments, tmp_path, environment)

    return run


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    """A copy of the sample program `layer`, in the test's folder; without its recording."""
    for name in ("layer.s", "weights.npy", "x.npy", "golden.toml"):
        (tmp_path / name).write_bytes((LAYER / name).read_bytes())
    return tmp_path / "layer.s"


@pytest.fixture
def expected_y() -> np.ndarray:
    """What the layer gives for its x, by NumPy."""
    return np.load(LAYER / "weights.npy").astype(np.int32) @ np.load(LAYER / "x.npy")


@pytest.fixture
def source(tmp_path: Path) -> Callable[[str], Path]:
    """Writes an assembly source into the test's folder."""

    def write(text: str, name: str = "p.s") -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write
